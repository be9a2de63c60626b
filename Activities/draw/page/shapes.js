// What an item looks like, as SVG path data that the canvas and the SVG file share. Paths are counted from the item's x and y.

import { inkOutline } from "./ink.js";

const cache = new WeakMap();

function number(value) {
    return String(Math.round(value * 1000) / 1000);
}

function polyline(points) {
    let path = `M${number(points[0])} ${number(points[1])}`;
    for (let i = 2; i + 1 < points.length; i += 2) path += `L${number(points[i])} ${number(points[i + 1])}`;
    // A line of one point is a dot, which a round cap shows.
    return points.length === 2 ? `${path}h0.01` : path;
}

// A curve through all points (Catmull-Rom as Béziers).
function curve(points) {
    const at = (index) => {
        const i = 2 * Math.min(points.length / 2 - 1, Math.max(0, index));
        return [points[i], points[i + 1]];
    };
    let path = `M${number(points[0])} ${number(points[1])}`;
    for (let i = 0; i < points.length / 2 - 1; i += 1) {
        const [[ax, ay], [bx, by], [cx, cy], [dx, dy]] = [at(i - 1), at(i), at(i + 1), at(i + 2)];
        path += `C${number(bx + (cx - ax) / 6)} ${number(by + (cy - ay) / 6)} ${number(cx - (dx - bx) / 6)} ${number(cy - (dy - by) / 6)}`;
        path += ` ${number(cx)} ${number(cy)}`;
    }
    return path;
}

function linePath(points) {
    return points.length > 4 ? curve(points) : polyline(points);
}

function arrowHead(points, size) {
    const [x, y] = points.slice(-2);
    let [fromX, fromY] = points.slice(0, 2);
    let length = 0;
    // The head looks along the last stretch that is long enough to have a direction.
    for (let i = points.length - 4; i >= 0; i -= 2) {
        [fromX, fromY] = [points[i], points[i + 1]];
        length = Math.hypot(x - fromX, y - fromY);
        if (length > size * 2) break;
    }
    const angle = Math.atan2(y - fromY, x - fromX);
    const barb = Math.min(size * 2.5 + 8, Math.max(length * 0.6, size));
    const tip = (turn) => `${number(x - barb * Math.cos(angle + turn))} ${number(y - barb * Math.sin(angle + turn))}`;
    return `M${tip(0.5)}L${number(x)} ${number(y)}L${tip(-0.5)}`;
}

function rectanglePath([x1, y1, x2 = x1, y2 = y1], size) {
    const [left, right, top, bottom] = [Math.min(x1, x2), Math.max(x1, x2), Math.min(y1, y2), Math.max(y1, y2)];
    const r = Math.min(size + 4, (right - left) / 4, (bottom - top) / 4);
    const arc = (dx, dy) => `a${number(r)} ${number(r)} 0 0 1 ${number(dx)} ${number(dy)}`;
    return (
        `M${number(left + r)} ${number(top)}H${number(right - r)}${arc(r, r)}V${number(bottom - r)}${arc(-r, r)}` +
        `H${number(left + r)}${arc(-r, -r)}V${number(top + r)}${arc(r, -r)}Z`
    );
}

function ellipsePath([x1, y1, x2 = x1, y2 = y1]) {
    const [rx, ry] = [Math.abs(x2 - x1) / 2, Math.abs(y2 - y1) / 2];
    const [cx, cy] = [(x1 + x2) / 2, (y1 + y2) / 2];
    const arc = (x) => `A${number(rx)} ${number(ry)} 0 1 1 ${number(x)} ${number(cy)}`;
    return `M${number(cx - rx)} ${number(cy)}${arc(cx + rx)}${arc(cx - rx)}Z`;
}

/**
 * What to paint, from below to above: `{path, fill}` or `{path, stroke: true}`; `fill` is `ink` (the item's colour) or
 * `area` (its fill). Text has none.
 */
export function partsOf(item) {
    const kept = cache.get(item.points);
    if (kept && kept.kind === item.kind && kept.size === item.size && kept.filled === (item.fill !== undefined)) return kept.parts;
    const parts = makeParts(item);
    cache.set(item.points, { kind: item.kind, size: item.size, filled: item.fill !== undefined, parts });
    return parts;
}

function makeParts({ kind, points, pressures, size, fill }) {
    if (kind === "text" || points.length < 2) return [];
    if (kind === "ink") {
        const outline = { path: inkOutline({ points, pressures, size }), fill: "ink" };
        return fill === undefined ? [outline] : [{ path: polyline(points), fill: "area" }, outline];
    }
    const path = { line: linePath, arrow: linePath, rectangle: rectanglePath, ellipse: ellipsePath }[kind](points, size);
    const parts = fill === undefined || kind === "arrow" ? [] : [{ path, fill: "area" }];
    parts.push({ path, stroke: true });
    if (kind === "arrow") parts.push({ path: arrowHead(points, size), stroke: true });
    return parts;
}
