// Paints the board on one canvas and what changes quickly (ink that is being drawn, the selection) on a second one above it.

import { boundsOf, isEmpty, overlaps } from "./geometry.js";
import { partsOf } from "./shapes.js";
import { shown } from "./colors.js";
import { ascent, fontFamily, lineHeight } from "./text-metrics.js";

const paths = new WeakMap();
const gridStep = 24;

function pathOf(part) {
    let path = paths.get(part);
    if (!path) {
        path = new Path2D(part.path);
        paths.set(part, path);
    }
    return path;
}

/** Paints one item where the context's origin is the canvas's. */
export function paintItem(context, item, { isDark = false, alpha = 1, dx = 0, dy = 0 } = {}) {
    const color = shown(item.color, isDark);
    context.save();
    context.translate(item.x + dx, item.y + dy);
    context.globalAlpha = alpha * (item.opacity ?? 1);
    context.fillStyle = color;
    context.strokeStyle = color;
    if (item.kind === "text") {
        context.font = `500 ${item.size}px ${fontFamily}`;
        context.textBaseline = "alphabetic";
        (item.text ?? "").split("\n").forEach((line, index) => context.fillText(line, 0, item.size * (ascent + index * lineHeight)));
    }
    context.lineWidth = item.size;
    context.lineCap = "round";
    context.lineJoin = "round";
    for (const part of partsOf(item)) {
        if (part.stroke) context.stroke(pathOf(part));
        else if (part.fill === "ink") context.fill(pathOf(part), "nonzero");
        else {
            context.fillStyle = shown(item.fill, isDark);
            context.fill(pathOf(part), "evenodd");
            context.fillStyle = color;
        }
    }
    context.restore();
}

export class Renderer {
    #board;
    #live;
    #viewport;
    #scene;
    #boardIsOld = true;
    #liveIsOld = true;
    #frame = null;
    #colors = {};
    isDark = false;

    /** `scene()` tells what to paint: `{items, live, faded, offsets, selection, marquee}`. */
    constructor({ board, live, viewport, scene }) {
        this.#board = board;
        this.#live = live;
        this.#viewport = viewport;
        this.#scene = scene;
    }

    /** Takes the theme's colours from the style sheet. */
    readTheme() {
        const style = getComputedStyle(document.documentElement);
        this.#colors = Object.fromEntries(["paper", "grid", "accent", "panel"].map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
        this.isDark = matchMedia("(prefers-color-scheme: dark)").matches;
        this.refresh();
    }

    resize() {
        const ratio = window.devicePixelRatio || 1;
        for (const canvas of [this.#board, this.#live]) {
            canvas.width = Math.round(this.#viewport.width * ratio);
            canvas.height = Math.round(this.#viewport.height * ratio);
        }
        this.refresh();
    }

    refresh() {
        this.#boardIsOld = true;
        this.refreshLive();
    }

    refreshLive() {
        this.#liveIsOld = true;
        this.#frame ??= requestAnimationFrame(() => {
            this.#frame = null;
            this.#paint();
        });
    }

    #paint() {
        const scene = this.#scene();
        if (this.#boardIsOld) this.#paintBoard(scene);
        if (this.#liveIsOld) this.#paintLive(scene);
        this.#boardIsOld = this.#liveIsOld = false;
    }

    #begin(canvas) {
        const context = canvas.getContext("2d");
        const scale = (canvas.width / this.#viewport.width) * this.#viewport.zoom;
        context.setTransform(1, 0, 0, 1, 0, 0);
        context.clearRect(0, 0, canvas.width, canvas.height);
        context.setTransform(scale, 0, 0, scale, -this.#viewport.x * scale, -this.#viewport.y * scale);
        return context;
    }

    #paintBoard({ items, faded, offsets }) {
        const context = this.#begin(this.#board);
        this.#paintGrid(context);
        const box = this.#viewport.box;
        for (const item of items) {
            const offset = offsets.get(item.id);
            const bounds = boundsOf(item);
            if (!offset && !overlaps(bounds, box)) continue;
            paintItem(context, item, { isDark: this.isDark, alpha: faded.has(item.id) ? 0.22 : 1, dx: offset?.x, dy: offset?.y });
        }
    }

    #paintGrid(context) {
        const { box, zoom } = this.#viewport;
        let step = gridStep;
        while (step * zoom < 18) step *= 4;
        while (step * zoom > 72) step /= 2;
        context.fillStyle = this.#colors.grid;
        const dot = 1.5 / zoom;
        context.beginPath();
        for (let x = Math.ceil(box.left / step) * step; x <= box.right; x += step) {
            for (let y = Math.ceil(box.top / step) * step; y <= box.bottom; y += step) context.rect(x - dot / 2, y - dot / 2, dot, dot);
        }
        context.fill();
    }

    #paintLive({ live, selection, marquee }) {
        const context = this.#begin(this.#live);
        for (const item of live) paintItem(context, item, { isDark: this.isDark });
        const { zoom } = this.#viewport;
        context.strokeStyle = this.#colors.accent;
        context.lineWidth = 1.5 / zoom;
        if (selection) this.#paintSelection(context, selection);
        if (marquee) {
            context.fillStyle = this.#colors.accent;
            context.globalAlpha = 0.08;
            context.fillRect(marquee.left, marquee.top, marquee.right - marquee.left, marquee.bottom - marquee.top);
            context.globalAlpha = 1;
            context.strokeRect(marquee.left, marquee.top, marquee.right - marquee.left, marquee.bottom - marquee.top);
        }
    }

    #paintSelection(context, { frame, boxes, handles }) {
        const { zoom } = this.#viewport;
        context.globalAlpha = 0.45;
        for (const box of boxes) context.strokeRect(box.left, box.top, box.right - box.left, box.bottom - box.top);
        context.globalAlpha = 1;
        if (!isEmpty(frame)) {
            const { left, top, right, bottom } = frame;
            context.strokeRect(left, top, right - left, bottom - top);
        }
        context.fillStyle = this.#colors.panel;
        for (const { x, y, round } of handles) {
            const half = 5 / zoom;
            context.beginPath();
            if (round) context.arc(x, y, half * 1.1, 0, 2 * Math.PI);
            else context.roundRect(x - half, y - half, 2 * half, 2 * half, 2.5 / zoom);
            context.fill();
            context.stroke();
        }
    }
}
