// A group as this client sees it: who is in, which sessions run, and the requests that go to the host.

import { ActivityError } from "./errors.js";
import { Channel, Emitter } from "./events.js";
import { Connection } from "./connection.js";
import { GroupSession } from "./session.js";
import { HostClock } from "./clock.js";
import { Outbox } from "./outbox.js";
import { clientId, groupKey, seats, tabMemory } from "./seat.js";

/** Roles from the least to the most that they may do. */
export const roles = ["viewer", "participant", "moderator", "host"];

const samplesAtStart = 3;

/** Where the host of this page listens for clients. */
function socketURL(base = globalThis.location) {
    return `${base.protocol === "https:" ? "wss" : "ws"}://${base.host}/v1/socket`;
}

/**
 * A connection to one group. Events through `on(event, listener)`:
 * - `state` (`connecting`, `online`, `reconnecting`, `closed`; with an `ActivityError` for the latter two)
 * - `members` (`{joined, left, changed}`), `group` (code, lock or own role), `sessions` (something about them)
 * - `session` (a session that was not there before: an invitation), `sessionEnded` (a session)
 * - `pending` (how many own changes wait for an answer)
 */
export class Group {
    code;
    locked = false;
    /** Own member. */
    member = null;
    members = [];
    activities = [];
    limits = {};
    #sessions = new Map();
    #connection;
    #events = new Emitter();
    #clock = new HostClock();
    #outbox;
    #options;
    #places;
    #known = false;

