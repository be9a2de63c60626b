// What the pages say, in each language, and how a language is chosen.

import en from "./strings/en.js";
import zhHans from "./strings/zh-hans.js";

const tables = { en, "zh-Hans": zhHans };

/** The table for a list of language tags: the first that we speak. Traditional Chinese readers get simplified, not English. */
export function chooseLanguage(tags) {
    for (const tag of tags) {
        const base = String(tag).toLowerCase().split("-")[0];
        if (base === "zh") return "zh-Hans";
        if (base === "en") return "en";
    }
    return "en";
}

export const language = chooseLanguage(globalThis.navigator?.languages ?? []);

/** The text named `key`, with `{name}` filled in from `values`; `key.one` is taken when `count` is 1. */
export function t(key, values = {}, table = tables[language]) {
    const chosen = values.count === 1 && table[`${key}.one`] !== undefined ? `${key}.one` : key;
    const text = table[chosen] ?? en[chosen] ?? key;
    return text.replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole));
}

/** A text of an activity's metadata: a string, or a table by language. */
export function localized(text, tag = language) {
    if (text === null || text === undefined) return "";
    if (typeof text !== "object") return String(text);
    const base = tag.split("-")[0];
    const near = Object.keys(text).find((key) => key.split("-")[0] === base);
    return String(text[tag] ?? (near && text[near]) ?? text.en ?? Object.values(text)[0] ?? "");
}

/** The title of an activity or session. */
export function titleOf({ metadata, activity, name }) {
    return localized(metadata?.title) || activity || name || "";
}
