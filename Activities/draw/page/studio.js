// What a person does with the drawing: the chosen tool and style, the selection, and the steps that change the board.

import { additions, deletions, edits } from "./batches.js";
import { pale, palette } from "./colors.js";
import { boundsOf, frameOf, grown, moved, resized, union } from "./geometry.js";
import { History } from "./history.js";
import { SharedBoard } from "./shared-board.js";
import { t } from "./strings.js";

export const lineSizes = [2.5, 5, 10, 20];
export const textSizes = [18, 28, 44, 72];
const preferencesKey = "draw.preferences";

function remembered(storage, key) {
    try {
        return JSON.parse(storage.getItem(key)) ?? {};
    } catch {
        return {};
    }
}

function remember(storage, key, text) {
    try {
        storage.setItem(key, text);
    } catch {
        // Storage is full or forbidden: it is forgotten with the page.
    }
}

export class Studio {
    tool = "pen";
    /** The session has ended: there is only something to look at. */
    isOver = false;
    selection = new Set();
    /** Own work in progress: items that are being drawn, erased, moved or resized. */
    live = () => [];
    faded = new Set();
    offsets = new Map();
    previews = new Map();
    marquee = null;
    /** Set by the page: the others' ink and drags, and how to paint again (all, or only what is above the board). */
    presence = null;
    repaint = () => {};
    repaintLive = () => {};
    #listeners = [];
    #historyKey;

    /** `notice(name, values)` tells the person something. */
    constructor(session, { notice }) {
        this.session = session;
        this.notice = notice;
        this.shared = new SharedBoard(session, {
            onChange: () => this.#boardChanged(),
            onRefused: (error) => this.#refused(error),
        });
        this.history = new History(this.shared, () => this.changed());
        this.#historyKey = `draw.history.${session.id}.${session.localParticipant?.member}`;
        this.history.load(this.#storedHistory());
        const { color, sizeIndex, filled, pressure } = remembered(localStorage, preferencesKey);
        this.style = {
            color: /^#[0-9a-f]{6}$/.test(color) ? color : palette[0].value,
            sizeIndex: [0, 1, 2, 3].includes(sizeIndex) ? sizeIndex : 1,
            filled: filled === true,
            pressure: pressure !== false,
        };
        addEventListener("pagehide", () => remember(sessionStorage, this.#historyKey, this.history.save()));
    }

    #storedHistory() {
        try {
            return sessionStorage.getItem(this.#historyKey);
        } catch {
            return null;
        }
    }

    onChange(listener) {
        this.#listeners.push(listener);
    }

    changed() {
        for (const listener of this.#listeners) listener();
    }

    get board() {
        return this.shared.board;
    }

    get canEdit() {
        return !this.isOver && this.session.localParticipant?.role !== "viewer";
    }

    get canClear() {
        return this.canEdit && ["moderator", "host"].includes(this.session.localParticipant?.role);
    }

    get lineSize() {
        return lineSizes[this.style.sizeIndex];
    }

    get textSize() {
        return textSizes[this.style.sizeIndex];
    }

    get selected() {
        return [...this.selection].map((id) => this.board.item(id)).filter(Boolean);
    }

    // MARK: Steps

    #perform(messages, onPlace) {
        for (const { name, body } of messages) this.shared.perform(name, body, onPlace);
    }

    /** Puts an item on the board without a step to undo; for strokes in parts. */
    place(item) {
        this.#perform(additions([item]));
    }

    add(items) {
        if (items.length === 0 || !this.canEdit) return;
        this.#perform(additions(items));
        this.history.push({ kind: "add", items });
    }

    erase(ids) {
        const step = { kind: "erase", items: ids.map((id) => this.board.item(id)).filter(Boolean) };
        if (step.items.length === 0 || !this.canEdit) return;
        // What somebody changed just before comes back changed.
        const keep = (board) => (step.items = step.items.map((item) => board.item(item.id) ?? item));
        this.#perform(deletions(step.items.map(({ id }) => id)), keep);
        this.history.push(step);
    }

    /** Changes properties of items: `[{id, …}]`. What is so already is left out. */
    edit(changes) {
        const after = changes.filter(({ id, ...properties }) => {
            const item = this.board.item(id);
            return item && Object.keys(properties).some((key) => item[key] !== properties[key]);
        });
        if (after.length === 0 || !this.canEdit) return;
        const before = after.map((change) => {
            const item = this.board.item(change.id);
            return Object.fromEntries(Object.keys(change).map((key) => [key, item[key]]));
        });
        this.#perform(edits(after));
        this.history.push({ kind: "edit", before, after });
    }

    replace(items) {
        if (items.length === 0 || !this.canEdit) return;
        const before = items.map(({ id }) => this.board.item(id));
        this.#perform(additions(items));
        this.history.push({ kind: "replace", before, after: items });
    }

    clear() {
        const step = { kind: "erase", items: this.board.visible() };
        if (step.items.length === 0 || !this.canClear) return;
        // What somebody put there just before is cleared too, and comes back with the rest.
        this.shared.perform("clear_canvas", {}, (board) => (step.items = board.visible()));
        this.history.push(step);
        this.notice("cleared");
    }

    undo() {
        this.#walked(this.history.undo(), "nothingToUndo", "undone");
    }

    redo() {
        this.#walked(this.history.redo(), "nothingToRedo", "redone");
    }

    #walked(outcome, empty, done) {
        this.notice({ done, changed: "changedSince", empty }[outcome], { isQuiet: outcome === "done" });
        this.selection.clear();
        this.changed();
    }

    // MARK: Style and tool

    choose(tool) {
        this.tool = tool;
        if (tool !== "select") this.select([]);
        this.changed();
    }

    restyle(style) {
        Object.assign(this.style, style);
        remember(localStorage, preferencesKey, JSON.stringify(this.style));
        const items = this.selected;
        if (style.color) this.#recolor(items, style.color);
        if (style.sizeIndex !== undefined) {
            this.edit(items.map(({ id, kind }) => ({ id, size: kind === "text" ? this.textSize : this.lineSize })));
        }
        this.changed();
    }

    // What is inside a shape goes with its line.
    #recolor(items, color) {
        const isTinted = ({ color: before, fill }) => fill !== undefined && fill === pale(before);
        const tinted = items.filter(isTinted);
        this.edit(items.filter((item) => !isTinted(item)).map(({ id }) => ({ id, color })));
        this.replace(tinted.map(({ by, ...item }) => ({ ...item, color, fill: pale(color) })));
    }

    // MARK: Selection

    select(ids) {
        this.selection = new Set(ids);
        this.changed();
    }

    deleteSelection() {
        const ids = this.selected.map(({ id }) => id);
        if (ids.length === 0) return;
        this.erase(ids);
        this.select([]);
        this.notice("deleted", { count: ids.length, isQuiet: true });
    }

    duplicateSelection() {
        const shift = 16 / Math.min(1, this.viewport.zoom);
        const copies = this.selected.map(({ by, ...item }) => ({ ...item, ...moved(item, shift, shift), id: this.session.newId() }));
        this.add(copies);
        this.select(copies.map(({ id }) => id));
        this.notice("duplicated", { count: copies.length, isQuiet: true });
    }

    nudge(dx, dy) {
        this.edit(this.selected.map((item) => moved(item, dx, dy)));
    }

    /** Makes the selection wider and higher, from its top left corner. */
    stretch(dx, dy) {
        const items = this.selected;
        const from = union(items.map(frameOf));
        const to = { ...from, right: Math.max(from.left + 1, from.right + dx), bottom: Math.max(from.top + 1, from.bottom + dy) };
        this.edit(items.map((item) => resized(item, from, to)));
    }

    /** Fills the selected shapes, or empties them, as the style says. */
    fillSelection() {
        const shapes = this.selected.filter(({ kind }) => kind === "rectangle" || kind === "ellipse");
        this.replace(
            shapes.map(({ by, fill, ...item }) => (this.style.filled ? { ...item, fill: pale(item.color) } : item)),
        );
    }

    /** What an item is called. */
    nameOf({ kind, text }) {
        return kind === "text" ? `${t("text")}: ${text}` : t(kind);
    }

    // The items as the person sees them at this moment.
    #seen(item) {
        return this.previews.get(item.id) ?? item;
    }

