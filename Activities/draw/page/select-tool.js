// Selecting, moving and resizing.

import { boundsOf, contains, isHit, moved, resized, rounded } from "./geometry.js";

const handleReach = { mouse: 9, pen: 12, touch: 22 };
const dragInterval = 33;
const mostDragged = 200;

export class SelectTool {
    #studio;
    /** `{kind: "move" | "resize" | "end" | "marquee" | "none", …}` while the pointer is down. */
    #action = null;

    constructor(studio) {
        this.#studio = studio;
    }

    down(point, { shiftKey, pointerType }) {
        const studio = this.#studio;
        const handle = studio.canEdit ? this.#handleAt(point, pointerType) : null;
        if (handle) {
            this.#grab(handle);
            return;
        }
        const item = this.itemAt(point, pointerType);
        const frame = studio.selected.length > 1 ? studio.selectionShape().frame : null;
        const inFrame = frame !== null && contains(frame, point.x, point.y);
        if (item && shiftKey) {
            const ids = new Set(studio.selection);
            if (!ids.delete(item.id)) ids.add(item.id);
            studio.select(ids);
            this.#action = { kind: "none" };
        } else if (item || (inFrame && !shiftKey)) {
            if (item && !studio.selection.has(item.id) && !inFrame) studio.select([item.id]);
            this.#action = studio.canEdit ? { kind: "move", from: point, picked: item?.id, hasMoved: false, toldAt: 0 } : { kind: "none" };
        } else {
            if (!shiftKey) studio.select([]);
            this.#action = { kind: "marquee", from: point, before: new Set(studio.selection) };
        }
    }

    move(points, { shiftKey }) {
        const point = points.at(-1);
        const actions = { move: () => this.#drag(point), resize: () => this.#resize(point, shiftKey), end: () => this.#moveEnd(point), marquee: () => this.#sweep(point) };
        actions[this.#action?.kind]?.();
    }

    up() {
        const { kind, hasMoved, picked } = this.#action ?? {};
        const studio = this.#studio;
        if (kind === "move" && hasMoved) {
            const changes = studio.selected.map((item) => moved(item, studio.offsets.get(item.id)?.x ?? 0, studio.offsets.get(item.id)?.y ?? 0));
            this.#end();
            studio.edit(changes);
            return;
        }
        if (kind === "move" && picked && studio.selection.size > 1) studio.select([picked]);
        if (kind === "resize" || kind === "end") {
            const changes = [...studio.previews.values()].map(({ id, x, y, points, size }) => {
                const { kind: itemKind } = studio.board.item(id) ?? {};
                return itemKind === "text" ? { id, x, y, size } : { id, x, y, points };
            });
            this.#end();
            studio.edit(changes);
            return;
        }
        if (kind === "marquee" && studio.selection.size > 0) studio.notice("selected", { count: studio.selection.size, isQuiet: true });
        this.#end();
    }

    cancel() {
        this.#end();
    }

    /** The topmost item under the point. */
    itemAt({ x, y }, pointerType = "mouse") {
        const reach = (handleReach[pointerType] ?? 9) / 2 / this.#studio.viewport.zoom;
        return this.#studio.board.visible().findLast((item) => isHit(item, x, y, reach)) ?? null;
    }

    /** The handle under the point. */
    #handleAt({ x, y }, pointerType) {
        const reach = (handleReach[pointerType] ?? 9) / this.#studio.viewport.zoom;
        const handles = this.#studio.selectionShape()?.handles ?? [];
        return handles.find((handle) => Math.hypot(handle.x - x, handle.y - y) <= reach) ?? null;
    }

    #grab(handle) {
        const items = this.#studio.selected;
        if (handle.corner) {
            const { frame, inner } = this.#studio.selectionShape();
            this.#action = { kind: "resize", handle, items, from: inner, margin: inner.left - frame.left };
        } else {
            this.#action = { kind: "end", handle, item: items[0] };
        }
    }

    #drag(point) {
        const studio = this.#studio;
        const action = this.#action;
        const [dx, dy] = [point.x - action.from.x, point.y - action.from.y];
        if (!action.hasMoved && Math.hypot(dx, dy) * studio.viewport.zoom < 4) return;
        action.hasMoved = true;
        const ids = [...studio.selection];
        studio.offsets = new Map(ids.map((id) => [id, { x: dx, y: dy }]));
        if (point.time - action.toldAt > dragInterval && ids.length <= mostDragged) {
            action.toldAt = point.time;
            studio.session.post("drag_items", { ids, x: rounded(dx), y: rounded(dy) });
        }
    }

    #resize(point, keepsShape) {
        const { handle, items, from, margin } = this.#action;
        const [h, v] = handle.corner;
        const least = 4 / this.#studio.viewport.zoom;
        const x = h === "left" ? Math.min(point.x + margin, from.right - least) : Math.max(point.x - margin, from.left + least);
        const y = v === "top" ? Math.min(point.y + margin, from.bottom - least) : Math.max(point.y - margin, from.top + least);
        const to = { ...from, [h]: x, [v]: y };
        if (keepsShape || items.some(({ kind }) => kind === "text")) {
            const width = from.right - from.left || 1;
            const height = from.bottom - from.top || 1;
            const scale = Math.max((to.right - to.left) / width, (to.bottom - to.top) / height);
            to[h] = h === "left" ? from.right - width * scale : from.left + width * scale;
            to[v] = v === "top" ? from.bottom - height * scale : from.top + height * scale;
        }
        this.#studio.previews = new Map(items.map((item) => [item.id, Object.freeze({ ...item, ...resized(item, from, to) })]));
    }

    #moveEnd(point) {
        const { handle, item } = this.#action;
        const ends = [item.x + item.points[0], item.y + item.points[1], item.x + item.points[2], item.y + item.points[3]];
        ends[handle.end] = point.x;
        ends[handle.end + 1] = point.y;
        const [x, y] = [rounded(ends[0]), rounded(ends[1])];
        const points = [0, 0, rounded(ends[2] - x), rounded(ends[3] - y)];
        this.#studio.previews = new Map([[item.id, Object.freeze({ ...item, x, y, points })]]);
    }

    #sweep(point) {
        const { from, before } = this.#action;
        const box = {
            left: Math.min(from.x, point.x),
            right: Math.max(from.x, point.x),
            top: Math.min(from.y, point.y),
            bottom: Math.max(from.y, point.y),
        };
        this.#studio.marquee = box;
        const inside = this.#studio.board.visible().filter((item) => {
            const bounds = boundsOf(item);
            return bounds.left >= box.left && bounds.right <= box.right && bounds.top >= box.top && bounds.bottom <= box.bottom;
        });
        this.#studio.select([...before, ...inside.map(({ id }) => id)]);
    }

    #end() {
        if (this.#action?.hasMoved) this.#studio.session.post("drag_items", null);
        this.#action = null;
        this.#studio.offsets = new Map();
        this.#studio.previews = new Map();
        this.#studio.marquee = null;
    }
}
