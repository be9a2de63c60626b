// Reads drawings and libraries of Excalidraw (`.excalidraw`, `.excalidrawlib`) into items. Points and pressures stay as they are.

import { boundsOf, clamp, farthest, isEmpty, union } from "./geometry.js";
import { usualSize } from "./board.js";

const mostPoints = 2000;
const longestText = 280;
/** Excalidraw draws its freehand lines about this many times as thick as their width says. */
const freehandThickness = 4.25;
const gap = 60;
const kinds = { freedraw: "ink", line: "line", arrow: "arrow", rectangle: "rectangle", diamond: "line", ellipse: "ellipse", text: "text" };

/** Why a file could not be read. */
export class NotADrawing extends Error {}

function isFiniteNumber(value) {
    return typeof value === "number" && Number.isFinite(value);
}

/** `#rrggbb` of a colour name or code, or undefined. A page passes a `named` that knows all CSS colours. */
export function colorOf(text, named = () => undefined) {
    if (typeof text !== "string" || text === "transparent" || text === "") return undefined;
    const code = text.toLowerCase();
    if (/^#[0-9a-f]{6}$/.test(code)) return code;
    if (/^#[0-9a-f]{8}$/.test(code)) return code.slice(0, 7);
    if (/^#[0-9a-f]{3,4}$/.test(code)) return `#${[...code.slice(1, 4)].map((digit) => digit + digit).join("")}`;
    return named(code);
}

// The groups of elements in a file: one for a drawing, one for each entry of a library.
function groupsOf(file) {
    if (Array.isArray(file?.elements)) return [file.elements];
    const entries = file?.libraryItems ?? file?.library;
    if (!Array.isArray(entries)) throw new NotADrawing("No elements in it.");
    return entries.map((entry) => (Array.isArray(entry) ? entry : entry?.elements)).filter(Array.isArray);
}

function pairsOf(element) {
    if (!Array.isArray(element.points)) return null;
    const points = [];
    for (const point of element.points) {
        if (!Array.isArray(point) || !isFiniteNumber(point[0]) || !isFiniteNumber(point[1])) return null;
        points.push(point[0], point[1]);
    }
    return points.length > 0 && points.every((value) => Math.abs(value) <= farthest) ? points : null;
}

// Corners turned by the element's angle. Twice each, so that the line through them stays sharp.
function polygonOf(corners, { width, height, angle = 0 }) {
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
    const turned = corners.map(([x, y]) => {
        const [dx, dy] = [x - width / 2, y - height / 2];
        return [width / 2 + dx * cos - dy * sin, height / 2 + dx * sin + dy * cos];
    });
    return [...turned, turned[0]].flatMap((corner) => [...corner, ...corner]);
}

function turned(points, angle) {
    if (!angle) return points;
    const xs = points.filter((_, index) => index % 2 === 0);
    const ys = points.filter((_, index) => index % 2 === 1);
    const middle = (values) => (Math.min(...values) + Math.max(...values)) / 2;
    const [cx, cy, cos, sin] = [middle(xs), middle(ys), Math.cos(angle), Math.sin(angle)];
    return xs.flatMap((x, index) => {
        const [dx, dy] = [x - cx, ys[index] - cy];
        return [cx + dx * cos - dy * sin, cy + dx * sin + dy * cos];
    });
}

function shapeOf(element) {
    const { type, width = 0, height = 0, angle } = element;
    if (!isFiniteNumber(width) || !isFiniteNumber(height)) return null;
    if (type === "diamond") {
        const corners = [[width / 2, 0], [width, height / 2], [width / 2, height], [0, height / 2]];
        return { kind: "line", points: polygonOf(corners, element) };
    }
    if (type === "rectangle" && angle) {
        return { kind: "line", points: polygonOf([[0, 0], [width, 0], [width, height], [0, height]], element) };
    }
    return { kind: kinds[type], points: [0, 0, width, height] };
}

function textItem(base, element) {
    const text = String(element.originalText ?? element.text ?? "").slice(0, longestText * 2);
    const shortened = [...text].slice(0, longestText).join("");
    if (shortened === "") return null;
    return { ...base, kind: "text", points: [0, 0], text: shortened, size: clamp(element.fontSize ?? 20, 4, 500) };
}

// A stroke that is too long for one item goes on in the next.
function split(item) {
    const count = item.points.length / 2;
    if (count <= mostPoints) return [item];
    const items = [];
    for (let from = 0; from < count - 1; from += mostPoints - 1) {
        const part = { ...item, points: item.points.slice(2 * from, 2 * (from + mostPoints)) };
        if (item.pressures) part.pressures = item.pressures.slice(from, from + mostPoints);
        items.push(part);
    }
    return items;
}

function itemsOf(element, named) {
    if (element?.isDeleted || !(element?.type in kinds)) return [];
    if (![element.x, element.y].every((value) => isFiniteNumber(value) && Math.abs(value) <= farthest)) return [];
    const base = { x: element.x, y: element.y, color: colorOf(element.strokeColor, named) ?? "#1e1e1e" };
    const fill = colorOf(element.backgroundColor, named);
    if (fill) base.fill = fill;
    if (isFiniteNumber(element.opacity) && element.opacity < 100) base.opacity = clamp(element.opacity / 100, 0, 1);
    const width = isFiniteNumber(element.strokeWidth) ? clamp(element.strokeWidth, 0.1, 100) : usualSize / 2;
    if (element.type === "text") {
        delete base.fill;
        return [textItem(base, element)].filter(Boolean);
    }
    if (element.type === "freedraw" || element.type === "line" || element.type === "arrow") {
        const pairs = pairsOf(element);
        if (!pairs) return [];
        const item = { ...base, kind: kinds[element.type], points: turned(pairs, element.angle), size: width };
        if (element.type === "freedraw") {
            item.size = width * freehandThickness;
            const { pressures } = element;
            const fits = Array.isArray(pressures) && pressures.length === pairs.length / 2;
            if (fits && pressures.every((value) => isFiniteNumber(value) && value >= 0 && value <= 1)) item.pressures = pressures;
        }
        return split(item);
    }
    const shape = shapeOf(element);
    if (!shape || !shape.points.every((value) => Math.abs(value) <= farthest)) return [];
    return [{ ...base, ...shape, size: width }];
}

// The drawings of a library lie each at its own place, often on one another: here they come in rows.
function inRows(groups) {
    const boxes = groups.map((items) => union(items.map(completedBounds)));
    const area = boxes.reduce((sum, box) => sum + (box.right - box.left + gap) * (box.bottom - box.top + gap), 0);
    const rowWidth = Math.max(Math.sqrt(area) * 1.4, ...boxes.map((box) => box.right - box.left));
    let [x, y, rowHeight] = [0, 0, 0];
    return groups.flatMap((items, index) => {
        const box = boxes[index];
        const [width, height] = [box.right - box.left, box.bottom - box.top];
        if (x > 0 && x + width > rowWidth) [x, y, rowHeight] = [0, y + rowHeight + gap, 0];
        const [dx, dy] = [x - box.left, y - box.top];
        x += width + gap;
        rowHeight = Math.max(rowHeight, height);
        return items.map((item) => ({ ...item, x: item.x + dx, y: item.y + dy }));
    });
}

function completedBounds(item) {
    return boundsOf({ ...item });
}

/**
 * Reads the text of a file. Returns `{items, skipped}`: items without ids, from the lowest to the highest, and how many
 * elements were of a kind that is not drawn here. Throws `NotADrawing`.
 */
export function readExcalidraw(text, { named } = {}) {
    let file;
    try {
        file = JSON.parse(text);
    } catch {
        throw new NotADrawing("Not JSON.");
    }
    const elements = groupsOf(file);
    let skipped = 0;
    const groups = elements.map((list) =>
        list.flatMap((element) => {
            const items = itemsOf(element, named);
            if (items.length === 0 && !element?.isDeleted) skipped += 1;
            return items;
        }),
    );
    const filled = groups.filter((items) => items.length > 0);
    const items = filled.length > 1 ? inRows(filled) : filled.flat();
    return { items: items.filter(({ x, y }) => Math.abs(x) <= farthest && Math.abs(y) <= farthest), skipped };
}

/** Moves items so that the middle of them is at `x`, `y`. */
export function centredAt(items, x, y) {
    const box = union(items.map(completedBounds));
    if (isEmpty(box)) return items;
    const [dx, dy] = [Math.round(x - (box.left + box.right) / 2), Math.round(y - (box.top + box.bottom) / 2)];
    return items.map((item) => ({ ...item, x: item.x + dx, y: item.y + dy }));
}
