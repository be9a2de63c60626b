// The drawing as the host keeps it: the same steps as in activity.lua, so that every page that has seen the same
// messages in the same order shows the same picture.

/** How thick a line is when nobody said: what a bare `{id, color, points}` is drawn with. */
export const usualSize = 4;

// What the picture needs, whatever came: a kind, a place, a thickness, and points in pairs.
function completed(item, by) {
    const { points = [] } = item;
    const pairs = points.length % 2 === 1 ? points.slice(0, -1) : points;
    return Object.freeze({ kind: "ink", x: 0, y: 0, size: usualSize, ...item, points: pairs, by: by ?? item.by ?? null });
}

/**
 * Items by id in the order in which they lie; in the place of an erased one is its mark, `{by, erased}`, which says who
 * drew it and who erased it. Neither is ever changed, only replaced.
 */
export class Board {
    #slots;

    constructor(slots = new Map()) {
        this.#slots = slots;
    }

    /** Reads the script's state. */
    static from(view) {
        const slots = Object.entries(view?.items ?? {});
        return new Board(new Map(slots.map(([id, slot]) => [id, slot.erased ? Object.freeze(slot) : completed(slot)])));
    }

    copy() {
        return new Board(new Map(this.#slots));
    }

    /** The item, unless it is erased or unknown. */
    item(id) {
        const slot = this.#slots.get(id);
        return slot?.erased ? undefined : slot;
    }

    /** The member who erased it, if it is erased. */
    eraserOf(id) {
        return this.#slots.get(id)?.erased;
    }

    /** What is to be seen, from the lowest to the highest. */
    visible() {
        return [...this.#slots.values()].filter(({ erased }) => !erased);
    }

    /** Whether it is on the board or was. */
    knows(id) {
        return this.#slots.has(id);
    }

    /** Takes a message of `member`; names that are not about items change nothing. */
    apply(name, body, member) {
        steps[name]?.(this.#slots, body ?? {}, member);
    }
}

function put(slots, item, member, eraser) {
    const old = slots.get(item.id);
    if (old?.erased === eraser) slots.set(item.id, completed(item, old?.by ?? member));
}

function erase(slots, id, member) {
    const item = slots.get(id);
    if (item && !item.erased) slots.set(id, Object.freeze({ by: item.by, erased: member }));
}

const steps = {
    upsert_stroke(slots, item, member) {
        put(slots, item, member);
    },
    add_items(slots, { items }, member) {
        for (const item of items) put(slots, item, member);
    },
    restore_items(slots, { items }, member) {
        for (const item of items) put(slots, item, member, member);
    },
    edit_items(slots, { items }) {
        for (const change of items) {
            const item = slots.get(change.id);
            if (item && !item.erased) slots.set(change.id, completed({ ...item, ...change }));
        }
    },
    delete_items(slots, { ids }, member) {
        for (const id of ids) erase(slots, id, member);
    },
    clear_canvas(slots, _, member) {
        for (const id of slots.keys()) erase(slots, id, member);
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
