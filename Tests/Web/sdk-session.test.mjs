import assert from "node:assert/strict";
import test, { afterEach, beforeEach, mock } from "node:test";
import { load } from "./support/paths.mjs";
import { FakeSocket, joined, member, participant, settle, welcome } from "./support/fake-host.mjs";

globalThis.WebSocket = FakeSocket;
globalThis.location = { protocol: "http:", host: "party.test:4750" };
const { Group } = await load("sdk/group.js");
const { ActivitySession } = await load("sdk/activity.js");
const { tabMemory, seats } = await load("sdk/seat.js");

beforeEach(() => {
    FakeSocket.all = [];
    tabMemory.remove("refs");
    tabMemory.remove("places");
    seats.remove("BCDFGH");
    mock.timers.enable({ apis: ["setTimeout", "Date"], now: 1_800_000_000_000 });
});
afterEach(() => mock.timers.reset());

/** A group that has been welcomed, and its socket. */
async function connected(fields) {
    const group = new Group({ group: "bcd-fgh", name: "Ada", client: "c1" });
    group.open();
    const socket = FakeSocket.newest;
    socket.open();
    await socket.frame(welcome(fields));
    return { group, socket };
}

/** The same with session s1 joined at seq 10. */
async function inSession(fields) {
    const { group, socket } = await connected();
    const session = group.session("s1");
    const joining = session.join();
    await settle();
    await socket.frame(joined(socket.of("join").at(-1).ref, fields));
    await joining;
    return { group, session, socket };
}

/** Waits for the next socket, opens it and lets the host welcome us. */
async function comeBack(fields) {
    mock.timers.tick(5000);
    const socket = FakeSocket.newest;
    socket.open();
    await socket.frame(welcome(fields));
    return socket;
}

const message = (seq, fields = {}) => ({ type: "message", session: "s1", seq, from: "p2", name: "add", body: { n: seq }, ...fields });

test("the first frame is the hello of the contract", async () => {
    const { socket } = await connected();
    assert.equal(socket.url, "ws://party.test:4750/v1/socket");
    assert.equal(socket.protocol, "activityhost.v1");
    const { locale, ...hello } = socket.sent[0];
    assert.deepEqual(hello, { type: "hello", protocol: 1, group: "BCDFGH", name: "Ada", token: null, client: "c1" });
    assert.equal(typeof locale, "string");
});

test("the seat is kept and given at the next hello", async () => {
    await connected();
    const group = new Group({ group: "BCDFGH", client: "c2" });
    group.open();
    FakeSocket.newest.open();
    assert.equal(FakeSocket.newest.sent[0].token, "seat-1");
});

test("joining gives the view, the participants and the own place among them", async () => {
    const { session } = await inSession();
    assert.equal(session.state, "joined");
    assert.deepEqual(session.view, { count: 0 });
    assert.deepEqual(session.localParticipant, participant);
    assert.deepEqual(session.position, { epoch: "e1", seq: 10 });
});

test("a durable message resolves with its place, before what came after it in the same frame", async () => {
    const { session, socket } = await inSession();
    const order = [];
    session.on("add", (body, { seq }) => order.push(`message ${seq}`));
    session.onAccepted(({ seq }) => order.push(`accepted ${seq}`));
    const sending = session.send("add", { n: 1 }).then(({ seq }) => order.push(`sent ${seq}`));
    await settle();
    const { ref, ...sent } = socket.of("send")[0];
    assert.deepEqual(sent, { type: "send", session: "s1", name: "add", body: { n: 1 } });
    await socket.frame(message(11), { type: "accepted", ref, session: "s1", seq: 12 }, message(13));
    await sending;
    assert.deepEqual(order, ["message 11", "accepted 12", "sent 12", "message 13"]);
    assert.equal(session.position.seq, 13);
});

test("a refusal rejects with what the host said", async () => {
    const { session, socket } = await inSession();
    const sending = session.send("add", {});
    await settle();
    const refused = assert.rejects(sending, { code: "refused", reason: "gone", data: { by: "m2" }, message: "too late" });
    await socket.frame({ type: "rejected", ref: socket.of("send")[0].ref, code: "refused", reason: "gone", data: { by: "m2" }, message: "too late" });
    await refused;
});