    /** `options`: group, name, token, client, locale, url; all but `group` have defaults that suit a page. */
    constructor(options) {
        this.#options = options;
        this.code = groupKey(options.group);
        this.#outbox = new Outbox({
            lastRef: tabMemory.read("refs") ?? 0,
            onRef: (ref) => tabMemory.write("refs", ref),
        });
        this.#places = tabMemory.read("places") ?? {};
        this.#connection = new Connection(options.url ?? socketURL(), {
            hello: () => this.#hello(),
            online: (welcome) => this.#welcomed(welcome),
            received: (envelope) => this.#receive(envelope),
            state: (state, error) => this.#stateChanged(state, error),
        });
    }

    open() {
        this.#connection.open();
    }

    /** Closes the connection; the seat and unanswered changes are kept for `open` on a new `Group`. */
    close() {
        this.#connection.close();
    }

    on(event, listener) {
        return this.#events.on(event, listener);
    }

    get state() {
        return this.#connection.state;
    }

    get isOnline() {
        return this.#connection.state === "online";
    }

    get backlog() {
        return this.#connection.backlog;
    }

    /** Unanswered own changes. */
    get pending() {
        return this.#outbox.size;
    }

    now() {
        return this.#clock.now();
    }

    retryNow() {
        this.#connection.retryNow();
    }

    memberNamed(id) {
        return this.members.find((member) => member.id === id) ?? null;
    }

    /** Whether the own role is `role` or above. */
    isAtLeast(role) {
        return roles.indexOf(this.member?.role) >= roles.indexOf(role);
    }

    // MARK: Sessions

    /** The sessions that can be joined or are joined, the newest last. */
    get currentSessions() {
        return [...this.#sessions.values()];
    }

    session(id) {
        return this.#sessions.get(id) ?? null;
    }

    /** Every session as it becomes available, those that run already first. */
    sessions() {
        const stop = [];
        const channel = new Channel(() => stop.forEach((each) => each()));
        stop.push(this.on("session", (session) => channel.push(session)));
        stop.push(this.on("state", (state) => state === "closed" && channel.finish()));
        for (const session of this.currentSessions) channel.push(session);
        return channel;
    }

    /** Whether a session can be started here and now. */
    get isEligibleForGroupSession() {
        return this.isOnline && this.isAtLeast("participant");
    }

    /** What starting would do: `activationPreferred`, or `activationDisabled` when this member can't. */
    prepareForActivation() {
        return Promise.resolve(this.isEligibleForGroupSession ? "activationPreferred" : "activationDisabled");
    }

    /** Starts an activity; with `replaces`, the session that it takes the place of. Resolves with the session, not joined. */
    async start(activity, parameters = {}, { replaces = null } = {}) {
        const { session: id } = await this.request({ type: "start", activity, parameters, replaces });
        const known = this.session(id);
        if (known) return known;
        const description = this.activities.find(({ name }) => name === activity);
        return this.#announce({
            id, activity, parameters, initiator: this.member?.id, participants: 0,
            version: description?.version, metadata: description?.metadata,
        });
    }

    // MARK: The group itself

    rename(name) {
        return this.request({ type: "rename", name });
    }

    setRole(member, role) {
        return this.request({ type: "role", member, role });
    }

    remove(member) {
        return this.request({ type: "remove", member });
    }

    /** The new lock and the new code come as `group`, to everybody. */
    lock(locked) {
        return this.request({ type: "lock", locked });
    }

    newCode() {
        return this.request({ type: "new_code" });
    }

    // MARK: Requests

    /** Puts a request in the outbox; `session` says that it has to wait until that session is joined. */
    request(envelope, session = null) {
        if (this.state === "closed") return Promise.reject(new ActivityError("closed", "The connection is closed."));
        const answer = this.#outbox.add(envelope, session);
        this.#events.emit("pending", this.#outbox.size);
        this.#pump();
        return answer;
    }

    /** Sends without a ref: nothing is kept, nothing is answered. */
    post(envelope) {
        return this.#connection.send(envelope);
    }

    requestJoin(session, { participant, since }) {
        if (!this.isOnline) return null;
        const ref = this.#outbox.nextRef();
        this.post({ type: "join", ref, session: session.id, participant, since });
        return ref;
    }

    rememberedParticipant(session) {
        return this.#places[this.code]?.session === session ? this.#places[this.code].participant : null;
    }

    /** The session that this tab was in before it was loaded again, if it still runs. */
    get rememberedSession() {
        const place = this.#places[this.code];
        return place ? this.session(place.session) : null;
    }

    joined(session, acknowledged) {
        this.#outbox.acknowledge(acknowledged);
        this.#remember({ session: session.id, participant: session.localParticipantId });
        queueMicrotask(() => this.#pump());
        this.#events.emit("sessions");
    }

    /** A session ended for this client. If it goes on for others it is offered again, as a new object. */
    invalidated(session) {
        this.#outbox.fail(new ActivityError("not_joined", "This session is over.", { reason: session.reason }), session.id);
        if (this.#places[this.code]?.session === session.id) this.#remember(null);
        if (session.reason === "left") {
            this.#sessions.set(session.id, new GroupSession(this, { ...session, participants: Math.max(0, session.participantCount - 1) }));
        } else {
            this.#sessions.delete(session.id);
            this.#events.emit("sessionEnded", session);
        }
        this.#events.emit("sessions");
    }

    #remember(place) {
        if (place) this.#places[this.code] = place;
        else delete this.#places[this.code];
        tabMemory.write("places", this.#places);
    }

    #pump() {
        if (!this.isOnline) return;
        const mayGo = (id) => id === null || (this.session(id)?.state === "joined" && !this.session(id).isJoining);
        for (const envelope of this.#outbox.take(mayGo)) this.#connection.send(envelope);
    }

    // MARK: What comes in

    #hello() {
        const { name, locale, client } = this.#options;
        const seat = seats.read(this.code);
        return {
            type: "hello", protocol: 1, group: this.code, name: name ?? null, token: this.#options.token ?? seat?.token ?? null, client,
            locale: locale ?? globalThis.navigator?.language ?? "en",
        };
    }

    #welcomed(welcome) {
        this.#options.token = welcome.token;
        this.member = welcome.member;
        this.activities = welcome.activities ?? [];
        this.limits = welcome.limits ?? {};
        this.members = welcome.group?.members ?? [];
        const asked = this.code;
        this.code = groupKey(welcome.group?.code ?? asked);
        this.locked = welcome.group?.locked ?? false;
        const seat = { token: welcome.token, name: welcome.member?.name };
        seats.write(this.code, seat);
        // The page's address may still hold an older code or a link's token: the seat is found under it too.
        if (asked !== this.code) seats.write(asked, seat);
        this.#clock.reset();
        this.#clock.guess(welcome.time);
        for (let count = 0; count < samplesAtStart; count += 1) this.#connection.sampleClock();
        this.#outbox.acknowledge(welcome.acknowledged ?? 0);
        this.#takeSessions(welcome.group?.sessions ?? []);
        this.#events.emit("members", { joined: [], left: [], changed: [] });
        this.#events.emit("group");
        this.#events.emit("sessions");
        this.#known = true;
        this.#events.emit("welcome");
        this.#pump();
    }

    /** After a reconnect: who was joined joins again from where it stood; what is gone has ended. */
    #takeSessions(infos) {
        const running = new Set(infos.map(({ id }) => id));
        for (const session of this.currentSessions) if (!running.has(session.id)) session.invalidate("ended");
        for (const info of infos) {
            const session = this.session(info.id);
            if (!session) this.#announce(info);
            else {
                session.update(info);
                if (session.state === "joined" || session.isJoining) session.requestJoin();
            }
        }
    }

    #announce(info) {
        const session = new GroupSession(this, info);
        this.#sessions.set(session.id, session);
        this.#events.emit("session", session, { isNews: this.#known });
        this.#events.emit("sessions");
        return session;
    }

    #receive(envelope) {
        switch (envelope.type) {
            case "pong":
                this.#clock.sample(envelope);
                return;
            case "members":
                this.#takeMembers(envelope);
                return;
            case "group":
                this.#take(envelope.group);
                return;
            case "session":
                this.#takeSession(envelope.session);
                return;
            case "accepted":
            case "started":
            case "rejected":
                this.#takeAnswer(envelope);
                return;
            default:
                this.session(envelope.session)?.receive(envelope);
        }
    }

    #takeAnswer(envelope) {
        const request = this.#outbox.answer(envelope);
        if (request) {
            if (envelope.type === "accepted" && request.type === "send") this.session(request.session)?.accepted(request, envelope);
            this.#events.emit("pending", this.#outbox.size);
            this.#pump();
            return;
        }
        if (envelope.type !== "rejected") return;
        const joining = this.currentSessions.find((session) => session.isJoinOf(envelope.ref));
        if (joining) joining.refused(ActivityError.rejected(envelope));
        else this.#events.emit("rejected", ActivityError.rejected(envelope));
    }

    #takeSession(info) {
        const session = this.session(info.id);
        if (session) {
            session.update(info);
            this.#events.emit("sessions");
        } else this.#announce(info);
    }

    #takeMembers({ joined = [], left = [], changed = [] }) {
        const gone = new Set(left);
        const news = new Map([...joined, ...changed].map((member) => [member.id, member]));
        const kept = this.members.filter(({ id }) => !gone.has(id)).map((member) => news.get(member.id) ?? member);
        const known = new Set(kept.map(({ id }) => id));
        this.members = [...kept, ...joined.filter(({ id }) => !known.has(id))];
        const own = this.memberNamed(this.member?.id);
        if (own) this.member = own;
        this.#events.emit("members", { joined, left: [...gone], changed });
        if (news.has(this.member?.id)) this.#events.emit("group");
    }

    /** A new code or lock. */
    #take({ code, locked }) {
        const before = this.code;
        this.code = groupKey(code);
        this.locked = locked;
        seats.write(this.code, { token: this.#options.token, name: this.member?.name });
        if (before !== this.code && this.#places[before]) this.#remember(this.#places[before]);
        this.#events.emit("group");
    }

    #stateChanged(state, error) {
        if (state !== "online") this.#outbox.rewind();
        if (state === "closed") this.#outbox.fail(error ?? new ActivityError("closed", "The connection is closed."));
        for (const session of this.currentSessions) if (state !== "online") session.connectionChanged("reconnecting");
        this.#events.emit("state", state, error);
    }
}

/**
 * Connects to a group and resolves once the host has welcomed us; rejects when it refuses for good. A member who was
 * here before is that member again: the seat is kept in this browser.
 */
export async function connect(options) {
    const group = new Group({ ...options, client: options.client ?? (await clientId()) });
    return new Promise((resolve, reject) => {
        group.on("welcome", () => resolve(group));
        group.on("state", (state, error) => state === "closed" && reject(error ?? new ActivityError("closed", "")));
        group.open();
    });
}
