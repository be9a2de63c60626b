// What the pointer does on the canvas, one class a tool. Points are {x, y, pressure, time}; pressure is null without a pen.

import { boundsOf, isCrossed, isHit, rounded, union } from "./geometry.js";
import { InkCollector, longestStroke, simplified } from "./ink.js";
import { pale } from "./colors.js";
import { SelectTool } from "./select-tool.js";

const inkInterval = 40;
const mostInkPoints = 200;

class Pen {
    /** Only the upper canvas changes while the pointer moves. */
    isAboveBoard = true;
    #studio;
    #stroke = null;

    constructor(studio) {
        this.#studio = studio;
    }

    down(point) {
        const { style, lineSize, viewport } = this.#studio;
        this.#stroke = {
            id: this.#studio.session.newId(),
            color: style.color,
            size: lineSize,
            ink: new InkCollector({ scale: 1 / viewport.zoom, usesPressure: style.pressure }),
            sent: 0,
            sentAt: 0,
            placed: [],
        };
        this.#stroke.ink.add(point);
        this.#studio.live = () => [this.#liveItem()];
        this.#tell(point.time);
    }

    move(points) {
        for (const point of points) {
            this.#stroke.ink.add(point);
            if (this.#stroke.ink.count >= longestStroke) this.#place();
        }
        this.#tell(points.at(-1).time);
    }

    up(point) {
        this.#stroke.ink.finish(point);
        const { placed } = this.#stroke;
        const last = this.#item();
        this.#end();
        this.#studio.place(last);
        this.#studio.history.push({ kind: "add", items: [...placed, last] });
    }

    cancel() {
        if (!this.#stroke) return;
        const { id, color, size, placed } = this.#stroke;
        this.#end();
        this.#studio.session.post("draw_ink", { id, from: 0, points: [], color, size });
        if (placed.length > 0) this.#studio.history.push({ kind: "add", items: placed });
    }

    #end() {
        this.#stroke = null;
        this.#studio.live = () => [];
    }

    #liveItem() {
        const { id, color, size, ink } = this.#stroke;
        return { id, kind: "ink", x: 0, y: 0, color, size, points: [...ink.points], pressures: [...ink.pressures] };
    }

    #item() {
        const { id, color, size, ink } = this.#stroke;
        const kept = simplified(ink.points, ink.pressures, 0.2 / this.#studio.viewport.zoom, size);
        const [x, y] = kept.points;
        const points = kept.points.map((value, index) => rounded(value - (index % 2 === 0 ? x : y)));
        const item = { id, kind: "ink", x, y, color, size, points };
        if (kept.pressures.some((pressure) => pressure !== 0.5)) item.pressures = kept.pressures;
        return item;
    }

    // The stroke has become too long for one item: what there is goes onto the board, the pen goes on.
    #place() {
        const item = this.#item();
        this.#stroke.placed.push(item);
        this.#studio.place(item);
        this.#stroke.ink = this.#stroke.ink.continued();
        this.#stroke.id = this.#studio.session.newId();
        this.#stroke.sent = 0;
    }

    // Shows the others the line while it is being drawn.
    #tell(time) {
        const { id, color, size, ink, sent, sentAt } = this.#stroke;
        if (time - sentAt < inkInterval || ink.count === sent) return;
        const until = Math.min(ink.count, sent + mostInkPoints);
        const points = ink.points.slice(2 * sent, 2 * until);
        const pressures = ink.pressures.slice(sent, until);
        this.#studio.session.post("draw_ink", { id, from: sent, points, pressures, color, size });
        this.#stroke.sent = until;
        this.#stroke.sentAt = time;
    }
}

class Eraser {
    #studio;
    #last = null;

    constructor(studio) {
        this.#studio = studio;
    }

