// A small menu under a button. Arrow keys move, Escape and a click elsewhere close it.

import { element, icon } from "../dom.js";

/** A button that opens a menu; `entries()` gives what stands in it: `{symbol, label, danger, run}`. */
export function menuButton(label, entries) {
    const button = element("button", { class: "button quiet square", type: "button", "aria-label": label, "aria-haspopup": "menu", "aria-expanded": "false" }, icon("more"));
    const wrapper = element("span", { class: "menu-place" }, button);
    let menu = null;
    const close = (focus) => {
        if (!menu) return;
        menu.remove();
        menu = null;
        button.setAttribute("aria-expanded", "false");
        document.removeEventListener("pointerdown", outside);
        window.removeEventListener("blur", leave);
        if (focus) button.focus();
    };
    const outside = (event) => !wrapper.contains(event.target) && close(false);
    // A click into the activity's frame reaches this page only as a loss of focus.
    const leave = () => close(false);
    const open = () => {
        menu = element("div", { class: "menu", role: "menu" }, entries().map(({ symbol, label: text, danger, run }) =>
            element("button", { class: danger ? "menu-item danger" : "menu-item", type: "button", role: "menuitem", onClick: () => { close(true); run(); } }, icon(symbol), text)));
        menu.addEventListener("keydown", (event) => {
            const items = [...menu.querySelectorAll("button")];
            const index = items.indexOf(document.activeElement);
            if (event.key === "Escape") close(true);
            else if (event.key === "ArrowDown") items[(index + 1) % items.length].focus();
            else if (event.key === "ArrowUp") items[(index + items.length - 1) % items.length].focus();
            else if (event.key === "Tab") close(false);
            else return;
            if (event.key !== "Tab") event.preventDefault();
        });
        wrapper.append(menu);
        button.setAttribute("aria-expanded", "true");
        document.addEventListener("pointerdown", outside);
        window.addEventListener("blur", leave);
        menu.querySelector("button")?.focus();
    };
    button.addEventListener("click", () => (menu ? close(true) : open()));
    return wrapper;
}
