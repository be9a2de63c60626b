// The first page: enter a code, come back to a group, or start one where the host allows it.

import { element, fill } from "../dom.js";
import { language, t, titleOf } from "../strings.js";
import { groupKey, seats } from "/sdk/activityhost.js";
import { ago, codeLetters, rememberedName, shownCode } from "../group/names.js";
import { brand } from "../group/brand.js";
import { explain } from "../group/refusal.js";
import { activityTiles, askParameters } from "../group/start.js";

const codeLength = 6;
/** Groups that one can come back to: the newest few, none older than the longest life of an empty group. */
const rejoinable = { count: 3, milliseconds: 24 * 60 * 60_000 };

function codeForm() {
    const hint = element("p", { class: "note centered-text", id: "code-hint", role: "status" }, t("home.codeHint"));
    const field = element("input", {
        class: "field code-field", id: "code", type: "text", inputMode: "text", autocomplete: "off", autocapitalize: "characters", spellcheck: false,
        placeholder: "BCD-FGH", "aria-describedby": "code-hint", enterkeyhint: "go",
    });
    let isToken = false;
    const format = () => {
        const pasted = /\/j\/([^/?#\s]+)/.exec(field.value)?.[1];
        const text = pasted ? decodeURIComponent(pasted) : field.value;
        const { letters, hasOthers } = codeLetters(text);
        isToken = text.length > 12;
        if (isToken) return text;
        field.value = letters.length > 3 ? `${letters.slice(0, 3)}-${letters.slice(3)}` : letters;
        hint.textContent = hasOthers ? t("home.codeLetters") : t("home.codeHint");
        hint.classList.toggle("error", hasOthers);
        return letters;
    };
    const submit = (event) => {
        event.preventDefault();
        const code = format();
        if (!isToken && code.length < codeLength) {
            hint.textContent = t("home.codeShort", { count: codeLength - code.length });
            hint.classList.add("error");
            field.focus();
            return;
        }
        location.assign(`/j/${encodeURIComponent(groupKey(code))}`);
    };
    field.addEventListener("input", (event) => {
        if (!event.isComposing) format();
    });
    return element("form", { class: "code-form", onSubmit: submit },
        element("label", { class: "visually-hidden", for: "code" }, t("home.code")), field,
        element("button", { class: "button primary wide", type: "submit" }, t("home.join")), hint);
}

function rejoinCards() {
    const known = seats.all().filter(({ code, seat }) => /^[A-Z]{6}$/.test(code) && seat.name && Date.now() - seat.time < rejoinable.milliseconds).slice(0, rejoinable.count);
    return known.map(({ code, seat }) => {
        const [key, values] = ago(seat.time);
        const texts = { name: seat.name, code: shownCode(code), title: seat.title, ago: t(key, values) };
        const card = element("div", { class: "rejoin" },
            element("p", {}, t(seat.title ? "home.rejoin" : "home.rejoinUntitled", texts)),
            element("div", { class: "row" },
                element("button", { class: "button quiet", type: "button", onClick: () => { seats.remove(code); card.remove(); } }, t("home.forget")),
                element("a", { class: "button", href: `/j/${encodeURIComponent(code)}` }, t("home.rejoinButton"))));
        return card;
    });
}

/** The activities that this visitor may start a group with; none where the host keeps that to its operator. */
async function startable() {
    try {
        const response = await fetch("/v1/activities");
        if (!response.ok) return [];
        const answer = await response.json();
        // The operator is told of broken activities too; they have no metadata.
        return answer.may_start ? answer.activities.filter(({ metadata }) => metadata) : [];
    } catch {
        return [];
    }
}

async function startGroup(activity, error) {
    const parameters = await askParameters(activity);
    if (!parameters) return;
    const response = await fetch("/v1/groups", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ activity: activity.name, parameters }) });
    const answer = await response.json().catch(() => ({}));
    if (!response.ok) {
        error.textContent = t("home.startFailed", { message: explain(answer.error ?? { message: "" }) });
        return;
    }
    seats.write(answer.code, { token: answer.token, name: rememberedName.read() ?? undefined, title: titleOf(activity) });
    location.assign(`/j/${groupKey(answer.code)}`);
}

async function begin() {
    document.documentElement.lang = language;
    const start = element("section", { class: "home-start" });
    fill(
        document.getElementById("app"),
        element("div", { class: "screen" },
            element("header", { class: "top" }, brand()),
            element("main", { class: "home" },
                element("div", { class: "panel hero" }, element("h1", {}, t("home.title")), element("p", { class: "lead" }, t("home.lead")), codeForm()),
                rejoinCards(),
                start)),
    );
    document.getElementById("code").focus({ preventScroll: true });
    const activities = await startable();
    if (activities.length === 0) return;
    const error = element("p", { class: "error", role: "alert" });
    fill(start, element("h2", {}, t("home.start")), activityTiles(activities, (activity) => startGroup(activity, error).catch((failure) => (error.textContent = failure.message))), error);
}

begin();
