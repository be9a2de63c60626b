// A host for the drawing's model alone: one order for all, the script's refusals, answers and messages that come when the test says.

export class DrawHost {
    items = new Map();
    seq = 0;
    sessions = [];
    /** Codes to refuse the next messages with, in order. */
    refusals = [];

    session(member, role = "participant") {
        const session = new DrawSession(this, { id: `p-${member}`, member, name: member, color: "#112233", role });
        this.sessions.push(session);
        return session;
    }

    get view() {
        return JSON.parse(JSON.stringify({ items: Object.fromEntries(this.items) }));
    }

    /** What the script does: gives the body for the others, for the sender too if `isForAll`; throws what it refuses. */
    apply(name, body, member) {
        const refuse = (reason) => {
            throw Object.assign(new Error(reason), { code: "refused", reason });
        };
        const put = (items, eraser) => {
            for (const { id } of items) if (this.items.get(id) && this.items.get(id).erased !== eraser) refuse("gone");
            for (const item of items) this.items.set(item.id, { ...item, by: this.items.get(item.id)?.by ?? member });
        };
        const erase = (ids) => {
            for (const id of ids) {
                const item = this.items.get(id);
                if (item && !item.erased) this.items.set(id, { by: item.by, erased: member });
            }
        };
        if (name === "upsert_stroke") put([body]);
        else if (name === "add_items") put(body.items);
        else if (name === "restore_items") put(body.items, member);
        else if (name === "delete_items") erase(body.ids);
        else if (name === "clear_canvas") erase([...this.items.keys()]);
        else if (name === "edit_items") {
            const present = body.items.filter(({ id }) => this.items.has(id) && !this.items.get(id).erased);
            if (present.length === 0) refuse("gone");
            for (const change of present) this.items.set(change.id, { ...this.items.get(change.id), ...change });
            return { relayed: { items: present }, isForAll: true };
        }
        return { relayed: body, isForAll: false };
    }

    /** Takes the oldest message that waits at `session`. */
    take(session) {
        const { name, body, resolve, reject } = session.outbox.shift();
        const refusal = this.refusals.shift();
        try {
            if (refusal) throw Object.assign(new Error(refusal.code), refusal);
            const { relayed, isForAll } = this.apply(name, JSON.parse(JSON.stringify(body)), session.localParticipant.member);
            this.seq += 1;
            const { seq } = this;
            for (const other of this.sessions) {
                const mine = other === session;
                const context = { from: session.localParticipant.id, seq, mine };
                if (!mine || isForAll) other.inbox.push(() => other.emit(name, JSON.parse(JSON.stringify(relayed)), context));
                if (mine) other.inbox.push(() => resolve({ seq }));
            }
        } catch (error) {
            session.inbox.push(() => reject(error));
        }
    }
}

class DrawSession {
    outbox = [];
    inbox = [];
    #listeners = new Map();
    #ids = 0;

    constructor(host, participant) {
        this.host = host;
        this.localParticipant = participant;
        this.view = host.view;
        host.sessions.forEach((other) => other.emit("participants", { joined: [participant], left: [], changed: [], all: [] }));
    }

    get participants() {
        return [...this.host.sessions.map(({ localParticipant }) => localParticipant), this.localParticipant];
    }

    newId() {
        this.#ids += 1;
        return `${this.localParticipant.member}-${this.#ids}`;
    }

    on(name, listener) {
        this.#listeners.set(name, [...(this.#listeners.get(name) ?? []), listener]);
    }

    emit(name, ...values) {
        for (const listener of this.#listeners.get(name) ?? []) listener(...values);
    }

    onSnapshot(listener) {
        this.on("snapshot", listener);
    }

    onParticipants(listener) {
        this.on("participants", listener);
    }

    send(name, body) {
        return new Promise((resolve, reject) => this.outbox.push({ name, body, resolve, reject }));
    }

    post() {
        return true;
    }

    /** Hands over what has arrived, as one frame. */
    receive() {
        for (const deliver of this.inbox.splice(0)) deliver();
    }

    /** The host replaces what waits here by a view; answers stay. */
    snapshot() {
        const { seq } = this.host;
        const { view } = this.host;
        this.inbox = [() => this.emit("snapshot", view, { epoch: "e1", seq })];
    }
}

/** Lets everything that is settled be heard. */
export const heard = () => new Promise((resolve) => setImmediate(resolve));
