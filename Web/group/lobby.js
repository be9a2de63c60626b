// The group between activities: what is happening, what could be started, who is here, how others get in.

import { element, fill, icon } from "../dom.js";
import { t, titleOf } from "../strings.js";
import { brand } from "./brand.js";
import { pageAddress } from "./page-address.js";
import { memberList, openPeopleDialog } from "./people.js";
import { avatarStack, peopleOf, starterName } from "./avatars.js";
import { invitation, openShareDialog } from "./share.js";
import { shownCode } from "./names.js";
import { activityTiles } from "./start.js";

/** `actions` has `join(session)` and `start(activity)`. The screen follows the group until `close`. */
export class Lobby {
    #group;
    #actions;
    #notices;
    #stop = [];
    #sessions = element("div", { class: "sessions" });
    #start = element("section", { class: "section" });
    #people = element("section", { class: "panel" });
    #invite = element("section", { class: "panel" });
    /** Sessions that were on the list before: only what is new draws attention to itself. */
    #known = new Set();
    #header = element("header", { class: "top" });
    node;

    constructor(group, actions, notices) {
        this.#group = group;
        this.#actions = actions;
        this.#notices = notices;
        this.node = element(
            "div",
            { class: "screen" },
            this.#header,
            element("main", { class: "lobby" },
                element("div", { class: "lobby-main" },
                    element("h1", { class: "visually-hidden", tabIndex: -1 }, t("lobby.title", { code: shownCode(group.code) })),
                    element("section", { class: "section" }, element("h2", {}, t("lobby.now")), this.#sessions),
                    this.#start),
                element("aside", { class: "side" }, this.#people, this.#invite)),
        );
        this.#drawGroup();
        this.#drawMembers();
        this.#drawSessions();
        this.#stop = [
            group.on("sessions", () => this.#drawSessions()),
            group.on("members", () => this.#drawMembers()),
            group.on("group", () => { this.#drawGroup(); this.#drawSessions(); }),
        ];
    }

    close() {
        for (const stop of this.#stop) stop();
    }

    /** What depends on the code, the lock and the own role. */
    #drawGroup() {
        const group = this.#group;
        fill(this.#invite, element("h2", {}, t("lobby.invite")), invitation(group));
        const mayStart = group.isAtLeast("participant");
        this.#start.hidden = !mayStart || group.activities.length === 0;
        if (this.#start.childElementCount === 0 && mayStart) {
            fill(this.#start, element("h2", {}, t("lobby.start")), activityTiles(group.activities, (activity) => this.#actions.start(activity)));
        }
        this.#drawHeader();
    }

    #drawMembers() {
        const group = this.#group;
        fill(
            this.#people,
            element("div", { class: "panel-head" }, element("h2", {}, t("lobby.people")), element("span", { class: "count" }, String(group.members.length)), element("span", { class: "grow" }),
                element("button", { class: "button quiet square", type: "button", "aria-label": t("people.title"), onClick: () => openPeopleDialog(group, this.#notices) }, icon("more"))),
            memberList(group),
        );
        this.#drawHeader();
    }

    #drawHeader() {
        const group = this.#group;
        fill(
            this.#header,
            brand(),
            element("span", { class: "grow" }),
            element("button", { class: "button quiet code-chip", type: "button", onClick: () => openShareDialog(group) },
                group.locked && icon("lock"), element("span", {}, shownCode(group.code))),
            element("button", { class: "button only-narrow", type: "button", onClick: () => openPeopleDialog(group, this.#notices), "aria-label": t("people.button", { count: group.members.length }) },
                icon("people"), String(group.members.length)),
            element("button", { class: "button primary only-narrow", type: "button", onClick: () => openShareDialog(group) }, icon("invite"), t("share.button")),
        );
    }

    #drawSessions() {
        const sessions = [...this.#group.currentSessions].reverse();
        // A list that is drawn anew must not take the focus away from its button.
        const focused = this.#sessions.contains(document.activeElement) ? document.activeElement.dataset.session : null;
        if (sessions.length === 0) {
            const key = this.#group.isAtLeast("participant") ? "lobby.nothing" : "lobby.nothingViewer";
            fill(this.#sessions, element("p", { class: "empty" }, t(key)));
            return;
        }
        fill(this.#sessions, sessions.map((session) => this.#card(session)));
        if (focused) this.#sessions.querySelector(`[data-session="${CSS.escape(focused)}"]`)?.focus();
    }

    #card(session) {
        const inside = session.participantCount > 0 ? t("lobby.inside", { count: session.participantCount }) : t("lobby.insideNone");
        const title = titleOf(session);
        const isNew = !this.#known.has(session.id);
        this.#known.add(session.id);
        pageAddress(this.#group, session.activity);
        return element(
            "article",
            { class: isNew ? "session-card is-new" : "session-card" },
            element("span", { class: "symbol tile", "aria-hidden": "true" }, session.metadata?.symbol ?? "✨"),
            element("div", { class: "grow" }, element("h3", {}, title), element("p", { class: "note" }, `${this.#startedBy(session)} · ${inside}`)),
            session.participants.length > 0 && avatarStack(peopleOf(session.participants)),
            element("button", { class: "button primary", type: "button", "data-session": session.id, "aria-label": `${t("lobby.join")}: ${title}`, onClick: () => this.#actions.join(session) }, t("lobby.join")),
        );
    }

    #startedBy(session) {
        return session.initiator === this.#group.member?.id ? t("lobby.startedByYou") : t("lobby.startedBy", { name: starterName(this.#group, session) });
    }
}
