import ActivityModel
import SessionCore
import Testing

@testable import LuaRuntime

@Suite("A worker")
struct LuaWorkerTests {
    private static let counter = """
          messages = { add = { n = "integer" }, fail = {}, refuse = {} },
          start = function(session) session.state.total = 0 end,
          on = {
            add = function(session, message) session.state.total = session.state.total + message.n end,
            fail = function(session) session.state.total = -1; error("broken on purpose") end,
            refuse = function(session) session.state.total = -2; session:reject("Not now", "too_early", { wait = 5 }) end,
          },
        """

    @Test("numbers what commits and leaves no trace of what does not")
    func numbersCommits() {
        var run = SessionRun(script(Self.counter))
        run.send("add", #"{"n":2}"#)
        run.send("fail")
        run.send("refuse")
        run.send("add", #"{"n":"2"}"#)
        run.send("unheard_of")
        run.send("add", #"{"n":3}"#, from: 9)
        run.send("add", #"{"n":3}"#, from: 2)
        run.add(.query(.view(participant(1))))
        let outcomes = run.outcomes()
        #expect(outcomes[0].result == .done)
        #expect(outcomes[1...4].map(\.seq) == [1, 2, 3, 4])
        #expect(outcomes[2].viewText == #"{"total":0}"#)
        #expect(outcomes[5].rejection?.code == .activityFailed)
        #expect(outcomes[6].rejection?.code == .refused)
        #expect(outcomes[7].rejection?.code == .invalidMessage)
        #expect(outcomes[8].rejection?.code == .unknownMessage)
        #expect(outcomes[9].rejection?.code == .notJoined)
        #expect(outcomes[10].seq == 5)
        #expect(outcomes[11].result == .done)
        #expect(outcomes[11].viewText == #"{"total":5}"#)
    }

    @Test("hands a script's refusal on: its words, its code and its data")
    func refusal() {
        var run = SessionRun(script(Self.counter))
        run.send("refuse")
        let rejection = run.addedOutcomes()[0].rejection
        #expect(rejection?.message == "Not now")
        #expect(rejection?.reason == "too_early")
        #expect(rejection?.data.map { String(decoding: $0, as: UTF8.self) } == #"{"wait":5}"#)
    }

    @Test("tells where a message is wrong")
    func path() {
        var run = SessionRun(script(Self.counter))
        run.send("add", #"{"n":"2"}"#)
        #expect(run.addedOutcomes()[0].rejection?.path == "n")
    }

    @Test("reports a failing handler with activity, handler, file and line")
    func report() throws {
        var run = SessionRun(script(Self.counter))
        run.send("fail")
        let report = try #require(run.addedOutcomes()[0].report)
        #expect(report.activity == "sample")
        #expect(report.handler == "on.fail")
        #expect(report.file == "activity.lua")
        #expect(report.line == 9)
        #expect(report.message.contains("broken on purpose"))
        #expect(report.code == "script_error")
    }

    @Test("lets a leave and a timer stand whose handlers fail")
    func stands() {
        let source = script(
            """
              start = function(session) session.state.kept = true; session:after(50, "tick") end,
              leave = function(session) session.state.kept = false; error("no") end,
              timer = function(session) session.state.kept = false; error("no") end,
            """)
        var run = SessionRun(source)
        run.add(.input(.leave(participant(2), .left)))
        run.wait(milliseconds: 50)
        run.add(.input(.timer(1, late: false)))
        run.add(.query(.view(participant(1))))
        run.add(.query(.view(participant(2))))
        let outcomes = run.addedOutcomes()
        #expect(outcomes[0].result == .stands(seq: 4))
        #expect(outcomes[0].report?.handler == "leave")
        #expect(outcomes[0].nextTimer?.id == 1)
        #expect(outcomes[1].result == .stands(seq: 5))
        #expect(outcomes[1].nextTimer == nil)
        #expect(outcomes[2].viewText == #"{"kept":true}"#)
        #expect(outcomes[3].rejection?.code == .notJoined)
    }

    @Test("tells the earliest timer after each input")
    func timers() {
        let source = script(
            """
              messages = { set = { ms = "integer" }, fired = { "script", late = "boolean" } },
              on = { set = function(session, message) session:after(message.ms, "tick") end },
              timer = function(session, name, data, context) session:send("fired", { late = context.late }) end,
            """)
        var run = SessionRun(source, people: 1...1)
        run.send("set", #"{"ms":5000}"#)
        run.send("set", #"{"ms":1000}"#)
        run.wait(milliseconds: 1000)
        run.add(.input(.timer(2, late: true)))
        let outcomes = run.addedOutcomes(people: 1)
        #expect(outcomes[0].nextTimer == .init(id: 1, due: 1_790_000_005_003))
        #expect(outcomes[1].nextTimer == .init(id: 2, due: 1_790_000_001_004))
        #expect(outcomes[2].nextTimer == .init(id: 1, due: 1_790_000_005_003))
        #expect(outcomes[2].sends == [.init(name: "fired", body: Array(#"{"late":true}"#.utf8), delivery: .durable, to: nil)])
    }

    @Test("relays what handlers let pass, stop or replace")
    func relays() {
        let source = script(
            """
              messages = { pass = {}, stop = {}, replace = { n = "integer" }, plain = { "targeted" } },
              on = { pass = function() end, stop = function() return false end, replace = function(_, m) return { n = m.n + 1 } end },
            """)
        var run = SessionRun(source)
        run.send("pass")
        run.send("stop")
        run.send("replace", #"{"n":1}"#)
        run.send("plain", to: [2])
        run.send("plain", to: [7])
        let outcomes = run.addedOutcomes()
        #expect(outcomes.map(\.relayText) == ["received", "none", #"{"n":2}"#, "received", "none"])
        #expect(outcomes[4].rejection?.code == .noSuchParticipant)
    }

    @Test("copies sends, refreshes and log lines")
    func effects() {
        let source = script(
            """
              messages = { go = {}, note = { "script", "latest", text = "string" } },
              on = { go = function(session, _, context)
                session:send("note", { text = "to one" }, { to = context.sender })
                session:send("note", { text = "to all" })
                session:refresh(context.sender)
                log.warn("went")
              end },
            """)
        var run = SessionRun(source)
        run.send("go", from: 2)
        let outcome = run.addedOutcomes()[0]
        #expect(outcome.sends.map(\.to) == [[participant(2)], nil])
        #expect(outcome.sends.map(\.delivery) == [.latest, .latest])
        #expect(outcome.refresh == [participant(2)])
        #expect(outcome.logs == [LogLine(level: .warn, text: "went")])
    }

    @Test("takes a null body of a latest message as its end, without the handler")
    func latestNull() {
        let source = script(
            """
              messages = { pointer = { "latest", "targeted", x = "number" }, step = {} },
              on = { pointer = function() error("not for null") end },
            """)
        var run = SessionRun(source)
        for body in ["null", " \n null\t"] { run.send("pointer", body) }
        run.send("pointer", "null", to: [2])
        run.send("pointer", "null", to: [2, 9])
        run.send("pointer", "null", from: 3)
        run.add(.input(.leave(participant(2), .left)))
        run.send("pointer", "null", from: 2)
        run.send("pointer", "nul")
        run.send("step", "null")
        let outcomes = run.addedOutcomes()
        #expect(outcomes[0...2].map(\.result) == [.done, .done, .done])
        #expect(outcomes[0...2].map(\.relay) == [.received, .received, .received])
        #expect(outcomes[3].rejection?.code == .noSuchParticipant)
        #expect(outcomes[4].rejection?.code == .notJoined)
        #expect(outcomes[6].rejection?.code == .notJoined)
        #expect(outcomes[7].rejection?.code == .invalidMessage)
        #expect(outcomes[8].rejection?.code == .invalidMessage)
    }

    @Test("refuses every input after the script has finished, and still answers queries")
    func finish() {
        let source = script(
            """
              messages = { stop = {} },
              on = { stop = function(session) session:finish("won") end },
              export = { csv = function(session, member) return "a,b\\n" .. (member and member.id or "operator") end },
            """)
        var run = SessionRun(source)
        run.send("stop")
        run.send("stop")
        run.add(.input(.leave(participant(1), .left)))
        run.add(.query(.export(kind: "csv", member: nil)))
        run.add(.query(.export(kind: "csv", member: MemberID(number: 1))))
        run.add(.query(.snapshot))
        run.add(.close)
        run.add(.query(.snapshot))
        let outcomes = run.addedOutcomes()
        #expect(outcomes[0].finished == "won")
        #expect(outcomes[0].seq == 4)
        #expect(outcomes[1].rejection?.code == .noSuchSession)
        #expect(outcomes[2].rejection?.code == .noSuchSession)
        #expect(outcomes[3].viewText == "a,b\noperator")
        #expect(outcomes[4].viewText == "a,b\nm1")
        #expect(outcomes[5].view.flatMap { try? JSONValue.parse($0) }?["seq"]?.integer == 4)
        #expect(outcomes[6].result == .done)
        #expect(outcomes[7].rejection?.code == .noSuchSession)
    }

    @Test("goes on with a new VM after a budget killed a handler")
    func spentVM() {
        let source = script(
            """
              messages = { loop = {}, eat = {}, add = {} },
              start = function(session) session.state.n = 0 end,
              on = {
                loop = function(session) session.state.n = 100; while true do pcall(function() while true do end end) end end,
                eat = function(session) session.state.n = 200; local t = {} while true do t[#t + 1] = ("x"):rep(1000) .. #t end end,
                add = function(session) session.state.n = session.state.n + 1 end,
              },
            """)
        var run = SessionRun(source)
        for name in ["add", "loop", "add", "eat", "add"] { run.send(name) }
        run.add(.query(.view(participant(1))))
        var limits = Limits()
        limits[.vmBytes] = 4 << 20
        let outcomes = run.addedOutcomes(limits: limits)
        #expect(outcomes[1].rejection?.code == .activityFailed)
        #expect(outcomes[3].rejection?.code == .activityFailed)
        #expect([0, 2, 4].map { outcomes[$0].seq } == [4, 5, 6])
        #expect(outcomes[5].viewText == #"{"n":3}"#)
    }

    @Test("passes members' new names and new parameters to the session")
    func changes() {
        let source = script(
            """
              parameters = { title = "string(10)?" },
              change = function(session, parameters) session.state.title = parameters.title end,
              view = function(session) return { title = session.state.title, name = session.participants[1].name } end,
            """)
        var run = SessionRun(source, people: 1...1)
        var ada = person(1).member
        ada.name = "Ada L."
        run.add(.input(.member(ada)))
        run.add(.input(.change(parameters: Array(#"{"title":"two"}"#.utf8), by: ada.id)))
        run.add(.input(.change(parameters: Array(#"{"title":2}"#.utf8), by: ada.id)))
        run.add(.query(.view(participant(1))))
        let outcomes = run.addedOutcomes(people: 1)
        #expect(outcomes[0].seq == 3)
        #expect(outcomes[1].seq == 4)
        #expect(outcomes[2].rejection?.code == .invalidMessage)
        let view = outcomes[3].view.flatMap { try? JSONValue.parse($0) }
        #expect(view?["title"] == .string("two"))
        #expect(view?["name"] == .string("Ada L."))
    }

    @Test("tells a limit that was passed by name and number")
    func limit() {
        let source = script(
            """
              messages = { grow = {} },
              start = function(session) session.state.list = {} end,
              on = { grow = function(session) session.state.list[#session.state.list + 1] = ("x"):rep(2000) end },
            """)
        var run = SessionRun(source)
        run.send("grow")
        var limits = Limits()
        limits[.stateBytes] = 1024
        let exceeded = run.addedOutcomes(limits: limits)[0].rejection?.exceeded
        #expect(exceeded?.limit == "state_bytes")
        #expect(exceeded?.allowed == 1024)
        #expect((exceeded?.found ?? 0) > 2000)
    }

    @Test("does not open a script that does not load, and says why")
    func brokenScript() throws {
        var run = SessionRun(source(name: "bad", ["activity.lua": "return {\n  identifier = = 1 }"]))
        run.add(.close)
        run.send("anything")
        let outcomes = run.outcomes()
        #expect(outcomes[0].rejection?.code == .activityFailed)
        let report = try #require(outcomes[0].report)
        #expect(report.file == "activity.lua")
        #expect(report.line == 2)
        #expect(outcomes[1].rejection == outcomes[0].rejection)
        #expect(outcomes[1].report == nil)
        #expect(outcomes[4].result == .done)
        #expect(outcomes[5].rejection?.code == .noSuchSession)
    }

    @Test("does not open a session twice")
    func openTwice() {
        var run = SessionRun(script(""))
        run.add(.open(script(""), id: SessionID(number: 2), initiator: MemberID(number: 1), seed: 1))
        run.add(.query(.view(participant(1))))
        let outcomes = run.addedOutcomes()
        #expect(outcomes[0].rejection?.code == .unavailable)
        #expect(outcomes[1].result == .done)
    }
}
