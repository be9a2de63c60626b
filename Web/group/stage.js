// An activity on screen: a slim bar, and the activity's page in a frame that gets the live session from here.

import { element, fill, icon, openDialog } from "../dom.js";
import { t, titleOf } from "../strings.js";
import { avatarStack, peopleOf, starterName } from "./avatars.js";
import { menuButton } from "./menu.js";
import { pageAddress } from "./page-address.js";
import { openPeopleDialog } from "./people.js";
import { explain } from "./refusal.js";
import { openShareDialog } from "./share.js";

/** Whether people come and go is announced only while it is few. */
const announcedCrowd = 8;

/** `actions`: `leave()`, `startNew(session, parameters)`, `join(session)`. */
export class Stage {
    #group;
    #session;
    #actions;
    #notices;
    #stop = [];
    #names = new Map();
    /** This page is starting the session anew: it goes to the new one by itself. */
    isReplacing = false;
    #bar = element("header", { class: "stage-bar" });
    #people = element("button", { class: "button quiet stack-button", type: "button" });
    #frame = element("iframe", { class: "frame", allow: "fullscreen; clipboard-write" });
    #cover = element("div", { class: "cover", role: "status" });
    node;

    constructor(group, session, actions, notices) {
        this.#group = group;
        this.#session = session;
        this.#actions = actions;
        this.#notices = notices;
        this.#frame.title = titleOf(session);
        this.node = element("div", { class: "screen stage" }, this.#bar, element("div", { class: "stage-main" }, this.#frame, this.#cover));
        this.#drawBar();
        this.#drawPeople();
        this.#coverWith(element("span", { class: "spinner", "aria-hidden": "true" }), element("p", {}, t("stage.joining", { title: titleOf(session) })));
        this.#stop = [
            session.onParticipants((change) => this.#participantsChanged(change)),
            session.onInvalidated((reason, replacedBy) => this.#invalidated(reason, replacedBy)),
            group.on("group", () => this.#drawBar()),
        ];
        this.#open();
    }

    get session() {
        return this.#session;
    }

    close() {
        for (const stop of this.#stop) stop();
        this.#frame.remove();
    }

    async #open() {
        const address = await pageAddress(this.#group, this.#session.activity);
        this.#frame.src = `${address}#session=${encodeURIComponent(this.#session.id)}`;
    }

    /** The activity's page has joined: it may be seen. */
    entered() {
        this.#drawPeople();
        if (this.#session.state !== "joined") return;
        this.#cover.hidden = true;
        this.#frame.focus();
    }

    /** Joining was refused. */
    refused(error) {
        if (this.#session.state === "invalidated") return;
        const text = error.code === "limit_reached" && error.limit === "participants"
            ? t("stage.full", { title: titleOf(this.#session), allowed: error.allowed })
            : t("stage.cannotJoin", { message: explain(error) });
        this.#coverWith(element("h2", { tabIndex: -1 }, text),
            element("div", { class: "row" }, this.#backButton(), element("button", { class: "button primary", type: "button", onClick: () => this.#actions.join(this.#session) }, t("refusal.retry"))));
    }

    #backButton() {
        return element("button", { class: "button", type: "button", onClick: () => this.#actions.leave() }, t("back"));
    }

    #drawBar() {
        const session = this.#session;
        fill(
            this.#bar,
            element("button", { class: "button quiet back", type: "button", "aria-label": t("stage.lobbyLabel"), title: t("stage.lobbyLabel"), onClick: () => this.#actions.leave() },
                icon("back"), element("span", { class: "only-wide" }, t("stage.lobby"))),
            element("h1", { class: "stage-title" }, element("span", { "aria-hidden": "true" }, session.metadata?.symbol ?? ""), element("span", { class: "ellipsis" }, titleOf(session))),
            element("span", { class: "grow" }),
            this.#people,
            element("button", { class: "button", type: "button", "aria-label": t("share.title"), onClick: () => openShareDialog(this.#group) }, icon("invite"), element("span", { class: "only-wide" }, t("share.button"))),
            menuButton(t("stage.more"), () => this.#menu()),
        );
    }

    #menu() {
        const mayEnd = this.#session.initiator === this.#group.member?.id || this.#group.isAtLeast("moderator");
        return [
            { symbol: "people", label: t("people.title"), run: () => openPeopleDialog(this.#group, this.#notices) },
            mayEnd && { symbol: "plus", label: t("stage.new"), run: () => this.#actions.startNew(this.#session, this.#session.parameters).catch((error) => this.#notices.toast(t("stage.cannotStart", { message: explain(error) }))) },
            mayEnd && { symbol: "stop", label: t("stage.end"), danger: true, run: () => this.#askEnd() },
        ].filter(Boolean);
    }

    #askEnd() {
        const end = () => {
            dialog.close();
            this.#session.end().catch((error) => this.#notices.toast(explain(error)));
        };
        const cancel = element("button", { class: "button", type: "button", onClick: () => dialog.close() }, t("cancel"));
        const dialog = openDialog(
            { title: t("stage.endTitle", { title: titleOf(this.#session) }), label: t("close") },
            element("p", { class: "lead" }, t("stage.endLead")),
            element("div", { class: "row end" }, cancel, element("button", { class: "button danger-fill", type: "button", onClick: end }, t("stage.endYes"))),
        );
        cancel.focus();
    }

    #drawPeople() {
        const people = peopleOf(this.#session.participants);
        this.#people.onclick = () => openPeopleDialog(this.#group, this.#notices);
        this.#people.setAttribute("aria-label", t("people.button", { count: people.length }));
        fill(this.#people, avatarStack(people, { most: matchMedia("(max-width: 520px)").matches ? 3 : 5 }));
    }

    #participantsChanged({ joined, left, all }) {
        const before = this.#names;
        if (all.length <= announcedCrowd) {
            for (const { id, name } of joined) if (id !== this.#session.localParticipantId) this.#notices.say(t("announce.joined", { name }));
            for (const { id } of left) if (before.has(id)) this.#notices.say(t("announce.left", { name: before.get(id) }));
        }
        this.#names = new Map(all.map(({ id, name }) => [id, name]));
        this.#drawPeople();
    }

    #invalidated(reason, replacedBy) {
        if (reason === "left") return;
        if (reason === "replaced") {
            if (!this.isReplacing) this.#showReplaced(replacedBy);
            return;
        }
        const key = ["removed", "failed"].includes(reason) ? reason : "ended";
        const rejoin = reason === "failed" && this.#group.session(this.#session.id);
        this.#coverWith(
            element("h2", { tabIndex: -1 }, t(`stage.${key}Title`)),
            element("p", { class: "lead" }, t(`stage.${key}Lead`)),
            element("div", { class: "row" }, rejoin && element("button", { class: "button primary", type: "button", onClick: () => this.#actions.join(rejoin) }, t("stage.rejoin")),
                element("button", { class: rejoin ? "button" : "button primary", type: "button", onClick: () => this.#actions.leave() }, t("back"))));
    }

    /** Somebody else started it anew: who accepts moves there. The announcement may come after the end of the old one. */
    #showReplaced(id) {
        const group = this.#group;
        const next = group.session(id);
        if (!next) this.#stop.push(group.on("session", (session) => session.id === id && this.#showReplaced(id)));
        this.#coverWith(
            element("span", { class: "symbol huge", "aria-hidden": "true" }, this.#session.metadata?.symbol ?? "✨"),
            element("h2", { tabIndex: -1 }, t("stage.replacedTitle", { name: starterName(group, next) })),
            element("p", { class: "lead" }, t("stage.replacedLead", { title: titleOf(this.#session) })),
            element("div", { class: "row" }, this.#backButton(),
                next && element("button", { class: "button primary", type: "button", onClick: () => this.#actions.join(group.session(id) ?? next) }, t("lobby.join"))));
    }

    #coverWith(...children) {
        fill(this.#cover, element("div", { class: "panel message" }, children));
        this.#cover.hidden = false;
        const first = this.#cover.querySelector("h2");
        if (first) requestAnimationFrame(() => (this.#cover.querySelector("button.primary") ?? first).focus());
    }
}
