import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import test from "node:test";
import { libraryText, loadDraw, seeded } from "./support/draw.mjs";

const { InkCollector, inkOutline, simplified } = await loadDraw("ink.js");
const { boundsOf, isCrossed, isHit, moved, resized, rounded, union } = await loadDraw("geometry.js");
const { partsOf } = await loadDraw("shapes.js");
const { Viewport } = await loadDraw("viewport.js");
const { pale, palette, shown } = await loadDraw("colors.js");
const { NotADrawing, centredAt, colorOf, readExcalidraw } = await loadDraw("excalidraw.js");
const { toSvg } = await loadDraw("export.js");
const { tables } = await loadDraw("strings.js");

const item = (kind, points, more = {}) => ({ id: "a", kind, x: 0, y: 0, size: 4, color: "#112233", points, ...more });

test("whatever the points are, an outline has only finite numbers", () => {
    const random = seeded(7);
    const wild = Array.from({ length: 200 }, () => (random() - 0.5) * 2e6);
    const cases = [[0, 0], [0, 0, 0, 0], [1, 1, 1, 1, 1, 1], [0, 0, 10, 0, 0, 0], [0, 0, 1e6, 1e6, -1e6, 1e6], [5, 5, 5 + 1e-9, 5], [0, 0, 1, 0, 2, 0, 1, 0, 0, 0], wild];
    for (const points of cases) {
        for (const pressures of [undefined, points.map(() => 1), [0]]) {
            const path = inkOutline({ points, pressures, size: 4 });
            assert.ok(path.startsWith("M") && path.endsWith("Z") && !/NaN|Infinity|undefined/.test(path), path.slice(0, 200));
        }
    }
});

test("every kind of item has something to paint, also with fewer points than it needs", () => {
    for (const kind of ["ink", "line", "arrow", "rectangle", "ellipse"]) {
        for (const points of [[3, 4], [0, 0, 30, 20], [0, 0, -30, -20], [0, 0, 0, 0], [0, 0, 5, 5, 9, 1]]) {
            const parts = partsOf(item(kind, points, { fill: "#ffffff" }));
            assert.ok(parts.length > 0);
            for (const { path } of parts) assert.ok(!/NaN|Infinity|undefined/.test(path), `${kind} ${points} ${path}`);
        }
    }
    assert.deepEqual(partsOf(item("text", [0, 0], { text: "x" })), []);
});

test("simplifying keeps the ends, the sharp corners and a pressure for each point", () => {
    const points = [];
    for (let i = 0; i <= 50; i += 1) points.push(i, 0);
    for (let i = 1; i <= 50; i += 1) points.push(50, i);
    const kept = simplified(points, points.slice(0, points.length / 2).map(() => 0.5), 0.2, 4);
    assert.deepEqual(kept.points.slice(0, 2), [0, 0]);
    assert.deepEqual(kept.points.slice(-2), [50, 50]);
    assert.ok(kept.points.some((x, index) => index % 2 === 0 && x === 50 && kept.points[index + 1] === 0), "the corner");
    assert.equal(kept.pressures.length, kept.points.length / 2);
    assert.ok(kept.points.length < points.length / 2);
});

test("a stroke has the pressure of the pen, or a gentle one from speed, or an even one", () => {
    const run = (usesPressure, pressure) => {
        const ink = new InkCollector({ scale: 1, usesPressure });
        for (let i = 0; i < 40; i += 1) ink.add({ x: i * i * 0.5, y: 0, pressure, time: i * 16 });
        ink.finish({ x: 800, y: 0 });
        return ink;
    };
    assert.ok(run(true, 0.9).pressures.every((value) => value > 0.7));
    assert.ok(new Set(run(true, null).pressures).size > 3);
    assert.ok(run(false, 0.9).pressures.every((value) => value === 0.5));
    assert.equal(run(true, null).points.at(-2), 800);
    for (const value of run(true, null).pressures) assert.ok(value >= 0 && value <= 1);
});

test("coordinates stay within the canvas and are never minus zero", () => {
    for (const [value, expected] of [[8.3e14, 1e6], [-8.3e14, -1e6], [1.23456, 1.23], [-0.001, 0]]) assert.ok(Object.is(rounded(value), expected), String(value));
});

