import CLuaBridge
import Testing

@Suite("The session of handlers")
struct SessionAPITests {
    @Test("session shows its id, initiator, parameters, time and participants in join order")
    func fields() throws {
        let session = try ScriptedSession(
            """
            function activity.on.go(session)
              print(session.id, session.initiator, session:now(), #session.participants, session.participants[2].id, session.participants == session.participants)
              for _, p in ipairs(session.participants) do print(p.id, p.member, p.name, p.color, p.role) end
              print(next(session.parameters), iso_time(session:now()), iso_time(-1), iso_time(0))
            end
            """, joined: [5, 2])
        let outcome = session.send(from: 2)
        #expect(outcome.printed[0] == "s1\tm1\t1790000000000\t2\tp2\ttrue")
        #expect(outcome.printed[1...2] == ["p5\tm5\tMember 5\t#2563eb\tparticipant", "p2\tm2\tMember 2\t#2563eb\tparticipant"])
        #expect(outcome.printed[3] == "nil\t2026-09-21T14:13:20.000Z\t1969-12-31T23:59:59.999Z\t1970-01-01T00:00:00.000Z")
    }

    @Test(
        "send reaches everyone, those chosen, or all but some",
        arguments: [
            ("", nil), ("{}", nil), ("{ to = p[1] }", [1]), ("{ to = 'p3' }", [3]), ("{ to = { p[3], 'p1', p[1] } }", [1, 3]),
            ("{ except = p[2] }", [1, 3]),
            ("{ except = { 'p1', 'p3' } }", [2]), ("{ to = { p[1], p[2] }, except = 'p1' }", [2]), ("{ to = session.state.some }", [2, 3]),
        ] as [(String, [UInt32]?)])
    func receivers(options: String, to: [UInt32]?) throws {
        let session = try ScriptedSession(
            """
            function activity.start(s) s.state.some = { "p3", "p2" } end
            function activity.on.go(session, body)
              local p = session.participants
              session:send("go", { n = 1 }\(options.isEmpty ? "" : ", \(options)"))
            end
            """, joined: [1, 2, 3])
        #expect(session.send().sends == [.init(name: "go", body: #"{"n":1}"#, to: to)])
    }

    @Test("A send that would reach nobody is none")
    func nobody() throws {
        let outcome = try handle("session:send('go', {}, { to = {} }) session:send('go', {}, { except = session.participants })")
        #expect(outcome.status == .committed && outcome.sends.isEmpty)
    }

    @Test("refresh names each participant once, in join order within a call")
    func refresh() throws {
        #expect(try handle("session:refresh('p2') session:refresh(session.participants) session:refresh({ 'p1' })").refresh == [2, 1])
    }

    @Test(
        "Wrong use raises a text that helps",
        arguments: [
            ("session.send('go', {})", "session.send was called without the session; write session:send(…) with a colon"),
            ("session:sent()", "session has no sent; it has state, id,"),
            ("session.id = 5", "session.id cannot be assigned; what must last goes into session.state"),
            ("session.state = 5", "session.state: a table expected, got number"),
            ("session:send()", "session:send: the name of a message expected, got nil"),
            ("session:send('goo', {})", "session:send: messages has no goo, did you mean go?"),
            ("session:send('*', {})", "session:send: messages has no *"), ("session:send('go', print)", "session:send: go: "),
            ("session:send('add', {})", "session:send: add: n: "),
            ("session:send('add', { n = '5' })", "session:send: add: n: integer expected, got string"),
            ("session:send('go', {}, 'p1')", "session:send: options such as { to = participant } expected, got string"),
            ("session:send('go', {}, { too = 'p1' })", "session:send: the options are to and except, not too"),
            ("session:send('go', {}, { to = 'p9' })", "session:send: no participant \"p9\" is in this session"),
            ("session:send('go', {}, { to = 'm1' })", "no participant \"m1\""),
            ("session:send('go', {}, { to = 5 })", "session:send: a participant, an id or a list of them expected, got number"),
            ("session:send('go', {}, { to = { 5 } })", "session:send: element 1 of the list is no participant and no id"),
            ("session:send('go', ('x'):rep(300000))", "message_bytes"),
            ("session:refresh()", "session:refresh: a participant, an id or a list of them expected, got nil"),
            ("session:reject(5)", "session:reject: message: a text expected, got number"),
            ("session:reject('no', '')", "session:reject: code: 1 to 64 bytes expected, got 0"),
            ("session:reject('no', 'x', print)", "session:reject: data: "),
            ("session:after('x', 'y')", "session:after: milliseconds expected, got string"),
            ("session:after(100)", "session:after: name: a text expected, got nil"),
            ("session:after(1e300, 'x')", "session:after: at most ten years ahead"),
            ("session:after(0/0, 'x')", "session:after: at most ten years ahead"),
            ("session:after(100, 'x', print)", "session:after: data: "),
            ("session:cancel('x')", "session:cancel: the id that session:after gave expected, got string"),
            ("session:finish(5)", "session:finish: reason: a text expected, got number"), ("math.random(2, 1)", "interval is empty"),
            ("iso_time(1e18)", "not within the years 0 to 9999"),
        ])
    func wrongUse(statement: String, message: String) throws {
        let outcome = try handle(statement, before: "activity.messages.add = { n = 'integer' }")
        #expect(outcome.code == "activity_failed")
        #expect(outcome.report?.message.contains(message) == true, "\(String(describing: outcome.report))")
        #expect(outcome.report?.line == 4)
    }

