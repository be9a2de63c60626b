// Undo and redo of one's own work. Nobody else's work is ever taken back: a step that somebody has changed since stays.

import { additions, deletions, edits, restorations } from "./batches.js";
import { same } from "./board.js";

const deepest = 100;
/** What a page keeps over a reload, in characters. */
const longestStored = 1_000_000;

function unchanged(item, expected) {
    return Object.entries(expected).every(([key, value]) => key === "by" || same(item[key], value));
}

// The messages that take a step back or do it again, as far as the board still is as the step left it.
function deletionsOf(items, board) {
    const mine = items.filter((expected) => board.item(expected.id) && unchanged(board.item(expected.id), expected));
    return deletions(mine.map(({ id }) => id));
}

function restorationsOf(items, board, member) {
    return restorations(items.filter(({ id }) => board.eraserOf(id) === member));
}

function editsOf(changes, expected, board) {
    const possible = changes.filter(({ id }, index) => board.item(id) && unchanged(board.item(id), expected[index]));
    return edits(possible);
}

function replacementsOf(items, expected, board) {
    const possible = items.filter(({ id }, index) => board.item(id) && unchanged(board.item(id), expected[index]));
    return additions(possible);
}

const back = {
    add: (step, board) => deletionsOf(step.items, board),
    erase: (step, board, member) => restorationsOf(step.items, board, member),
    edit: (step, board) => editsOf(step.before, step.after, board),
    replace: (step, board) => replacementsOf(step.before, step.after, board),
};

const forth = {
    add: (step, board, member) => restorationsOf(step.items, board, member),
    erase: (step, board) => deletions(step.items.map(({ id }) => id).filter((id) => board.item(id))),
    edit: (step, board) => editsOf(step.after, step.before, board),
    replace: (step, board) => replacementsOf(step.after, step.before, board),
};

function isStep({ kind, items, before, after }) {
    return kind in back && (Array.isArray(items) || (Array.isArray(before) && Array.isArray(after)));
}

/**
 * Steps are `{kind: "add", items}`, `{kind: "erase", items}`, `{kind: "edit", before, after}` (changes) and
 * `{kind: "replace", before, after}` (items). What was erased is kept here alone: the host forgets it. `shared` has the board, the member and `perform(name, body)`.
 */
export class History {
    #done = [];
    #undone = [];
    #shared;
    #onChange;

    constructor(shared, onChange = () => {}) {
        this.#shared = shared;
        this.#onChange = onChange;
    }

    get canUndo() {
        return this.#done.length > 0;
    }

    get canRedo() {
        return this.#undone.length > 0;
    }

    push(step) {
        this.#done.push(step);
        if (this.#done.length > deepest) this.#done.shift();
        this.#undone = [];
        this.#onChange();
    }

    /** Takes back the newest own step that still can be. Returns `done`, `changed` (others changed what was left), `empty`. */
    undo() {
        return this.#walk(this.#done, this.#undone, back);
    }

    redo() {
        return this.#walk(this.#undone, this.#done, forth);
    }

    #walk(from, to, directions) {
        let outcome = "empty";
        while (from.length > 0) {
            const step = from.pop();
            const messages = directions[step.kind](step, this.#shared.board, this.#shared.member);
            if (messages.length === 0) {
                outcome = "changed";
                continue;
            }
            to.push(step);
            for (const { name, body } of messages) this.#shared.perform(name, body);
            outcome = "done";
            break;
        }
        this.#onChange();
        return outcome;
    }

    /** What a page keeps over a reload: the newest steps, as many as there is room for. */
    save() {
        let room = longestStored;
        const newest = (steps) => {
            const kept = [];
            for (const step of [...steps].reverse()) {
                room -= JSON.stringify(step).length;
                if (room < 0) break;
                kept.unshift(step);
            }
            return kept;
        };
        return JSON.stringify({ done: newest(this.#done), undone: newest(this.#undone) });
    }

    load(text) {
        try {
            const { done, undone } = JSON.parse(text);
            if (Array.isArray(done)) this.#done = done.filter(isStep);
            if (Array.isArray(undone)) this.#undone = undone.filter(isStep);
        } catch {
            // Nothing that can be read was kept: a fresh history.
        }
        this.#onChange();
    }
}
