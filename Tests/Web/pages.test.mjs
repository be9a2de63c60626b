import assert from "node:assert/strict";
import test from "node:test";
import { load } from "./support/paths.mjs";

const { default: en } = await load("strings/en.js");
const { default: zhHans } = await load("strings/zh-hans.js");
const { chooseLanguage, localized, t, titleOf } = await load("strings.js");
const { ago, cleanName, codeLetters, initials, shownCode, suggestName } = await load("group/names.js");
const { choices, kindOf, valueOf } = await load("generic/schema.js");
const { refusalFor } = await load("group/refusal.js");

const holes = (text) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();

test("both languages say everything, with the same values in it", () => {
    // Chinese has one form for all counts.
    const keys = Object.keys(en).filter((key) => !key.endsWith(".one"));
    assert.deepEqual(Object.keys(zhHans).sort(), keys.sort());
    for (const key of keys) assert.deepEqual(holes(zhHans[key]), holes(en[key]), key);
});

test("the language is the first of the browser's that we speak", () => {
    const cases = [[["zh-CN", "en"], "zh-Hans"], [["zh-TW"], "zh-Hans"], [["de", "zh"], "zh-Hans"], [["en-GB"], "en"], [["fr"], "en"], [[], "en"]];
    for (const [tags, expected] of cases) assert.equal(chooseLanguage(tags), expected, tags.join());
});

test("texts are filled in, one is counted as one, unknown holes stay", () => {
    assert.equal(t("lobby.inside", { count: 1 }, en), "One person inside");
    assert.equal(t("lobby.inside", { count: 3 }, en), "3 people inside");
    assert.equal(t("lobby.inside", { count: 1 }, zhHans), "1 人参加");
    assert.equal(t("people.removeSure", { name: "{count} <b>" }, en), "Remove {count} <b> from the group?");
    assert.equal(t("people.removeSure", {}, en), "Remove {name} from the group?");
});

test("an activity's title is taken in the nearest language", () => {
    const title = { en: "Scoreboard", "zh-Hans": "记分板" };
    assert.equal(localized(title, "zh-Hans"), "记分板");
    assert.equal(localized(title, "zh-Hant"), "记分板");
    assert.equal(localized(title, "fr"), "Scoreboard");
    assert.equal(localized({ de: "Tafel" }, "fr"), "Tafel");
    assert.equal(localized("Plain"), "Plain");
    assert.equal(localized(undefined), "");
    assert.equal(titleOf({ activity: "draw", metadata: {} }), "draw");
});

test("names lose marks that could deceive and stay within 24 characters as people count them", () => {
    const cases = [
        ["  Ada   Lovelace ", "Ada Lovelace"], ["A\u0000d\u202ea", "Ada"], ["\u200e\u200f", ""], ["👨‍👩‍👧".repeat(30), "👨‍👩‍👧".repeat(24)],
        ["e\u0301", "é"], ["<img src=x onerror=1>", "<img src=x onerror=1>"], [`${"x".repeat(23)} y`, "x".repeat(23)],
    ];
    for (const [typed, clean] of cases) assert.equal(cleanName(typed), clean);
});

test("initials are those of the first and last word", () => {
    const cases = [["Ada", "A"], ["ada lovelace", "AL"], ["Ana Maria da Silva", "AS"], ["记分 板", "记板"], ["👩‍🚀 Zoe", "👩‍🚀Z"], ["Ana (2)", "A2"], ["(Ben) --", "B"], ["...", "?"], ["", "?"], [null, "?"]];
    for (const [name, expected] of cases) assert.equal(initials(name), expected);
});

test("suggested names have two words in every language", () => {
    for (const random of [0, 0.5, 0.999999]) {
        assert.match(suggestName(() => random, "en"), /^[A-Z][a-z]+ [A-Z][a-z]+$/);
        assert.match(suggestName(() => random, "zh-Hans"), /^\p{Script=Han}{3,7}$/u);
    }
});

