// A socket whose other end is the test, and timers that the test moves: nothing here waits for real time.

/** Takes the place of `WebSocket`; every socket made is kept in `FakeSocket.all`. */
export class FakeSocket {
    static all = [];
    bufferedAmount = 0;
    sent = [];
    isClosed = false;

    constructor(url, protocol) {
        this.url = url;
        this.protocol = protocol;
        FakeSocket.all.push(this);
    }

    static get newest() {
        return FakeSocket.all.at(-1);
    }

    send(text) {
        this.sent.push(...JSON.parse(text));
    }

    close() {
        this.isClosed = true;
    }

    /** The host accepts the connection. */
    open() {
        this.onopen?.();
    }

    /** The host sends one frame; done once all of it has been handled. */
    async frame(...envelopes) {
        this.onmessage?.({ data: JSON.stringify(envelopes) });
        await settle();
    }

    async shut(code, reason = "") {
        this.onclose?.({ code, reason });
        await settle();
    }

    /** What was sent of a type, and forgets nothing. */
    of(type) {
        return this.sent.filter((envelope) => envelope.type === type);
    }
}

/** Lets every promise that can go on do so. */
export async function settle() {
    for (let turn = 0; turn < 60; turn += 1) await null;
}

export const member = { id: "m1", name: "Ada", color: "#2563eb", role: "participant" };
export const participant = { id: "p1", member: "m1", name: "Ada", color: "#2563eb", role: "participant" };

export function welcome(fields = {}) {
    return {
        type: "welcome", protocol: 1, host: "test", time: Date.now(), token: "seat-1", acknowledged: 0, member,
        group: { code: "BCDFGH", locked: false, members: [member], sessions: [{ id: "s1", activity: "draw", version: 1, metadata: { title: "Draw" }, parameters: {}, initiator: "m1", participants: 0 }] },
        activities: [], limits: { message_bytes: 200, frame_bytes: 1000 }, ...fields,
    };
}

export function joined(ref, fields = {}) {
    return { type: "joined", ref, session: "s1", participant: "p1", participants: [participant], epoch: "e1", seq: 10, acknowledged: 0, parameters: {}, state: { count: 0 }, ...fields };
}