test("what is too large is refused here and never sent", async () => {
    const { session, socket } = await inSession();
    await assert.rejects(session.send("add", { text: "x".repeat(300) }), { code: "too_large", limit: "message_bytes", allowed: 200 });
    assert.equal(socket.of("send").length, 0);
});

test("sends before joining wait for it", async () => {
    const { group, socket } = await connected();
    const session = group.session("s1");
    session.send("add", { n: 1 }).catch(() => {});
    session.join();
    await settle();
    assert.equal(socket.of("send").length, 0);
    await socket.frame(joined(socket.of("join")[0].ref));
    assert.equal(socket.of("send").length, 1);
});

test("after a lost connection the participant resumes from its position, and only then sends again what was not answered", async () => {
    const { session, socket } = await inSession();
    const states = [];
    session.onConnection((state) => states.push(state));
    const heard = [];
    session.on("add", (body, { seq }) => heard.push(seq));
    await socket.frame(message(11));
    const answers = [session.send("add", { n: "a" }), session.send("add", { n: "b" })];
    await settle();
    const refs = socket.of("send").map(({ ref }) => ref);
    await socket.shut(1006);
    const third = session.send("add", { n: "c" });
    const next = await comeBack({ acknowledged: refs[0] });
    assert.deepEqual(next.of("join").map(({ participant: id, since }) => [id, since]), [["p1", { epoch: "e1", seq: 11 }]]);
    assert.equal(next.of("send").length, 0, "nothing before the join is answered");
    const { state, ...resumed } = joined(next.of("join")[0].ref, { seq: 11 });
    await next.frame(resumed, message(12, { from: "p3" }));
    assert.deepEqual(next.of("send").map(({ ref, body }) => [ref, body.n]), [[refs[0], "a"], [refs[1], "b"], [next.of("send")[2].ref, "c"]]);
    assert.ok(next.of("send")[2].ref > refs[1]);
    await next.frame({ type: "accepted", ref: refs[0], session: "s1", seq: 13 }, { type: "accepted", ref: refs[1], session: "s1", seq: 14 },
        { type: "accepted", ref: next.of("send")[2].ref, session: "s1", seq: 15 });
    assert.deepEqual((await Promise.all([...answers, third])).map(({ seq }) => seq), [13, 14, 15]);
    assert.deepEqual(heard, [11, 12]);
    assert.deepEqual(states, ["reconnecting", "online"]);
    assert.equal(session.position.seq, 15);
});

test("a view instead of a resume is told as a snapshot, with the differences among the people", async () => {
    const { session, socket } = await inSession();
    const told = [];
    session.onSnapshot((view, position) => told.push(["snapshot", view, position]));
    session.onParticipants(({ joined: came, left }) => told.push(["participants", came.map(({ id }) => id), left.map(({ id }) => id)]));
    session.onChanged((parameters) => told.push(["changed", parameters]));
    await socket.shut(1012);
    const next = await comeBack();
    const other = { ...participant, id: "p9", member: "m2" };
    await next.frame(joined(next.of("join")[0].ref, { participant: "p8", participants: [{ ...participant, id: "p8" }, other], epoch: "e2", seq: 3, parameters: { a: 1 }, state: { count: 7 } }));
    assert.deepEqual(told, [["snapshot", { count: 7 }, { epoch: "e2", seq: 3 }], ["participants", ["p8", "p9"], ["p1"]], ["changed", { a: 1 }]]);
    assert.equal(session.localParticipant.id, "p8");
    assert.deepEqual(session.position, { epoch: "e2", seq: 3 });
});

test("a busy host's refusal of a rejoin is tried again, not taken as the end", async () => {
    const { session, socket } = await inSession();
    await socket.shut(1006);
    const next = await comeBack();
    await next.frame({ type: "rejected", ref: next.of("join")[0].ref, code: "rate_limited", message: "slow down", retry_ms: 200 });
    assert.equal(session.state, "joined");
    mock.timers.tick(200);
    await settle();
    assert.equal(next.of("join").length, 2);
});

