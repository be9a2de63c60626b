// How the SDK tells what happened: callbacks that cannot disturb each other, and queues that `for await` reads.

/** Reports an error of somebody's callback without stopping what called it. */
export function report(error) {
    if (typeof globalThis.reportError === "function") globalThis.reportError(error);
    else console.error(error);
}

/** Named events with any number of listeners, called in the order in which they were added. */
export class Emitter {
    #listeners = new Map();

    /** Calls `listener` at each `event` until the returned function is called. */
    on(event, listener) {
        const set = this.#listeners.get(event) ?? new Set();
        this.#listeners.set(event, set);
        // A wrapper, so that one function added twice is called twice and removed one at a time.
        const entry = { listener };
        set.add(entry);
        return () => set.delete(entry);
    }

    emit(event, ...values) {
        for (const { listener } of [...(this.#listeners.get(event) ?? [])]) {
            try {
                listener(...values);
            } catch (error) {
                report(error);
            }
        }
    }

    has(event) {
        return (this.#listeners.get(event)?.size ?? 0) > 0;
    }
}

/**
 * An async iterator over values that are pushed in. It keeps what nobody has read yet; leaving the loop (or `finish`)
 * stops it and calls `onEnd` once.
 */
export class Channel {
    #values = [];
    #readers = [];
    #ended = false;
    #onEnd;

    constructor(onEnd = () => {}) {
        this.#onEnd = onEnd;
    }

    push(value) {
        if (this.#ended) return;
        const reader = this.#readers.shift();
        if (reader) reader({ value, done: false });
        else this.#values.push(value);
    }

    /** No more values: what is queued can still be read. */
    finish() {
        if (this.#ended) return;
        this.#ended = true;
        this.#onEnd();
        for (const reader of this.#readers.splice(0)) reader({ value: undefined, done: true });
    }

    next() {
        if (this.#values.length > 0) return Promise.resolve({ value: this.#values.shift(), done: false });
        if (this.#ended) return Promise.resolve({ value: undefined, done: true });
        return new Promise((resolve) => this.#readers.push(resolve));
    }

    return() {
        this.#values.length = 0;
        this.finish();
        return Promise.resolve({ value: undefined, done: true });
    }

    [Symbol.asyncIterator]() {
        return this;
    }
}
