// What the page of an activity imports.
//
// The page runs in a frame of the group's page, `/activities/NAME/index.html#session=s1`, which has the one connection of
// this tab; being of the same origin it hands over its live session by a direct call. Opened as a page of its own,
// `…/index.html#group=CODE&session=s1`, it connects by itself with the seat that this browser has; without a seat it goes
// to the group's page first.
//
//     import { activity } from "/sdk/activity.js";
//     const session = await activity.session();           // joined; session.view is the state at that moment
//     session.on("add_points", (body, { from, seq, mine }) => …);
//     session.onSnapshot((view) => …);                    // forget what was built, start from this view
//
// Nothing is missed between joining and listening: what arrives is kept until the first listener is there, and one turn
// of the event loop longer, so that all listeners added together hear everything.

import { Channel, Emitter } from "./events.js";

/** A joined session as the page of its activity sees it. It ends with the page: its listeners go with it. */
export class ActivitySession {
    #session;
    #events = new Emitter();
    // What waits for the first listener; null once there is one.
    #held = [];
    #isReleasing = false;
    #stop = [];
    view = null;

    /** Wraps a session; listens from now on. */
    constructor(session) {
        this.#session = session;
        const pass = (event) => (...values) => this.#deliver(event, values);
        this.#stop.push(
            session.on("*", (body, context) => this.#deliver(`message ${context.name}`, [body, context])),
            session.onJoined((view) => this.#begin(view)),
            session.onSnapshot(pass("snapshot")),
            session.onParticipants(pass("participants")),
            session.onChanged(pass("changed")),
            session.onAccepted(pass("accepted")),
            session.onConnection(pass("connection")),
            session.onInvalidated(pass("invalidated")),
        );
        globalThis.addEventListener?.("pagehide", () => this.close());
    }

    /** Joins, or asks for a fresh view if this tab is in already. */
    async join() {
        await this.#session.join();
        return this;
    }

    /** Asks for a fresh view: `onSnapshot` gets it. For pages that don't follow every message themselves. */
    async refresh() {
        await this.#session.join();
    }

    close() {
        for (const stop of this.#stop.splice(0)) stop();
    }

    get id() {
        return this.#session.id;
    }

    /** The activity's name. */
    get activity() {
        return this.#session.activity;
    }

    get metadata() {
        return this.#session.metadata;
    }

    get parameters() {
        return this.#session.parameters;
    }

    get participants() {
        return this.#session.participants;
    }

    /** This participant: `{id, member, name, color, role}`. */
    get localParticipant() {
        return this.#session.localParticipant;
    }

    /** The member who started the session. */
    get initiator() {
        return this.#session.initiator;
    }

    get state() {
        return this.#session.state;
    }

    participant(id) {
        return this.#session.participant(id);
    }

    /** Calls `listener(body, {name, from, seq, mine})` for each message of that name; `*` hears all. */
    on(name, listener) {
        return this.#listen(`message ${name}`, listener);
    }

    /** The same as a list for `for await`: `{name, body, from, seq, mine}`. */
    messages(name = "*") {
        let stop = [];
        const channel = new Channel(() => stop.forEach((each) => each()));
        stop = [this.on(name, (body, context) => channel.push({ body, ...context })), this.onInvalidated(() => channel.finish())];
        return channel;
    }

    /** `(view, {epoch, seq})`: what was built from messages is void, this is the state at that position. */
    onSnapshot(listener) {
        return this.#listen("snapshot", listener);
    }

    /** `({joined, left, changed, all})`. */
    onParticipants(listener) {
        return this.#listen("participants", listener);
    }

    /** `(parameters, {by, seq})`. */
    onChanged(listener) {
        return this.#listen("changed", listener);
    }

    /** `("online" | "reconnecting")`. */
    onConnection(listener) {
        return this.#listen("connection", listener);
    }

    /** `({ref, seq, name, body})`: an own durable message now stands at `seq`, told in its place among the messages. */
    onAccepted(listener) {
        return this.#listen("accepted", listener);
    }

    /** `(reason, replacedBy)`: the session is over for this page. */
    onInvalidated(listener) {
        return this.#listen("invalidated", listener);
    }

    /** Sends a durable message; resolves with `{seq}`, rejects with an error that has `code`, `message`, `reason`, `retry_ms`, … */
    send(name, body, options) {
        return this.#session.send(name, body, options);
    }

    /** Sends a transient or latest message if it can go now. */
    post(name, body, options) {
        return this.#session.post(name, body, options);
    }

    /** Gives the session new parameters. */
    change(parameters) {
        return this.#session.change(parameters);
    }

    /** The host's time (ms since 1970). */
    now() {
        return this.#session.now();
    }

    /** A short id that nobody else makes. */
    newId() {
        return this.#session.newId();
    }

    /** The view holds all that came before it. */
    #begin(view) {
        this.view = view;
        if (this.#held !== null) this.#held = [];
    }

    #listen(event, listener) {
        const stop = this.#events.on(event, listener);
        if (this.#held !== null && !this.#isReleasing) {
            this.#isReleasing = true;
            setTimeout(() => this.#release(), 0);
        }
        return stop;
    }

    #deliver(event, values) {
        if (this.#held !== null) this.#held.push([event, values]);
        else this.#emit(event, values);
    }

    #release() {
        const held = this.#held;
        this.#held = null;
        for (const [event, values] of held) this.#emit(event, values);
    }

    #emit(event, values) {
        if (event === "snapshot") [this.view] = values;
        this.#events.emit(event, ...values);
        if (event.startsWith("message ")) this.#events.emit("message *", ...values);
    }
}

