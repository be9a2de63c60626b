// Lets Node load the drawing page's modules as a browser does.

import { register } from "node:module";
import { readFile } from "node:fs/promises";

const page = new URL("../../../Activities/draw/page/", import.meta.url).href;
const hooks = `
const page = ${JSON.stringify(page)};
export async function load(url, context, next) {
    return url.startsWith(page) ? next(url, { ...context, format: "module" }) : next(url, context);
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);

/** Loads a module of the page by its name. */
export const loadDraw = (name) => import(page + name);

/** A few strokes of a library that people drew; its README says where it is from. */
export const libraryText = () => readFile(new URL("../../Browser/fixtures/strokes.excalidrawlib", import.meta.url), "utf8");

/** A generator of the same numbers from 0 up to 1 for the same seed. */
export function seeded(seed) {
    let state = seed >>> 0;
    return () => {
        state = (state + 0x6d2b79f5) >>> 0;
        let mixed = Math.imul(state ^ (state >>> 15), state | 1);
        mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
        return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
    };
}
