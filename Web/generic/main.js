// The page of activities that have none: a form for each message, the live state, who takes part, what was sent.

import { element, fill } from "../dom.js";
import { language, t, titleOf } from "../strings.js";
import { activity } from "/sdk/activity.js";
import { roles } from "/sdk/activityhost.js";
import { avatar, peopleOf } from "../group/avatars.js";
import { explain } from "../group/refusal.js";
import { describeActivity } from "../group/start.js";
import { schemaForm } from "./form.js";
import { tree } from "./tree.js";

/** Lines kept in the list of messages. */
const longestLog = 200;
/** This page doesn't know what a message means for the state: it asks anew, at most this often (milliseconds). */
const refreshEvery = 400;
const unfoldedAtFirst = 5;

class GenericPage {
    #session;
    #open = new Set();
    #isRefreshing = false;
    #state = element("div", { class: "state" });
    #people = element("ul", { class: "people" });
    #log = element("ol", { class: "log", reversed: true });
    #forms = element("div", { class: "forms" });

    constructor(session) {
        this.#session = session;
        // The first level is what one wants to see; what lies deeper is unfolded by hand.
        for (const key of Object.keys(session.view ?? {}).slice(0, unfoldedAtFirst)) this.#open.add(`/${key}`);
    }

    begin(root) {
        const session = this.#session;
        fill(
            root,
            element("main", { class: "generic" },
                element("h1", { class: "visually-hidden" }, titleOf(session)),
                element("section", { class: "panel" }, element("h2", {}, t("generic.send")), this.#forms),
                element("section", { class: "panel" }, element("h2", {}, t("generic.state")), this.#state),
                element("div", { class: "stack" },
                    element("section", { class: "panel" }, element("h2", {}, t("generic.participants")), this.#people),
                    element("section", { class: "panel" }, element("h2", {}, t("generic.messages")), this.#log))),
        );
        session.on("*", (body, { name, from, seq }) => {
            this.#show(name, body, from);
            if (seq !== null) this.#refresh();
        });
        session.onAccepted(({ name, body }) => {
            this.#show(name, body, session.localParticipant?.id);
            this.#refresh();
        });
        session.onSnapshot(() => this.#drawState());
        session.onChanged(() => this.#refresh());
        session.onParticipants(() => this.#drawPeople());
        this.#drawState();
        this.#drawPeople();
        this.#drawForms();
        fill(this.#log, element("li", { class: "note" }, t("generic.noMessages")));
    }

    #refresh() {
        if (this.#isRefreshing) return;
        this.#isRefreshing = true;
        setTimeout(() => {
            this.#isRefreshing = false;
            // Without a connection the next one brings a fresh view by itself.
            this.#session.refresh().catch(() => {});
        }, refreshEvery);
    }

    #drawState() {
        fill(this.#state, tree(this.#session.view ?? {}, this.#open));
    }

    #drawPeople() {
        const own = this.#session.localParticipant;
        fill(this.#people, peopleOf(this.#session.participants).map((person) => element("li", {}, avatar(person),
            element("span", { class: "person-name" }, person.name, person.member === own?.member && element("span", { class: "you" }, ` (${t("you")})`)))));
    }

    #show(name, body, from) {
        const person = from === null ? null : this.#session.participant(from);
        if (this.#log.firstElementChild?.className === "note") this.#log.replaceChildren();
        this.#log.prepend(element("li", {},
            person ? avatar(person) : element("span", { class: "avatar rest", "aria-hidden": "true" }, "·"),
            element("div", { class: "grow" }, element("p", { class: "log-head" }, element("strong", {}, name), element("span", { class: "note" }, ` ${person?.name ?? t("generic.script")}`)),
                element("code", {}, JSON.stringify(body)))));
        while (this.#log.childElementCount > longestLog) this.#log.lastElementChild.remove();
    }

    async #drawForms() {
        const session = this.#session;
        const description = await describeActivity(session.activity);
        const may = Object.entries(description?.messages ?? {}).filter(([name, { right }]) => name !== "*" && maySend(right, session));
        if (may.length === 0) {
            fill(this.#forms, element("p", { class: "empty" }, t("generic.noForms")));
            return;
        }
        fill(this.#forms, may.map(([name, message], index) => this.#form(name, message, index === 0)));
    }

    /** A message's description is its schema, with delivery and right beside the schema's own words. */
    #form(name, schema, isOpen) {
        const session = this.#session;
        const form = schemaForm(schema, {
            label: t("form.send"),
            async onSubmit(value) {
                if (schema.delivery !== "durable") {
                    session.post(name, value);
                    return;
                }
                await session.send(name, value).catch((error) => {
                    throw new Error(explain(error));
                });
                activity.toast(t("form.sent"));
            },
        });
        return element("details", { class: "message-form", open: isOpen },
            element("summary", {}, element("strong", {}, name)), form);
    }
}

/** Whether the own role may send a message of that right. */
function maySend(right, { localParticipant, initiator }) {
    const rank = roles.indexOf(localParticipant?.role);
    if (right === "script" || rank < roles.indexOf("participant")) return false;
    if (right === "initiator") return localParticipant.member === initiator || rank >= roles.indexOf("moderator");
    return rank >= roles.indexOf(right ?? "participant");
}

document.documentElement.lang = language;
const session = await activity.session();
new GenericPage(session).begin(document.getElementById("app"));
