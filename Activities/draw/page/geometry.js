// Where items are: bounds, what is near a point, moving and resizing. Boxes are {left, top, right, bottom} on the canvas.

import { measureText } from "./text-metrics.js";

/** The canvas ends here; the host refuses what lies outside. */
export const farthest = 1_000_000;

const cachedBounds = new WeakMap();

export function clamp(value, least, most) {
    return Math.min(most, Math.max(least, value));
}

/** A coordinate as it is sent: to a hundredth, inside the canvas. */
export function rounded(value) {
    return clamp(Math.round(value * 100) / 100, -farthest, farthest) + 0;
}

export function emptyBox() {
    return { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
}

export function isEmpty(box) {
    return !(box.left <= box.right && box.top <= box.bottom);
}

export function union(boxes) {
    return boxes.reduce(
        (all, box) => ({
            left: Math.min(all.left, box.left),
            top: Math.min(all.top, box.top),
            right: Math.max(all.right, box.right),
            bottom: Math.max(all.bottom, box.bottom),
        }),
        emptyBox(),
    );
}

export function grown(box, by) {
    return { left: box.left - by, top: box.top - by, right: box.right + by, bottom: box.bottom + by };
}

export function overlaps(a, b) {
    return a.left <= b.right && b.left <= a.right && a.top <= b.bottom && b.top <= a.bottom;
}

export function contains(box, x, y) {
    return x >= box.left && x <= box.right && y >= box.top && y <= box.bottom;
}

/** The box around an item's points, without the thickness of its line. */
export function frameOf({ kind, x, y, points, size, text }) {
    if (kind === "text") {
        const { width, height } = measureText(text ?? "", size);
        return { left: x, top: y, right: x + width, bottom: y + height };
    }
    const box = emptyBox();
    for (let i = 0; i + 1 < points.length; i += 2) {
        box.left = Math.min(box.left, points[i]);
        box.right = Math.max(box.right, points[i]);
        box.top = Math.min(box.top, points[i + 1]);
        box.bottom = Math.max(box.bottom, points[i + 1]);
    }
    return { left: box.left + x, top: box.top + y, right: box.right + x, bottom: box.bottom + y };
}

/** All that the item covers. */
export function boundsOf(item) {
    let box = cachedBounds.get(item);
    if (!box) {
        const margin = item.kind === "text" ? 0 : item.kind === "arrow" ? item.size * 4 : item.size;
        box = grown(frameOf(item), margin);
        cachedBounds.set(item, box);
    }
    return box;
}

function distanceToSegment(x, y, ax, ay, bx, by) {
    const dx = bx - ax;
    const dy = by - ay;
    const length = dx * dx + dy * dy;
    const t = length === 0 ? 0 : clamp(((x - ax) * dx + (y - ay) * dy) / length, 0, 1);
    return Math.hypot(x - ax - t * dx, y - ay - t * dy);
}

function distanceToPolyline(x, y, points, closed) {
    if (points.length === 2) return Math.hypot(x - points[0], y - points[1]);
    let nearest = Infinity;
    for (let i = 0; i + 3 < points.length; i += 2) {
        nearest = Math.min(nearest, distanceToSegment(x, y, points[i], points[i + 1], points[i + 2], points[i + 3]));
    }
    const last = points.length - 2;
    if (closed) nearest = Math.min(nearest, distanceToSegment(x, y, points[last], points[last + 1], points[0], points[1]));
    return nearest;
}

function ellipsePoints([x1, y1, x2, y2]) {
    const points = [];
    for (let i = 0; i < 48; i += 1) {
        const angle = (i / 48) * 2 * Math.PI;
        points.push((x1 + x2) / 2 + (Math.abs(x2 - x1) / 2) * Math.cos(angle), (y1 + y2) / 2 + (Math.abs(y2 - y1) / 2) * Math.sin(angle));
    }
    return points;
}

function isInside(x, y, points) {
    let inside = false;
    for (let i = 0, j = points.length - 2; i < points.length; j = i, i += 2) {
        const crosses = points[i + 1] > y !== points[j + 1] > y;
        if (crosses && x < ((points[j] - points[i]) * (y - points[i + 1])) / (points[j + 1] - points[i + 1]) + points[i]) inside = !inside;
    }
    return inside;
}

/** The lines that an item is made of, as `{points, closed}`, counted from its x and y. */
export function outlineOf({ kind, points }) {
    if (points.length < 4) return { points, closed: false };
    const [x1, y1, x2, y2] = points;
    if (kind === "rectangle") return { points: [x1, y1, x2, y1, x2, y2, x1, y2], closed: true };
    if (kind === "ellipse") return { points: ellipsePoints(points), closed: true };
    return { points, closed: false };
}

/** Whether the point is on the item, or at most `reach` beside it. */
export function isHit(item, x, y, reach) {
    if (!contains(grown(boundsOf(item), reach), x, y)) return false;
    if (item.kind === "text") return true;
    const outline = outlineOf(item);
    if (distanceToPolyline(x - item.x, y - item.y, outline.points, outline.closed) <= item.size / 2 + reach) return true;
    return item.fill !== undefined && isInside(x - item.x, y - item.y, outline.points);
}

/** Whether a move from one point to another passes the item: what an eraser touches. */
export function isCrossed(item, from, to, reach) {
    const steps = Math.max(1, Math.ceil(Math.hypot(to.x - from.x, to.y - from.y) / Math.max(reach, 0.01)));
    if (!overlaps(grown(boundsOf(item), reach), union([pointBox(from), pointBox(to)]))) return false;
    for (let i = 0; i <= Math.min(steps, 400); i += 1) {
        const t = i / Math.min(steps, 400);
        if (isHit(item, from.x + (to.x - from.x) * t, from.y + (to.y - from.y) * t, reach)) return true;
    }
    return false;
}

function pointBox({ x, y }) {
    return { left: x, top: y, right: x, bottom: y };
}

/** The change that fits an item into another frame: `from` and `to` are boxes of the whole selection. */
export function resized(item, from, to) {
    const scaleX = from.right > from.left ? (to.right - to.left) / (from.right - from.left) : 1;
    const scaleY = from.bottom > from.top ? (to.bottom - to.top) / (from.bottom - from.top) : 1;
    const x = rounded(to.left + (item.x - from.left) * scaleX);
    const y = rounded(to.top + (item.y - from.top) * scaleY);
    if (item.kind === "text") {
        return { id: item.id, x, y, size: clamp(rounded(item.size * Math.max(Math.abs(scaleX), Math.abs(scaleY))), 4, 500) };
    }
    const points = item.points.map((value, index) => rounded(value * (index % 2 === 0 ? scaleX : scaleY)));
    return { id: item.id, x, y, points };
}

/** The change that moves an item. */
export function moved(item, dx, dy) {
    return { id: item.id, x: rounded(item.x + dx), y: rounded(item.y + dy) };
}
