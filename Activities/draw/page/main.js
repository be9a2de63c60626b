// Puts the page together.

import { activity } from "/sdk/activity.js";
import { Controls } from "./controls.js";
import { boundsOf, contains } from "./geometry.js";
import { Input } from "./input.js";
import { Keyboard } from "./keyboard.js";
import { Menu } from "./menu.js";
import { Presence } from "./presence.js";
import { Renderer } from "./renderer.js";
import { Studio } from "./studio.js";
import { TextEditor } from "./text-editor.js";
import { boardBounds, makeTools } from "./tools.js";
import { Viewport } from "./viewport.js";
import { t, translate } from "./strings.js";

const $ = (id) => document.getElementById(id);

function tell(name, { isQuiet = false, ...values } = {}) {
    const text = t(name, values);
    $("live-region").textContent = text;
    if (!isQuiet) activity.toast(text);
}

/** Keys in a fixed order: what two pages show can be compared as text. */
function canonical(item) {
    return JSON.parse(JSON.stringify(Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))));
}

function showConnection(session, studio) {
    let isOnline = true;
    const show = () => {
        const count = studio.shared.pending;
        const chip = $("chip");
        chip.hidden = isOnline && studio.canEdit;
        if (!isOnline) chip.textContent = t(["reconnecting", "waitingOne"][count] ?? "waiting", { count });
        else chip.textContent = t(studio.isOver ? "over" : "viewOnly");
    };
    session.onConnection((state) => {
        isOnline = state === "online";
        show();
    });
    return show;
}

function start(session) {
    document.title = session.parameters?.title || t("title");
    const studio = new Studio(session, { notice: tell });
    const viewport = new Viewport(() => viewChanged());
    const renderer = new Renderer({ board: $("board"), live: $("live"), viewport, scene: () => scene() });
    studio.viewport = viewport;
    const presence = new Presence({ studio, layer: $("cursors"), viewport });
    studio.presence = presence;
    const editor = new TextEditor({ area: $("text-area"), studio, viewport, isDark: () => renderer.isDark });
    const tools = makeTools(studio);
    const canvas = $("live");
    const input = new Input({ canvas, studio, tools, viewport, onPointer: (point) => presence.tell(point) });
    const controls = new Controls({ studio, renderer, viewport, canvas });
    const menu = new Menu({ studio, viewport, renderer, input });
    new Keyboard({ studio, viewport, input, menu, tools, canvas });
    const updateConnection = showConnection(session, studio);

    function scene() {
        const whole = studio.scene();
        return editor.editedId ? { ...whole, items: whole.items.filter(({ id }) => id !== editor.editedId) } : whole;
    }
    function viewChanged() {
        renderer.refresh();
        controls?.updateZoom();
        presence.placeCursors();
        editor.place();
    }
    studio.repaint = () => renderer.refresh();
    studio.repaintLive = () => renderer.refreshLive();
    studio.isWriting = () => editor.isOpen;
    studio.editText = (item, point) => editor.edit(item, point);
    studio.editSelectedText = () => {
        const [item] = studio.selected;
        if (item?.kind === "text") editor.edit(item, item);
    };
    studio.reveal = (item) => {
        const { left, top, right, bottom } = boundsOf(item);
        const [x, y] = [(left + right) / 2, (top + bottom) / 2];
        if (!contains(viewport.box, x, y)) viewport.panBy(...shiftTo(viewport, x, y));
    };
    canvas.addEventListener("dblclick", (event) => {
        const item = studio.tool === "select" && studio.canEdit ? tools.select.itemAt(viewport.toCanvas(event.offsetX, event.offsetY)) : null;
        if (item?.kind === "text") editor.edit(item, item);
    });
    studio.onChange(() => {
        renderer.refresh();
        controls.update();
        menu.update();
        updateConnection();
        $("empty").hidden = !studio.canEdit || studio.board.visible().length > 0 || studio.live().length > 0 || editor.isOpen;
    });
    session.onParticipants(() => {
        if (!studio.canEdit) input.cancel();
        studio.changed();
    });
    session.onInvalidated(() => {
        studio.isOver = true;
        input.cancel();
    });
    session.on("clear_canvas", (_, { from, mine }) => {
        const name = session.participants.find(({ id }) => id === from)?.name;
        if (!mine && name) tell("clearedBy", { name });
    });
    session.onChanged(() => (document.title = session.parameters?.title || t("title")));
    takeFiles(menu, studio, editor, viewport);
    fitWindow(viewport, renderer, studio);
    document.body.dataset.state = "joined";
    studio.changed();
    canvas.focus({ preventScroll: true });

    /** For tests: what this page shows, from the lowest to the highest, and how many own steps are not answered yet. */
    window.drawing = {
        items: () => studio.board.visible().map(canonical),
        get pending() {
            return studio.shared.pending;
        },
        get view() {
            return { x: viewport.x, y: viewport.y, zoom: viewport.zoom };
        },
    };
}

function shiftTo(viewport, x, y) {
    const at = viewport.toScreen(x, y);
    return [viewport.width / 2 - at.x, viewport.height / 2 - at.y];
}

// Files that are dropped, and text that is pasted.
function takeFiles(menu, studio, editor, viewport) {
    addEventListener("dragover", (event) => event.preventDefault());
    addEventListener("drop", (event) => {
        event.preventDefault();
        const [file] = event.dataTransfer?.files ?? [];
        if (file && studio.canEdit) menu.importFile(file);
    });
    addEventListener("paste", (event) => {
        if (editor.isOpen || !studio.canEdit || event.target.closest?.("input, textarea")) return;
        const text = event.clipboardData?.getData("text/plain") ?? "";
        if (/^\s*\{[\s\S]*"(elements|libraryItems|library)"/.test(text)) menu.importText(text);
        else if (text.trim() !== "") editor.paste(text.trim(), viewport.centre);
    });
}

function fitWindow(viewport, renderer, studio) {
    const measure = () => {
        viewport.resize(innerWidth, innerHeight);
        renderer.resize();
    };
    viewport.width = innerWidth;
    viewport.height = innerHeight;
    measure();
    // Everybody begins at the same place, and where there is a drawing already, in front of it.
    viewport.fit(boardBounds(studio.board));
    addEventListener("resize", measure);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
        renderer.readTheme();
        studio.changed();
    });
    renderer.readTheme();
}

translate(document);
start(await activity.session());
