// A value as a tree that can be unfolded: how the generic page shows the live state.

import { element } from "../dom.js";
import { t } from "../strings.js";

/** Children shown at most in one place: a list of a thousand points helps nobody and costs a second. */
const longest = 100;

function isBranch(value) {
    return value !== null && typeof value === "object";
}

function leafText(value) {
    return typeof value === "string" ? value : JSON.stringify(value);
}

function summary(value) {
    const count = Array.isArray(value) ? value.length : Object.keys(value).length;
    if (count === 0) return t("generic.empty");
    return Array.isArray(value) ? `[${count}]` : `{${count}}`;
}

/** A tree of `value`. `open` holds the paths that are unfolded; it is kept up to date, so that the next tree looks alike. */
export function tree(value, open, path = "") {
    if (!isBranch(value)) return element("span", { class: `leaf ${value === null ? "null" : typeof value}` }, leafText(value));
    const entries = Object.entries(value);
    if (entries.length === 0) return element("span", { class: "leaf null" }, summary(value));
    return element(
        "ul",
        { class: "tree" },
        entries.slice(0, longest).map(([key, child]) => {
            const name = element("span", { class: "key" }, key);
            if (!isBranch(child) || Object.keys(child).length === 0) return element("li", {}, name, tree(child, open, path));
            return element("li", {}, branch(name, child, open, `${path}/${key}`));
        }),
        entries.length > longest && element("li", { class: "note" }, `… ${entries.length - longest}`),
    );
}

function branch(name, child, open, path) {
    const details = element("details", { open: open.has(path) }, element("summary", {}, name, element("span", { class: "note" }, ` ${summary(child)}`)));
    // What is folded costs nothing: its content is made when it is unfolded.
    const unfold = () => details.childElementCount === 1 && details.append(tree(child, open, path));
    if (details.open) unfold();
    details.addEventListener("toggle", () => {
        if (details.open) {
            open.add(path);
            unfold();
        } else open.delete(path);
    });
    return details;
}
