import CLuaBridge
import Testing

/// A script that means harm, and how it has to end.
struct HostileScript: Sendable, CustomStringConvertible {
    var description: String
    var statements: String
    var before = ""
    var expected: [String] = []  // report codes; empty: it may also succeed
    var message = ""  // part of the report's message
}

private let budgets = ["budget_time", "budget_instructions", "budget_memory"]

/// The cases of kind a that a handler can try, by their numbers.
private let hostile: [HostileScript] = [
    // C003: the matcher has no hook.
    .init(description: "find with four lazy items", statements: "string.find(('a'):rep(240), ('.-'):rep(4) .. 'b')", expected: budgets),
    .init(description: "find a*b", statements: "string.find(('a'):rep(30000), 'a*b')", expected: budgets),
    .init(description: "match a*b", statements: "string.match(('a'):rep(30000), 'a*b')", expected: budgets),
    .init(description: "gmatch a*b", statements: "for _ in string.gmatch(('a'):rep(30000), 'a*b') do end", expected: budgets),
    .init(description: "gsub a*b", statements: "string.gsub(('a'):rep(30000), 'a*b', '')", expected: budgets),
    .init(description: "balance", statements: "string.find(('(x'):rep(100000), '%b()')", expected: budgets),
    .init(description: "back references", statements: "string.find(('a'):rep(100000), '(a*)%1b')", expected: budgets),
    .init(description: "sets", statements: "string.find(('a'):rep(1000000), '[^b]-[bcdefghijklmnopq]')", expected: budgets),
    // C004: finalisers.
    .init(
        description: "__gc", statements: "setmetatable({}, { __gc = function() while true do end end })", expected: ["script_error"],
        message: "__gc is not available"),
    // C005: catching the budget.
    .init(description: "pcall in a loop", statements: "while true do pcall(function() while true do end end) end", expected: budgets),
    .init(
        description: "__close", statements: "local x <close> = setmetatable({}, { __close = function() while true do end end }) while true do end",
        expected: ["script_error"], message: "__close is not available"),
    .init(
        description: "xpcall with itself", statements: "local function f() while true do end end while true do xpcall(f, f) end", expected: budgets),
    .init(
        description: "pcall inside wrap", statements: "coroutine.wrap(function() while true do pcall(function() while true do end end) end end)()",
        expected: budgets),
    .init(
        description: "resume in a loop", statements: "while true do coroutine.resume(coroutine.create(function() while true do end end)) end",
        expected: budgets),
    .init(description: "pcall of pcall", statements: "while true do pcall(pcall, pcall, function() while true do end end) end", expected: budgets),
    .init(
        description: "gsub callback", statements: "while true do pcall(string.gsub, 'x', 'x', function() while true do end end) end",
        expected: budgets),
    // C006: hooks belong to coroutines.
    .init(
        description: "coroutine from load time", statements: "coroutine.resume(C) coroutine.resume(C)",
        before: "C = coroutine.create(function() while true do coroutine.yield() for i = 1, 1e12 do end end end)", expected: budgets),
    .init(
        description: "a million short coroutines", statements: "for i = 1, 1000000 do coroutine.wrap(function() for j = 1, 50 do end end)() end",
        expected: budgets),
    .init(
        description: "one coroutine, many short turns",
        statements: "local c = coroutine.wrap(function() while true do coroutine.yield() end end) while true do c() end", expected: budgets),
    // C007: the C stack.
    .init(
        description: "recursion through gsub", statements: "local function r() return (('x'):gsub('x', r)) end r()", expected: ["script_error"],
        message: "stack overflow"),
    .init(
        description: "recursion through sort", statements: "local function r() table.sort({ 1, 2 }, function() r() return true end) end r()",
        expected: ["script_error"], message: "stack overflow"),
    .init(
        description: "recursion through wrap", statements: "local function f() return coroutine.wrap(f)() end f()", expected: ["script_error"],
        message: "stack overflow"),
    .init(
        description: "recursion through __index",
        statements: "local m = {} m.__index = function(t, k) return t[k + 1] end print(setmetatable({}, m)[1])", expected: ["script_error"],
        message: "stack overflow"),
    .init(description: "recursion through pcall", statements: "local function f() return pcall(f) end f()"),
    .init(
        description: "recursion through an error handler",
        statements: "local function f() return xpcall(f, f) end f() xpcall(error, function(e) error(e) end)"),
    .init(
        description: "recursion through tostring",
        statements: "local m = {} m.__tostring = function(t) return tostring(t) end tostring(setmetatable({}, m))", expected: ["script_error"]),
    .init(description: "plain recursion", statements: "local function f() return 1 + f() end f()"),
    .init(description: "no coroutine.close", statements: "coroutine.close(coroutine.create(print))", expected: ["script_error"]),
    // C009: refused allocations.
    .init(
        description: "weak metatables", statements: "setmetatable(setmetatable({ __newindex = {} }, { __mode = 'v' }), {})",
        expected: ["script_error"],
        message: "__mode is not available"),
    // C076: __concat that moves the stack.
    .init(
        description: "__concat", statements: "setmetatable({}, { __concat = function() return 'z' end })", expected: ["script_error"],
        message: "__concat is not available"),
    .init(
        description: "__concat added later",
        statements: "local m = {} local o = setmetatable({}, m) m.__concat = function() return 'z' end return 'a' .. o",
        expected: ["script_error"], message: "attempt to concatenate"),
    // C016: deep and cyclic values.
    .init(
        description: "sending a deep table", statements: "local t = {} for i = 1, 100000 do t = { t } end session:send('go', t)",
        expected: ["script_error"] + budgets),
    .init(description: "sending a cycle", statements: "local t = {} t.t = t session:send('go', t)", expected: ["script_error"], message: "a cycle"),
    .init(description: "storing a cycle", statements: "local t = {} t.t = t session.state.t = t", expected: ["script_error"], message: "a cycle"),
    .init(
        description: "storing a deep table", statements: "local t = {} for i = 1, 100000 do t = { t } end session.state.t = t",
        expected: ["script_error"] + budgets),
    .init(
        description: "storing an exponential table",
        statements: "local t = {} for i = 1, 20 do t = { t, t, t, t, t, t, t, t, t, t } end session.state.t = t", expected: budgets),
    .init(
        description: "sending an exponential table",
        statements: "local t = { 1 } for i = 1, 14 do t = { t, t, t, t, t, t, t, t, t, t } end session:send('go', t)", expected: budgets),
    .init(
        description: "metamethods in a sent value",
        statements: "session:send('go', setmetatable({}, { __index = function() while true do end end, __pairs = error }))"),
    // C017: bytes that are no text.
    .init(
        description: "sending bad bytes", statements: "session:send('go', { s = '\\xff\\x80' })", expected: ["script_error"],
        message: "not valid UTF-8"),
    .init(
        description: "sending bad bytes as a key", statements: "session:send('go', { ['\\xff'] = 1 })", expected: ["script_error"],
        message: "not valid UTF-8"),
    .init(
        description: "storing half a character", statements: "session.state.s = ('é'):sub(1, 1)", expected: ["script_error"],
        message: "not valid UTF-8"),
    .init(description: "an error of bad bytes", statements: "error('bad \\xff')", expected: ["script_error"], message: "bad \u{FFFD}"),
    .init(description: "a surrogate", statements: "utf8.char(0xD800)", expected: ["script_error"], message: "not a Unicode character"),
    .init(description: "beyond Unicode", statements: "utf8.char(0x7FFFFFFF)", expected: ["script_error"], message: "not a Unicode character"),
    .init(description: "refusing with bad bytes", statements: "session:reject('\\xff')", expected: ["script_error"], message: "not valid UTF-8"),
    // Memory.
    .init(description: "many strings", statements: "local t = {} for i = 1, 1e9 do t[i] = ('x'):rep(1000) .. i end", expected: budgets),
    .init(
        description: "a doubling string", statements: "local s = 'x' while true do s = s .. s end", expected: ["budget_memory"], message: "1048576"),
    .init(description: "nested tables", statements: "local t = {} while true do t = { t } end", expected: budgets),
    .init(description: "a growing list", statements: "local t = {} for i = 1, 1e9 do t[i] = i end", expected: budgets),
    .init(description: "many coroutines", statements: "local t = {} for i = 1, 1e9 do t[i] = coroutine.create(print) end", expected: budgets),
    .init(
        description: "a growing state", statements: "local l = {} session.state.l = l for i = 1, 1e9 do session.state.l[i] = ('x'):rep(1000) end",
        expected: budgets),
    .init(
        description: "many large sends", statements: "local b = { s = ('x'):rep(250000) } for i = 1, 1000 do session:send('go', b) end",
        expected: budgets),
    .init(
        description: "too many sends", statements: "for i = 1, 1001 do session:send('go', {}) end", expected: ["script_error"],
        message: "handler_sends"),
    .init(
        description: "too many timers", statements: "for i = 1, 101 do session:after(50, 't') end", expected: ["script_error"],
        message: "the limit timers"),
    // Work in C.
    .init(description: "rep", statements: "('x'):rep(1 << 40)", expected: ["script_error"], message: "longer than 1 MiB"),
    .init(description: "rep of nothing", statements: "(''):rep(1 << 60)"),
    .init(description: "lower in a loop", statements: "local s = ('x'):rep(1000000) while true do s:lower() end", expected: budgets),
    .init(description: "format in a loop", statements: "local s = ('x'):rep(1000000) while true do string.format('%s', s) end", expected: budgets),
    .init(
        description: "concat in a loop", statements: "local t = {} for i = 1, 1000 do t[i] = ('x'):rep(1000) end while true do table.concat(t) end",
        expected: budgets),
    .init(description: "insert at the front", statements: "local t = {} for i = 1, 1e9 do table.insert(t, 1, i) end", expected: budgets),
    .init(
        description: "insert at the front of the state",
        statements: "session.state.l = list() for i = 1, 1e9 do table.insert(session.state.l, 1, i) end", expected: budgets),
    .init(description: "move far", statements: "table.move({}, 1, math.maxinteger - 1, 2)", expected: budgets),
    .init(description: "unpack a lot", statements: "table.unpack({}, 1, 1e8)", expected: ["script_error"], message: "too many results"),
    .init(
        description: "sort with a contradictory order",
        statements: "local t = {} for i = 1, 500 do t[i] = i % 7 end table.sort(t, function() return true end)"),
    .init(
        description: "sort in a loop",
        statements: "local t = {} for i = 1, 100000 do t[i] = -i end while true do table.sort(t, function() return true end) end", expected: budgets),
    .init(
        description: "pairs in a loop",
        statements: "local t = {} for i = 1, 100000 do t['k' .. i] = i end while true do for _ in pairs(t) do end end", expected: budgets),
    .init(
        description: "next in a loop", statements: "local t = {} for i = 1, 10000 do t['k' .. i] = i end while true do next(t) end", expected: budgets
    ),
    .init(
        description: "comparing long strings",
        statements: "local a, b = ('x'):rep(1e6), ('x'):rep(1e6) while true do if a < b or a == b then end end", expected: budgets),
    .init(
        description: "long strings as numbers", statements: "local s = ('1'):rep(1e6) while true do local x = -s + -s + -s + -s end",
        expected: budgets),
    .init(description: "pack", statements: "string.pack('c2147483647', 'x')", expected: ["script_error"], message: "longer than 1 MiB"),
    .init(description: "printing", statements: "while true do print(('x'):rep(10000)) end", expected: budgets),
    .init(description: "yielding out of the handler", statements: "coroutine.yield()", expected: ["script_error"], message: "outside a coroutine"),
    .init(
        description: "naming the culprit",
        statements: "while true do pcall(function() return a\(String(repeating: "._ENV", count: 190)).x.y end) end", expected: budgets),
]

