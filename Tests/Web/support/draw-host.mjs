// A host for the drawing's model alone: one order for all, the script's refusals, answers and messages that come when the test says.

export class DrawHost {
    items = new Map();
    erased = new Map();
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
        return JSON.parse(JSON.stringify({ items: Object.fromEntries(this.items), erased: Object.fromEntries(this.erased), bytes: 0 }));
    }

    /** What the script does; throws what it refuses. */
    apply(name, body, member) {
        const refuse = (reason) => {
            throw Object.assign(new Error(reason), { code: "refused", reason });
        };
        const put = (item) => {
            if (this.erased.has(item.id)) refuse("gone");
            this.items.set(item.id, { ...item, by: this.items.get(item.id)?.by ?? member });
        };
        const mark = (ids, from, to) => {
            let found = false;
            for (const id of ids) {
                if (!this.items.has(id) || this.erased.get(id) !== from) continue;
                if (to === undefined) this.erased.delete(id);
                else this.erased.set(id, to);
                found = true;
            }
            return found;
        };
        if (name === "upsert_stroke") put(body);
        else if (name === "add_items") body.items.forEach(put);
        else if (name === "delete_items") return mark(body.ids, undefined, member);
        else if (name === "restore_items") return mark(body.ids, member, undefined);
        else if (name === "clear_canvas") mark([...this.items.keys()], undefined, member);
        else if (name === "edit_items") {
            const present = body.items.filter(({ id }) => this.items.has(id) && !this.erased.has(id));
            if (present.length === 0) refuse("gone");
            for (const change of present) this.items.set(change.id, { ...this.items.get(change.id), ...change });
        }
        return true;
    }

    /** Takes the oldest message that waits at `session`. */
    take(session) {
        const { name, body, resolve, reject } = session.outbox.shift();
        const refusal = this.refusals.shift();
        try {
            if (refusal) throw Object.assign(new Error(refusal.code), refusal);
            const isNews = this.apply(name, JSON.parse(JSON.stringify(body)), session.localParticipant.member);
            this.seq += 1;
            const { seq } = this;
            for (const other of this.sessions) {
                if (other === session) other.inbox.push(() => resolve({ seq }));
                else if (isNews) other.inbox.push(() => other.emit(name, JSON.parse(JSON.stringify(body)), { from: session.localParticipant.id, seq, mine: false }));
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