test("an item is hit on its line, inside only when it is filled", () => {
    const box = item("rectangle", [0, 0, 100, 60]);
    const cases = [
        [box, 50, 0, true], [box, 50, 30, false], [{ ...box, fill: "#ffffff" }, 50, 30, true], [box, 110, 30, false],
        [item("ellipse", [0, 0, 100, 60]), 0, 30, true], [item("ellipse", [0, 0, 100, 60]), 2, 2, false],
        [item("ink", [5, 5]), 6, 6, true], [item("line", [0, 0, 100, 100]), 50, 52, true], [item("text", [0, 0], { text: "Hello", size: 20 }), 10, 10, true],
    ];
    for (const [each, x, y, expected] of cases) assert.equal(isHit(each, x, y, 2), expected, `${each.kind} ${x} ${y}`);
    assert.equal(isCrossed(item("line", [0, 0, 100, 0]), { x: 50, y: -400 }, { x: 50, y: 400 }, 5), true);
    assert.equal(isCrossed(item("line", [0, 0, 100, 0]), { x: 300, y: -400 }, { x: 300, y: 400 }, 5), false);
});

test("moving changes the place only, resizing fits the frame", () => {
    const box = item("rectangle", [0, 0, 100, 60], { x: 10, y: 10 });
    assert.deepEqual(moved(box, 5, -5), { id: "a", x: 15, y: 5 });
    const from = { left: 10, top: 10, right: 110, bottom: 70 };
    assert.deepEqual(resized(box, from, { left: 10, top: 10, right: 210, bottom: 40 }), { id: "a", x: 10, y: 10, points: [0, 0, 200, 30] });
    const flat = item("line", [0, 0, 100, 0]);
    assert.deepEqual(resized(flat, { left: 0, top: 0, right: 100, bottom: 0 }, { left: 0, top: 0, right: 50, bottom: 9 }).points, [0, 0, 50, 0]);
    assert.equal(resized(item("text", [0, 0], { text: "x", size: 20 }), from, { left: 10, top: 10, right: 1e6, bottom: 70 }).size, 500);
});

test("zooming keeps the place under the pointer, and what is fitted is on screen", () => {
    const viewport = new Viewport(() => {});
    viewport.resize(800, 600);
    const before = viewport.toCanvas(200, 100);
    viewport.zoomAt(3, 200, 100);
    const after = viewport.toCanvas(200, 100);
    assert.ok(Math.hypot(before.x - after.x, before.y - after.y) < 1e-9);
    viewport.zoomAt(1e9);
    assert.equal(viewport.zoom, 20);
    viewport.fit({ left: -5000, top: -100, right: 5000, bottom: 100 });
    assert.ok(viewport.box.left < -5000 && viewport.box.right > 5000);
    viewport.fit(union([]));
    assert.equal(viewport.zoom, 1);
});

test("colours keep apart from the paper, in light and in dark", () => {
    const luminance = (lightness) => ((lightness + 0.055) / 1.055) ** 2.4;
    for (const { value } of palette) {
        assert.equal(shown(value, false), value);
        const lightness = Number(/ ([\d.]+)%\)$/.exec(shown(value, true))[1]) / 100;
        assert.ok((luminance(lightness) + 0.05) / (luminance(0.085) + 0.05) > 3, value);
    }
    assert.match(pale("#2163d4"), /^#[0-9a-f]{6}$/);
});

test("an Excalidraw library keeps every point and pressure, in the order of the file", async () => {
    const text = await libraryText();
    const elements = JSON.parse(text).libraryItems.flatMap((entry) => entry.elements);
    const { items, skipped } = readExcalidraw(text);
    assert.equal(skipped, 0);
    assert.deepEqual(items.map(({ points }) => points), elements.map(({ points }) => points.flat()));
    assert.deepEqual(items.map(({ pressures }) => pressures), elements.map(({ pressures }) => pressures));
    assert.deepEqual(centredAt(items, 500, 500).map(({ points }) => points), items.map(({ points }) => points));
});

test("each kind of Excalidraw element becomes what is drawn here", () => {
    const base = { x: 1, y: 2, width: 30, height: 20, strokeColor: "#abc", strokeWidth: 2, backgroundColor: "transparent" };
    const elements = [
        { ...base, type: "rectangle" }, { ...base, type: "ellipse", backgroundColor: "#ffec99", opacity: 50 }, { ...base, type: "diamond" },
        { ...base, type: "arrow", points: [[0, 0], [9, 9]] }, { ...base, type: "text", text: "hi", fontSize: 24 }, { ...base, type: "rectangle", angle: 1 },
        { ...base, type: "image" }, { ...base, type: "line", points: [[0, 0], [1, 1]], isDeleted: true },
    ];
    const { items, skipped } = readExcalidraw(JSON.stringify({ type: "excalidraw", elements }));
    assert.deepEqual(items.map(({ kind }) => kind), ["rectangle", "ellipse", "line", "arrow", "text", "line"]);
    assert.equal(skipped, 1);
    assert.deepEqual([items[0].color, items[0].points, items[1].fill, items[1].opacity, items[4].text, items[4].size], ["#aabbcc", [0, 0, 30, 20], "#ffec99", 0.5, "hi", 24]);
});

