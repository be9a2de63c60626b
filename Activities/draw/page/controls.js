// The toolbars: tools, style, undo and zoom. They show what the studio says and tell it what was pressed.

import { palette, shown } from "./colors.js";
import { boardBounds } from "./tools.js";
import { t } from "./strings.js";

const $ = (id) => document.getElementById(id);
const sizeDots = [5, 8, 12, 17];

function setPressed(button, isPressed) {
    button.setAttribute("aria-pressed", String(isPressed));
}

/** Opens and closes what belongs to a button; a press elsewhere or Escape closes it. */
export class Popover {
    #button;
    #content;
    #isOpen = false;
    #show;

    constructor(button, content, show) {
        this.#button = button;
        this.#content = content;
        this.#show = show;
        button.addEventListener("click", () => this.toggle(!this.#isOpen));
        document.addEventListener("pointerdown", (event) => {
            if (this.#isOpen && !content.contains(event.target) && !button.contains(event.target)) this.toggle(false);
        }, true);
        document.addEventListener("keydown", (event) => {
            if (!this.#isOpen || event.key !== "Escape") return;
            event.stopPropagation();
            this.toggle(false);
            button.focus();
        }, true);
    }

    get isOpen() {
        return this.#isOpen;
    }

    toggle(isOpen) {
        if (isOpen === this.#isOpen) return;
        this.#isOpen = isOpen;
        this.#button.setAttribute("aria-expanded", String(isOpen));
        this.#show(this.#content, isOpen);
    }
}

function showByAttribute(element, isOpen) {
    element.toggleAttribute("data-open", isOpen);
}

export class Controls {
    #studio;
    #renderer;
    #viewport;
    #canvas;
    #toolButtons;
    #colorButtons = new Map();
    #sizeButtons = [];
    #custom = null;
    #shapes;

    constructor({ studio, renderer, viewport, canvas }) {
        this.#studio = studio;
        this.#renderer = renderer;
        this.#viewport = viewport;
        this.#canvas = canvas;
        this.#toolButtons = [...document.querySelectorAll("button[data-tool]")];
        this.#shapes = new Popover($("shapes-button"), $("shapes"), showByAttribute);
        new Popover($("style-button"), $("style-panel"), showByAttribute);
        for (const button of this.#toolButtons) {
            button.setAttribute("aria-keyshortcuts", button.dataset.keys);
            button.addEventListener("click", () => {
                studio.choose(button.dataset.tool);
                this.#shapes.toggle(false);
            });
        }
        this.#makeColors();
        this.#makeSizes();
        const press = {
            undo: () => studio.undo(),
            redo: () => studio.redo(),
            "zoom-in": () => viewport.zoomAt(1.25),
            "zoom-out": () => viewport.zoomAt(0.8),
            "zoom-fit": () => viewport.fit(boardBounds(studio.board)),
            filled: () => this.#toggleFilled(),
            duplicate: () => studio.duplicateSelection(),
            delete: () => studio.deleteSelection(),
            "edit-text": () => studio.editSelectedText(),
        };
        for (const [id, action] of Object.entries(press)) $(id).addEventListener("click", action);
    }

    #makeColors() {
        for (const { name, value } of palette) {
            const button = document.createElement("button");
            button.type = "button";
            button.dataset.tip = t("colors")[name];
            button.setAttribute("aria-label", t("colors")[name]);
            const swatch = document.createElement("span");
            swatch.className = "swatch";
            button.append(swatch);
            button.addEventListener("click", () => this.#studio.restyle({ color: value }));
            this.#colorButtons.set(value, button);
            $("colors").append(button);
        }
        const label = document.createElement("label");
        label.className = "custom";
        const rainbow = document.createElement("span");
        rainbow.className = "rainbow";
        this.#custom = document.createElement("input");
        this.#custom.type = "color";
        this.#custom.setAttribute("aria-label", t("customColor"));
        this.#custom.addEventListener("change", () => this.#studio.restyle({ color: this.#custom.value.toLowerCase() }));
        label.append(rainbow, this.#custom);
        $("colors").append(label);
    }

    #makeSizes() {
        sizeDots.forEach((width, index) => {
            const button = document.createElement("button");
            button.type = "button";
            button.dataset.tip = `${t("sizeNames")[index]}  ${index + 1}`;
            button.setAttribute("aria-label", t("sizeNames")[index]);
            const dot = document.createElement("i");
            dot.style.width = dot.style.height = `${width}px`;
            button.append(dot);
            button.addEventListener("click", () => this.#studio.restyle({ sizeIndex: index }));
            this.#sizeButtons.push(button);
            $("sizes").append(button);
        });
    }

    #toggleFilled() {
        this.#studio.restyle({ filled: !this.#studio.style.filled });
        this.#studio.fillSelection();
    }

    /** Shows how things are. */
    update() {
        const studio = this.#studio;
        const { tool, style } = studio;
        const isDark = this.#renderer.isDark;
        this.#canvas.dataset.tool = studio.canEdit ? tool : "hand";
        for (const button of this.#toolButtons) setPressed(button, button.dataset.tool === tool);
        const shape = this.#toolButtons.find((button) => button.dataset.tool === tool && $("shapes").contains(button));
        setPressed($("shapes-button"), shape !== undefined);
        $("shapes-button").querySelector("use").setAttribute("href", shape ? `#i-${tool}` : "#i-shapes");
        for (const [value, button] of this.#colorButtons) {
            setPressed(button, value === style.color);
            button.firstElementChild.style.setProperty("--swatch", shown(value, isDark));
        }
        this.#custom.value = style.color;
        this.#sizeButtons.forEach((button, index) => setPressed(button, index === style.sizeIndex));
        setPressed($("filled"), style.filled);
        $("style-button").firstElementChild.style.setProperty("--swatch", shown(style.color, isDark));
        $("undo").disabled = !studio.history.canUndo;
        $("redo").disabled = !studio.history.canRedo;
        const selected = studio.selected;
        $("selection-bar").hidden = tool !== "select" || selected.length === 0 || !studio.canEdit;
        $("edit-text").hidden = selected.length !== 1 || selected[0].kind !== "text";
        for (const element of document.querySelectorAll("[data-edits]")) element.hidden = !studio.canEdit;
        for (const element of document.querySelectorAll("[data-clears]")) element.hidden = !studio.canClear;
        this.updateZoom();
    }

    updateZoom() {
        $("zoom-value").textContent = `${Math.round(this.#viewport.zoom * 100)}%`;
    }
}
