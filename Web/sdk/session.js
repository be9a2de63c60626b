// A session as this client sees it: waiting, then joined, then invalidated.

import { ActivityError } from "./errors.js";
import { Channel, Emitter } from "./events.js";
import { byteLength } from "./connection.js";
import { randomId } from "./seat.js";

/** Posts are dropped while this many bytes wait for the network: what is old by then helps nobody. */
const longestPostBacklog = 262_144;

/** Begins the ids that this page makes; a counter makes them different. */
const idPrefix = randomId(6);
let idCounter = 0;

/**
 * One shared run of an activity. Events (`on` returns a function that stops it):
 * - a message's name, or `*`: `(body, {name, from, seq, mine})`; `from` is a participant id, or null for the script
 * - through the `on…` methods: joined, snapshot, participants, changed, connection, accepted, invalidated
 */
export class GroupSession {
    state = "waiting";
    /** Why it was invalidated: `left`, `ended`, `replaced`, `removed`, `failed`. */
    reason = null;
    replacedBy = null;
    /** The state as this participant may see it: as of joining, then of the newest snapshot. */
    view = null;
    participants = [];
    localParticipantId = null;
    /** Where this participant stands: `{epoch, seq}`, or null before joining. */
    position = null;
    #group;
    #events = new Emitter();
    #joining = null;

    /** Made by the group; pages get sessions from it. */
    constructor(group, info) {
        this.#group = group;
        this.update(info);
    }

    // What the group announces about the session.
    update(info) {
        this.id = info.id ?? this.id;
        this.activity = info.activity ?? this.activity;
        this.version = info.version ?? this.version;
        this.metadata = info.metadata ?? this.metadata ?? {};
        if (this.state !== "joined") this.parameters = info.parameters ?? this.parameters ?? {};
        this.initiator = info.initiator ?? this.initiator;
        this.participantCount = info.participants ?? this.participantCount ?? 0;
    }

    get localParticipant() {
        return this.participants.find((participant) => participant.id === this.localParticipantId) ?? null;
    }

    participant(id) {
        return this.participants.find((participant) => participant.id === id) ?? null;
    }

    /** The host's time now (ms since 1970). */
    now() {
        return this.#group.now();
    }

    /** A short id that nobody else makes: for things that a page creates and shows at once. */
    newId() {
        idCounter += 1;
        return `${idPrefix}-${idCounter.toString(36)}`;
    }

    // MARK: Taking part

