import assert from "node:assert/strict";
import test from "node:test";
import { loadDraw, seeded } from "./support/draw.mjs";
import { DrawHost, heard } from "./support/draw-host.mjs";

const { Board, same } = await loadDraw("board.js");
const { SharedBoard } = await loadDraw("shared-board.js");
const { History } = await loadDraw("history.js");
const { additions, deletions, edits, parts } = await loadDraw("batches.js");

const stroke = (id, more = {}) => ({ id, color: "#112233", points: [0, 0, 1, 1], ...more });

function shown(board) {
    return JSON.stringify(board.visible().map((item) => Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1))));
}

function table(host, ...members) {
    return members.map((member) => {
        const session = host.session(member);
        const refused = [];
        const shared = new SharedBoard(session, { onRefused: (error) => refused.push(error.reason ?? error.code) });
        return { member, session, shared, refused, history: new History(shared) };
    });
}

async function settle(host, people) {
    while (people.some(({ session, shared }) => session.outbox.length + session.inbox.length + shared.pending > 0)) {
        for (const { session } of people) {
            while (session.outbox.length > 0) host.take(session);
            session.receive();
        }
        await heard();
    }
}

test("a bare stroke is drawn with the usual kind, place and size", () => {
    const board = new Board();
    board.apply("upsert_stroke", stroke("a"), "m1");
    assert.deepEqual({ ...board.item("a") }, { kind: "ink", x: 0, y: 0, size: 4, id: "a", color: "#112233", points: [0, 0, 1, 1], by: "m1" });
});

test("empty state reads as an empty board, whether it comes as a map or as a list", () => {
    for (const view of [null, {}, { items: {} }, { items: [] }]) assert.equal(Board.from(view).visible().length, 0);
});

test("an item that comes again keeps its place and its author", () => {
    const board = new Board();
    for (const id of ["a", "b"]) board.apply("upsert_stroke", stroke(id), "m1");
    board.apply("upsert_stroke", stroke("a", { color: "#ff0000" }), "m2");
    assert.deepEqual(board.visible().map(({ id, by, color }) => [id, by, color]), [["a", "m1", "#ff0000"], ["b", "m1", "#112233"]]);
});

test("only who erased an item brings it back, to its place and as its author's", () => {
    const board = new Board();
    for (const id of ["a", "b"]) board.apply("upsert_stroke", stroke(id), "m1");
    board.apply("delete_items", { ids: ["a"] }, "m2");
    board.apply("delete_items", { ids: ["a"] }, "m3");
    board.apply("restore_items", { items: [stroke("a")] }, "m3");
    assert.deepEqual([board.item("a"), board.eraserOf("a")], [undefined, "m2"]);
    board.apply("restore_items", { items: [stroke("a")] }, "m2");
    assert.deepEqual(board.visible().map(({ id, by }) => [id, by]), [["a", "m1"], ["b", "m1"]]);
});

test("what is erased does not change, also after it went through the host's state", () => {
    const board = new Board();
    board.apply("upsert_stroke", stroke("a"), "m1");
    board.apply("clear_canvas", {}, "m2");
    for (const erased of [board, Board.from({ items: { a: { by: "m1", erased: "m2" } } })]) {
        erased.apply("edit_items", { items: [{ id: "a", x: 9 }, { id: "nobody", x: 1 }] }, "m1");
        erased.apply("upsert_stroke", stroke("a"), "m1");
        assert.deepEqual([erased.visible(), erased.eraserOf("a"), erased.knows("nobody")], [[], "m2", false]);
    }
});

test("whatever points came, the picture has pairs", () => {
    const board = new Board();
    board.apply("upsert_stroke", stroke("a"), "m1");
    for (const [points, expected] of [[[1, 2, 3], [1, 2]], [[1], []], [[], []], [[1, 2, 3, 4], [1, 2, 3, 4]]]) {
        board.apply("edit_items", { items: [{ id: "a", points }] }, "m1");
        assert.deepEqual(board.item("a").points, expected);
    }
});

test("values of properties are compared point by point", () => {
    for (const [a, b, expected] of [[1, 1, true], [[1, 2], [1, 2], true], [[1, 2], [1, 3], false], [[1], [1, 2], false], [undefined, 1, false], [0, -0, true]]) {
        assert.equal(same(a, b), expected, JSON.stringify([a, b]));
    }
});

test("an own step shows at once and goes to its place when the host has answered", async () => {
    const host = new DrawHost();
    const people = table(host, "ana", "ben");
    const [ana, ben] = people;
    ana.shared.perform("upsert_stroke", stroke("a"));
    assert.equal(ana.shared.board.visible().length, 1);
    ben.shared.perform("upsert_stroke", stroke("b"));
    host.take(ben.session);
    host.take(ana.session);
    ana.session.receive();
    await heard();
    ben.session.receive();
    await heard();
    assert.deepEqual(ana.shared.board.visible().map(({ id }) => id), ["b", "a"]);
    assert.equal(shown(ana.shared.board), shown(ben.shared.board));
});

