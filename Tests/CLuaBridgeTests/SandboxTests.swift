import CLuaBridge
import Testing

/// All that a script can reach before it makes anything itself. What is not here must not be there.
private let allowed = """
    _G _VERSION assert error getmetatable ipairs iso_time list log.error log.info log.warn next null pairs pcall print rawequal rawget rawlen rawset \
    require select setmetatable tonumber tostring type xpcall \
    coroutine.create coroutine.isyieldable coroutine.resume coroutine.running coroutine.status coroutine.wrap coroutine.yield \
    math.abs math.acos math.asin math.atan math.ceil math.cos math.deg math.exp math.floor math.fmod math.huge math.log math.max math.maxinteger math.min \
    math.mininteger math.modf math.pi math.rad math.random math.sin math.sqrt math.tan math.tointeger math.type math.ult \
    string.byte string.char string.find string.format string.gmatch string.gsub string.len string.lower string.match string.pack string.packsize \
    string.rep string.reverse string.sub string.unpack string.upper \
    table.concat table.insert table.move table.pack table.remove table.sort table.unpack \
    utf8.char utf8.charpattern utf8.codepoint utf8.codes utf8.len utf8.offset
    """

@Suite("Sandbox")
struct SandboxTests {
    private static let walk = """
        local seen, found = {}, {}
        local function walk(value, path)
          if type(value) == "table" and not seen[value] then
            seen[value] = true
            for key, inner in pairs(value) do walk(inner, path == "" and key or path .. "." .. key) end
            if path ~= "" then assert(getmetatable(value) == nil, path) end
            if value == _G and path ~= "" then found[#found + 1] = path end
          else
            found[#found + 1] = path
          end
        end
        walk(_ENV, "")
        table.sort(found)
        local report = table.concat(found, " ")
        """

    @Test("Nothing is reachable but what is on the list, while loading and in handlers")
    func allowList() throws {
        let session = try ScriptedSession("\(Self.walk)\nfunction activity.on.go() print(report) \(Self.walk) print(report) end")
        let expected = allowed.split(separator: " ").map(String.init).sorted()
        let outcome = session.send()
        for printed in outcome.printed { #expect(printed.split(separator: " ").map(String.init).sorted() == expected) }
        #expect(outcome.printed.count == 2)
    }

    @Test(
        "What hides behind values stays hidden",
        arguments: [
            "getmetatable('x')", "getmetatable(session)", "getmetatable(session.state)", "getmetatable(_G)", "getmetatable(string)",
            "getmetatable(list())",
            "getmetatable(print)", "getmetatable(null)", "load", "loadstring", "dofile", "loadfile", "collectgarbage", "io", "os", "debug", "package",
            "string.dump", "math.randomseed", "coroutine.close",
        ])
    func hidden(expression: String) throws {
        #expect(try handle("print(\(expression) == nil)").printed == ["true"])
    }

    @Test("Replacing library functions at load does not reach the host's own functions")
    func replaced() throws {
        let before = """
            for _, name in ipairs({ "error", "tostring", "setmetatable", "pairs", "type", "rawget", "next" }) do rawset(_G, name, function() return "mine" end) end
            string.gsub = nil table.insert = nil rawset(_G, "table", nil)
            """
        let outcome = try handle(
            "session.state.a = { 1 } session:send('go', { a = session.state.a }) print(session:now(), session, {})", before: before)
        #expect(outcome.sends.first?.body == #"{"a":[1]}"#)
        #expect(outcome.printed == ["1790000000000\tsession\ttable"])
    }

    @Test(
        "After load everything shared is read-only, and says what to do instead",
        arguments: [
            ("score = 1", "globals are read-only after load; keep what must last in session.state"),
            ("string.trim = print", "this table is read-only after load; keep what must last in session.state"),
            ("activity.helper.count = 1", "this table is read-only after load; keep what must last in session.state"),
            ("activity.helper.inner[1] = 2", "this table is read-only after load; keep what must last in session.state"),
            ("config.x = 1", "this table is read-only after load; keep what must last in session.state"),
            ("rawset(_G, 'x', 1)", "rawset: this table is read-only after load; keep what must last in session.state"),
            ("table.insert(activity.helper.inner, 1)", "table.insert: this table is read-only after load; keep what must last in session.state"),
            ("table.sort(activity.helper.inner)", "table.sort: this table is read-only after load"),
            ("setmetatable(activity.helper, {})", "setmetatable: this table is read-only after load"),
            ("require 'cards'", "require works only while the script loads; put it at the top of the file"),
        ])
    func frozen(statement: String, message: String) throws {
        let before = "config = { deep = { 1 } } activity.helper = { inner = { 3, 1, 2 } }"
        let outcome = try handle(statement, before: before)
        #expect(outcome.report?.message == message)
        #expect(try handle("print(pcall(function() \(statement) end))", before: before).status == .committed)
    }

    @Test("A read-only table still reads like a table")
    func frozenReads() throws {
        let before = """
            local base = { greet = function() return "hello" end }
            activity.data = setmetatable({ 10, 20, 30, b = 2, a = 1 }, { __index = base, __call = function(_, x) return x * 2 end, __tostring = function() return "data" end })
            activity.lazy = setmetatable({ here = 1 }, { __index = function(t, k) return t == activity.lazy and k .. "!" end })
            activity.empty = list()
            """
        let statements = """
            local d = activity.data
            print(#d, d[2], d.greet(), d(4), tostring(d), table.concat(d, ","), next(d), rawlen(d), rawget(d, "a"), rawget(d, "greet"), select("#", table.unpack(d)))
            for k, v in pairs(d) do print(k, v) end
            for i, v in ipairs(d) do print(i, v) end
            print(activity.lazy.here, activity.lazy.other)
            session.state.copy = { d[1], d[2] }
            session.state.empty = activity.empty
            """
        let session = try ScriptedSession(
            "\(before) function activity.on.go(session) \(statements) end function activity.view(s) return { activity.empty, s.state } end")
        let outcome = session.send()
        #expect(outcome.report == nil)
        #expect(
            outcome.printed == [
                "3\t20\thello\t8\tdata\t10,20,30\t1\t3\t1\tnil\t3", "1\t10", "2\t20", "3\t30", "a\t1", "b\t2", "1\t10", "2\t20", "3\t30", "1\tother!",
            ])
        #expect(session.state == #"{"copy":[10,20],"empty":[]}"#)
    }

