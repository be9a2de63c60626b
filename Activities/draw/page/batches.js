// Cuts long lists into messages that the host takes.

const mostItems = 100;
const mostChanges = 200;
const mostIds = 1000;
const mostBytes = 60_000;

/** Lists of at most `most` values each, none longer than about 60 kB of JSON unless one value is. */
export function parts(values, most) {
    const lists = [];
    let bytes = 0;
    for (const value of values) {
        const length = JSON.stringify(value).length + 1;
        const list = lists.at(-1);
        if (!list || list.length >= most || bytes + length > mostBytes) {
            lists.push([value]);
            bytes = length;
        } else {
            list.push(value);
            bytes += length;
        }
    }
    return lists;
}

// Who drew it first is the script's to say.
function bare({ by, ...item }) {
    return item;
}

/** The messages that put `items` onto the board; a single one goes as a stroke. */
export function additions(items) {
    if (items.length === 1) return [{ name: "upsert_stroke", body: bare(items[0]) }];
    return parts(items.map(bare), mostItems).map((list) => ({ name: "add_items", body: { items: list } }));
}

export function edits(changes) {
    return parts(changes, mostChanges).map((items) => ({ name: "edit_items", body: { items } }));
}

export function deletions(ids) {
    return parts(ids, mostIds).map((list) => ({ name: "delete_items", body: { ids: list } }));
}

/** The messages that bring `items` back as they were. */
export function restorations(items) {
    return parts(items.map(bare), mostItems).map((list) => ({ name: "restore_items", body: { items: list } }));
}