test("what is typed becomes a code, and what cannot belong to one is noticed", () => {
    const cases = [
        ["bcd", "BCD", false], ["bcd-fgh", "BCDFGH", false], ["b c d f g h j", "BCDFGH", false], ["bad", "BD", true],
        ["b1", "B", true], ["yyy", "", true], ["ß", "", true], ["--", "", false],
    ];
    for (const [typed, letters, hasOthers] of cases) assert.deepEqual(codeLetters(typed), { letters, hasOthers }, typed);
    assert.equal(shownCode("BCDFGH"), "BCD-FGH");
    assert.equal(shownCode("a-token"), "a-token");
});

test("times are told in the unit that people would use", () => {
    const minute = 60_000;
    const cases = [[0, "ago.now"], [59_000, "ago.now"], [minute, "ago.minutes", 1], [59 * minute, "ago.minutes", 59], [60 * minute, "ago.hours", 1], [47 * 60 * minute, "ago.hours", 47], [48 * 60 * minute, "ago.days", 2]];
    for (const [past, key, count] of cases) assert.deepEqual(ago(1e12 - past, 1e12), [key, count === undefined ? {} : { count }]);
});

test("every schema finds a field", () => {
    const cases = [
        [{ type: "string" }, "text"], [{ type: ["string", "null"], maxLength: 60 }, "text"], [{ type: "integer" }, "integer"], [{ type: "number" }, "number"],
        [{ type: "boolean" }, "boolean"], [{ enum: ["a", "b"] }, "enum"], [{ enum: ["a", null] }, "enum"], [{ type: "string", pattern: "^#[0-9A-Fa-f]{6}$" }, "color"],
        [{ type: "object", properties: {} }, "object"], [{ type: "object", additionalProperties: { type: "integer" } }, "any"],
        [{ type: "array", items: { type: "string" } }, "list"], [{ type: "array", items: { type: "object" } }, "any"], [{}, "any"], [undefined, "any"],
        [{ anyOf: [{ type: "integer" }, { type: "null" }] }, "integer"],
    ];
    for (const [schema, kind] of cases) assert.equal(kindOf(schema), kind, JSON.stringify(schema));
    assert.deepEqual(choices({ enum: ["a", null, 2] }), ["a", 2]);
});

test("a field's text becomes a value of its type, nothing, or a hint", () => {
    const cases = [
        [{ type: "string" }, " a ", { value: " a " }], [{ type: "string" }, "", {}], [{ type: "integer" }, " -5 ", { value: -5 }], [{ type: "integer" }, "5.0", { error: "form.badNumber" }],
        [{ type: "number" }, "1.5", { value: 1.5 }], [{ type: "number" }, "1e999", { error: "form.badNumber" }], [{ type: "number" }, "x", { error: "form.badNumber" }], [{ type: "number" }, " ", {}],
        [{}, '{"a":[1]}', { value: { a: [1] } }], [{}, "{", { error: "form.badJson" }],
    ];
    for (const [schema, text, expected] of cases) assert.deepEqual(valueOf(schema, text), expected, `${JSON.stringify(schema)} ${text}`);
});

test("every refusal has one next step and words in both languages", () => {
    const again = () => {};
    const cases = [
        [{ code: "closed", closeCode: 4401 }, "token"], [{ code: "closed", closeCode: 4403 }, "removed"], [{ code: "closed", closeCode: 4404 }, "code"],
        [{ code: "closed", closeCode: 4409 }, "other"], [{ code: "closed", closeCode: 4410 }, "ended"], [{ code: "limit_reached", limit: "members" }, "full"], [{ code: "locked" }, "locked"],
        [{ code: "closed", closeCode: 4400 }, "broken"], [{ code: "closed", closeCode: 1009 }, "broken"], [{ code: "closed" }, "broken"],
    ];
    for (const [error, key] of cases) {
        const refusal = refusalFor(error, { code: "BCDFGH", again });
        assert.equal(refusal.key, key);
        assert.equal(typeof refusal.step.run, "function");
        for (const table of [en, zhHans]) for (const name of [`refusal.${key}.title`, `refusal.${key}.lead`, refusal.step.label]) assert.ok(table[name], name);
    }
});
