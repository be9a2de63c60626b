import CLuaBridge
import Testing

@Suite struct ValuesStateTests {
    /// A script whose message `run` does one of the pieces of code given.
    private static func runner(_ pieces: [String]) -> String {
        let functions = pieces.map { "function(state) \($0) end" }.joined(separator: ", ")
        return """
            activity.messages = { run = { piece = "integer" } }
            function activity.start(session)
              local state = session.state
              state.list = { 1, 2, 3 }
              state.map = { b = 1, a = 2 }
              state.empty = {}
              state.none = list()
            end
            local pieces = { \(functions) }
            function activity.on.run(session, message) return pieces[message.piece](session.state) and false or nil end
            """
    }

    @Test(arguments: [
        ("state.list[4] = 4", #""list":[1,2,3,4],"map":{"a":2,"b":1},"empty":{},"none":[]"#),
        ("state.list[3] = nil", #""list":[1,2],"map":{"a":2,"b":1},"empty":{},"none":[]"#),
        ("for i = 3, 1, -1 do state.list[i] = nil end", #""list":[],"map":{"a":2,"b":1},"empty":{},"none":[]"#),
        ("state.empty[1] = 'x'", #""list":[1,2,3],"map":{"a":2,"b":1},"empty":["x"],"none":[]"#),
        ("state.empty[1.0] = 'x'", #""list":[1,2,3],"map":{"a":2,"b":1},"empty":["x"],"none":[]"#),
        ("state.empty.k = null", #""list":[1,2,3],"map":{"a":2,"b":1},"empty":{"k":null},"none":[]"#),
        ("state.map.b = nil state.map.b = 3", #""list":[1,2,3],"map":{"a":2,"b":3},"empty":{},"none":[]"#),
        ("state.map.a = nil state.map.a = 3", #""list":[1,2,3],"map":{"b":1,"a":3},"empty":{},"none":[]"#),
        ("table.remove(state.list, 1) table.insert(state.list, 1, {})", #""list":[{},2,3],"map":{"a":2,"b":1},"empty":{},"none":[]"#),
        ("table.sort(state.list, function(a, b) return a > b end)", #""list":[3,2,1],"map":{"a":2,"b":1},"empty":{},"none":[]"#),
        (
            "local live = state.map state.map = nil live.c = 1 state.map = live live.c = 2",
            #""list":[1,2,3],"empty":{},"none":[],"map":{"a":2,"b":1,"c":1}"#
        ),
        ("state.list[1] = state.map state.map.a = 9", #""list":[{"a":2,"b":1},2,3],"map":{"a":9,"b":1},"empty":{},"none":[]"#),
        ("state.empty = state", #""list":[1,2,3],"map":{"a":2,"b":1},"empty":{"list":[1,2,3],"map":{"a":2,"b":1},"empty":{},"none":[]},"none":[]"#),
        (
            "local sum = 0 for _, v in ipairs(state.list) do sum = sum + v end state.none = sum",
            #""list":[1,2,3],"map":{"a":2,"b":1},"empty":{},"none":6"#
        ),
        (
            "local keys = '' for k in pairs(state) do keys = keys .. k end state.none = keys",
            #""list":[1,2,3],"map":{"a":2,"b":1},"empty":{},"none":"listmapemptynone""#
        ),
        ("for k in pairs(state.map) do state.map[k] = nil end state.map[1] = 0", #""list":[1,2,3],"map":[0],"empty":{},"none":[]"#),
    ])
    func theStateReadsAndWritesLikeTables(piece: String, state: String) async throws {
        try await onVMThread {
            let session = try ValuesSession(Self.runner([piece]))
            let outcome = session.send("run", #"{"piece":1}"#)
            #expect(outcome.status == AH_COMMITTED, "\(outcome.report)")
            #expect(session.state == "{\(state)}")
            #expect(session.stateBytes == session.state.utf8.count)
            try session.recover()
            #expect(session.state == "{\(state)}")
        }
    }

    @Test(arguments: [
        ("state.list[5] = 1", "session.state.list: a list has no holes: 5 is neither one of its 3 elements nor the next"),
        ("state.list[0] = 1", "session.state.list: a list has no holes"),
        ("state.list[2] = nil", "session.state.list[2]: a list has no holes; use table.remove"),
        ("state.list.x = 1", "session.state.list.x: a string key on a list"),
        ("state.map[1] = 1", "session.state.map: an integer key on a map; its keys are strings (use tostring(key))"),
        ("return state.map[7]", "session.state.map: an integer key on a map"), ("state.map[true] = 1", "session.state.map: a key must be a string"),
        ("state.map[0.5] = 1", "session.state.map: a key must be a string"), ("state.f = print", "session.state.f: a function cannot be stored"),
        ("state.f = { { coroutine.create(print) } }", "session.state.f[1][1]: a coroutine cannot be stored"),
        ("state.map['odd key'] = { x = 0/0 }", #"session.state.map["odd key"].x: NaN cannot be stored"#),
        ("state.f = { 1, nil, 3 }", "session.state.f: a list has no holes"), ("state.f = { 1, x = 1 }", "session.state.f: a list has no holes"),
        ("state.f = { [5] = 1 }", "use tostring(key)"), ("state.f = ('x'):rep(1048576) .. 'x'", "1 MiB"),
        ("local t = state for i = 1, 70 do t.t = {} t = t.t end", "a cycle or more than 64 levels cannot be stored"),
        ("table.insert(state.map, 1)", "map"), ("rawset(state, 'x', 1)", "rawset"),
    ])
    func whatDoesNotFitRaisesWithThePathAndAHint(piece: String, error: String) async throws {
        try await onVMThread {
            let session = try ValuesSession(Self.runner([piece]))
            let before = session.written()
            let outcome = session.send("run", #"{"piece":1}"#)
            #expect(outcome.code == "activity_failed")
            #expect(outcome.report.contains(error), "got \(outcome.report)")
            #expect(session.written() == before)
        }
    }

    @Test func aLiveReferenceIsGoodWithinItsHandlerOnly() async throws {
        try await onVMThread {
            let session = try ValuesSession(
                """
                activity.messages = { keep = {}, use = {} }
                local kept
                function activity.on.keep(session) session.state.a = { 1 } kept = session.state.a end
                function activity.on.use(session) kept[2] = 2 end
                """)
            #expect(session.send("keep", "{}").status == AH_COMMITTED)
            #expect(session.send("use", "{}").report.contains("this part of session.state was read in an earlier handler"))
            try session.recover()
            #expect(session.send("use", "{}").report.contains("this part of session.state was read in an earlier handler"))
        }
    }

    @Test func whatWasMadeReadOnlyAfterLoadIsCopiedAndSentLikeAnyTable() async throws {
        try await onVMThread {
            let session = try ValuesSession(
                """
                activity.board = { rows = { 1, 2, { x = "é" } }, none = list(), deep = { b = {}, a = null } }
                activity.messages = { set = {}, get = { board = "any?" } }
                function activity.on.set(session) session.state.board = activity.board end
                function activity.on.get(session) return { board = activity.board } end
                function activity.view() return activity.board end
                """)
            let board = #"{"deep":{"a":null,"b":{}},"none":[],"rows":[1,2,{"x":"é"}]}"#
            #expect(session.send("set", "{}").status == AH_COMMITTED)
            #expect(session.state == #"{"board":\#(board)}"#)
            #expect(session.send("get", "{}").body == #"{"board":\#(board)}"#)
            #expect(session.apply(AH_VIEW).view == board)
        }
    }

    /// Random operations on a random place of the state; the generator is the script's own, so that it goes on after a rollback.
    private static let storm = """
        activity.messages = { run = { seed = "integer", fail = "boolean" } }
        function activity.start(session) session.state = { a = {}, l = list() } end
        local seed
        local function R(n) seed = (seed * 1103515245 + 12345) % 2147483648 return seed // 65536 % n + 1 end
        local function value(depth)
          local kind = R(depth > 3 and 5 or 8)
          if kind == 1 then return R(1000) elseif kind == 2 then return R(1000) / 8 elseif kind == 3 then return ("é"):rep(R(9)) end
          if kind == 4 then return R(2) == 1 end
          if kind == 5 then return null elseif kind == 6 then return list() end
          local t = {}
          for i = 1, R(10) do if kind == 7 then t[i] = value(depth + 1) else t["k" .. R(30)] = value(depth + 1) end end
          return t
        end
        local function place(node)
          for _ = 1, R(4) do
            local inner = {}
            for _, v in pairs(node) do if type(v) == "table" then inner[#inner + 1] = v end end
            if #inner == 0 then return node end
            node = inner[R(#inner)]
          end
          return node
        end
        local function act(state)
          local node, key, kind = place(state), "k" .. R(30), R(9)
          if kind == 1 then node[key] = value(0) elseif kind == 2 then node[key] = nil elseif kind == 3 then node[#node + 1] = value(0)
          elseif kind == 4 then node[R(#node + 1)] = value(1) elseif kind == 5 then table.remove(node, 1)
          elseif kind == 6 then table.insert(node, 1, value(1)) elseif kind == 7 then node[key] = place(state)
          elseif kind == 8 then table.sort(node, function(a, b) return tostring(a) < tostring(b) end)
          else for k in pairs(node) do node[k] = nil end end
        end
        function activity.on.run(session, message)
          seed = message.seed
          for _ = 1, 25 do pcall(act, session.state) end
          session:after(1000 + R(9), "later", { seed = seed }) session:uuid() math.random()
          if message.fail then error("on purpose") end
        end
        """

    @Test(arguments: 1...12)
    func aHandlerThatRaisesLeavesTheSessionByteForByteAsItWas(seed: Int) async throws {
        try await onVMThread {
            let session = try ValuesSession(Self.storm)
            for round in 1...60 {
                let before = session.written()
                #expect(session.send("run", "{\"seed\":\(seed * 1000 + round),\"fail\":true}").code == "activity_failed")
                #expect(session.written() == before)
                #expect(session.stateBytes == session.state.utf8.count)
                if session.stateBytes > 50_000 { break }
                let committed = session.send("run", "{\"seed\":\(seed * 2000 + round),\"fail\":false}")
                #expect(committed.status == AH_COMMITTED || committed.code == "activity_failed", "\(committed.report)")
                #expect(session.stateBytes == session.state.utf8.count)
                if round % 7 == 0 {
                    let live = session.written()
                    try session.recover()
                    #expect(session.written() == live)
                }
            }
        }
    }

    @Test func aRecoveredSessionGoesOnExactlyLikeTheOneThatStayed() async throws {
        try await onVMThread {
            let stayed = try ValuesSession(Self.storm)
            let recovered = try ValuesSession(Self.storm)
            for round in 1...40 {
                for session in [stayed, recovered] { session.send("run", "{\"seed\":\(round),\"fail\":false}") }
                try recovered.recover()
                #expect(recovered.written() == stayed.written())
            }
        }
    }

    @Test func aStateThatWouldCrossItsLimitIsRefusedAndRecoversByDeleting() async throws {
        try await onVMThread {
            let table = """
                activity.messages = { add = { text = "string(1000)" }, drop = {}, read = {} }
                function activity.start(session) session.state.items = list() end
                function activity.on.add(session, message) table.insert(session.state.items, message.text) end
                function activity.on.drop(session) table.remove(session.state.items) end
                """
            let session = try ValuesSession(table, stateBytes: 100)
            let item = String(repeating: "x", count: 20)
            var last = ValuesOutcome?.none
            repeat { last = session.send("add", #"{"text":"\#(item)"}"#) } while last?.status == AH_COMMITTED
            let full = session.written()
            #expect(last?.code == "limit_reached")
            #expect(last?.limit == "state_bytes")
            #expect(last?.allowed == 100)
            #expect(last?.found == 103)
            #expect(session.stateBytes == 80)
            // Up to the limit and not one byte further.
            #expect(session.send("add", #"{"text":"\#(item.dropLast(2))"}"#).code == "limit_reached")
            #expect(session.written() == full)
            #expect(session.send("add", #"{"text":"\#(item.dropLast(3))"}"#).status == AH_COMMITTED)
            #expect(session.stateBytes == 100)
            // A stricter limit finds the state over it: reading and deleting go on, growing does not.
            let strict = try ValuesSession(table, stateBytes: 50)
            try strict.recover(from: Array(session.written().utf8))
            #expect(strict.send("read", "{}").status == AH_COMMITTED)
            #expect(strict.apply(AH_VIEW).view == session.state)
            #expect(strict.send("add", #"{"text":""}"#).code == "limit_reached")
            #expect(strict.send("drop", "{}").status == AH_COMMITTED)
            #expect(strict.stateBytes == 80)
        }
    }

    @Test(arguments: [
        "for i = 1, 1000 do state['k' .. i] = ('x'):rep(1048576 - i) end",
        "for i = 1, 100 do state.list[#state.list + 1] = state end",
        "local t = { ('x'):rep(1000) } for _ = 1, 30 do t = { t, t, t, t } end state.t = t",
        "while true do state.list[#state.list + 1] = {} end", "while true do state.map.a = {} end",
        "while true do state.map.a = nil state.map.a = 1 end",
        "local t, s = {}, ('x'):rep(4000) for i = 1, 300000 do t[i] = s end state.t = t",
        "local t = {} for i = 1, 20000 do t['k' .. i] = 'some text' end for i = 1, 400 do state['t' .. i] = t end",
        "for i = 1, 30000 do state.list[i + 3] = { i } end while true do pcall(function() state.list[7].x = 1 end) end",
    ])
    func aStateThatGrowsWithoutEndSpendsABudgetAndLeavesNothing(piece: String) async throws {
        try await onVMThread {
            let session = try ValuesSession(Self.runner([piece]))
            let before = session.written()
            let outcome = session.send("run", #"{"piece":1}"#)
            #expect(outcome.code == "activity_failed" || outcome.code == "limit_reached")
            #expect(outcome.reportCode.hasPrefix("budget_") || outcome.report.contains("64 levels"), "\(outcome.reportCode): \(outcome.report)")
            #expect(session.written() == before)
        }
    }
}
