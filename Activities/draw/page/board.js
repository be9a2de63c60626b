// The drawing as the host keeps it: the same steps as in activity.lua, so that every page that has seen the same
// messages in the same order shows the same picture.

/** How thick a line is when nobody said: what a bare `{id, color, points}` is drawn with. */
export const usualSize = 4;

function completed(item, by) {
    return Object.freeze({ kind: "ink", x: 0, y: 0, size: usualSize, ...item, by: by ?? item.by ?? null });
}

/** Items by id in the order in which they lie, and who erased which. Items are never changed, only replaced. */
export class Board {
    items = new Map();
    erased = new Map();

    /** Reads the script's state. */
    static from(view) {
        const board = new Board();
        for (const [id, item] of Object.entries(view?.items ?? {})) board.items.set(id, completed(item));
        for (const [id, member] of Object.entries(view?.erased ?? {})) board.erased.set(id, member);
        return board;
    }

    copy() {
        const board = new Board();
        board.items = new Map(this.items);
        board.erased = new Map(this.erased);
        return board;
    }

    /** The item, unless it is erased or unknown. */
    item(id) {
        return this.erased.has(id) ? undefined : this.items.get(id);
    }

    /** What is to be seen, from the lowest to the highest. */
    visible() {
        return [...this.items.values()].filter((item) => !this.erased.has(item.id));
    }

    /** Takes a message of `member`; names that are not about items change nothing. */
    apply(name, body, member) {
        steps[name]?.(this, body ?? {}, member);
    }
}

function put(board, item, member) {
    // The host has let it pass, so it no longer remembers that the id was erased.
    board.erased.delete(item.id);
    board.items.set(item.id, completed(item, board.items.get(item.id)?.by ?? member));
}

function mark(board, ids, from, to) {
    for (const id of ids) {
        if (!board.items.has(id) || board.erased.get(id) !== from) continue;
        if (to === undefined) board.erased.delete(id);
        else board.erased.set(id, to);
    }
}

const steps = {
    upsert_stroke(board, item, member) {
        put(board, item, member);
    },
    add_items(board, { items }, member) {
        for (const item of items) put(board, item, member);
    },
    edit_items(board, { items }) {
        for (const change of items) {
            const item = board.item(change.id);
            if (item) board.items.set(item.id, Object.freeze({ ...item, ...change }));
        }
    },
    delete_items(board, { ids }, member) {
        mark(board, ids, undefined, member);
    },
    restore_items(board, { ids }, member) {
        mark(board, ids, member, undefined);
    },
    clear_canvas(board, _, member) {
        mark(board, board.items.keys(), undefined, member);
    },
    forget_items(board, { ids }) {
        for (const id of ids) {
            board.items.delete(id);
            board.erased.delete(id);
        }
    },
};

/** The names of all messages that change the board. */
export const boardMessages = Object.keys(steps);

/** Whether two values of an item's property are the same. */
export function same(a, b) {
    if (a === b) return true;
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((value, index) => value === b[index]);
}