test("an answer that is handed over late still counts at its seq", async () => {
    const host = new DrawHost();
    const [ana, ben] = table(host, "ana", "ben");
    ana.shared.perform("upsert_stroke", stroke("a"));
    host.take(ana.session);
    ben.session.receive();
    ben.shared.perform("edit_items", { items: [{ id: "a", x: 50 }] });
    host.take(ben.session);
    // Both come in one frame: Ben's change is heard before Ana's promise is.
    ana.session.receive();
    await heard();
    assert.equal(ana.shared.board.item("a").x, 50);
});

test("a snapshot that holds an own step is not changed by its answer", async () => {
    const host = new DrawHost();
    const people = table(host, "ana", "ben");
    const [ana, ben] = people;
    ana.shared.perform("upsert_stroke", stroke("a"));
    await settle(host, people);
    ana.shared.perform("edit_items", { items: [{ id: "a", x: 1 }] });
    host.take(ana.session);
    const answer = ana.session.inbox.at(-1);
    ben.session.receive();
    ben.shared.perform("edit_items", { items: [{ id: "a", x: 2 }] });
    host.take(ben.session);
    ana.session.snapshot();
    ana.session.receive();
    answer();
    await settle(host, people);
    assert.equal(ana.shared.board.item("a").x, 2);
    assert.equal(shown(ana.shared.board), shown(ben.shared.board));
});

test("a refused step is taken back and said", async () => {
    const host = new DrawHost();
    const people = table(host, "ana", "ben");
    const [ana, ben] = people;
    ana.shared.perform("upsert_stroke", stroke("a"));
    await settle(host, people);
    ben.shared.perform("edit_items", { items: [{ id: "a", x: 7 }] });
    ana.shared.perform("delete_items", { ids: ["a"] });
    host.take(ana.session);
    await settle(host, people);
    assert.deepEqual(ben.refused, ["gone"]);
    assert.equal(ben.shared.board.visible().length, 0);
});

test("what came too fast is sent again, in order", async (context) => {
    context.mock.timers.enable({ apis: ["setTimeout", "Date"] });
    const host = new DrawHost();
    const people = table(host, "ana");
    const [ana] = people;
    host.refusals.push({ code: "rate_limited", retry_ms: 400 });
    ana.shared.perform("upsert_stroke", stroke("a"));
    host.take(ana.session);
    ana.session.receive();
    await heard();
    assert.deepEqual([ana.shared.pending, ana.session.outbox.length], [1, 0]);
    context.mock.timers.tick(400);
    assert.equal(ana.session.outbox.length, 1);
    await settle(host, people);
    assert.deepEqual([ana.shared.pending, host.items.size, ana.refused.length], [0, 1, 0]);
});

test("a long time offline hands over a bounded number of messages at a time, and all in the end", async () => {
    const host = new DrawHost();
    const people = table(host, "ana");
    for (let i = 0; i < 500; i += 1) people[0].shared.perform("upsert_stroke", stroke(`a${i}`));
    assert.ok(people[0].session.outbox.length <= 40);
    await settle(host, people);
    assert.equal(host.items.size, 500);
});

test("whatever three people do, in whatever order it arrives, they end with the host's picture", async () => {
    for (let seed = 1; seed <= 150; seed += 1) {
        const random = seeded(seed);
        const pick = (list) => list[Math.floor(random() * list.length)];
        const host = new DrawHost();
        const people = table(host, "ana", "ben", "cem");
        const made = [];
        for (let step = 0; step < 80; step += 1) {
            const { session, shared, history } = pick(people);
            const id = made.length > 0 ? pick(made) : "none";
            const actions = [
                () => {
                    const item = stroke(session.newId());
                    made.push(item.id);
                    shared.perform("upsert_stroke", item);
                    history.push({ kind: "add", items: [item] });
                },
                () => shared.perform("edit_items", { items: [{ id, x: Math.floor(random() * 100) }] }),
                () => shared.perform("edit_items", { items: [id, pick(made) ?? "none"].map((each) => ({ id: each, size: 2 + Math.floor(random() * 9) })) }),
                () => {
                    const item = shared.board.item(id);
                    shared.perform("delete_items", { ids: [id] });
                    if (item) history.push({ kind: "erase", items: [item] });
                },
                () => random() < 0.1 && shared.perform("clear_canvas", {}),
                () => history.undo(),
                () => history.redo(),
                () => session.outbox.length > 0 && host.take(session),
                () => session.outbox.length > 0 && host.take(session),
                () => session.receive(),
                () => session.receive(),
            ];
            pick(actions)();
            if (random() < 0.5) await heard();
        }
        await settle(host, people);
        const expected = shown(Board.from(host.view));
        for (const { member, shared } of people) assert.equal(shown(shared.board), expected, `seed ${seed}, ${member}`);
    }
});