    @Test("Tables are iterated list part first, then numbers, then strings, however they were filled")
    func iteration() throws {
        let expected = ["1=a", "2=b", "-7=i", "0.5=h", "4=g", "A=c", "b=d", "ba=f", "c=e"]
        let orders = [
            "t.c='e' t.ba='f' t.b='d' t.A='c' t[2]='b' t[1]='a' t[4]='g' t[.5]='h' t[-7]='i'",
            "t[-7]='i' t[4]='g' t[2]='b' t.b='d' t.A='c' t[.5]='h' t.c='e' t.ba='f' t[1]='a'",
        ]
        for order in orders {
            for loop in ["pairs(t)", "next, t", "pairs(setmetatable(t, { __pairs = error }))"] {
                let outcome = try handle("local t = { z = 1 } t.z = nil \(order) for k, v in \(loop) do print(k .. '=' .. v) end")
                #expect(outcome.printed == expected, "\(loop)")
            }
        }
    }

    @Test("A table may be changed while it is iterated, and keys without an order are refused")
    func iterationChanges() throws {
        let outcome = try handle(
            """
            local t = { 1, 2, 3, a = 1, b = 2, c = 3 }
            local seen = {}
            for k in pairs(t) do seen[#seen + 1] = tostring(k) t[k] = nil t.b = nil t["new" .. k] = 1 end
            print(table.concat(seen, " "))
            t = { x = 1, y = 2 }
            while next(t) do t[next(t)] = nil end
            print(next(t), next({ [false] = nil }))
            for _, f in ipairs({ pairs, next }) do print(pcall(f, { [print] = 1 })) end
            print(pcall(next, { a = 1 }, "gone"))
            """)
        #expect(outcome.printed[0] == "1 2 3 a c")
        #expect(outcome.printed[1] == "nil\tnil")
        #expect(outcome.printed[2] == "false\ta table with a key of type function cannot be iterated, since such keys have no order")
        #expect(outcome.printed[3] == outcome.printed[2])
        #expect(outcome.printed[4] == "false\tinvalid key to 'next'")
    }

