// How much room text takes. The same font list is used on the canvas, in the editor and in SVG.

export const fontFamily = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "PingFang SC", "Noto Sans CJK SC", sans-serif';
export const lineHeight = 1.3;
/** From the top of a line to its baseline, in sizes. */
export const ascent = 1;

const context = globalThis.document?.createElement("canvas").getContext("2d") ?? null;
const reference = 100;

function widthOf(line) {
    // Without a canvas (in tests) a guess will do.
    if (!context) return line.length * reference * 0.55;
    context.font = `500 ${reference}px ${fontFamily}`;
    return context.measureText(line).width;
}

/** Width and height of `text` whose letters are `size` tall. */
export function measureText(text, size) {
    const lines = text.split("\n");
    const width = Math.max(...lines.map(widthOf)) * (size / reference);
    return { width: Math.max(width, size * 0.3), height: lines.length * size * lineHeight };
}