@Suite("Hostile scripts")
struct HostileTests {
    @Test("Each ends within 200 ms of CPU time, leaves no trace, and the next message works", arguments: hostile)
    func ends(script: HostileScript) throws {
        let session = try ScriptedSession(
            """
            activity.messages.ping = "any"
            \(script.before)
            function activity.on.go(session, message) \(script.statements) end
            function activity.on.ping() return { pong = true } end
            """)
        let before = session.snapshot
        let outcome = session.send()
        #expect(outcome.milliseconds < 200)
        if outcome.status == .rejected {
            #expect(session.snapshot == before)
            let report = try #require(outcome.report)
            #expect(script.expected.isEmpty || script.expected.contains(report.code), "\(report)")
            #expect(report.message.contains(script.message), "\(report)")
            #expect(report.file == "activity.lua")
        } else {
            #expect(script.expected.isEmpty)
        }
        if session.isSpent { try session.renewVM() }
        #expect(session.send("ping").body == #"{"pong":true}"#)
    }

    @Test("A subject from a client and an innocent pattern are bounded too")
    func clientSubject() throws {
        let session = try ScriptedSession("function activity.on.go(session, message) print(message:match('a*b')) end")
        let outcome = session.send("go", "\"\(String(repeating: "a", count: 200_000))\"")
        #expect(outcome.report?.code.hasPrefix("budget_") == true && outcome.milliseconds < 200)
    }

