// The menu and its dialogs: new canvas, import, download, objects, clear, help.

import { activity } from "/sdk/activity.js";
import { Popover } from "./controls.js";
import { boundsOf, overlaps } from "./geometry.js";
import { shown } from "./colors.js";
import { NotADrawing, centredAt, readExcalidraw } from "./excalidraw.js";
import { download, toPng, toSvg } from "./export.js";
import { paintItem } from "./renderer.js";
import { boardBounds } from "./tools.js";
import { t } from "./strings.js";

const $ = (id) => document.getElementById(id);
const largestFile = 20_000_000;

// `#rrggbb` of any CSS colour, by the canvas that knows them all.
function namedColor(name) {
    const context = document.createElement("canvas").getContext("2d");
    context.fillStyle = "#010203";
    context.fillStyle = name;
    const { fillStyle } = context;
    return /^#[0-9a-f]{6}$/.test(fillStyle) && fillStyle !== "#010203" ? fillStyle : undefined;
}

/** Asks; resolves with whether the person wants it. */
function confirmed({ title, text, yes }) {
    const dialog = $("confirm-dialog");
    $("confirm-title").textContent = title;
    $("confirm-text").textContent = text;
    $("confirm-yes").textContent = yes;
    dialog.returnValue = "";
    dialog.showModal();
    return new Promise((resolve) => dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true }));
}

export class Menu {
    #studio;
    #viewport;
    #renderer;
    #input;
    #popover;

