// Pointers, wheel and fingers on the canvas: who draws, who pans, who zooms.

/** A second finger this soon after the first means that both want to zoom, not that the first wants to draw. */
const secondFingerWithin = 200;
const fingerSlack = 12;

export class Input {
    #canvas;
    #studio;
    #tools;
    #viewport;
    #onPointer;
    #pointers = new Map();
    /** `{kind: "tool" | "pan" | "pinch", …}` while something is down. */
    #gesture = null;
    isSpaceDown = false;
    /** A pen was used: fingers pan from now on, only the pen draws. */
    penMode = false;

    /** `onPointer(point | null)` hears where the pointer is on the canvas. */
    constructor({ canvas, studio, tools, viewport, onPointer }) {
        this.#canvas = canvas;
        this.#studio = studio;
        this.#tools = tools;
        this.#viewport = viewport;
        this.#onPointer = onPointer;
        canvas.addEventListener("pointerdown", (event) => this.#down(event));
        canvas.addEventListener("pointermove", (event) => this.#move(event));
        canvas.addEventListener("pointerup", (event) => this.#up(event));
        canvas.addEventListener("pointercancel", (event) => this.#lost(event));
        canvas.addEventListener("pointerleave", (event) => event.buttons === 0 && this.#onPointer(null));
        canvas.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
        canvas.addEventListener("contextmenu", (event) => event.preventDefault());
        // Safari's own page zoom.
        for (const name of ["gesturestart", "gesturechange"]) document.addEventListener(name, (event) => event.preventDefault());
    }

    get isBusy() {
        return this.#gesture !== null;
    }

    /** Gives up what is being drawn or dragged. */
    cancel() {
        if (this.#gesture?.kind === "tool") this.#gesture.tool.cancel();
        this.#gesture = null;
        this.#refresh();
    }

    #pointOf(event) {
        const box = this.#canvas.getBoundingClientRect();
        const point = this.#viewport.toCanvas(event.clientX - box.left, event.clientY - box.top);
        return { ...point, pressure: event.pointerType === "pen" ? event.pressure : null, time: event.timeStamp };
    }

    #refresh() {
        this.#canvas.dataset.panning = String(this.isSpaceDown || this.#gesture?.kind === "pan");
        this.#studio.changed();
    }

    #down(event) {
        if (event.pointerType === "mouse" && event.button > 1) return;
        event.preventDefault();
        const wasWriting = this.#studio.isWriting();
        this.#canvas.focus({ preventScroll: true });
        // A click beside the text ends it, and no more.
        if (wasWriting && this.#studio.tool === "text") return;
        try {
            this.#canvas.setPointerCapture(event.pointerId);
        } catch {
            // A pointer that is already gone cannot be captured.
        }
        this.#pointers.set(event.pointerId, { x: event.clientX, y: event.clientY, type: event.pointerType });
        if (event.pointerType === "pen" && !this.penMode) {
            this.penMode = true;
            this.#studio.notice("penMode");
        }
        const fingers = [...this.#pointers.values()].filter(({ type }) => type === "touch");
        if (event.pointerType === "touch" && fingers.length >= 2) this.#secondFinger(event);
        else if (this.#gesture === null) this.#begin(event);
        this.#refresh();
    }

    #begin(event) {
        const pans = event.button === 1 || this.isSpaceDown || (this.penMode && event.pointerType === "touch");
        const name = event.pointerType === "pen" && (event.buttons & 32) !== 0 ? "eraser" : this.#studio.tool;
        if (pans || (!this.#studio.canEdit && name !== "select")) {
            this.#gesture = { kind: "pan", pointer: event.pointerId, x: event.clientX, y: event.clientY };
            return;
        }
        const tool = this.#tools[name];
        this.#gesture = { kind: "tool", tool, pointer: event.pointerId, type: event.pointerType, startedAt: event.timeStamp, x: event.clientX, y: event.clientY, travelled: 0 };
        tool.down(this.#pointOf(event), event);
    }

    #secondFinger(event) {
        const gesture = this.#gesture;
        if (gesture?.kind === "tool") {
            if (gesture.type !== "touch") return;
            const isEarly = event.timeStamp - gesture.startedAt < secondFingerWithin || gesture.travelled < fingerSlack;
            if (!isEarly) return;
            gesture.tool.cancel();
        }
        this.#gesture = { kind: "pinch", ...this.#pinch() };
    }

    #pinch() {
        const [a, b] = [...this.#pointers.values()].filter(({ type }) => type === "touch");
        return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, distance: Math.hypot(a.x - b.x, a.y - b.y) };
    }

    #move(event) {
        const pointer = this.#pointers.get(event.pointerId);
        if (pointer) Object.assign(pointer, { x: event.clientX, y: event.clientY });
        const gesture = this.#gesture;
        const point = this.#pointOf(event);
        if (event.pointerType !== "touch" || gesture?.kind === "tool") this.#onPointer(point);
        if (gesture?.kind === "pinch" && pointer) this.#pinchMoved(gesture);
        if (gesture?.pointer !== event.pointerId) return;
        if (gesture.kind === "pan") {
            this.#viewport.panBy(event.clientX - gesture.x, event.clientY - gesture.y);
            Object.assign(gesture, { x: event.clientX, y: event.clientY });
        } else if (gesture.kind === "tool") {
            gesture.travelled = Math.max(gesture.travelled, Math.hypot(event.clientX - gesture.x, event.clientY - gesture.y));
            // Not there on plain http.
            const events = event.getCoalescedEvents?.() ?? [];
            gesture.tool.move((events.length > 0 ? events : [event]).map((each) => this.#pointOf(each)), event);
            if (gesture.tool.isAboveBoard) this.#studio.repaintLive();
            else this.#studio.repaint();
        }
    }

    #pinchMoved(gesture) {
        const fingers = [...this.#pointers.values()].filter(({ type }) => type === "touch");
        if (fingers.length < 2) return;
        const next = this.#pinch();
        const box = this.#canvas.getBoundingClientRect();
        this.#viewport.panBy(next.x - gesture.x, next.y - gesture.y);
        this.#viewport.zoomAt(next.distance / Math.max(1, gesture.distance), next.x - box.left, next.y - box.top);
        Object.assign(gesture, next);
    }

    #up(event) {
        this.#pointers.delete(event.pointerId);
        const gesture = this.#gesture;
        if (gesture?.kind === "pinch") {
            // The finger that is left neither draws nor pans: it is about to be lifted too.
            if (![...this.#pointers.values()].some(({ type }) => type === "touch")) this.#gesture = null;
        } else if (gesture?.pointer === event.pointerId) {
            this.#gesture = null;
            if (gesture.kind === "tool") gesture.tool.up(this.#pointOf(event), event);
        }
        if (event.pointerType === "touch") this.#onPointer(null);
        this.#refresh();
    }

    #lost(event) {
        this.#pointers.delete(event.pointerId);
        if (this.#gesture?.pointer === event.pointerId || this.#gesture?.kind === "pinch") this.cancel();
    }

    #wheel(event) {
        event.preventDefault();
        const box = this.#canvas.getBoundingClientRect();
        const unit = event.deltaMode === 1 ? 18 : event.deltaMode === 2 ? this.#viewport.height : 1;
        if (event.ctrlKey || event.metaKey) {
            const step = Math.max(-60, Math.min(60, event.deltaY * unit));
            this.#viewport.zoomAt(Math.exp(-step * 0.01), event.clientX - box.left, event.clientY - box.top);
        } else {
            const [dx, dy] = event.shiftKey && event.deltaX === 0 ? [event.deltaY, 0] : [event.deltaX, event.deltaY];
            this.#viewport.panBy(-dx * unit, -dy * unit);
        }
    }
}
