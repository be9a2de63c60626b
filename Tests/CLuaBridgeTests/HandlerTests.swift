import CLuaBridge
import Testing

@Suite("Handlers and transactions")
struct HandlerTests {
    @Test(
        "What on.NAME returns decides where the message goes",
        arguments: [
            ("return", .received, ""), ("return nil", .received, ""), ("return false", .none, ""), ("return { a = 1 }", .replaced, #"{"a":1}"#),
            ("return list()", .replaced, "[]"), ("return session.state.kept", .replaced, #"{"b":2}"#),
        ] as [(String, ScriptOutcome.Relay, String)])
    func results(statements: String, relay: ScriptOutcome.Relay, body: String) throws {
        let session = try ScriptedSession(
            "function activity.start(s) s.state.kept = { b = 2 } end function activity.on.go(session) \(statements) end")
        let outcome = session.send()
        #expect(outcome.status == .committed)
        #expect(outcome.relay == relay)
        #expect(outcome.body == body)
    }

    @Test("A handler that returns true is the author's mistake")
    func resultTrue() throws {
        #expect(try handle("return true").report?.message == "on.go returned true; expected nothing, false or a table")
    }

    @Test(
        "A handler that raises, spends its budget or refuses leaves no trace",
        arguments: [
            ("error('x')", "activity_failed", "script_error"), ("while true do end", "activity_failed", "budget_"),
            ("session:reject('No.', 'not_now', { left = 3 })", "refused", ""),
            ("pcall(function() session:reject('No.', 'not_now', { left = 3 }) end)", "refused", ""),
            ("local s = 'x' while true do s = s .. s end", "activity_failed", "budget_memory"),
        ])
    func noTrace(end: String, code: String, report: String) throws {
        let session = try ScriptedSession(
            """
            function activity.on.go(session)
              session.state.a = { 1, 2, 3 }
              session:after(1000, "tick", { 1 })
              session:uuid() math.random(10) session:send("go", {}) session:refresh(session.participants) session:finish("over")
              \(end)
            end
            """)
        let before = session.snapshot
        let outcome = session.send()
        #expect(outcome.status == .rejected)
        #expect(outcome.code == code)
        #expect(outcome.seq == 0)
        #expect(outcome.report?.code.hasPrefix(report) ?? report.isEmpty)
        #expect(outcome.sends.isEmpty && outcome.refresh.isEmpty && outcome.finished == nil)
        #expect(session.snapshot == before)
    }

    @Test("A refusal carries the script's message, code and data, and the failure of a script says nothing of itself")
    func refusal() throws {
        let refused = try handle("session:reject('Wait for your turn.', 'not_now', { left = 3 })")
        #expect(refused.message == "Wait for your turn." && refused.reason == "not_now" && refused.data == #"{"left":3}"#)
        let failed = try handle("local x = nil\nprint(x.secret)")
        #expect(failed.message == "The activity had a problem. Nothing was changed.")
        #expect(failed.report?.file == "activity.lua" && failed.report?.line == 5)
        #expect(failed.report?.message == "attempt to index a nil value (local 'x')")
        #expect(failed.report?.trace.contains("activity.lua:5: in ") == true)
    }

    @Test("A start, join or change that fails changes nothing")
    func requests() throws {
        let session = try ScriptedSession(
            """
            activity.parameters = { game = "string(5)?" }
            function activity.join(s, p) s.state.n = 1 if p.id == "p3" then error("no") end end
            function activity.change(s, parameters) s.state.game = parameters.game if parameters.game == "bad" then s:reject("no") end end
            """)
        let before = session.snapshot
        #expect(session.apply(AH_JOIN, participant: 3).code == "activity_failed")
        #expect(session.apply(AH_JOIN, participant: 1).code == "forbidden")
        #expect(session.apply(AH_CHANGE, body: #"{"game":"bad"}"#).code == "refused")
        let wrong = session.apply(AH_CHANGE, body: #"{"game":"longer"}"#)
        #expect(wrong.code == "invalid_message" && wrong.path == "game")
        #expect(session.apply(AH_CHANGE, body: #"{"other":1}"#).code == "invalid_message")
        #expect(session.snapshot == before)
        #expect(session.apply(AH_CHANGE, body: #"{"game":"go"}"#).status == .committed)
        #expect(session.state == #"{"n":1,"game":"go"}"#)
        #expect(session.snapshot.contains(#""parameters":{"game":"go"}"#))
    }

    @Test(
        "A leave or timer whose handler failed stands without its effects, and replays as such",
        arguments: ["error('x')", "while true do end", "s:reject('no')"])
    func stands(end: String) throws {
        let script = """
            function activity.on.go(s) s:after(1000, "tick", { n = 1 }) end
            function activity.leave(s, p) s.state.left = p.id s:send("go", {}) \(end) end
            function activity.timer(s) s.state.fired = true s:after(50, "again") \(end) end
            """
        let session = try ScriptedSession(script)
        let twin = try ScriptedSession(script)
        session.send()
        twin.send(replay: true)
        let fired = session.apply(AH_TIMER, timer: 1)
        let left = session.apply(AH_LEAVE, participant: 2, reason: "left")
        for outcome in [fired, left] {
            #expect(outcome.status == .stands)
            #expect(outcome.sends.isEmpty)
            #expect(outcome.report != nil)
            #expect(outcome.code.isEmpty)
        }
        #expect(left.seq == fired.seq + 1)
        #expect(session.state == "{}")
        twin.apply(AH_TIMER, timer: 1, replay: true, failed: true)
        twin.apply(AH_LEAVE, participant: 2, reason: "left", replay: true, failed: true)
        #expect(twin.snapshot == session.snapshot)
        #expect(session.apply(AH_TIMER, timer: 1).status == .rejected)
        #expect(session.apply(AH_LEAVE, participant: 2).code == "not_joined")
    }

    @Test("A message is checked in the contract's order")
    func order() throws {
        let session = try ScriptedSession(
            """
            activity.messages = { add = { points = "integer" }, tell = { "targeted", text = "string" } }
            function activity.on.add(s) s.state.ran = true end
            """, adjust: { $0.message_bytes = 100 })
        let long = #"{"points":"\#(String(repeating: "x", count: 200))"}"#
        let cases: [(ScriptOutcome, String)] = [
            (session.send("nope", "[", from: 9), "not_joined"),
            (session.send("nope", long), "unknown_message"),
            (session.send("*", "{}"), "unknown_message"),
            (session.send("add", long, to: [9]), "too_large"),
            (session.send("add", "{", to: [9]), "invalid_message"),
            (session.send("add", ""), "invalid_message"),
            (session.send("add", #"{"points":1}"#, to: [2]), "forbidden"),
            (session.send("tell", #"{"text":"x"}"#, to: [2, 9]), "no_such_participant"),
        ]
        for (outcome, code) in cases {
            #expect(outcome.code == code)
            #expect(outcome.status == .rejected)
        }
        #expect(cases[3].0.limit == "message_bytes")
        let wrong = session.send("add", #"{"points":"5"}"#)
        #expect(wrong.path == "points" && wrong.message == "points: integer expected, got string")
        #expect(session.state == "{}")
        #expect(session.send("tell", #"{"text":"x"}"#, to: [2]).relay == .received)
    }

    @Test("A message learns who sent it, when, where it stands and whom it is for")
    func context() throws {
        let session = try ScriptedSession(
            """
            activity.messages = { tell = { "targeted", text = "string" }, move = { "latest", x = "number" }, ["*"] = "any" }
            local function show(s, m, c)
              print(c.name, c.sender.id, c.sender.member, c.sender.name, c.sender.color, c.sender.role, c.seq, c.time, c.to and c.to[1].id, c.sender == s.participants[1])
            end
            activity.on.tell = show
            activity.on.move = show
            activity.on["*"] = show
            """)
        let who = "p1\tm1\tMember 1\t#2563eb\tparticipant"
        #expect(session.send("tell", #"{"text":"x"}"#, to: [2]).printed == ["tell\t\(who)\t4\t1790000000000\tp2\ttrue"])
        #expect(session.send("move", #"{"x":1}"#).printed == ["move\t\(who)\tnil\t1790000000000\tnil\ttrue"])
        session.time -= 5000
        #expect(session.send("anything", "[1]").printed == ["anything\t\(who)\t5\t1790000000000\tnil\ttrue"])
    }

    @Test(
        "Handlers of latest and transient messages find the session read-only",
        arguments: [
            "s.state.a = 1", "s.state = {}", "s.state.list[1] = 2", "table.insert(s.state.list, 1)", "s:after(100, 'x')", "s:cancel(1)", "s:finish()",
            "s:uuid()",
            "math.random()", "s:refresh(s.participants)", "s:send('add', {})",
        ])
    func readOnly(statement: String) throws {
        let session = try ScriptedSession(
            """
            activity.messages = { move = { "latest", x = "number" }, blink = { "transient" }, add = {} }
            function activity.start(s) s.state.list = { 1 } end
            function activity.on.move(s) \(statement) end
            activity.on.blink = activity.on.move
            """)
        let before = session.snapshot
        for (name, body) in [("move", #"{"x":1}"#), ("blink", "{}")] {
            let outcome = session.send(name, body)
            #expect(outcome.code == "activity_failed")
            #expect(
                outcome.report?.message.contains("read-only") == true || outcome.report?.message.contains("cannot change") == true
                    || statement.contains("send"))
        }
        #expect(session.snapshot == before)
    }

    @Test("Latest and transient messages are done without a seq, may send their like, and a null body takes one back")
    func ephemeral() throws {
        let session = try ScriptedSession(
            """
            activity.messages = { move = { "latest", x = "number" }, blink = { "transient" } }
            function activity.on.move(s, m) s:send("blink", {}) s:send("move", null) return { x = m.x + 1.5 } end
            """)
        let moved = session.send("move", #"{"x":1}"#)
        #expect(moved.status == .done && moved.seq == 0 && moved.body == #"{"x":2.5}"#)
        #expect(moved.sends == [.init(name: "blink", body: "{}"), .init(name: "move", body: "null")])
        let gone = session.send("move", " null\n")
        #expect(gone.status == .done && gone.relay == .received && gone.sends.isEmpty)
        #expect(session.send("blink", "null").code == "invalid_message")
    }

    @Test("A newcomer is there during join, gets the view after it, and not what join sends")
    func join() throws {
        let session = try ScriptedSession(
            """
            function activity.join(s, p)
              s.state.count = #s.participants
              s:send("go", { all = true }) s:send("go", { to = true }, { to = s.participants }) s:send("go", {}, { to = p })
              s:refresh(s.participants)
            end
            function activity.view(s, p) return { you = p.id, count = s.state.count } end
            """, joined: [1])
        let outcome = session.apply(AH_JOIN, participant: 2)
        #expect(outcome.view == #"{"count":2,"you":"p2"}"#)
        #expect(outcome.sends == [.init(name: "go", body: #"{"all":true}"#), .init(name: "go", body: #"{"to":true}"#, to: [1])])
        #expect(outcome.refresh == [1])
        #expect(session.apply(AH_VIEW, participant: 1).view == #"{"count":2,"you":"p1"}"#)
        #expect(session.apply(AH_VIEW, participant: 9).code == "not_joined")
    }

    @Test("A leaver is out of the participants during leave, and the reason is told")
    func leave() throws {
        let session = try ScriptedSession(
            """
            function activity.leave(s, p, reason)
              print(p.id, p.name, reason, #s.participants)
              print(pcall(function() s:send("go", {}, { to = p }) end))
              s:send("go", {}, { except = p })
            end
            """)
        let outcome = session.apply(AH_LEAVE, participant: 2, reason: "disconnected")
        #expect(outcome.printed[0] == "p2\tMember 2\tdisconnected\t1")
        #expect(outcome.printed[1].hasSuffix("no participant \"p2\" is in this session"))
        #expect(outcome.sends == [.init(name: "go", body: "{}", to: [1])])
    }

    @Test("Without a view the whole state is shown; a view and an export cannot change, send or return nonsense")
    func queries() throws {
        let plain = try ScriptedSession("function activity.start(s) s.state.a = { 1, 'x', 2.5, null } end")
        #expect(plain.apply(AH_VIEW).view == #"{"a":[1,"x",2.5,null]}"#)
        let session = try ScriptedSession(
            """
            function activity.start(s) s.state.how = "plain" end
            function activity.on.go(s, m) s.state.how = m.how end
            function activity.view(s)
              if s.state.how == "write" then s.state.x = 1 elseif s.state.how == "send" then s:send("go", {}) elseif s.state.how == "cycle" then local t = {} t.t = t return t
              elseif s.state.how == "function" then return print elseif s.state.how == "nothing" then return nil end
              return s.state
            end
            function activity.export.csv(s, member) return (member and member.id .. member.name or "operator") .. "\\n" end
            function activity.export.bad() return {} end
            """)
        for how in ["write", "send", "cycle", "function"] {
            session.send("go", #"{"how":"\#(how)"}"#)
            let before = session.snapshot
            let outcome = session.apply(AH_VIEW)
            #expect(outcome.status == .rejected && outcome.code == "activity_failed", "\(how)")
            #expect(session.snapshot == before)
        }
        session.send("go", #"{"how":"nothing"}"#)
        #expect(session.apply(AH_VIEW).view == "null")
        #expect(session.apply(AH_EXPORT, member: 0, name: "csv").view == "operator\n")
        #expect(session.apply(AH_EXPORT, member: 1, name: "csv").view == "m1Member 1\n")
        #expect(session.apply(AH_EXPORT, member: 0, name: "bad").report?.message == "export.bad has to return a string, but returned table")
        #expect(session.apply(AH_EXPORT, member: 0, name: "pdf").status == .rejected)
    }

    @Test("A state that would grow over its bound is refused; one that shrinks is accepted above it")
    func stateLimit() throws {
        let session = try ScriptedSession(
            """
            activity.messages = { add = { n = "integer" }, drop = {} }
            function activity.start(s) s.state.list = {} end
            function activity.on.add(s, m) s.state.list[#s.state.list + 1] = ("x"):rep(m.n) end
            function activity.on.drop(s) table.remove(s.state.list) end
            """, adjust: { $0.state_bytes = 1000 })
        #expect(session.send("add", #"{"n":900}"#).status == .committed)
        let full = session.send("add", #"{"n":200}"#)
        #expect(full.code == "limit_reached" && full.limit == "state_bytes" && full.report?.code == "budget_state")
        session.send("add", #"{"n":2000}"#, replay: true)  // as from an older, larger limit
        #expect(session.send("add", #"{"n":1}"#).code == "limit_reached")
        #expect(session.apply(AH_VIEW).status == .done)
        #expect(session.send("drop").status == .committed)
        #expect(session.send("add", #"{"n":1}"#).status == .committed)
    }

    @Test("A member's new role changes all participants of that member; a migration sees the old version")
    func memberAndMigration() throws {
        let session = try ScriptedSession(
            """
            function activity.migrate(s, version) s.state.from = version if version == 7 then error("no") end end
            function activity.on.go(s) print(s.participants[1].name, s.participants[3].name, s.participants[2].name) end
            """)
        session.apply(AH_JOIN, participant: 3, member: 1)
        #expect(session.apply(AH_MEMBER, participant: 9, member: 1).status == .committed)
        #expect(session.send().printed == ["Member 9\tMember 9\tMember 2"])
        #expect(session.apply(AH_MIGRATE, fromVersion: 7).code == "activity_failed")
        #expect(session.apply(AH_MIGRATE, fromVersion: 3).status == .committed)
        #expect(session.state == #"{"from":3}"#)
    }

    @Test("Replay runs without budgets of time and instructions, and to the same state in a fresh VM")
    func replay() throws {
        let script = "function activity.on.go(s) local n = 0 for i = 1, 3000000 do n = n + 1 end s.state.n = { n, math.random(1000), s:uuid() } end"
        let session = try ScriptedSession(script, adjust: { $0.handler_instructions = 100_000 })
        #expect(session.send().report?.code == "budget_instructions")
        #expect(session.send(replay: true).status == .committed)
        let twin = try ScriptedSession(script)
        try twin.renewVM()
        twin.send(replay: true)
        #expect(twin.snapshot == session.snapshot)
    }

    @Test("start gets the parameters, and its sends reach nobody")
    func start() throws {
        let text = ScriptedSession.activity(
            """
            activity.parameters = { game = "string(60)?" }
            function activity.start(s) s:send("go", {}) s.state.game = s.parameters.game or "none" s.state.by = s.initiator s.state.id = s.id end
            """)
        let session = try ScriptedSession(sources: [ScriptSource("activity.lua", text)], parameters: #"{"game":"chess"}"#)
        #expect(session.state == #"{"game":"chess","by":"m1","id":"s1"}"#)
        let refused = try ScriptedSession(sources: [ScriptSource("activity.lua", text)], parameters: #"{"gam":"chess"}"#)
        #expect(refused.state == "{}" && ah_session_seq(refused.session) == 0)
    }
}
