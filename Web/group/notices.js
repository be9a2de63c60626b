// What the page tells in passing: toasts, the state of the connection, invitations, and words for screen readers.

import { element, fill } from "../dom.js";
import { t } from "../strings.js";

const toastTime = 4000;
const backTime = 2000;
/** A short cut in the connection is nobody's business. */
const silentTime = 2000;

export class Notices {
    #area = element("div", { class: "notices" });
    #banner = element("div", { class: "banner", role: "status", "aria-live": "polite" });
    #cards = element("div", { class: "cards" });
    #toasts = element("div", { class: "toasts", role: "status", "aria-live": "polite" });
    #spoken = element("div", { class: "visually-hidden", role: "log", "aria-live": "polite" });
    #timer = null;
    #isLost = false;

    constructor() {
        this.#banner.hidden = true;
        fill(this.#area, this.#banner, this.#cards, this.#toasts, this.#spoken);
        document.body.append(this.#area);
    }

    toast(text) {
        const toast = element("p", { class: "toast" }, text);
        // One at a time: a pile would reach into the activity.
        this.#toasts.replaceChildren(toast);
        setTimeout(() => toast.remove(), toastTime);
    }

    /** Says something to screen readers only. */
    say(text) {
        this.#spoken.append(element("p", {}, text));
        while (this.#spoken.childElementCount > 20) this.#spoken.firstElementChild.remove();
    }

    /** Shows that the connection is gone, once it has been for a moment; `retry` is what the button does. */
    connectionLost(retry) {
        if (this.#isLost) return;
        this.#isLost = true;
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => {
            fill(
                this.#banner,
                element("span", { class: "spinner", "aria-hidden": "true" }),
                element("span", {}, t("connection.lost"), element("span", { class: "only-wide" }, ` ${t("connection.reconnecting")}`)),
                element("button", { class: "button small", type: "button", onClick: retry }, t("connection.retry")),
            );
            this.#banner.className = "banner lost";
            this.#banner.hidden = false;
        }, silentTime);
    }

    connectionBack() {
        if (!this.#isLost) return;
        this.#isLost = false;
        clearTimeout(this.#timer);
        if (this.#banner.hidden) return;
        fill(this.#banner, element("span", {}, t("connection.back")));
        this.#banner.className = "banner back";
        this.#timer = setTimeout(() => (this.#banner.hidden = true), backTime);
    }

    /** The connection is closed for good: another screen says so. */
    clear() {
        clearTimeout(this.#timer);
        this.#isLost = false;
        this.#banner.hidden = true;
        this.#cards.replaceChildren();
    }

    /** A card with one thing to do; returns a function that takes it away. */
    card({ symbol, text, action, onAction }) {
        const card = element(
            "div",
            { class: "card-notice", role: "status" },
            element("span", { class: "symbol", "aria-hidden": "true" }, symbol),
            element("p", {}, text),
            element("div", { class: "row" },
                element("button", { class: "button quiet", type: "button", onClick: () => card.remove() }, t("notNow")),
                element("button", { class: "button primary", type: "button", onClick: () => { card.remove(); onAction(); } }, action)),
        );
        this.#cards.append(card);
        while (this.#cards.childElementCount > 2) this.#cards.firstElementChild.remove();
        return () => card.remove();
    }
}
