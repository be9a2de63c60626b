// The others while they work: named cursors, ink that is being drawn, what is being dragged.

import { boardMessages } from "./board.js";

const cursorInterval = 40;
/** Ink that nobody goes on with: its author is gone. */
const inkPatience = 8000;
const cursorPatience = 20_000;
/** Strokes that others are drawing at the same time, at most. */
const mostInk = 200;

export class Presence {
    #studio;
    #layer;
    #viewport;
    #cursors = new Map();
    #ink = new Map();
    #drags = new Map();
    #sentAt = 0;
    #waiting = null;
    #timer = null;
    #frame = null;

    constructor({ studio, layer, viewport }) {
        this.#studio = studio;
        this.#layer = layer;
        this.#viewport = viewport;
        const { session } = studio;
        session.on("move_cursor", (body, { from, mine }) => !mine && this.#cursorMoved(from, body));
        session.on("draw_ink", (body, { from, mine }) => !mine && this.#inkCame(from, body));
        session.on("drag_items", (body, { from, mine }) => !mine && this.#dragged(from, body));
        for (const name of boardMessages) session.on(name, (body, { from }) => this.#committed(name, body, from));
        session.onParticipants(({ left, all }) => {
            for (const { id } of left ?? []) this.#forget(id);
            for (const participant of all ?? []) this.#name(participant);
        });
        setInterval(() => this.#sweep(), 1000);
    }

    /** What the others are doing, for the painter. */
    scene() {
        const offsets = new Map();
        for (const { ids, x, y } of this.#drags.values()) for (const id of ids) offsets.set(id, { x, y });
        const live = [...this.#ink.values()].filter(({ isBroken }) => !isBroken).map(({ item }) => item);
        return { live, offsets };
    }

    // MARK: My cursor

    /** Tells the others where the pointer is; null: nowhere. */
    tell(point) {
        if (!this.#studio.canEdit) return;
        this.#waiting = point && { x: point.x, y: point.y };
        if (point === null) {
            clearTimeout(this.#timer);
            this.#timer = null;
            this.#studio.session.post("move_cursor", null);
            return;
        }
        this.#timer ??= setTimeout(() => this.#send(), Math.max(0, cursorInterval - (performance.now() - this.#sentAt)));
    }

    #send() {
        this.#timer = null;
        this.#sentAt = performance.now();
        if (!this.#waiting) return;
        const { x, y } = this.#waiting;
        this.#studio.session.post("move_cursor", { x: Math.round(x * 10) / 10, y: Math.round(y * 10) / 10 });
    }

    // MARK: The others

    #cursorMoved(from, body) {
        if (body === null || body === undefined) {
            this.#removeCursor(from);
            return;
        }
        let cursor = this.#cursors.get(from);
        if (!cursor) {
            const element = document.createElement("div");
            element.className = "cursor";
            const arrow = document.getElementById("cursor-shape").content.cloneNode(true);
            const label = document.createElement("span");
            element.append(arrow, label);
            this.#layer.append(element);
            cursor = { element, label, x: body.x, y: body.y, atX: body.x, atY: body.y };
            this.#cursors.set(from, cursor);
            const participant = this.#studio.session.participants.find(({ id }) => id === from);
            if (participant) this.#name(participant);
        }
        Object.assign(cursor, { x: body.x, y: body.y, seenAt: performance.now() });
        this.#glide();
    }

    #name({ id, name, color }) {
        const cursor = this.#cursors.get(id);
        if (!cursor) return;
        cursor.label.textContent = name;
        cursor.element.style.setProperty("--person", color);
    }

    #glide() {
        this.#frame ??= requestAnimationFrame(() => {
            this.#frame = null;
            this.placeCursors(true);
        });
    }

    /** Moves the cursors to where they belong on the screen. */
    placeCursors(glides = false) {
        const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
        let isMoving = false;
        for (const cursor of this.#cursors.values()) {
            const step = isStill ? 1 : glides ? 0.4 : 0;
            cursor.atX += (cursor.x - cursor.atX) * step;
            cursor.atY += (cursor.y - cursor.atY) * step;
            if (Math.hypot(cursor.x - cursor.atX, cursor.y - cursor.atY) * this.#viewport.zoom > 0.5) isMoving = true;
            const { x, y } = this.#viewport.toScreen(cursor.atX, cursor.atY);
            cursor.element.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
        }
        if (isMoving) this.#glide();
    }

    #removeCursor(id) {
        this.#cursors.get(id)?.element.remove();
        this.#cursors.delete(id);
    }

    #inkCame(from, { id, from: at, points, pressures, color, size }) {
        const isPlaced = this.#studio.board.knows(id);
        if (points.length === 0 || isPlaced) {
            this.#ink.delete(id);
        } else {
            const known = this.#ink.get(id);
            const before = known && !known.isBroken ? known.item : { points: [], pressures: [] };
            // Something is missing between: then the finished stroke will show it.
            const isBroken = before.points.length !== 2 * at || known?.isBroken === true;
            const item = {
                id, kind: "ink", x: 0, y: 0, color, size,
                points: [...before.points, ...points],
                pressures: [...before.pressures, ...(pressures ?? points.filter((_, index) => index % 2 === 0).map(() => 0.5))],
            };
            this.#ink.set(id, { item, isBroken, from, seenAt: performance.now() });
            if (this.#ink.size > mostInk) this.#ink.delete(this.#ink.keys().next().value);
        }
        const last = points.length >= 2 ? { x: points.at(-2), y: points.at(-1) } : null;
        if (last && this.#cursors.has(from)) this.#cursorMoved(from, last);
        this.#studio.repaintLive();
    }

    #dragged(from, body) {
        if (body) this.#drags.set(from, body);
        else this.#drags.delete(from);
        this.#studio.repaint();
    }

    #committed(name, body, from) {
        if (name === "upsert_stroke") this.#ink.delete(body.id);
        if (name === "edit_items") this.#drags.delete(from);
        this.#studio.repaint();
    }

    #forget(id) {
        this.#removeCursor(id);
        this.#drags.delete(id);
        for (const [inkId, { from }] of this.#ink) if (from === id) this.#ink.delete(inkId);
        this.#studio.repaint();
    }

    #sweep() {
        const now = performance.now();
        for (const [id, { seenAt }] of this.#ink) {
            if (now - seenAt <= inkPatience) continue;
            this.#ink.delete(id);
            this.#studio.repaintLive();
        }
        for (const cursor of this.#cursors.values()) cursor.element.dataset.idle = String(now - (cursor.seenAt ?? now) > cursorPatience);
    }
}
