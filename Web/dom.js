// Building the page: elements with text in them, never markup from text.

const svgNamespace = "http://www.w3.org/2000/svg";

/**
 * Makes an element. `properties`: `class`, `on…` (listeners, `onClick`), `style` (custom properties), what the element has
 * as a property (`value`, `disabled`, …), attributes otherwise. Children that are strings become text; empty ones are left out.
 */
export function element(name, properties = {}, ...children) {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(properties)) {
        if (value === undefined || value === null || value === false) continue;
        if (key === "class") node.className = value;
        else if (key === "style") for (const [property, text] of Object.entries(value)) node.style.setProperty(property, text);
        else if (key.startsWith("on")) node.addEventListener(key.slice(2).toLowerCase(), value);
        else if (key.includes("-") || key === "role" || key === "for" || key === "list") node.setAttribute(key, value === true ? "" : value);
        else if (key in node) node[key] = value;
        else node.setAttribute(key, value);
    }
    append(node, children);
    return node;
}

function append(node, children) {
    for (const child of children.flat(3)) if (child !== null && child !== undefined && child !== false && child !== "") node.append(child);
}

/** Puts `children` in place of what `node` holds. */
export function fill(node, ...children) {
    node.replaceChildren();
    append(node, children);
    return node;
}

const paths = {
    back: "M15 5l-7 7 7 7",
    close: "M6 6l12 12M18 6L6 18",
    more: "M5 12a.5.5 0 1 0 1 0 .5.5 0 1 0-1 0zM11.5 12a.5.5 0 1 0 1 0 .5.5 0 1 0-1 0zM18 12a.5.5 0 1 0 1 0 .5.5 0 1 0-1 0z",
    people: "M9 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM2.5 20.5c.6-3.6 3.2-5.5 6.5-5.5s5.9 1.9 6.5 5.5M16 3.5a4 4 0 0 1 0 7.5M18.5 15.5c1.7.9 2.7 2.6 3 5",
    invite: "M9 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM2.5 20.5c.6-3.6 3.2-5.5 6.5-5.5s5.9 1.9 6.5 5.5M19 8v6M16 11h6",
    plus: "M12 5v14M5 12h14",
    copy: "M9 9h10a1 1 0 0 1 1 1v10a1 1 0 0 1-1 1H9a1 1 0 0 1-1-1V10a1 1 0 0 1 1-1zM16 9V4a1 1 0 0 0-1-1H5a1 1 0 0 0-1 1v10a1 1 0 0 0 1 1h3",
    check: "M5 12.5l4.5 4.5L19 7.5",
    lock: "M6 11h12a1 1 0 0 1 1 1v8a1 1 0 0 1-1 1H6a1 1 0 0 1-1-1v-8a1 1 0 0 1 1-1zM8 11V8a4 4 0 0 1 8 0v3",
    refresh: "M20 11a8 8 0 0 0-14.5-4L4 8.5M4 4v4.5h4.5M4 13a8 8 0 0 0 14.5 4l1.5-1.5M20 20v-4.5h-4.5",
    share: "M12 15V4M8 7.5L12 3.5l4 4M5 13v6a1 1 0 0 0 1 1h12a1 1 0 0 0 1-1v-6",
    stop: "M7 7h10v10H7z",
    search: "M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zM15.5 15.5L20 20",
    ticket: "M4 7h16v3.5a1.5 1.5 0 0 0 0 3V17H4v-3.5a1.5 1.5 0 0 0 0-3zM14 7v10",
    door: "M6 21V4a1 1 0 0 1 1-1h10a1 1 0 0 1 1 1v17M3.5 21h17M14.5 12.5h.01",
    windows: "M8 8V5a1 1 0 0 1 1-1h10a1 1 0 0 1 1 1v9a1 1 0 0 1-1 1h-3M5 9h10a1 1 0 0 1 1 1v9a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1v-9a1 1 0 0 1 1-1z",
    moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5z",
    clock: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 7.5V12l3 2",
    alert: "M12 4l9 16H3zM12 10.5v4M12 17.2h.01",
};

/** A line icon; decoration only, the text beside it or the label of its button says what it means. */
export function icon(name) {
    const svg = document.createElementNS(svgNamespace, "svg");
    svg.setAttribute("viewBox", "0 0 24 24");
    svg.setAttribute("class", `icon icon-${name}`);
    svg.setAttribute("aria-hidden", "true");
    const path = document.createElementNS(svgNamespace, "path");
    path.setAttribute("d", paths[name]);
    svg.append(path);
    return svg;
}

let counter = 0;

/** An id for connecting labels with fields. */
export function uniqueId(prefix) {
    counter += 1;
    return `${prefix}-${counter}`;
}

/** A modal dialog that removes itself when it is closed; Escape and a click beside it close it. */
export function openDialog({ title, label, onClose = () => {} }, ...children) {
    const headingId = uniqueId("dialog");
    const close = element("button", { class: "button quiet square", type: "button", "aria-label": label, onClick: () => dialog.close() }, icon("close"));
    const dialog = element(
        "dialog",
        { class: "dialog", "aria-labelledby": headingId },
        element("div", { class: "dialog-body" }, element("div", { class: "dialog-head" }, element("h2", { id: headingId }, title), close), children),
    );
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
    dialog.addEventListener("close", () => {
        dialog.remove();
        onClose();
    });
    document.body.append(dialog);
    dialog.showModal();
    return dialog;
}