    @Test("A hundred thousand calls that raise leave memory flat and the session usable")
    func raisingCalls() throws {
        let session = try ScriptedSession(
            """
            local bad = setmetatable({}, { __tostring = function() error("x") end })
            function activity.on.go(session, message)
              for i = 1, 5000 do assert(not pcall(session.send, session, bad) and not pcall(session.send, 5)) end
              session:send("go", { "ok" })
            end
            """, adjust: { $0.handler_ms = 10_000 })
        session.send()
        let before = session.vmBytes
        for _ in 0..<10 { #expect(session.send().sends.first?.body == #"["ok"]"#) }
        #expect(session.vmBytes < before + before / 2)
    }

    @Test("Under a small memory budget refused allocations never bring the process down", arguments: [60_000, 100_000, 200_000, 500_000])
    func smallMemory(bytes: UInt64) throws {
        let statements = [
            "local t = {} for i = 1, 1e6 do t[i] = i end", "local t = {} for i = 1, 1e6 do t[i] = { i } end",
            "for i = 1, 1e4 do local s = ('x'):rep(i * 10) .. i end",
            "local t = {} for i = 1, 1e6 do t['k' .. i] = coroutine.create(print) end",
            "local t = {} while true do pcall(function() t[#t + 1] = ('y'):rep(50000) .. #t end) end",
            "for i = 1, 3000 do local m = setmetatable({}, { __newindex = {} }) for j = 1, 20 do m[j] = ('z'):rep(i) .. j end end",
            "session.state.l = {} for i = 1, 1e6 do session.state.l[i] = { i } end", "local f f = function(...) return f(1, ...) end f()",
        ]
        for statement in statements {
            let session = try ScriptedSession("function activity.on.go(session) \(statement) end", adjust: { $0.vm_bytes = bytes })
            for _ in 0..<3 {
                let outcome = session.send()
                #expect(outcome.status != .rejected || outcome.report?.code.hasPrefix("budget_") == true || outcome.code == "unavailable")
                if session.isSpent { try session.renewVM() }
            }
        }
    }

    @Test("A VM that keeps too much is given up, and says so")
    func spent() throws {
        let session = try ScriptedSession(
            "local kept = {} function activity.on.go() for i = 1, 1e6 do kept[#kept + 1] = i end end", adjust: { $0.vm_bytes = 1_000_000 })
        #expect(session.send().report?.code == "budget_memory")
        #expect(session.isSpent)
        #expect(session.send().code == "unavailable")
        try session.renewVM()
        #expect(!session.isSpent && session.send().report?.code == "budget_memory")
    }

    @Test("Deep and broken JSON is refused", arguments: [100_000, 65])
    func deepInput(depth: Int) throws {
        let session = try ScriptedSession("")
        for text in ["[", "{\"a\":", "[{\"v\":"] {
            let outcome = session.send("go", String(repeating: text, count: depth))
            #expect(outcome.code == "invalid_message" || outcome.code == "too_large")
        }
    }

    @Test("The self-test names the linked Lua and its faults as JSON")
    func selfTest() {
        var buffer = ah_buffer()
        defer { ah_buffer_free(&buffer) }
        ah_self_test(&buffer)
        let text = String(ah_bytes(base: buffer.base, count: buffer.count))
        #expect(text.hasPrefix("{\"lua\":\"\(String(cString: ah_lua_version()))\",\"faults\":[{\"name\":"))
        #expect(String(cString: ah_lua_version()).hasPrefix("Lua 5.4."))
    }
}