test("undo takes back one's own newest step that is still there, and nobody else's", async () => {
    const host = new DrawHost();
    const people = table(host, "ana", "ben");
    const [ana, ben] = people;
    const draw = async (person, id) => {
        person.shared.perform("upsert_stroke", stroke(id));
        person.history.push({ kind: "add", items: [stroke(id)] });
        await settle(host, people);
    };
    await draw(ana, "a1");
    await draw(ben, "b1");
    await draw(ana, "a2");
    const ids = () => ana.shared.board.visible().map(({ id }) => id).join(" ");
    const steps = [[ben, "done", "a1 a2"], [ben, "empty", "a1 a2"], [ana, "done", "a1"]];
    for (const [person, outcome, left] of steps) {
        assert.equal(person.history.undo(), outcome);
        await settle(host, people);
        assert.equal(ids(), left);
    }
    assert.equal(ana.history.redo(), "done");
    await settle(host, people);
    assert.equal(ids(), "a1 a2");
});

test("what somebody has changed since is not taken back", async () => {
    const host = new DrawHost();
    const people = table(host, "ana", "ben");
    const [ana, ben] = people;
    ana.shared.perform("upsert_stroke", stroke("a", { x: 0, y: 0 }));
    ana.history.push({ kind: "add", items: [stroke("a", { x: 0, y: 0 })] });
    await settle(host, people);
    ben.shared.perform("edit_items", { items: [{ id: "a", x: 5 }] });
    await settle(host, people);
    assert.equal(ana.history.undo(), "changed");
    assert.equal(ana.shared.board.item("a").x, 5);
});

test("a history survives being stored, and rubbish in the store is a fresh one", () => {
    const shared = { board: new Board(), member: "m1", perform() {} };
    const history = new History(shared);
    history.push({ kind: "erase", items: [stroke("a")] });
    const copy = new History(shared);
    copy.load(history.save());
    assert.equal(copy.canUndo, true);
    for (const rubbish of [null, "", "{", "[]", '{"done":[{"kind":"evil"}]}', '{"done":[{"kind":"erase"}]}', '{"done":7}']) {
        const other = new History(shared);
        other.load(rubbish);
        assert.equal(other.canUndo, false, String(rubbish));
    }
});

test("of a long history the newest steps are stored", () => {
    const shared = { board: new Board(), member: "m1", perform: () => {} };
    const history = new History(shared);
    for (let turn = 0; turn < 40; turn += 1) history.push({ kind: "erase", items: [stroke(`a${turn}`, { text: "x".repeat(50_000) })] });
    const { done } = JSON.parse(history.save());
    assert.ok(done.length > 10 && done.length < 20 && done.at(-1).items[0].id === "a39", `${done.length}`);
});

test("clearing takes along what somebody put there just before, and undo brings all of it back", async () => {
    const host = new DrawHost();
    const people = table(host, "ana", "ben");
    const [ana, ben] = people;
    ben.shared.perform("upsert_stroke", stroke("b1"));
    await settle(host, people);
    ben.shared.perform("upsert_stroke", stroke("b2"));
    host.take(ben.session);
    const step = { kind: "erase", items: ana.shared.board.visible() };
    ana.shared.perform("clear_canvas", {}, (board) => (step.items = board.visible()));
    ana.history.push(step);
    await settle(host, people);
    assert.deepEqual(ben.shared.board.visible(), []);
    ana.history.undo();
    await settle(host, people);
    assert.deepEqual(ben.shared.board.visible().map(({ id, by }) => [id, by]), [["b1", "ben"], ["b2", "ben"]]);
    assert.equal(shown(ana.shared.board), shown(ben.shared.board));
});

test("long lists go in messages that the host takes", () => {
    const large = Array.from({ length: 25 }, (_, index) => stroke(`s${index}`, { points: Array.from({ length: 2000 }, (_, i) => i + 0.123456789) }));
    const messages = additions(large);
    assert.ok(messages.length > 1);
    for (const { body } of messages) assert.ok(JSON.stringify(body).length < 262_144);
    assert.deepEqual(messages.flatMap(({ body }) => body.items ?? [body]), large);
    assert.equal(deletions(Array.from({ length: 2500 }, (_, index) => `s${index}`)).length, 3);
    assert.equal(edits(Array.from({ length: 401 }, (_, index) => ({ id: `s${index}`, x: 1 }))).length, 3);
    assert.deepEqual([parts([], 5), additions([stroke("one")])[0].name], [[], "upsert_stroke"]);
});