    @Test(
        "Texts show no addresses",
        arguments: [
            "tostring({})", "tostring(print)", "tostring(coroutine.create(print))", "tostring(session.state)", "tostring(null)", "('%s'):format({})",
            "tostring(session)",
        ])
    func addresses(expression: String) throws {
        let printed = try #require(try handle("print(\(expression))").printed.first)
        #expect(["table", "function", "thread", "null", "session"].contains(printed))
        #expect(try handle("print(('%p'):format({}))").report?.message.contains("%p is not available") == true)
    }

    @Test("setmetatable takes a copy of the harmless events only", arguments: ["__gc", "__close", "__mode", "__concat", "__len", "__metatable"])
    func events(name: String) throws {
        #expect(try handle("setmetatable({}, { \(name) = print })").report?.message == "setmetatable: \(name) is not available to scripts")
        let outcome = try handle(
            """
            local meta = { __index = { a = 1 }, __add = function(x, y) return 5 end, __lt = function() return true end, __eq = function() return true end }
            local t, u = setmetatable({}, meta), setmetatable({}, meta)
            meta.\(name) = error
            meta.__index = nil
            print(t.a, t + 1, t < u, t == u, getmetatable(t) == meta, pcall(setmetatable, {}, meta))
            meta.\(name) = nil
            print(setmetatable({}, meta).a, t.a, getmetatable(setmetatable(t, nil)))
            """)
        #expect(outcome.printed[0].hasPrefix("1\t5\ttrue\ttrue\ttrue\tfalse\t"))
        #expect(outcome.printed[1] == "nil\t1\tnil")
    }

    @Test("require finds files of the same activity while it loads, once, and no circle")
    func require() throws {
        let main = ScriptedSession.activity(
            "local cards = require 'cards' local again = require 'cards' function activity.on.go() print(cards == again, cards.count, count, pcall(function() cards.count = 2 end)) end"
        )
        let cards = "count = (count or 0) + 1 local deck = require 'lib/deck' return { count = deck }"
        let session = try ScriptedSession(
            sources: [ScriptSource("activity.lua", main), ScriptSource("cards.lua", cards), ScriptSource("lib/deck.lua", "return 52")])
        session.apply(AH_JOIN)
        #expect(session.send().printed.first?.hasPrefix("true\t52\t1\tfalse\t") == true)
        for (text, message) in [
            ("return require 'activity'", "requires itself"), ("return require 'lost'", "no file lost.lua"),
            ("return require 'a'", "requires itself"),
            ("return require '../secret'", "no file ../secret.lua"),
        ] {
            let error = #expect(throws: ScriptReport.self) {
                try loadScript([ScriptSource("activity.lua", "return require 'a'"), ScriptSource("a.lua", text)])
            }
            #expect(error?.message.contains(message) == true && error?.file == "a.lua" && error?.line == 1)
        }
    }

    @Test(
        "Raw access and metatables stop at the state",
        arguments: [
            "rawget(session.state, 'a')", "rawset(session.state, 'a', 1)", "rawlen(session.state)", "rawequal(session.state, 1)",
            "setmetatable(session.state, {})",
        ])
    func rawState(expression: String) throws {
        #expect(try handle(expression).report?.message.hasSuffix("does not work on session.state; use it like a plain table") == true)
    }

    @Test("What the script prints goes to the author's log, cut at 64 KiB, as valid UTF-8")
    func log() throws {
        let outcome = try handle("print(1, 'a', nil, 2.0) log.warn('w') log.error('e\\xff') log.info()")
        #expect(outcome.logs == ["info: 1\ta\tnil\t2.0", "warn: w", "error: e\u{FFFD}", "info: "])
        let long = try handle("for i = 1, 100 do print(('x'):rep(1000)) end")
        #expect(long.logs.count == 65 && long.logs.last == "warn: (the log of this handler was cut at 64 KiB)")
    }
}
