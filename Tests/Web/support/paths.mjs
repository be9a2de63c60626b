// Lets Node load the pages' modules as a browser does: "/sdk/…" and "/web/…" are folders of Web/.

import { register } from "node:module";

const web = new URL("../../../Web/", import.meta.url).href;
const hooks = `
const web = ${JSON.stringify(web)};
export async function resolve(specifier, context, next) {
    const served = /^\\/(sdk|web)\\/(.*)$/.exec(specifier);
    if (!served) return next(specifier, context);
    return { url: web + (served[1] === "sdk" ? "sdk/" : "") + served[2], format: "module", shortCircuit: true };
}
export async function load(url, context, next) {
    return url.startsWith(web) ? next(url, { ...context, format: "module" }) : next(url, context);
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);

/** Loads a module of Web/ by its path there. */
export const load = (path) => import(web + path);
