// When it doesn't go on: what happened, in words, and the one next step.

import { element, icon } from "../dom.js";
import { t } from "../strings.js";
import { seats } from "/sdk/activityhost.js";
import { shownCode } from "./names.js";

/** A sentence for a request that was refused; the host's own words where it has some for people. */
export function explain(error) {
    const known = ["forbidden", "no_such_session", "rate_limited", "unavailable", "activity_failed"];
    if (error.code === "limit_reached") return t("error.limit_reached", { limit: error.limit ?? "", allowed: error.allowed ?? "" });
    if (known.includes(error.code)) return t(`error.${error.code}`);
    return error.message;
}

const home = { label: "refusal.again", run: () => location.assign("/") };
const reload = { label: "reload", run: () => location.reload() };

/**
 * Which screen a close code, or a refusal before the welcome (`limit_reached`, `locked`), leads to: the key of its texts and its
 * next step, a label with what it does. `again` connects anew.
 */
export function refusalFor(error, { code, again }) {
    switch (error.code === "closed" ? error.closeCode : error.code) {
        case "limit_reached":
            return { key: "full", step: { label: "refusal.retry", run: again } };
        case "locked":
            return { key: "locked", step: { label: "refusal.retry", run: again } };
        case 4401:
            return { key: "token", step: { label: "refusal.token.next", run: () => { seats.remove(code); again(); } } };
        case 4403:
            return { key: "removed", step: home };
        case 4404:
            return { key: "code", step: home };
        case 4409:
            return { key: "other", step: { label: "refusal.other.next", run: again } };
        case 4410:
            return { key: "ended", step: home };
        default:
            return { key: "broken", step: reload };
    }
}

const symbols = { full: "people", token: "ticket", removed: "door", code: "search", locked: "lock", other: "windows", ended: "moon", broken: "alert", tries: "clock" };

/** The screen of a refusal. */
export function refusalScreen(error, context) {
    const { key, step } = refusalFor(error, context);
    if (key === "ended" || key === "removed") seats.remove(context.code);
    return messageScreen({
        symbol: symbols[key],
        title: t(`refusal.${key}.title`),
        lead: t(`refusal.${key}.lead`, { code: key === "broken" ? (error.closeCode ?? error.code) : shownCode(context.code) }),
        step,
    });
}

/** Too many tries: says how long to wait, counts down. */
export function waitScreen(milliseconds) {
    const lead = element("p", { class: "lead" });
    const until = Date.now() + milliseconds;
    const tick = () => {
        const count = Math.max(0, Math.ceil((until - Date.now()) / 1000));
        lead.textContent = t("refusal.tries.lead", { count });
        if (count > 0 && (lead.isConnected || count * 1000 >= milliseconds - 1000)) setTimeout(tick, 1000);
    };
    tick();
    return messageScreen({ symbol: symbols.tries, title: t("refusal.tries.title"), lead });
}

export function messageScreen({ symbol, title, lead, step }) {
    return element(
        "main",
        { class: "screen centered" },
        element("div", { class: "panel message" },
            element("span", { class: "symbol tile round" }, icon(symbol)),
            element("h1", { tabIndex: -1 }, title),
            typeof lead === "string" ? element("p", { class: "lead" }, lead) : lead,
            step && element("button", { class: "button primary wide", type: "button", onClick: step.run }, t(step.label))),
    );
}