test("a session that is gone after a reconnect has ended", async () => {
    const { group, session, socket } = await inSession();
    const told = [];
    session.onInvalidated((reason) => told.push(reason));
    const waiting = assert.rejects(session.send("add", {}), { code: "not_joined" });
    await socket.shut(1006);
    await comeBack({ group: { code: "BCDFGH", locked: false, members: [member], sessions: [] } });
    assert.deepEqual(told, ["ended"]);
    assert.equal(group.session("s1"), null);
    await waiting;
});

test("silence after a ping is a lost connection: another is made", async () => {
    const { group, socket } = await connected();
    mock.timers.tick(5000);
    await settle();
    assert.ok(socket.of("ping").length > 0);
    mock.timers.tick(4000);
    assert.equal(group.state, "reconnecting");
    assert.ok(socket.isClosed);
    mock.timers.tick(5000);
    assert.equal(FakeSocket.all.length, 2);
});

test("pongs keep the connection and set the clock", async () => {
    const { group, socket } = await connected();
    for (let count = 0; count < 5; count += 1) {
        mock.timers.tick(5000);
        await settle();
        const { time } = socket.of("ping").at(-1);
        await socket.frame({ type: "pong", time, received: time + 700, sent: time + 700 });
    }
    assert.equal(group.state, "online");
    assert.equal(group.now() - Date.now(), 700);
});

test("refusing close codes end it for good", async () => {
    for (const code of [4401, 4403, 4404, 4409, 4410, 1009]) {
        const { group, socket } = await connected();
        const before = FakeSocket.all.length;
        const told = [];
        group.on("state", (state, error) => told.push([state, error?.closeCode]));
        await socket.shut(code, "no");
        mock.timers.tick(60_000);
        assert.deepEqual(told, [["closed", code]]);
        assert.equal(FakeSocket.all.length, before, String(code));
        await assert.rejects(group.request({ type: "lock", locked: true }), { code: "closed" });
    }
});

test("after too many tries nothing hurries the client, not even a person", async () => {
    const { group, socket } = await connected();
    await socket.shut(4429, "wait 10 s");
    group.retryNow();
    assert.equal(FakeSocket.all.length, 1);
    mock.timers.tick(10_000);
    assert.equal(FakeSocket.all.length, 2);
});

test("leaving offers the session again as a new one to join", async () => {
    const { group, session, socket } = await inSession();
    session.leave();
    await settle();
    assert.equal(socket.of("leave").length, 1);
    assert.equal(session.state, "invalidated");
    assert.equal(session.reason, "left");
    const again = group.session("s1");
    assert.notEqual(again, session);
    assert.equal(again.state, "waiting");
    const joining = group.session("s1").join();
    await settle();
    assert.equal(socket.of("join").at(-1).participant, null);
    await socket.frame(message(11), { type: "invalidated", session: "s1", reason: "left" });
    await socket.frame(joined(socket.of("join").at(-1).ref, { participant: "p5" }));
    await joining;
});

test("a replaced session says by what", async () => {
    const { group, session, socket } = await inSession();
    const told = [];
    session.onInvalidated((reason, by) => told.push([reason, by]));
    const next = { id: "s2", activity: "draw", version: 1, metadata: {}, parameters: {}, initiator: "m2", participants: 0 };
    await socket.frame({ type: "session", session: next }, { type: "invalidated", session: "s1", reason: "replaced", replaced_by: "s2" });
    assert.deepEqual(told, [["replaced", "s2"]]);
    assert.deepEqual(group.currentSessions.map(({ id }) => id), ["s2"]);
});

test("starting resolves with the session, whichever of answer and announcement comes first", async () => {
    const next = { id: "s2", activity: "draw", version: 1, metadata: {}, parameters: {}, initiator: "m1", participants: 0 };
    for (const isAnnouncedFirst of [true, false]) {
        const { group, socket } = await connected();
        const starting = group.start("draw", { a: 1 }, { replaces: "s1" });
        await settle();
        const { ref, ...start } = socket.of("start")[0];
        assert.deepEqual(start, { type: "start", activity: "draw", parameters: { a: 1 }, replaces: "s1" });
        const frames = [{ type: "session", session: next }, { type: "started", ref, session: "s2" }];
        await socket.frame(...(isAnnouncedFirst ? frames : frames.reverse()));
        assert.equal(await starting, group.session("s2"));
        assert.equal(group.currentSessions.length, 2);
    }
});