    @Test("after sets a timer at least 50 ms ahead that carries its data, and cancel takes it back")
    func timers() throws {
        let session = try ScriptedSession(
            """
            function activity.on.go(s)
              print(s:after(1, "soon", { a = { 1, null } }), s:after(1000.2, "later"), s:after(60, "gone"), s:cancel(3), s:cancel(3), s:cancel(nil))
            end
            function activity.timer(s, name, data, context)
              print(name, data and data.a[1], data and data.a[2] == null, context.late, context.time, context.seq)
            end
            """)
        #expect(session.send().printed == ["1\t2\t3\ttrue\tfalse\tfalse"])
        var due: Int64 = 0
        #expect(ah_session_next_timer(session.session, &due) == 1 && due == 1_790_000_000_050)
        session.time = due
        let fired = session.apply(AH_TIMER, timer: 1, late: true)
        #expect(fired.status == .committed && fired.printed == ["soon\t1\ttrue\ttrue\t1790000000050\t5"])
        #expect(ah_session_next_timer(session.session, &due) == 2 && due == 1_790_000_001_001)
        #expect(session.apply(AH_TIMER, timer: 2).printed == ["later\tnil\tnil\tfalse\t1790000000050\t6"])
        #expect(ah_session_next_timer(session.session, &due) == 0)
    }

    @Test("finish is told with its reason, and a session without one has an empty one")
    func finish() throws {
        #expect(try handle("session:finish('won')").finished == "won")
        #expect(try handle("session:finish()").finished == "")
        #expect(try handle("").finished == nil)
    }

    @Test("Random numbers and ids are those of the session: the same for a seed, fair, and in the form of version 4")
    func randomness() throws {
        let statements = """
            print(session:uuid(), session:uuid(), math.random(), math.random(6), math.random(10, 20), math.random(0), math.random(math.mininteger, math.maxinteger))
            local counts = { 0, 0, 0 }
            for i = 1, 3000 do local n = math.random(3) counts[n] = counts[n] + 1 end
            print(math.min(table.unpack(counts)) > 850, math.random(5, 5))
            """
        let first = try handle(statements), second = try handle(statements)
        #expect(first.printed == second.printed)
        #expect(first.printed[1] == "true\t5")
        let ids = first.printed[0].split(separator: "\t").prefix(2).map(String.init)
        #expect(ids[0] != ids[1])
        for id in ids { #expect(id.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil) }
    }

    @Test("The state is assigned as a whole, read live, and not beyond its handler")
    func state() throws {
        let session = try ScriptedSession(
            """
            local kept
            function activity.on.go(s, m)
              if kept then print(pcall(function() return kept.b end)) end
              local before = s.state
              s.state = { a = { b = 1 } }
              kept = s.state.a
              s.state.a.b = 2
              print(kept.b, s.state.a == kept, type(s.state))
            end
            """)
        #expect(session.send().printed == ["2\ttrue\ttable"])
        let again = session.send()
        #expect(again.printed[0].hasPrefix("false\t") && again.printed[0].contains("earlier handler"))
        #expect(session.state == #"{"a":{"b":2}}"#)
    }
}
