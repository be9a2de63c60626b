// One socket to the host that comes back by itself: back-off, heartbeat, frames of envelopes. It knows nothing of groups.

import { ActivityError, comebackDelay } from "./errors.js";
import { report } from "./events.js";

/** Timings in milliseconds. A browser that goes offline keeps its socket open and silent: only a missing pong tells. */
export const timings = {
    firstRetry: 100,
    longestRetry: 5000,
    opening: 8000,
    pingEvery: 5000,
    pingEveryHidden: 20_000,
    pongWithin: 4000,
    pongWithinAfterWake: 2000,
};

/** The delay before retry number `attempt` (from 0): doubling, bounded, and spread so that a room doesn't return as one. */
export function retryDelay(attempt, random = Math.random()) {
    const ceiling = Math.min(timings.longestRetry, timings.firstRetry * 2 ** attempt);
    return Math.max(timings.firstRetry, ceiling * (0.5 + random / 2));
}

/** Cuts a list of envelopes, each already JSON text, into frames of at most `limit` bytes of UTF-8. */
export function framesOf(texts, limit) {
    const frames = [];
    let frame = [];
    let bytes = 2;
    for (const text of texts) {
        const size = byteLength(text) + 1;
        if (frame.length > 0 && bytes + size > limit) {
            frames.push(`[${frame.join(",")}]`);
            frame = [];
            bytes = 2;
        }
        frame.push(text);
        bytes += size;
    }
    if (frame.length > 0) frames.push(`[${frame.join(",")}]`);
    return frames;
}

const encoder = new TextEncoder();

/** The length of `text` in bytes of UTF-8. */
export function byteLength(text) {
    return encoder.encode(text).length;
}

/**
 * States: `connecting` (never been online), `online` (after welcome), `reconnecting`, `closed` (for good).
 * `delegate` has `hello()` → envelope, `received(envelope)`, `online(welcome)`, `state(state, error)`.
 */
export class Connection {
    state = "connecting";
    #url;
    #delegate;
    #socket = null;
    #attempt = 0;
    #notBefore = 0;
    #timer = null;
    #opening = null;
    #heartbeat = null;
    #pong = null;
    #outgoing = [];
    #incoming = [];
    #isHandling = false;
    #unhook = [];
    frameBytes = 1_048_576;

    constructor(url, delegate) {
        this.#url = url;
        this.#delegate = delegate;
    }

    open() {
        const wake = () => this.wake();
        const watch = (target, event, action) => {
            target?.addEventListener?.(event, action);
            this.#unhook.push(() => target?.removeEventListener?.(event, action));
        };
        watch(globalThis, "online", wake);
        watch(globalThis, "offline", wake);
        watch(globalThis, "pageshow", wake);
        watch(globalThis.document, "visibilitychange", () => {
            if (document.visibilityState === "visible") wake();
        });
        this.#connect();
    }

    /** Something happened that makes it worth to look at once: connect now, or see whether the socket still lives. */
    wake() {
        if (this.state === "online") this.#ping(timings.pongWithinAfterWake);
        else this.retryNow();
    }

