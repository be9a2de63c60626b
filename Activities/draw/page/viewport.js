// Which part of the canvas is on the screen. Screen positions are CSS pixels from the top left of the page.

import { clamp, farthest, isEmpty } from "./geometry.js";

const leastZoom = 0.05;
const mostZoom = 20;
/** Up to this width there is no panel at the left; the style sheet has the same number. */
const narrow = 760;

export class Viewport {
    x = 0;
    y = 0;
    zoom = 1;
    width = 1;
    height = 1;
    #onChange;

    constructor(onChange) {
        this.#onChange = onChange;
    }

    resize(width, height) {
        // What was in the middle stays in the middle.
        this.x += (this.width - width) / 2 / this.zoom;
        this.y += (this.height - height) / 2 / this.zoom;
        this.width = width;
        this.height = height;
        this.#onChange();
    }

    toCanvas(screenX, screenY) {
        return { x: this.x + screenX / this.zoom, y: this.y + screenY / this.zoom };
    }

    toScreen(x, y) {
        return { x: (x - this.x) * this.zoom, y: (y - this.y) * this.zoom };
    }

    get box() {
        return { left: this.x, top: this.y, right: this.x + this.width / this.zoom, bottom: this.y + this.height / this.zoom };
    }

    get centre() {
        return this.toCanvas(this.width / 2, this.height / 2);
    }

    panBy(screenX, screenY) {
        this.moveTo(this.x - screenX / this.zoom, this.y - screenY / this.zoom);
    }

    moveTo(x, y) {
        this.x = clamp(x, -farthest, farthest);
        this.y = clamp(y, -farthest, farthest);
        this.#onChange();
    }

    /** Zooms by `factor`; the given screen position keeps showing the same place. */
    zoomAt(factor, screenX = this.width / 2, screenY = this.height / 2) {
        const anchor = this.toCanvas(screenX, screenY);
        this.zoom = clamp(this.zoom * factor, leastZoom, mostZoom);
        this.moveTo(anchor.x - screenX / this.zoom, anchor.y - screenY / this.zoom);
    }

    /** Shows the whole box beside the controls, and not larger than life. */
    fit(box) {
        if (isEmpty(box)) {
            this.zoom = 1;
            this.moveTo(-this.width / 2, -this.height / 2);
            return;
        }
        const insets = { top: 76, right: 32, bottom: 104, left: this.width > narrow ? 116 : 32 };
        const width = Math.max(80, this.width - insets.left - insets.right);
        const height = Math.max(80, this.height - insets.top - insets.bottom);
        this.zoom = clamp(Math.min(width / Math.max(1, box.right - box.left), height / Math.max(1, box.bottom - box.top), 1), leastZoom, mostZoom);
        this.moveTo(
            (box.left + box.right) / 2 - (insets.left + width / 2) / this.zoom,
            (box.top + box.bottom) / 2 - (insets.top + height / 2) / this.zoom,
        );
    }
}