    constructor({ studio, viewport, renderer, input }) {
        this.#studio = studio;
        this.#viewport = viewport;
        this.#renderer = renderer;
        this.#input = input;
        const menu = $("menu");
        this.#popover = new Popover($("menu-button"), menu, (element, isOpen) => {
            element.hidden = !isOpen;
            if (isOpen) this.#items()[0].focus({ preventScroll: true });
        });
        const actions = {
            startNew: () => this.#startNew(),
            import: () => $("import-file").click(),
            export: () => this.#askExport(),
            fit: () => viewport.fit(boardBounds(studio.board)),
            objects: () => this.showObjects(),
            pressure: () => studio.restyle({ pressure: !studio.style.pressure }),
            penMode: () => this.#togglePenMode(),
            clear: () => this.#clear(),
            help: () => this.showHelp(),
        };
        for (const item of menu.querySelectorAll("[data-action]")) {
            item.addEventListener("click", () => {
                this.#popover.toggle(false);
                $("menu-button").focus({ preventScroll: true });
                actions[item.dataset.action]();
            });
        }
        menu.addEventListener("keydown", (event) => this.#walk(event));
        for (const button of document.querySelectorAll("[data-closes]")) button.addEventListener("click", () => button.closest("dialog").close("cancel"));
        $("import-file").addEventListener("change", async ({ target }) => {
            const [file] = target.files;
            target.value = "";
            if (file) await this.importFile(file);
        });
        $("export-dialog").addEventListener("close", () => this.#export());
        $("export-dialog").addEventListener("change", () => this.#updateExport());
        this.#fillHelp();
    }

    /** Shows how things are. */
    update() {
        $("menu").querySelector("[data-action=pressure]").setAttribute("aria-checked", String(this.#studio.style.pressure));
        $("menu").querySelector("[data-action=penMode]").setAttribute("aria-checked", String(this.#input.penMode));
    }

    #items() {
        return [...$("menu").querySelectorAll("button:not([hidden])")];
    }

    #walk(event) {
        const items = this.#items();
        const at = items.indexOf(document.activeElement);
        const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key];
        if (to === undefined) return;
        event.preventDefault();
        event.stopPropagation();
        items.at(to % items.length).focus();
    }

    #togglePenMode() {
        this.#input.penMode = !this.#input.penMode;
        this.#studio.changed();
    }

    async #startNew() {
        if (!(await confirmed({ title: t("newTitle"), text: t("newText"), yes: t("newYes") }))) return;
        try {
            await activity.startNew();
        } catch (error) {
            // Whether participants may, the operator has said, and the page cannot know before.
            if (error.code === "forbidden") return this.#studio.notice("mayNotStart");
            this.#studio.notice("couldNotStart");
            console.warn(error);
        }
    }

    async #clear() {
        if (this.#studio.board.visible().length === 0) return;
        if (await confirmed({ title: t("clearTitle"), text: t("clearText"), yes: t("clearYes") })) this.#studio.clear();
    }

    // MARK: Import

    /** Reads an Excalidraw file onto the canvas. */
    async importFile(file) {
        if (file.size > largestFile) this.#studio.notice("notADrawing");
        else this.importText(await file.text());
    }

    importText(text) {
        const studio = this.#studio;
        try {
            const { items, skipped } = readExcalidraw(text, { named: namedColor });
            if (items.length === 0) {
                studio.notice("nothingInIt");
                return;
            }
            const { x, y } = this.#viewport.centre;
            const placed = centredAt(items, x, y).map((item) => ({ id: studio.session.newId(), ...item }));
            studio.add(placed);
            studio.choose("select");
            studio.select(placed.map(({ id }) => id));
            this.#viewport.fit(boardBounds(studio.board));
            studio.notice(skipped > 0 ? "skipped" : "imported", { count: placed.length, skipped });
        } catch (error) {
            if (!(error instanceof NotADrawing)) throw error;
            studio.notice("notADrawing");
        }
    }

    // MARK: Download

    #askExport() {
        if (this.#studio.board.visible().length === 0) {
            this.#studio.notice("nothingToExport");
            return;
        }
        const form = $("export-dialog").querySelector("form");
        const hasSelection = this.#studio.selected.length > 0;
        form.elements.namedItem("what").forEach((radio) => (radio.disabled = radio.value === "selection" && !hasSelection));
        if (!hasSelection && form.elements.what.value === "selection") form.elements.what.value = "all";
        $("export-dialog").returnValue = "";
        this.#updateExport();
        $("export-dialog").showModal();
    }

    #updateExport() {
        $("scale-choice").hidden = $("export-dialog").querySelector("form").elements.format.value === "svg";
    }

    async #export() {
        const dialog = $("export-dialog");
        if (dialog.returnValue !== "download") return;
        const { format, what, background, scale } = Object.fromEntries(new FormData(dialog.querySelector("form")));
        const items = this.#itemsOf(what);
        const title = this.#studio.session.parameters?.title || t("title");
        const name = title.replace(/[^\p{L}\p{N} _-]/gu, "").trim() || "drawing";
        const options = { background: background === "white" ? "#ffffff" : null, title };
        if (items.length === 0) {
            this.#studio.notice("nothingToExport");
        } else if (format === "svg") {
            download(new Blob([toSvg(items, options)], { type: "image/svg+xml" }), `${name}.svg`);
        } else {
            const png = await toPng(items, { ...options, scale: Number(scale), paint: paintItem }).catch(() => null);
            if (png) download(png, `${name}.png`);
            else this.#studio.notice("tooLarge");
        }
    }

    #itemsOf(what) {
        if (what === "selection") return this.#studio.selected;
        const all = this.#studio.board.visible();
        return what === "view" ? all.filter((item) => overlaps(boundsOf(item), this.#viewport.box)) : all;
    }

    // MARK: Objects and help

    showObjects() {
        const studio = this.#studio;
        const names = new Map(studio.session.participants.map(({ member, name }) => [member, name]));
        const rows = studio.board.visible().reverse().map((item) => {
            const row = document.createElement("li");
            const button = document.createElement("button");
            button.type = "button";
            const dot = document.createElement("span");
            dot.className = "dot";
            dot.style.setProperty("--swatch", shown(item.color, this.#renderer.isDark));
            const label = document.createElement("span");
            label.textContent = studio.nameOf(item);
            const author = document.createElement("small");
            author.textContent = names.has(item.by) ? t("byName", { name: names.get(item.by) }) : "";
            button.append(dot, label, author);
            button.addEventListener("click", () => {
                $("objects-dialog").close();
                studio.choose("select");
                studio.select([item.id]);
                studio.reveal(item);
            });
            row.append(button);
            return row;
        });
        if (rows.length === 0) {
            const row = document.createElement("li");
            row.textContent = t("noObjects");
            rows.push(row);
        }
        $("objects").replaceChildren(...rows);
        $("objects-dialog").showModal();
    }

    showHelp() {
        $("help-dialog").showModal();
    }

    #fillHelp() {
        for (const [keys, meaning] of t("keys")) {
            const term = document.createElement("dt");
            term.textContent = keys;
            const text = document.createElement("dd");
            text.textContent = meaning;
            $("help-keys").append(term, text);
        }
    }
}
