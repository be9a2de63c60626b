// All keys of the page.

import { boardBounds } from "./tools.js";

const tools = { v: "select", p: "pen", e: "eraser", l: "line", a: "arrow", r: "rectangle", o: "ellipse", t: "text" };
const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export class Keyboard {
    #studio;
    #viewport;
    #input;
    #menu;
    #tools;
    #canvas;

    constructor({ studio, viewport, input, menu, tools: pointerTools, canvas }) {
        this.#studio = studio;
        this.#viewport = viewport;
        this.#input = input;
        this.#menu = menu;
        this.#tools = pointerTools;
        this.#canvas = canvas;
        document.addEventListener("keydown", (event) => this.#down(event));
        document.addEventListener("keyup", (event) => {
            if (event.code === "Space") this.#pan(false);
        });
        addEventListener("blur", () => this.#pan(false));
        // The canvas shows that it has the focus only to those who went there by keys.
        addEventListener("keydown", ({ key }) => key === "Tab" && (document.body.dataset.keyboard = "true"), true);
        addEventListener("pointerdown", () => (document.body.dataset.keyboard = "false"), true);
    }

    #pan(isDown) {
        this.#input.isSpaceDown = isDown;
        this.#canvas.dataset.panning = String(isDown);
    }

    #down(event) {
        if (event.target.closest("input, textarea, dialog[open], [role=menu]") || event.isComposing) return;
        const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
        const handled = event.ctrlKey || event.metaKey ? this.#withControl(key, event) : this.#plain(key, event);
        if (handled) event.preventDefault();
    }

    #withControl(key, { shiftKey }) {
        const studio = this.#studio;
        const actions = {
            z: () => (shiftKey ? studio.redo() : studio.undo()),
            y: () => studio.redo(),
            a: () => this.#selectAll(),
            d: () => studio.duplicateSelection(),
            "=": () => this.#viewport.zoomAt(1.25),
            "+": () => this.#viewport.zoomAt(1.25),
            "-": () => this.#viewport.zoomAt(0.8),
            0: () => this.#viewport.zoomAt(1 / this.#viewport.zoom),
        };
        if (!Object.hasOwn(actions, key)) return false;
        if (!this.#input.isBusy) actions[key]();
        return true;
    }

    #plain(key, event) {
        const studio = this.#studio;
        const isOnButton = event.target.closest("button, a, label") !== null;
        if (Object.hasOwn(arrows, key)) return !event.target.closest("[role=toolbar]") && this.#arrow(arrows[key], event);
        if (event.code === "Space" && !isOnButton) {
            this.#pan(true);
            return true;
        }
        if (event.altKey) return false;
        if (event.code === "Digit1" && event.shiftKey) {
            this.#viewport.fit(boardBounds(studio.board));
            return true;
        }
        if (key === "?") {
            this.#menu.showHelp();
            return true;
        }
        if (key === "Escape") {
            this.#input.cancel();
            studio.select([]);
            return true;
        }
        if (!studio.canEdit) return false;
        if (Object.hasOwn(tools, key)) studio.choose(tools[key]);
        else if (/^[1-4]$/.test(key)) studio.restyle({ sizeIndex: Number(key) - 1 });
        else if (key === "Delete" || key === "Backspace") studio.deleteSelection();
        else if (key === "n") this.#selectNext(event.shiftKey ? -1 : 1);
        else if (key === "Enter" && !isOnButton) this.#enter();
        else return false;
        return true;
    }

    #arrow([x, y], { shiftKey, altKey }) {
        const step = (shiftKey ? 10 : 1) * Math.max(1, Math.round(1 / this.#viewport.zoom));
        if (this.#studio.selection.size === 0) this.#viewport.panBy(-x * 60, -y * 60);
        else if (altKey) this.#studio.stretch(x * step, y * step);
        else this.#studio.nudge(x * step, y * step);
        return true;
    }

    #selectAll() {
        this.#studio.choose("select");
        this.#studio.select(this.#studio.board.visible().map(({ id }) => id));
    }

    #selectNext(direction) {
        const studio = this.#studio;
        const items = studio.board.visible();
        if (items.length === 0) return;
        const at = items.findIndex(({ id }) => studio.selection.has(id));
        const item = items.at(at < 0 && direction < 0 ? -1 : (at + direction) % items.length);
        studio.choose("select");
        studio.select([item.id]);
        studio.reveal(item);
        studio.notice("selectedOne", { name: studio.nameOf(item), isQuiet: true });
    }

    // Without a pointer: shapes and texts come into the middle of the screen.
    #enter() {
        const studio = this.#studio;
        const tool = this.#tools[studio.tool];
        if (tool.placeAt) {
            const item = tool.placeAt(this.#viewport.centre);
            studio.choose("select");
            studio.select([item.id]);
            studio.notice("selectedOne", { name: studio.nameOf(item), isQuiet: true });
        } else if (studio.tool === "text") {
            studio.editText(null, this.#viewport.centre);
        } else {
            studio.editSelectedText();
        }
    }
}
