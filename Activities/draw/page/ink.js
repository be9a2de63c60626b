// From points and pressures to the outline of a pen stroke, and from raw pointer positions to calm points.

import { rounded } from "./geometry.js";

/** The most points in one item; longer strokes go on in the next one. */
export const longestStroke = 600;

/** Half the stroke's thickness at a pressure from 0 to 1; 0.5 makes exactly `size`. */
export function radiusAt(size, pressure) {
    return (size / 2) * (0.4 + 1.2 * pressure);
}

function number(value) {
    return String(Math.round(value * 1000) / 1000);
}

function circle(x, y, r) {
    const [cy, radius] = [number(y), number(r)];
    return `M${number(x - r)} ${cy}A${radius} ${radius} 0 1 1 ${number(x + r)} ${cy}A${radius} ${radius} 0 1 1 ${number(x - r)} ${cy}Z`;
}

// Points that lie on one another say nothing about the direction.
function samplesOf(points, pressures, size) {
    const samples = [];
    for (let i = 0; i + 1 < points.length; i += 2) {
        const last = samples.at(-1);
        const radius = radiusAt(size, pressures?.[i / 2] ?? 0.5);
        if (last && Math.hypot(points[i] - last.x, points[i + 1] - last.y) < 1e-6) last.radius = Math.max(last.radius, radius);
        else samples.push({ x: points[i], y: points[i + 1], radius });
    }
    return samples;
}

// Where the pen turns back sharply, an outline would fold over itself: there one run ends and the next begins.
function runsOf(samples) {
    const runs = [];
    let run = [samples[0]];
    for (let i = 1; i < samples.length; i += 1) {
        run.push(samples[i]);
        const next = samples[i + 1];
        if (!next) break;
        const [a, b] = [samples[i - 1], samples[i]];
        const dot = (b.x - a.x) * (next.x - b.x) + (b.y - a.y) * (next.y - b.y);
        if (dot < 0) {
            runs.push(run);
            run = [samples[i]];
        }
    }
    runs.push(run);
    return runs;
}

function smooth(side) {
    let path = "";
    for (let i = 1; i < side.length - 1; i += 1) {
        const next = side[i + 1];
        const [mx, my] = i === side.length - 2 ? [next.x, next.y] : [(side[i].x + next.x) / 2, (side[i].y + next.y) / 2];
        path += `Q${number(side[i].x)} ${number(side[i].y)} ${number(mx)} ${number(my)}`;
    }
    if (side.length === 2) path += `L${number(side[1].x)} ${number(side[1].y)}`;
    return path;
}

function outlineOf(run) {
    if (run.length === 1) return circle(run[0].x, run[0].y, run[0].radius);
    const left = [];
    const right = [];
    run.forEach((sample, index) => {
        const before = run[Math.max(0, index - 1)];
        const after = run[Math.min(run.length - 1, index + 1)];
        const length = Math.hypot(after.x - before.x, after.y - before.y) || 1;
        const nx = (-(after.y - before.y) / length) * sample.radius;
        const ny = ((after.x - before.x) / length) * sample.radius;
        left.push({ x: sample.x + nx, y: sample.y + ny });
        right.unshift({ x: sample.x - nx, y: sample.y - ny });
    });
    const first = number(run[0].radius);
    const last = number(run.at(-1).radius);
    const start = left[0];
    return (
        `M${number(start.x)} ${number(start.y)}${smooth(left)}` +
        `A${last} ${last} 0 0 0 ${number(right[0].x)} ${number(right[0].y)}${smooth(right)}` +
        `A${first} ${first} 0 0 0 ${number(start.x)} ${number(start.y)}Z`
    );
}

/** The outline of a stroke as SVG path data, to be filled with the nonzero rule. */
export function inkOutline({ points, pressures, size }) {
    const samples = samplesOf(points, pressures, size);
    return runsOf(samples).map(outlineOf).join("");
}

/**
 * Gathers a pen's positions into the points of a stroke: a little smoothing against shaky hands, nothing that lags.
 * Without a pressure of its own the stroke gets a gentle one from speed, as a pen on paper would.
 */