    get #reach() {
        return 7 / this.#studio.viewport.zoom;
    }

    down(point) {
        this.#last = point;
        this.#touch(point, point);
    }

    move(points) {
        for (const point of points) {
            this.#touch(this.#last, point);
            this.#last = point;
        }
    }

    up() {
        const ids = [...this.#studio.faded];
        this.#studio.faded.clear();
        this.#studio.erase(ids);
        if (ids.length > 0) this.#studio.notice("deleted", { count: ids.length, isQuiet: true });
    }

    cancel() {
        this.#studio.faded.clear();
    }

    #touch(from, to) {
        for (const item of this.#studio.board.visible()) {
            if (!this.#studio.faded.has(item.id) && isCrossed(item, from, to, this.#reach)) this.#studio.faded.add(item.id);
        }
    }
}

/** Where the second corner of a shape is when it has to be even: a square, a circle, a line at 15° steps. */
function evened(kind, from, to) {
    const [dx, dy] = [to.x - from.x, to.y - from.y];
    if (kind === "line" || kind === "arrow") {
        const step = Math.PI / 12;
        const angle = Math.round(Math.atan2(dy, dx) / step) * step;
        const length = Math.hypot(dx, dy);
        return { x: from.x + length * Math.cos(angle), y: from.y + length * Math.sin(angle) };
    }
    const side = Math.max(Math.abs(dx), Math.abs(dy));
    return { x: from.x + side * (Math.sign(dx) || 1), y: from.y + side * (Math.sign(dy) || 1) };
}

class Shape {
    isAboveBoard = true;
    #studio;
    #kind;
    #from = null;
    #to = null;

    constructor(studio, kind) {
        this.#studio = studio;
        this.#kind = kind;
    }

    down(point) {
        this.#from = this.#to = point;
        const id = this.#studio.session.newId();
        this.#studio.live = () => [this.#item(id)];
    }

    move(points, { shiftKey }) {
        this.#to = shiftKey ? evened(this.#kind, this.#from, points.at(-1)) : points.at(-1);
    }

    up() {
        const [item] = this.#studio.live();
        this.cancel();
        const [, , width, height] = item.points;
        if (Math.hypot(width, height) * this.#studio.viewport.zoom >= 4) this.#studio.add([item]);
    }

    cancel() {
        this.#studio.live = () => [];
    }

    /** Puts a shape into the middle of the screen, for people without a pointer. */
    placeAt({ x, y }) {
        const reach = 60 / this.#studio.viewport.zoom;
        const isFlat = this.#kind === "line" || this.#kind === "arrow";
        this.#from = { x: x - reach, y: y - (isFlat ? 0 : reach * 0.7) };
        this.#to = { x: x + reach, y: y + (isFlat ? 0 : reach * 0.7) };
        const item = this.#item(this.#studio.session.newId());
        this.#studio.add([item]);
        return item;
    }

    #item(id) {
        const { style, lineSize } = this.#studio;
        const isLine = this.#kind === "line" || this.#kind === "arrow";
        const [from, to] = [this.#from, this.#to];
        const x = isLine ? from.x : Math.min(from.x, to.x);
        const y = isLine ? from.y : Math.min(from.y, to.y);
        const size = isLine ? [to.x - from.x, to.y - from.y] : [Math.abs(to.x - from.x), Math.abs(to.y - from.y)];
        const item = { id, kind: this.#kind, x: rounded(x), y: rounded(y), color: style.color, size: lineSize, points: [0, 0, ...size.map(rounded)] };
        if (style.filled && !isLine) item.fill = pale(style.color);
        return item;
    }
}

class Text {
    #studio;

    constructor(studio) {
        this.#studio = studio;
    }

    down() {}

    move() {}

    // The editor opens when the finger is up: only then may a phone show its keyboard.
    up(point) {
        const item = [...this.#studio.board.visible()].reverse().find((each) => each.kind === "text" && isHit(each, point.x, point.y, 0));
        this.#studio.editText(item ?? null, point);
    }

    cancel() {}
}

export function makeTools(studio) {
    return {
        select: new SelectTool(studio),
        pen: new Pen(studio),
        eraser: new Eraser(studio),
        line: new Shape(studio, "line"),
        arrow: new Shape(studio, "arrow"),
        rectangle: new Shape(studio, "rectangle"),
        ellipse: new Shape(studio, "ellipse"),
        text: new Text(studio),
    };
}

/** The box around everything on the board. */
export function boardBounds(board) {
    return union(board.visible().map(boundsOf));
}