    /** What the selection looks like: its frame, a box for each item, and handles to drag. */
    selectionShape() {
        const items = this.selected.map((item) => this.#seen(item));
        if (items.length === 0) return null;
        const offset = (box, id) => {
            const { x, y } = this.offsets.get(id) ?? { x: 0, y: 0 };
            return { left: box.left + x, right: box.right + x, top: box.top + y, bottom: box.bottom + y };
        };
        const [only] = items;
        if (items.length === 1 && (only.kind === "line" || only.kind === "arrow") && only.points.length === 4) {
            const shift = this.offsets.get(only.id) ?? { x: 0, y: 0 };
            const end = (at) => ({ x: only.x + only.points[at] + shift.x, y: only.y + only.points[at + 1] + shift.y, end: at, round: true });
            return { frame: union([]), boxes: [], handles: [end(0), end(2)] };
        }
        const margin = 6 / this.viewport.zoom;
        const boxes = items.map((item) => offset(boundsOf(item), item.id));
        const frame = grown(union(boxes), margin);
        const corners = [["left", "top"], ["right", "top"], ["right", "bottom"], ["left", "bottom"]];
        const handles = this.canEdit ? corners.map(([h, v]) => ({ x: frame[h], y: frame[v], corner: [h, v] })) : [];
        return { frame, boxes: items.length > 1 ? boxes : [], handles, inner: union(items.map((item) => frameOf(item))) };
    }

    /** What is to be painted now. */
    scene() {
        const presence = this.presence?.scene() ?? { live: [], offsets: new Map() };
        return {
            items: this.board.visible().map((item) => this.#seen(item)),
            live: [...presence.live, ...this.live()],
            faded: this.faded,
            offsets: new Map([...presence.offsets, ...this.offsets]),
            selection: this.tool === "select" ? this.selectionShape() : null,
            marquee: this.marquee,
        };
    }

    #boardChanged() {
        for (const id of this.selection) if (!this.board.item(id)) this.selection.delete(id);
        this.changed();
    }

    #refused(error) {
        const limits = { state_bytes: "full", outbox: "tooMuchOffline" };
        const name = error?.reason === "gone" ? "erasedMeanwhile" : error?.code === "forbidden" ? "viewOnly" : "refused";
        this.notice(limits[error?.limit] ?? name);
    }
}