export class InkCollector {
    points = [];
    pressures = [];
    #last = null;
    #pressure = 0.5;
    #scale;
    #usesPressure;

    /** `scale`: canvas units for one pixel on the screen. */
    constructor({ scale, usesPressure }) {
        this.#scale = scale;
        this.#usesPressure = usesPressure;
    }

    get count() {
        return this.points.length / 2;
    }

    /** Takes a position; `pressure` is null when the device knows none. */
    add({ x, y, pressure, time }) {
        if (!this.#last) {
            this.#pressure = this.#usesPressure ? (pressure ?? 0.42) : 0.5;
            this.#push(x, y, time);
            return;
        }
        // Small steps are mostly a shaking hand; large ones are meant, and smoothing would cut their corners.
        const step = Math.hypot(x - this.#last.x, y - this.#last.y) / this.#scale;
        const calm = 0.45 - 0.4 * Math.min(1, step / 12);
        const px = this.#last.x + (x - this.#last.x) * (1 - calm);
        const py = this.#last.y + (y - this.#last.y) * (1 - calm);
        const distance = Math.hypot(px - this.#last.x, py - this.#last.y) / this.#scale;
        if (distance < 1.2) return;
        if (this.#usesPressure) {
            const speed = distance / Math.max(1, time - this.#last.time);
            const target = pressure ?? 0.62 - Math.min(0.3, speed * 0.12);
            this.#pressure += (target - this.#pressure) * (pressure === null ? 0.18 : 0.6);
        }
        this.#push(px, py, time);
    }

    /** The pen is up: the line ends where the pen was. */
    finish({ x, y }) {
        if (this.#last && Math.hypot(x - this.#last.x, y - this.#last.y) > this.#scale * 0.5) this.#push(x, y, this.#last.time + 1);
    }

    /** Goes on in a new stroke from where this one ends. */
    continued() {
        const next = new InkCollector({ scale: this.#scale, usesPressure: this.#usesPressure });
        next.#pressure = this.#pressure;
        next.#push(this.#last.x, this.#last.y, this.#last.time);
        return next;
    }

    #push(x, y, time) {
        this.points.push(rounded(x), rounded(y));
        this.pressures.push(Math.round(this.#pressure * 100) / 100);
        this.#last = { x, y, time };
    }
}

/**
 * Leaves out points that the curve does not need: those within `tolerance` of the straight line between their
 * neighbours, as long as the thickness changes evenly there too. First and last always stay.
 */
export function simplified(points, pressures, tolerance, size) {
    const count = points.length / 2;
    const keep = new Uint8Array(count);
    keep[0] = keep[count - 1] = 1;
    const spans = [[0, count - 1]];
    while (spans.length > 0) {
        const [from, to] = spans.pop();
        let worst = tolerance;
        let index = -1;
        for (let i = from + 1; i < to; i += 1) {
            const deviation = deviationOf(points, pressures, size, from, to, i);
            if (deviation > worst) [worst, index] = [deviation, i];
        }
        // Far apart points would let the curve cut corners.
        if (index < 0 && to - from > 6) index = (from + to) >> 1;
        if (index < 0) continue;
        keep[index] = 1;
        spans.push([from, index], [index, to]);
    }
    const kept = { points: [], pressures: [] };
    for (let i = 0; i < count; i += 1) {
        if (!keep[i]) continue;
        kept.points.push(points[2 * i], points[2 * i + 1]);
        kept.pressures.push(pressures[i]);
    }
    return kept;
}

function deviationOf(points, pressures, size, from, to, i) {
    const [ax, ay, bx, by] = [points[2 * from], points[2 * from + 1], points[2 * to], points[2 * to + 1]];
    const [x, y] = [points[2 * i], points[2 * i + 1]];
    const length = (bx - ax) ** 2 + (by - ay) ** 2;
    const t = length === 0 ? 0 : Math.min(1, Math.max(0, ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / length));
    const pressure = pressures[from] + (pressures[to] - pressures[from]) * t;
    return Math.hypot(x - ax - t * (bx - ax), y - ay - t * (by - ay), ((pressures[i] - pressure) * size) / 2);
}