test("posts go only when they can go at once", async () => {
    const { session, socket } = await inSession();
    assert.equal(session.post("cursor", { x: 1 }), true);
    await settle();
    assert.deepEqual(socket.of("send"), [{ type: "send", session: "s1", name: "cursor", body: { x: 1 } }]);
    socket.bufferedAmount = 300_000;
    assert.equal(session.post("cursor", { x: 2 }), false);
    await socket.shut(1006);
    assert.equal(session.post("cursor", { x: 3 }), false);
});

test("members come, go and change; the own role follows", async () => {
    const { group, socket } = await connected();
    await socket.frame({ type: "members", joined: [{ id: "m2", name: "Ben", color: "#db2777", role: "participant" }], left: [], changed: [] });
    await socket.frame({ type: "members", joined: [], left: [], changed: [{ ...member, role: "moderator" }] });
    assert.ok(group.isAtLeast("moderator"));
    await socket.frame({ type: "members", joined: [], left: ["m2"], changed: [] });
    assert.deepEqual(group.members.map(({ id }) => id), ["m1"]);
});

test("a new code takes the seat along", async () => {
    const { group, socket } = await connected();
    await socket.frame({ type: "group", group: { code: "ZZZXXX", locked: true } });
    assert.equal(group.code, "ZZZXXX");
    assert.equal(group.locked, true);
    assert.equal(seats.read("ZZZXXX").token, "seat-1");
});

test("a reloaded page asks for the participant that its tab was", async () => {
    await inSession();
    const { group, socket } = await connected();
    assert.equal(group.rememberedSession, group.session("s1"));
    group.session("s1").join();
    await settle();
    assert.deepEqual([socket.of("join")[0].participant, socket.of("join")[0].since], ["p1", null]);
});

test("unknown envelopes and frames that are none are passed over", async () => {
    const { group, session, socket } = await inSession();
    for (const data of ["", "{", "null", "{}", "[null, 1, \"x\", {}]", '[{"type":"later","session":"s1"}]']) socket.onmessage({ data });
    await settle();
    assert.equal(group.state, "online");
    assert.equal(session.state, "joined");
});

test("a page misses nothing between joining and listening", async () => {
    const { group, socket } = await connected();
    const page = new ActivitySession(group.session("s1"));
    const joining = page.join();
    await settle();
    await socket.frame(joined(socket.of("join")[0].ref), message(11), message(12, { name: "other" }));
    await joining;
    assert.deepEqual(page.view, { count: 0 });
    const heard = [];
    page.on("add", (body, { seq }) => heard.push(seq));
    await socket.frame(message(13));
    page.on("other", (body, { seq }) => heard.push(seq));
    mock.timers.tick(1);
    await socket.frame(message(14));
    assert.deepEqual(heard, [11, 12, 13, 14]);
});

test("a page that is loaded again starts from a fresh view and hears nothing twice", async () => {
    const { session, socket } = await inSession();
    const page = new ActivitySession(session);
    const heard = [];
    const joining = page.join();
    await settle();
    assert.deepEqual([socket.of("join").at(-1).participant, socket.of("join").at(-1).since], ["p1", null]);
    await socket.frame(message(11), joined(socket.of("join").at(-1).ref, { seq: 11, state: { count: 1 } }), message(12));
    await joining;
    assert.deepEqual(page.view, { count: 1 });
    page.on("*", (body, { name, seq }) => heard.push([name, seq]));
    page.onSnapshot(() => heard.push("snapshot"));
    mock.timers.tick(1);
    assert.deepEqual(heard, [["add", 12]]);
    page.close();
    await socket.frame(message(13));
    assert.equal(heard.length, 1);
});

test("messages can be read with for await until the session is over", async () => {
    const { session, socket } = await inSession();
    const seen = [];
    const reading = (async () => {
        for await (const { name, body, mine } of session.messages()) seen.push([name, body.n, mine]);
    })();
    await socket.frame(message(11), message(12, { from: "p1" }), { type: "invalidated", session: "s1", reason: "ended" });
    await reading;
    assert.deepEqual(seen, [["add", 11, false], ["add", 12, true]]);
});