    retryNow() {
        if (this.state === "closed" || this.#timer === null || Date.now() < this.#notBefore) return;
        clearTimeout(this.#timer);
        this.#timer = null;
        this.#connect();
    }

    /** Sends an envelope with what else is sent in this turn, in one frame. Dropped unless online. */
    send(envelope) {
        if (this.state !== "online") return false;
        this.#outgoing.push(JSON.stringify(envelope));
        if (this.#outgoing.length === 1) queueMicrotask(() => this.#flush());
        return true;
    }

    /** Bytes that the network has not taken yet. */
    get backlog() {
        return this.#socket?.bufferedAmount ?? 0;
    }

    /** Ends it from this side. */
    close() {
        this.#drop();
        this.#finish(null);
    }

    #connect() {
        if (this.state === "closed") return;
        let socket;
        try {
            socket = new WebSocket(this.#url, "activityhost.v1");
        } catch (error) {
            this.#finish(new ActivityError("closed", error.message));
            return;
        }
        this.#socket = socket;
        this.#opening = setTimeout(() => this.#lost(socket, 1006, ""), timings.opening);
        socket.onopen = () => socket.send(JSON.stringify([this.#delegate.hello()]));
        socket.onmessage = ({ data }) => {
            if (socket === this.#socket) this.#receive(data);
        };
        socket.onclose = ({ code, reason }) => this.#lost(socket, code, reason);
    }

    #receive(data) {
        let frame;
        try {
            frame = JSON.parse(data);
        } catch {
            return;
        }
        if (!Array.isArray(frame)) return;
        for (const envelope of frame) if (envelope && typeof envelope === "object") this.#incoming.push(envelope);
        this.#handle();
    }

    /**
     * Handles envelopes in order. After an answer it lets waiting promises run (some turns of the microtask queue: a page
     * in a frame waits through wrapped promises), so that who awaits an answer sees it before what came after it.
     */
    async #handle() {
        if (this.#isHandling) return;
        this.#isHandling = true;
        while (this.#incoming.length > 0) {
            const envelope = this.#incoming.shift();
            try {
                this.#dispatch(envelope);
            } catch (error) {
                report(error);
            }
            if (envelope.ref !== undefined) for (let turn = 0; turn < 8; turn += 1) await null;
        }
        this.#isHandling = false;
    }

    #dispatch(envelope) {
        if (envelope.type === "welcome") {
            clearTimeout(this.#opening);
            this.#attempt = 0;
            if (envelope.limits?.frame_bytes) this.frameBytes = envelope.limits.frame_bytes;
            this.#become("online");
            this.#delegate.online(envelope);
            this.#scheduleHeartbeat();
            return;
        }
        if (envelope.type === "pong") {
            clearTimeout(this.#pong);
            this.#pong = null;
        }
        this.#delegate.received(envelope);
    }

    #flush() {
        const texts = this.#outgoing.splice(0);
        if (this.state !== "online") return;
        for (const frame of framesOf(texts, this.frameBytes)) this.#socket.send(frame);
    }

    #scheduleHeartbeat() {
        clearTimeout(this.#heartbeat);
        const hidden = globalThis.document?.visibilityState === "hidden";
        this.#heartbeat = setTimeout(
            () => {
                this.#ping(timings.pongWithin);
                this.#scheduleHeartbeat();
            },
            hidden ? timings.pingEveryHidden : timings.pingEvery,
        );
    }

    #ping(within) {
        if (this.state !== "online" || this.#pong !== null) return;
        const socket = this.#socket;
        this.send({ type: "ping", time: Date.now() });
        this.#pong = setTimeout(() => this.#lost(socket, 1006, ""), within);
    }

    /** Asks the host for its time, beside the heartbeat. */
    sampleClock() {
        this.send({ type: "ping", time: Date.now() });
    }

    #lost(socket, code, reason) {
        if (socket !== this.#socket) return;
        this.#drop();
        const delay = comebackDelay(code, reason);
        if (delay === null) {
            this.#finish(ActivityError.closed(code, reason));
            return;
        }
        const wait = Math.max(delay, retryDelay(this.#attempt));
        this.#attempt += 1;
        this.#notBefore = Date.now() + delay;
        this.#timer = setTimeout(() => {
            this.#timer = null;
            this.#connect();
        }, wait);
        this.#become(
            this.state === "connecting" ? "connecting" : "reconnecting",
            new ActivityError("unavailable", reason, { closeCode: code, retry_ms: wait }),
        );
    }

    /** Lets go of the socket without waiting for a close that a dead network would never bring. */
    #drop() {
        const socket = this.#socket;
        this.#socket = null;
        for (const timer of [this.#opening, this.#heartbeat, this.#pong, this.#timer]) clearTimeout(timer);
        this.#pong = null;
        this.#timer = null;
        this.#outgoing.length = 0;
        if (!socket) return;
        socket.onopen = socket.onmessage = socket.onclose = null;
        try {
            socket.close();
        } catch {
            // It was closed already.
        }
    }

    #finish(error) {
        for (const unhook of this.#unhook.splice(0)) unhook();
        this.#become("closed", error);
    }

    #become(state, error = null) {
        this.state = state;
        this.#delegate.state(state, error);
    }
}
