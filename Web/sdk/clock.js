// The host's clock, as well as this side can know it.

/** Four-stamp samples kept; the one with the least delay is believed. */
const kept = 8;

/** Estimates the host's time from `pong` envelopes. All values are milliseconds. */
export class HostClock {
    #samples = [];
    #local;

    constructor(local = () => Date.now()) {
        this.#local = local;
    }

    /** Takes a first guess from a time that the host told once (in `welcome`); any real sample is better. */
    guess(hostTime) {
        if (this.#samples.length === 0) this.#samples.push({ offset: hostTime - this.#local(), delay: Infinity });
    }

    /** Takes a sample: when our ping left, when the host got it and answered; now is when the answer came. */
    sample({ time, received, sent }) {
        const now = this.#local();
        const delay = now - time - (sent - received);
        if (!Number.isFinite(delay) || delay < 0) return;
        this.#samples.push({ offset: (received - time + (sent - now)) / 2, delay });
        if (this.#samples.length > kept) this.#samples.shift();
    }

    /** Forgets the samples: after sleep or a reconnect the old ones may be wrong. */
    reset() {
        this.#samples.length = 0;
    }

    /** Host time minus local time. */
    get offset() {
        let best;
        for (const sample of this.#samples) if (!best || sample.delay <= best.delay) best = sample;
        return best?.offset ?? 0;
    }

    /** The host's time now, in whole milliseconds since 1970. */
    now() {
        return Math.round(this.#local() + this.offset);
    }
}