test("files that are no drawings are refused, and bad elements left out", () => {
    for (const text of ["", "not json", "null", "[]", "{}", '{"elements":7}', '{"libraryItems":"x"}']) assert.throws(() => readExcalidraw(text), NotADrawing, text);
    const bad = [
        null, 7, {}, { type: "freedraw" }, { type: "freedraw", x: 0, y: 0, points: [] }, { type: "freedraw", x: 0, y: 0, points: [["1", 1]] },
        { type: "freedraw", x: 0, y: 0, points: [[1]] }, { type: "freedraw", x: 8.3e14, y: 0, points: [[0, 0]] }, { type: "freedraw", x: 0, y: 0, points: [[0, 8.3e14]] },
        { type: "rectangle", x: 0, y: 0, width: "1", height: 2 }, { type: "text", x: 0, y: 0, text: "" }, { type: "ellipse", x: null, y: 0 },
    ];
    assert.deepEqual(readExcalidraw(JSON.stringify({ elements: bad })), { items: [], skipped: bad.length });
    const odd = readExcalidraw(JSON.stringify({ elements: [{ type: "freedraw", x: 0, y: 0, points: [[0, 0], [1, 1]], pressures: [0.5] }] }));
    assert.equal(odd.items[0].pressures, undefined);
});

test("a stroke of more points than an item may have goes on in the next item", () => {
    const points = Array.from({ length: 5000 }, (_, index) => [index, index % 7]);
    const { items } = readExcalidraw(JSON.stringify({ elements: [{ type: "freedraw", x: 0, y: 0, points, pressures: points.map(() => 0.5) }] }));
    assert.equal(items.length, 3);
    for (const each of items) assert.ok(each.points.length <= 4000 && each.pressures.length === each.points.length / 2);
    assert.deepEqual(items[0].points.slice(-2), items[1].points.slice(0, 2));
    assert.deepEqual(items.at(-1).points.slice(-2), points.at(-1));
});

test("colours of files are read or left out", () => {
    const cases = [["#ABCDEF", "#abcdef"], ["#abcdef80", "#abcdef"], ["#fff", "#ffffff"], ["transparent", undefined], ["red\" onmouseover=\"alert(1)", undefined], [7, undefined], ["white", "#ffffff"]];
    for (const [text, expected] of cases) assert.equal(colorOf(text, (name) => (name === "white" ? "#ffffff" : undefined)), expected, String(text));
});

test("SVG has text as text, and nothing in it can be anything else", () => {
    const hostile = '<script>alert("1")</script>&\u0000\u0008';
    const svg = toSvg([item("text", [0, 0], { text: `${hostile}\nsecond`, size: 20 }), item("rectangle", [0, 0, 10, 10])], { title: hostile });
    assert.ok(!svg.includes("<script") && !/[\u0000-\u0008]/.test(svg));
    assert.ok(svg.includes("&lt;script&gt;") && svg.includes(">second</tspan>") && svg.includes('fill="#ffffff"'));
    assert.ok(!toSvg([item("ink", [0, 0, 5, 5])], { background: null }).includes("<rect"));
    const width = Number(/ width="([\d.]+)"/.exec(toSvg([item("rectangle", [0, 0, 10, 10])]))[1]);
    assert.equal(width, boundsOf(item("rectangle", [0, 0, 10, 10])).right * 2 - 10 + 32);
});

test("both languages have the same words", () => {
    assert.deepEqual(Object.keys(tables.chinese).sort(), Object.keys(tables.english).sort());
    for (const [name, text] of Object.entries(tables.english)) {
        if (typeof text !== "string") continue;
        const holes = (words) => (words.match(/\{\w+\}/g) ?? []).sort().join();
        assert.equal(holes(tables.chinese[name]), holes(text), name);
    }
});

test("the page asks for all its modules at once, so that a newcomer does not wait for one after the other", async () => {
    const page = new URL("../../Activities/draw/page/", import.meta.url);
    const html = await readFile(new URL("index.html", page), "utf8");
    const modules = (await readdir(page)).filter((name) => name.endsWith(".js"));
    const missing = modules.filter((name) => !html.includes(`href="${name}"`) && !html.includes(`src="${name}"`));
    assert.deepEqual(missing, []);
});
