// Requests that must not get lost: each keeps its ref and its place until the host has answered it.

import { ActivityError } from "./errors.js";

/** Requests that wait for an answer at most; more are refused here, so that a long time offline stays bounded. */
export const outboxCapacity = 200;

/**
 * The outbox of one seat and client. Refs grow and are given when a request is first sent; a request that was sent but
 * not answered goes out again under its ref after a reconnect, and the host answers it without applying it twice.
 */
export class Outbox {
    #entries = [];
    #lastRef;
    #onRef;

    /** `lastRef` is the highest ref that may have been used before; `onRef` hears of each new one. */
    constructor({ lastRef = 0, onRef = () => {} } = {}) {
        this.#lastRef = lastRef;
        this.#onRef = onRef;
    }

    get size() {
        return this.#entries.length;
    }

    /** Unanswered durable messages of `session`, or of all. */
    pending(session) {
        return this.#entries.filter((entry) => entry.envelope.type === "send" && (!session || entry.session === session)).length;
    }

    /** Refs that the host has accepted are never used again. */
    acknowledge(ref) {
        if (ref > this.#lastRef) this.#lastRef = ref;
    }

    nextRef() {
        this.#lastRef += 1;
        this.#onRef(this.#lastRef);
        return this.#lastRef;
    }

    /** Puts a request in line. The promise settles with the host's answer. */
    add(envelope, session = null) {
        return new Promise((resolve, reject) => {
            if (this.#entries.length >= outboxCapacity) {
                reject(
                    new ActivityError("limit_reached", "Too many changes are waiting for the connection.", {
                        limit: "outbox",
                        allowed: outboxCapacity,
                        found: outboxCapacity + 1,
                    }),
                );
                return;
            }
            this.#entries.push({ envelope, session, ref: null, sent: false, resolve, reject });
        });
    }

    /** Takes the requests that may be sent now, in order. `mayGo(session)` tells whether a session's may. */
    take(mayGo) {
        const envelopes = [];
        for (const entry of this.#entries) {
            if (entry.sent || !mayGo(entry.session)) continue;
            entry.ref ??= this.nextRef();
            entry.sent = true;
            envelopes.push({ ...entry.envelope, ref: entry.ref });
        }
        return envelopes;
    }

    /** The connection is gone: what was sent and not answered must be sent again. */
    rewind() {
        for (const entry of this.#entries) entry.sent = false;
    }

    /** Settles the request that `answer` belongs to and returns its envelope, or null if nobody waits for it. */
    answer(answer) {
        const index = this.#entries.findIndex((entry) => entry.ref !== null && entry.ref === answer.ref);
        if (index < 0) return null;
        const [entry] = this.#entries.splice(index, 1);
        if (answer.type === "rejected") entry.reject(ActivityError.rejected(answer));
        else entry.resolve(answer);
        return entry.envelope;
    }

    /** Gives up on the requests of `session`, or on all. */
    fail(error, session = null) {
        const failed = this.#entries.filter((entry) => session === null || entry.session === session);
        this.#entries = this.#entries.filter((entry) => !failed.includes(entry));
        for (const entry of failed) entry.reject(error);
    }
}