    /** Joins, or asks for a fresh view when joined already. Resolves once the host's answer is here. */
    join() {
        if (this.state === "invalidated") return Promise.reject(new ActivityError("no_such_session", "This session is over."));
        if (this.#joining?.promise) return this.#joining.promise;
        let settle;
        const promise = new Promise((resolve, reject) => (settle = { resolve, reject }));
        this.#joining = { promise, ...settle, ref: null };
        this.requestJoin();
        return promise;
    }

    /** Leaves; nobody else is touched. The group offers the session again, to be joined as a new participant. */
    leave() {
        if (this.state !== "joined") return;
        this.#group.request({ type: "leave", session: this.id }).catch(() => {});
        this.invalidate("left");
    }

    /** Ends it for everyone. */
    end() {
        return this.#group.request({ type: "end", session: this.id });
    }

    /** Gives the session new parameters. */
    change(parameters) {
        return this.#group.request({ type: "change", session: this.id, parameters });
    }

    /**
     * Sends a durable message. It is kept until the host has answered, also over a lost connection, and arrives in the
     * order of sending. Resolves with its place, `{seq}`; rejects with an `ActivityError`.
     */
    send(name, body = {}, { to } = {}) {
        if (this.state === "invalidated") return Promise.reject(new ActivityError("not_joined", "This session is over."));
        const envelope = { type: "send", session: this.id, name, body };
        if (to) envelope.to = to;
        const allowed = this.#group.limits?.message_bytes;
        const found = allowed ? byteLength(JSON.stringify(body)) : 0;
        if (allowed && found > allowed) {
            return Promise.reject(new ActivityError("too_large", "This is too large to send.", { limit: "message_bytes", allowed, found }));
        }
        return this.#group.request(envelope, this.id).then(({ seq }) => ({ seq }));
    }

    /** Sends a transient or latest message if it can go at once; tells whether it went. */
    post(name, body = {}, { to } = {}) {
        if (this.state !== "joined" || !this.#group.isOnline || this.#joining) return false;
        if (this.#group.backlog > longestPostBacklog) return false;
        const envelope = { type: "send", session: this.id, name, body };
        if (to) envelope.to = to;
        return this.#group.post(envelope);
    }

    // MARK: Listening

    on(name, listener) {
        return this.#events.on(`message ${name}`, listener);
    }

    /** An endless list of `{name, body, from, seq, mine}` for `for await`; all names when none is given. */
    messages(name = "*") {
        let stop = [];
        const channel = new Channel(() => stop.forEach((each) => each()));
        stop = [
            this.on(name, (body, context) => channel.push({ body, ...context })),
            this.onInvalidated(() => channel.finish()),
        ];
        return channel;
    }

    /** `(view)`: the answer to `join`, with a view that holds all that was told before. */
    onJoined(listener) {
        return this.#events.on("joined", listener);
    }

    /** `(view, position)`: forget what was built from messages, this is the state now. */
    onSnapshot(listener) {
        return this.#events.on("snapshot", listener);
    }

    /** `({joined, left, changed, all})`. */
    onParticipants(listener) {
        return this.#events.on("participants", listener);
    }

    /** `(parameters, {by, seq})`. */
    onChanged(listener) {
        return this.#events.on("changed", listener);
    }

    /** `("online" | "reconnecting")`. */
    onConnection(listener) {
        return this.#events.on("connection", listener);
    }

    /** `({ref, seq, name, body})`, in its place among the messages: an own message now stands at `seq`. */
    onAccepted(listener) {
        return this.#events.on("accepted", listener);
    }

    /** `(reason, replacedBy)`, once. */
    onInvalidated(listener) {
        return this.#events.on("invalidated", listener);
    }

    // MARK: What the group hands over

    /** Asks to join: after a reconnect from where we stood, unless somebody waits for a fresh view. */
    requestJoin() {
        this.#joining ??= { promise: null, resolve() {}, reject() {}, ref: null };
        const since = this.#joining.promise ? null : this.position;
        const participant = this.localParticipantId ?? this.#group.rememberedParticipant(this.id);
        this.#joining.ref = this.#group.requestJoin(this, { participant, since });
    }

    get isJoining() {
        return this.#joining !== null;
    }

    isJoinOf(ref) {
        return this.#joining !== null && this.#joining.ref === ref;
    }

    refused(error) {
        // Coming back must not fail because many come back at once.
        if (this.state === "joined" && (error.code === "rate_limited" || error.code === "unavailable")) {
            const { ref } = this.#joining;
            setTimeout(() => this.isJoinOf(ref) && this.requestJoin(), error.retry_ms ?? 1000);
            return;
        }
        const joining = this.#joining;
        this.#joining = null;
        joining.reject(error);
        if (this.state === "joined" || error.code === "no_such_session") this.invalidate("ended");
    }

    /** The connection came or went. */
    connectionChanged(state) {
        if (state === "reconnecting" && this.#joining) this.#joining.ref = null;
        if (this.state === "joined") this.#events.emit("connection", state);
    }

    invalidate(reason, replacedBy = null) {
        if (this.state === "invalidated") return;
        this.state = "invalidated";
        this.reason = reason;
        this.replacedBy = replacedBy;
        this.#group.invalidated(this);
        const joining = this.#joining;
        this.#joining = null;
        joining?.reject(new ActivityError("no_such_session", "This session is over.", { reason }));
        this.#events.emit("invalidated", reason, replacedBy);
    }

    receive(envelope) {
        const handler = handlers[envelope.type];
        if (!handler || this.state === "invalidated") return;
        // What is still on its way after leaving was for the participant that we no longer are.
        if (this.state === "waiting" && envelope.type !== "joined" && (envelope.type !== "invalidated" || envelope.reason === "left")) return;
        if (typeof envelope.seq === "number" && this.position && envelope.type !== "joined") {
            this.position = { epoch: envelope.epoch ?? this.position.epoch, seq: Math.max(envelope.seq, this.position.seq) };
        }
        handler.call(this, envelope);
    }

    /** An own durable message was answered with `accepted`. */
    accepted(request, { ref, seq }) {
        if (this.position && typeof seq === "number") this.position = { ...this.position, seq: Math.max(seq, this.position.seq) };
        this.#events.emit("accepted", { ref, seq, name: request.name, body: request.body });
    }

    takeJoined(envelope) {
        if (this.#joining?.ref !== envelope.ref) return;
        const joining = this.#joining;
        this.#joining = null;
        const wasJoined = this.state === "joined";
        this.state = "joined";
        this.localParticipantId = envelope.participant;
        this.#group.joined(this, envelope.acknowledged ?? 0);
        if ("state" in envelope) this.takeView(envelope, wasJoined);
        else this.replaceParticipants(envelope.participants);
        if ("state" in envelope) this.#events.emit("joined", this.view);
        joining.resolve(this);
        if (wasJoined) this.#events.emit("connection", "online");
    }

    takeView({ epoch, seq, state, parameters, participants }, isNews) {
        this.position = { epoch: epoch ?? this.position?.epoch, seq };
        this.view = state;
        const parametersBefore = JSON.stringify(this.parameters);
        if (parameters) this.parameters = parameters;
        if (isNews) this.#events.emit("snapshot", state, this.position);
        if (participants) this.replaceParticipants(participants);
        if (isNews && JSON.stringify(this.parameters) !== parametersBefore) {
            this.#events.emit("changed", this.parameters, { by: null, seq });
        }
    }

    takeMessage({ name, body, from = null, seq = null }) {
        const context = { name, from, seq, mine: from !== null && from === this.localParticipantId };
        this.#events.emit(`message ${name}`, body, context);
        if (name !== "*") this.#events.emit("message *", body, context);
    }

    takeChanged({ parameters, by, seq }) {
        this.parameters = parameters;
        this.#events.emit("changed", parameters, { by, seq });
    }

    takeParticipants({ joined = [], left = [], changed = [] }) {
        const news = new Map([...joined, ...changed].map((participant) => [participant.id, participant]));
        const goneIds = new Set(left.map(({ id }) => id));
        const all = this.participants.filter(({ id }) => !goneIds.has(id)).map((participant) => news.get(participant.id) ?? participant);
        const known = new Set(all.map(({ id }) => id));
        for (const participant of joined) if (!known.has(participant.id) && !goneIds.has(participant.id)) all.push(participant);
        this.participants = all;
        this.participantCount = all.length;
        this.#events.emit("participants", { joined, left, changed, all });
    }

    /** Takes a whole list and tells what is different in it. */
    replaceParticipants(all = []) {
        const before = new Map(this.participants.map((participant) => [participant.id, participant]));
        const after = new Set(all.map(({ id }) => id));
        const joined = all.filter(({ id }) => !before.has(id));
        const left = [...before.keys()].filter((id) => !after.has(id)).map((id) => ({ id, reason: "left" }));
        const changed = all.filter((participant) => before.has(participant.id) && JSON.stringify(before.get(participant.id)) !== JSON.stringify(participant));
        this.participants = all;
        this.participantCount = all.length;
        if (joined.length + left.length + changed.length > 0) this.#events.emit("participants", { joined, left, changed, all });
    }
}

const handlers = {
    joined: GroupSession.prototype.takeJoined,
    message: GroupSession.prototype.takeMessage,
    changed: GroupSession.prototype.takeChanged,
    participants: GroupSession.prototype.takeParticipants,
    snapshot(envelope) {
        this.takeView(envelope, true);
    },
    invalidated(envelope) {
        this.invalidate(envelope.reason ?? "ended", envelope.replaced_by ?? null);
    },
};
