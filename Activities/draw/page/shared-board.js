// The board that this page shows: what the host has confirmed, in the host's order, and on top of it what this page
// has done and the host has not answered yet.

import { Board, boardMessages } from "./board.js";

const mostMessagesUnderway = 40;
const mostBytesUnderway = 400_000;
/** Confirmed steps that are kept to put a late answer into its place. */
const longestTail = 400;
const shortestPause = 250;

export class SharedBoard {
    /** What is to be seen. */
    board;
    #session;
    #onChange;
    #onRefused;
    #checkpoint;
    #snapshotSeq = 0;
    #tail = [];
    #confirmed;
    #pending = [];
    #members = new Map();
    #pausedUntil = 0;
    #timer = null;

    /** `onChange()`: there is something new to see. `onRefused(error, {name, body})`: an own step was taken back. */
    constructor(session, { onChange = () => {}, onRefused = () => {} } = {}) {
        this.#session = session;
        this.#onChange = onChange;
        this.#onRefused = onRefused;
        this.#learn(session.participants);
        this.#begin(session.view, 0);
        session.onParticipants(({ joined, changed, all }) => this.#learn([...(joined ?? []), ...(changed ?? []), ...(all ?? [])]));
        session.onSnapshot((view, position) => {
            this.#begin(view, position?.seq ?? 0);
            this.#onChange();
        });
        for (const name of boardMessages) {
            session.on(name, (body, { from, seq }) => this.#confirm({ name, body, member: this.#members.get(from), seq }));
        }
    }

    /** How many own steps the host has not answered yet. */
    get pending() {
        return this.#pending.length;
    }

    /** The member id of this page's person. */
    get member() {
        return this.#session.localParticipant?.member;
    }

    /** Shows a step at once and sends it. `onPlace(board)` gets the board on which it was taken, if this page sees that. */
    perform(name, body, onPlace = null) {
        const step = { name, body, member: this.member, bytes: JSON.stringify(body).length, underway: false, onPlace };
        this.#pending.push(step);
        this.board.apply(name, body, step.member);
        this.#onChange();
        this.#send();
    }

    #learn(participants = []) {
        for (const { id, member } of participants) this.#members.set(id, member);
    }

    // `seq`: own steps up to there are in the view, also those whose answer comes later. 0: not known.
    #begin(view, seq) {
        this.#checkpoint = Board.from(view);
        this.#snapshotSeq = seq;
        this.#tail = [];
        this.#confirmed = this.#checkpoint.copy();
        this.#show();
    }

    #show() {
        if (this.#pending.length === 0) {
            this.board = this.#confirmed.copy();
            return;
        }
        const board = this.#confirmed.copy();
        for (const { name, body, member } of this.#pending) board.apply(name, body, member);
        this.board = board;
    }

    // An answer may be handed over after later messages of the same frame, so a step finds its place by its seq.
    #confirm(step) {
        const last = this.#tail.at(-1);
        if (!last || step.seq === null || last.seq === null || last.seq <= step.seq) {
            this.#tail.push(step);
            this.#confirmed.apply(step.name, step.body, step.member);
            if (this.#pending.length === 0) this.board.apply(step.name, step.body, step.member);
            else this.#show();
        } else {
            const place = this.#tail.findIndex(({ seq }) => seq !== null && seq > step.seq);
            this.#tail.splice(place, 0, step);
            this.#confirmed = this.#checkpoint.copy();
            for (const { name, body, member } of this.#tail) this.#confirmed.apply(name, body, member);
            this.#show();
        }
        this.#shorten();
        this.#onChange();
    }

    #boardBefore(seq) {
        const board = this.#checkpoint.copy();
        for (const step of this.#tail) {
            if (seq === null || step.seq === null || step.seq < seq) board.apply(step.name, step.body, step.member);
        }
        return board;
    }

    #shorten() {
        if (this.#pending.length > 0 || this.#tail.length < longestTail) return;
        this.#checkpoint = this.#confirmed.copy();
        this.#tail = [];
    }

    #send() {
        const wait = this.#pausedUntil - Date.now();
        if (wait > 0) {
            this.#timer ??= setTimeout(() => {
                this.#timer = null;
                this.#send();
            }, wait);
            return;
        }
        let messages = 0;
        let bytes = 0;
        for (const step of this.#pending) {
            messages += 1;
            bytes += step.bytes;
            if (messages > mostMessagesUnderway || (bytes > mostBytesUnderway && messages > 1)) return;
            if (!step.underway) this.#hand(step);
        }
    }

    #hand(step) {
        step.underway = true;
        this.#session.send(step.name, step.body).then(
            ({ seq }) => this.#accepted(step, seq ?? null),
            (error) => this.#refused(step, error),
        );
    }

    #accepted(step, seq) {
        this.#drop(step);
        // What the script let through in part has come back as a message of its own.
        const isPlaced = seq !== null && (seq <= this.#snapshotSeq || this.#tail.some((placed) => placed.seq === seq));
        if (!isPlaced) {
            step.onPlace?.(this.#boardBefore(seq));
            this.#confirm({ ...step, seq });
        }
        this.#show();
        this.#onChange();
        this.#send();
    }

    #refused(step, error) {
        if (error?.retry_ms !== undefined && error.retry_ms !== null) {
            step.underway = false;
            this.#pausedUntil = Date.now() + Math.max(error.retry_ms, shortestPause);
        } else {
            this.#drop(step);
            this.#show();
            this.#onRefused(error, step);
            this.#onChange();
        }
        this.#send();
    }

    #drop(step) {
        const index = this.#pending.indexOf(step);
        if (index >= 0) this.#pending.splice(index, 1);
    }
}
