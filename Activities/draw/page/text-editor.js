// Writing on the canvas: a text area that lies where the text will be.

import { rounded } from "./geometry.js";
import { fontFamily, lineHeight, measureText } from "./text-metrics.js";
import { shown } from "./colors.js";

export const longestText = 280;

export class TextEditor {
    #area;
    #studio;
    #viewport;
    #isDark;
    /** `{item, x, y, size, color}` while somebody writes. */
    #open = null;

    constructor({ area, studio, viewport, isDark }) {
        this.#area = area;
        this.#studio = studio;
        this.#viewport = viewport;
        this.#isDark = isDark;
        area.addEventListener("input", () => this.#fit());
        area.addEventListener("blur", () => this.commit());
        // Browsers scroll until the caret is in sight. That becomes a pan: the canvas, the pointer and the text stay in one place.
        const stage = area.parentElement;
        stage.addEventListener("scroll", () => {
            const { scrollLeft, scrollTop } = stage;
            if (scrollLeft === 0 && scrollTop === 0) return;
            stage.scrollTo({ left: 0, top: 0, behavior: "instant" });
            viewport.panBy(-scrollLeft, -scrollTop);
        });
        area.addEventListener("keydown", (event) => {
            event.stopPropagation();
            if (event.isComposing) return;
            if (event.key === "Escape" || (event.key === "Enter" && (event.ctrlKey || event.metaKey))) {
                event.preventDefault();
                this.#area.blur();
            }
        });
    }

    get isOpen() {
        return this.#open !== null;
    }

    /** The text that is being edited: the painter leaves it out. */
    get editedId() {
        return this.#open?.item?.id ?? null;
    }

    /** Edits `item`, or begins a text at `x`, `y` when it is null. */
    edit(item, { x, y }) {
        if (this.#open) this.commit();
        const size = item?.size ?? this.#studio.textSize;
        this.#open = {
            item,
            size,
            color: item?.color ?? this.#studio.style.color,
            x: item?.x ?? x,
            y: item?.y ?? y - (size * lineHeight) / 2,
        };
        this.#area.value = item?.text ?? "";
        this.#area.hidden = false;
        this.place();
        this.#area.focus({ preventScroll: true });
        this.#studio.changed();
    }

    /** Puts a pasted text onto the board, without an editor. */
    paste(text, { x, y }) {
        const size = this.#studio.textSize;
        const shortened = [...text].slice(0, longestText).join("");
        if (shortened !== text) this.#studio.notice("textIsLong", { count: longestText });
        const { width, height } = measureText(shortened, size);
        this.#add({ x: x - width / 2, y: y - height / 2, size, color: this.#studio.style.color }, shortened);
    }

    #add({ x, y, color, size }, text) {
        const item = { id: this.#studio.session.newId(), kind: "text", x: rounded(x), y: rounded(y), color, size, points: [0, 0], text };
        this.#studio.add([item]);
    }

    /** Follows the canvas when it is panned or zoomed. */
    place() {
        if (!this.#open) return;
        const { x, y, size, color } = this.#open;
        const at = this.#viewport.toScreen(x, y);
        const { style } = this.#area;
        style.transform = `translate(${at.x}px, ${at.y}px) scale(${this.#viewport.zoom})`;
        style.fontFamily = fontFamily;
        style.fontSize = `${size}px`;
        style.lineHeight = String(lineHeight);
        style.color = shown(color, this.#isDark());
        this.#fit();
    }

    #fit() {
        if (!this.#open) return;
        const codePoints = [...this.#area.value];
        if (codePoints.length > longestText) {
            this.#area.value = codePoints.slice(0, longestText).join("");
            this.#studio.notice("textIsLong", { count: longestText });
        }
        const { width, height } = measureText(this.#area.value, this.#open.size);
        this.#area.style.width = `${Math.max(width, this.#open.size * 2) + this.#open.size}px`;
        this.#area.style.height = `${height}px`;
    }

    /** Puts the text onto the board. */
    commit() {
        if (!this.#open) return;
        const { item, x, y, size, color } = this.#open;
        const text = this.#area.value.replace(/\s+$/u, "");
        this.#open = null;
        this.#area.hidden = true;
        if (item && text === "") this.#studio.erase([item.id]);
        else if (item) this.#change(item, text);
        else if (text !== "") this.#add({ x, y, color, size }, text);
        this.#studio.changed();
    }

    // What was written is not lost when somebody erased the text meanwhile: it becomes a new one.
    #change(item, text) {
        if (text === item.text) return;
        if (this.#studio.board.item(item.id)) {
            this.#studio.edit([{ id: item.id, text }]);
            return;
        }
        const { by, ...copy } = item;
        this.#studio.add([{ ...copy, id: this.#studio.session.newId(), text }]);
        this.#studio.notice("keptText");
    }
}
