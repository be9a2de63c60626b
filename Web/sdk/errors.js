// One error for everything that the host, or the SDK in its place, refuses.

/** Fields of a `rejected` envelope that an `ActivityError` carries over. */
const details = ["reason", "data", "path", "limit", "allowed", "found", "retry_ms"];

/**
 * A refusal. `code` is a code of the protocol (`invalid_message`, `refused`, …), or `closed` when the connection ended
 * for good; then `closeCode` says how. The other fields are there when the host gave them.
 */
export class ActivityError extends Error {
    constructor(code, message, fields = {}) {
        super(message || code);
        this.name = "ActivityError";
        this.code = code;
        Object.assign(this, fields);
    }

    static rejected(envelope) {
        const fields = {};
        for (const name of details) if (envelope[name] !== undefined) fields[name] = envelope[name];
        return new ActivityError(envelope.code ?? "unavailable", envelope.message, fields);
    }

    static closed(closeCode, reason) {
        return new ActivityError("closed", reason || `The host closed the connection (${closeCode}).`, { closeCode });
    }
}

/** What each close code means for a client: whether to come back, and after how long at least (milliseconds). */
const comebacks = new Map([
    [1001, 0],
    [1006, 0],
    [1012, 0],
    [4408, 0],
    [4429, 30_000],
]);

/** How long to wait before connecting again after `closeCode`, or null: don't. A 4429 may say its own delay in `reason`. */
export function comebackDelay(closeCode, reason = "") {
    if (!comebacks.has(closeCode)) return null;
    if (closeCode !== 4429) return comebacks.get(closeCode);
    const told = /(\d+)\s*(ms|s)?\b/.exec(reason);
    if (!told) return comebacks.get(4429);
    const delay = Number(told[1]) * (told[2] === "s" ? 1000 : 1);
    return Math.min(Math.max(delay, 1000), 10 * 60_000);
}
