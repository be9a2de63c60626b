import assert from "node:assert/strict";
import test from "node:test";
import { load } from "./support/paths.mjs";

const { Outbox, outboxCapacity } = await load("sdk/outbox.js");
const { comebackDelay, ActivityError } = await load("sdk/errors.js");
const { framesOf, retryDelay, byteLength } = await load("sdk/connection.js");
const { HostClock } = await load("sdk/clock.js");
const { Channel, Emitter } = await load("sdk/events.js");
const { groupKey, randomId, safeStorage } = await load("sdk/seat.js");

const anything = () => true;

test("clients come back after the close codes of the contract and after no others", () => {
    for (const code of [1001, 1006, 1012, 4408]) assert.equal(comebackDelay(code), 0, String(code));
    for (const code of [1000, 1002, 1005, 1007, 1009, 1011, 4400, 4401, 4403, 4404, 4409, 4410]) assert.equal(comebackDelay(code), null, String(code));
});

test("after too many tries a client waits as long as it is told, within reason", () => {
    const cases = [["", 30_000], ["too many tries; wait 12 s", 12_000], ["wait 2500 ms", 2500], ["wait 1 ms", 1000], ["wait 999999 s", 600_000]];
    for (const [reason, delay] of cases) assert.equal(comebackDelay(4429, reason), delay, reason);
});

test("retries double, stay within 0.1 and 5 seconds, and are spread", () => {
    for (let attempt = 0; attempt < 40; attempt += 1) {
        for (const random of [0, 0.5, 1]) {
            const delay = retryDelay(attempt, random);
            assert.ok(delay >= 100 && delay <= 5000, `${attempt} ${random} ${delay}`);
        }
    }
    assert.notEqual(retryDelay(6, 0), retryDelay(6, 1));
    assert.ok(retryDelay(3, 1) > retryDelay(2, 1));
});

test("a refusal carries every detail that the host gave", () => {
    const error = ActivityError.rejected({ type: "rejected", ref: 3, code: "limit_reached", message: "full", limit: "participants", allowed: 2, found: 3, retry_ms: 50, reason: "r", data: { a: 1 }, path: "x" });
    assert.ok(error instanceof Error);
    assert.deepEqual({ ...error }, { name: "ActivityError", code: "limit_reached", limit: "participants", allowed: 2, found: 3, retry_ms: 50, reason: "r", data: { a: 1 }, path: "x" });
    assert.equal(error.message, "full");
});

test("refs grow and start above what the host has accepted", async () => {
    const seen = [];
    const outbox = new Outbox({ lastRef: 4, onRef: (ref) => seen.push(ref) });
    outbox.acknowledge(7);
    outbox.add({ type: "send" }).catch(() => {});
    outbox.add({ type: "send" }).catch(() => {});
    assert.deepEqual(outbox.take(anything).map(({ ref }) => ref), [8, 9]);
    assert.deepEqual(seen, [8, 9]);
    outbox.acknowledge(3);
    assert.equal(outbox.nextRef(), 10);
});

test("what was sent and not answered goes out again once, under its ref, in order, before what is new", async () => {
    const outbox = new Outbox();
    const answers = ["a", "b", "c"].map((body) => outbox.add({ type: "send", body }, "s1"));
    assert.equal(outbox.take(anything).length, 3);
    assert.equal(outbox.take(anything).length, 0);
    outbox.answer({ type: "accepted", ref: 1, seq: 5 });
    assert.equal((await answers[0]).seq, 5);
    outbox.rewind();
    outbox.add({ type: "send", body: "d" }, "s1").catch(() => {});
    assert.deepEqual(outbox.take(anything).map(({ ref, body }) => [ref, body]), [[2, "b"], [3, "c"], [4, "d"]]);
    assert.equal(outbox.take(anything).length, 0);
});

test("a session's messages wait until it is joined, the others' do not", () => {
    const outbox = new Outbox();
    outbox.add({ type: "send", body: 1 }, "s1").catch(() => {});
    outbox.add({ type: "start" }).catch(() => {});
    assert.deepEqual(outbox.take((session) => session === null).map(({ type }) => type), ["start"]);
    assert.deepEqual(outbox.take(anything).map(({ type }) => type), ["send"]);
});