/** What a page needs of the page around it, when there is none. */
class StandAlone {
    constructor(group, session) {
        this.group = group;
        this.session = session;
    }

    async startNew(parameters) {
        const { session } = this;
        const next = await this.group.start(session.activity, parameters, { replaces: session.id });
        location.hash = `#group=${this.group.code}&session=${next.id}`;
        location.reload();
    }

    leave() {
        this.session.leave();
        location.assign(`/j/${this.group.code}`);
    }

    toast(text) {
        console.info(text);
    }

    refused() {
        location.replace(`/j/${this.group.code}`);
    }
}

async function enter() {
    const place = new URLSearchParams(location.hash.slice(1));
    if (window.parent !== window && window.parent.activityHost) return window.parent.activityHost.enter(place.get("session"));
    return standAlone(place);
}

// Only a page of its own needs a connection: in a frame nobody waits for these modules.
async function standAlone(place) {
    const [{ connect }, { seats }] = await Promise.all([import("./group.js"), import("./seat.js")]);
    const code = place.get("group");
    if (!code || !seats.read(code)) {
        location.replace(code ? `/j/${encodeURIComponent(code)}` : "/");
        return new Promise(() => {});
    }
    const group = await connect({ group: code });
    const session = group.session(place.get("session")) ?? group.currentSessions.at(-1);
    if (!session) location.replace(`/j/${group.code}`);
    return new StandAlone(group, session);
}

let entered;
let joined;
const host = () => (entered ??= enter());

export const activity = {
    /** The joined session of this page; the same at each call. */
    session() {
        joined ??= host().then((place) =>
            new ActivitySession(place.session).join().catch((error) => {
                place.refused(error);
                throw error;
            }),
        );
        return joined;
    },

    /** Starts the same activity anew in place of this session and goes there. The others are invited. */
    async startNew(parameters) {
        return (await host()).startNew(parameters ?? (await this.session()).parameters);
    },

    /** Leaves the session, back to the group. */
    async leave() {
        (await host()).leave();
    },

    /** Shows a short text for a moment. */
    async toast(text) {
        (await host()).toast(String(text));
    },

    /** The people of the group: `{id, name, color, role}`. */
    async members() {
        return (await host()).group.members;
    },
};
