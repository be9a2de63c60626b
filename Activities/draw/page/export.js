// The drawing as a file: SVG with real vectors and text as text, PNG at one or two times its size.

import { boundsOf, grown, isEmpty, union } from "./geometry.js";
import { partsOf } from "./shapes.js";
import { ascent, fontFamily, lineHeight } from "./text-metrics.js";

const padding = 16;
/** Browsers refuse larger canvases. */
const mostPixels = 16_000;

function number(value) {
    return String(Math.round(value * 100) / 100);
}

function escaped(text) {
    // Control characters are not allowed in XML at all.
    const names = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
    return text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "").replace(/[&<>"]/g, (character) => names[character]);
}

/** The box that a file of `items` shows, or null when there is nothing. */
export function exportBox(items) {
    const box = union(items.map(boundsOf));
    return isEmpty(box) ? null : grown(box, padding);
}

function textElement({ x, y, size, color, opacity, text }) {
    const lines = text.split("\n").map((line, index) => {
        return `<tspan x="${number(x)}" y="${number(y + size * (ascent + index * lineHeight))}">${escaped(line)}</tspan>`;
    });
    const family = escaped(fontFamily);
    return `<text xml:space="preserve" font-family="${family}" font-weight="500" font-size="${number(size)}" fill="${color}"${opacityOf(opacity)}>${lines.join("")}</text>`;
}

function opacityOf(opacity) {
    return opacity === undefined || opacity === 1 ? "" : ` opacity="${number(opacity)}"`;
}

function elementOf(item) {
    if (item.kind === "text") return textElement({ ...item, text: item.text ?? "" });
    const parts = partsOf(item).map((part) => {
        if (part.stroke) {
            return `<path d="${part.path}" fill="none" stroke="${item.color}" stroke-width="${number(item.size)}" stroke-linecap="round" stroke-linejoin="round"/>`;
        }
        if (part.fill === "ink") return `<path d="${part.path}" fill="${item.color}"/>`;
        return `<path d="${part.path}" fill="${item.fill}" fill-rule="evenodd"/>`;
    });
    return `<g transform="translate(${number(item.x)} ${number(item.y)})"${opacityOf(item.opacity)}>${parts.join("")}</g>`;
}

/** An SVG document. `background` is a colour, or null for a transparent one. */
export function toSvg(items, { background = "#ffffff", title = "" } = {}) {
    const box = exportBox(items) ?? { left: 0, top: 0, right: 2 * padding, bottom: 2 * padding };
    const [width, height] = [number(box.right - box.left), number(box.bottom - box.top)];
    const [left, top] = [number(box.left), number(box.top)];
    const lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="${left} ${top} ${width} ${height}">`,
    ];
    if (title) lines.push(`<title>${escaped(title)}</title>`);
    if (background) lines.push(`<rect x="${left}" y="${top}" width="${width}" height="${height}" fill="${background}"/>`);
    lines.push(...items.map(elementOf), "</svg>", "");
    return lines.join("\n");
}

/** A PNG as a blob; `paint(context, item)` paints one item. */
export async function toPng(items, { background = "#ffffff", scale = 2, paint }) {
    const box = exportBox(items) ?? { left: 0, top: 0, right: 2 * padding, bottom: 2 * padding };
    const [width, height] = [box.right - box.left, box.bottom - box.top];
    const fitting = Math.min(scale, mostPixels / width, mostPixels / height);
    const canvas = document.createElement("canvas");
    canvas.width = Math.max(1, Math.ceil(width * fitting));
    canvas.height = Math.max(1, Math.ceil(height * fitting));
    const context = canvas.getContext("2d");
    if (background) {
        context.fillStyle = background;
        context.fillRect(0, 0, canvas.width, canvas.height);
    }
    context.setTransform(fitting, 0, 0, fitting, -box.left * fitting, -box.top * fitting);
    for (const item of items) paint(context, item);
    return new Promise((resolve, reject) => {
        canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("The picture is too large."))), "image/png");
    });
}

/** Hands a file to the person. */
export function download(blob, name) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