test("the outbox is bounded and says so", async () => {
    const outbox = new Outbox();
    for (let count = 0; count < outboxCapacity; count += 1) outbox.add({ type: "send" }).catch(() => {});
    await assert.rejects(outbox.add({ type: "send" }), { code: "limit_reached", limit: "outbox", allowed: 200, found: 201 });
    assert.equal(outbox.size, outboxCapacity);
});

test("an answer to nothing, or to what was not sent yet, settles nothing", () => {
    const outbox = new Outbox();
    outbox.add({ type: "send" }).catch(() => {});
    assert.equal(outbox.answer({ type: "accepted", ref: 1 }), null);
    assert.equal(outbox.answer({ type: "accepted" }), null);
    assert.equal(outbox.size, 1);
});

test("frames hold what fits, in order, counted in bytes and not in characters", () => {
    const text = JSON.stringify("é".repeat(20));
    assert.equal(byteLength(text), 42);
    const frames = framesOf([text, text, text], 90);
    assert.deepEqual(frames.map((frame) => JSON.parse(frame).length), [2, 1]);
    for (const frame of frames) assert.ok(byteLength(frame) <= 90);
    assert.deepEqual(framesOf([], 90), []);
});

test("the host's clock is read from the quickest of the samples", () => {
    let now = 1000;
    const clock = new HostClock(() => now);
    clock.guess(5000);
    assert.equal(clock.now(), 5000);
    now = 1100;
    clock.sample({ time: 1000, received: 6050, sent: 6050 });
    assert.equal(clock.offset, 5000);
    now = 2000;
    clock.sample({ time: 1000, received: 9000, sent: 9000 });
    assert.equal(clock.offset, 5000, "a slow sample changes nothing");
    now = 2010;
    clock.sample({ time: 2000, received: 7105, sent: 7105 });
    assert.equal(clock.offset, 5100, "a quicker one does");
    clock.sample({ time: Number.NaN, received: 1, sent: 1 });
    clock.sample({ time: 99_999, received: 1, sent: 1 });
    assert.equal(clock.offset, 5100, "nonsense does not");
    clock.reset();
    assert.equal(clock.offset, 0);
});

test("one listener's error does not keep the others from hearing", (context) => {
    const reported = context.mock.method(console, "error", () => {});
    const emitter = new Emitter();
    const heard = [];
    emitter.on("x", () => { throw new Error("mine"); });
    const stop = emitter.on("x", (value) => heard.push(value));
    emitter.emit("x", 1);
    stop();
    emitter.emit("x", 2);
    assert.deepEqual(heard, [1]);
    assert.equal(reported.mock.callCount(), 2);
});

test("a channel keeps what nobody has read and ends when its reader leaves", async () => {
    let ended = 0;
    const channel = new Channel(() => (ended += 1));
    channel.push(1);
    channel.push(2);
    const read = [];
    for await (const value of channel) {
        read.push(value);
        if (value === 2) break;
    }
    channel.push(3);
    assert.deepEqual(read, [1, 2]);
    assert.equal(ended, 1);
    assert.deepEqual(await channel.next(), { value: undefined, done: true });
});

test("a code is the same in any case and with any dashes; a link's token is left alone", () => {
    for (const text of ["bcd-fgh", "BCDFGH", " b c d f g h ", "Bcd-FGH"]) assert.equal(groupKey(text), "BCDFGH", text);
    assert.equal(groupKey("aB3_x-Yz09aB3_x-Yz09aB"), "aB3_x-Yz09aB3_x-Yz09aB");
    assert.equal(groupKey(null), "");
});

test("random ids have their length, their alphabet, and do not repeat", () => {
    const ids = new Set(Array.from({ length: 500 }, () => randomId(10)));
    assert.equal(ids.size, 500);
    for (const id of ids) assert.match(id, /^[0-9a-zA-Z]{10}$/);
});

test("a storage that the browser refuses still works for this page", () => {
    const storage = safeStorage("noSuchStorage");
    assert.equal(storage.read("a"), null);
    storage.write("a", { b: 1 });
    assert.deepEqual(storage.read("a"), { b: 1 });
    assert.deepEqual(storage.keys(), ["a"]);
    storage.remove("a");
    assert.equal(storage.read("a"), null);
});
