import CLuaBridge
import Testing

/// Expressions and what they print; compared once with the C library's own functions, where the sandbox does not mean to differ.
private let expressions: [(String, String)] =
    ([
        // Patterns.
        ("('hello world'):find('o w')", "5\t7"), ("('hello'):find('l+')", "3\t4"), ("('hello'):find('.', 10)", "nil"),
        ("('a.b'):find('.', 2, true)", "2\t2"), ("('abc'):find('')", "1\t0"),
        ("('key = value'):match('(%w+)%s*=%s*(%w+)')", "key\tvalue"), ("('x'):match('()x()')", "1\t2"), ("('[[x]]'):match('%b[]')", "[[x]]"),
        ("('THE (quick) fox'):find('%((%a+)%)')", "5\t11\tquick"),
        ("('aa'):match('(a)%1')", "a"), ("('THE fox'):gsub('%f[%a]%a+', string.lower)", "the fox\t2"), ("('abc'):gsub('%w', '%0%0', 2)", "aabbc\t2"),
        ("('abc'):gsub('', '-')", "-a-b-c-\t4"),
        ("('hello'):gsub('l', { l = 'L' })", "heLLo\t2"), ("('a]b'):match('[]]')", "]"), ("('a-z'):match('[a%-z]+')", "a-z"),
        ("('x^'):match('[%^x]+')", "x^"), ("('\\0a'):match('%z')", "\u{0}"),
        ("select('#', ('abc'):gsub('b', false))", nil), ("('x'):rep(3, ',')", "x,x,x"), ("('x'):rep(-1)", ""), ("('a'):find('[a')", nil),
        ("('a'):find('%')", nil), ("('a'):gsub('a', '%2')", nil),
        // Strings.
        ("('hello'):sub(-3, -2)", "ll"), ("('hello'):byte(1, -1)", "104\t101\t108\t108\t111"), ("('hello'):reverse():upper()", "OLLEH"),
        ("('%5.1f|%-4s|%04d|%x|%q'):format(3.14159, 'ab', 7, 255, 'a\\n')", "  3.1|ab  |0007|ff|\"a\\\n\""),
        ("('%s %s'):format(nil, true)", "nil true"), ("('%d'):format(3.5)", nil), ("('%d'):format('10')", "10"), ("('%y'):format(1)", nil),
        ("('%i'):format(2^53)", "9007199254740992"), ("('%c%%'):format(65)", "A%"),
        ("string.unpack('<i2', string.pack('<i2', -2))", "-2\t3"), ("'10' + 5", "15"), ("'3' * '4'", "12"), ("10 .. 20", "1020"), ("#'é'", "2"),
        // Numbers.
        ("tonumber('0x10'), tonumber('z', 36), tonumber('8', 8), tonumber(' 1e1 '), tonumber('1e'), tonumber('')", "16\t35\tnil\t10.0\tnil\tnil"),
        ("7 // 2, 7 % -3, 7 / 2, 2^10, 1e15, 2^63", "3\t-2\t3.5\t1024.0\t1e+15\t9.2233720368548e+18"),
        ("math.type(1), math.type(1.0), math.tointeger(3.0), math.ult(1, -1)", "integer\tfloat\t3\ttrue"),
        ("math.maxinteger + 1 == math.mininteger", "true"), ("1 // 0", nil),
        // Tables.
        ("table.concat({ 1, 'a', 2.5 }, '-')", "1-a-2.5"), ("table.concat({ {} })", nil), ("table.unpack({ 1, 2, 3 }, 2)", "2\t3"),
        ("table.pack(1, nil, 3).n", "3"), ("table.concat(table.move({ 1, 2, 3 }, 2, 3, 1), ',')", "2,3,3"),
        ("table.remove({ 1, 2, 3 }, 1)", "1"), ("table.remove({})", "nil"), ("table.insert({ 1 }, 5, 2)", nil), ("select(-1, 1, 2)", "2"),
        ("select('#')", "0"), ("rawequal('a', 'a'), rawlen({ 1, 2 })", "true\t2"),
        ("(function() local t = { 3, 1, 2 } table.sort(t, function(a, b) return a > b end) return table.concat(t, ',') end)()", "3,2,1"),
        ("table.sort({ 1, 'a' })", nil),
        (
            "(function() local t = {} for i = 1, 9 do t[i] = { i % 3, i } end table.sort(t, function(a, b) return a[1] < b[1] end) local o = '' for _, v in ipairs(t) do o = o .. v[2] end return o end)()",
            "369147258"
        ),
        // UTF-8.
        ("utf8.len('记分板'), utf8.char(0x8BB0, 0x1F3B2), utf8.codepoint('é', 1), utf8.offset('é记', 2)", "3\t记🎲\t233\t3"),
        ("utf8.len('a\\xffb')", "nil\t2"), ("utf8.len('\\xed\\xa0\\x80')", "nil\t1"), ("utf8.len('\\xc0\\x80')", "nil\t1"),
        ("(function() local o = '' for p, c in utf8.codes('é🎲') do o = o .. p .. ':' .. c .. ' ' end return o end)()", "1:233 3:127922 "),
        ("(function() for _ in utf8.codes('ab\\x80') do end end)()", nil), ("utf8.codepoint('\\x80')", nil),
        // The rest.
        ("pcall(error, 'x', 0)", "false\tx"), ("pcall(error, { 1 })", "false\ttable"), ("select(2, pcall(error))", "nil"),
        ("xpcall(error, function(e) return e .. '!' end, 'x', 0)", "false\tx!"), ("pcall(assert, false)", "false\tassertion failed!"),
        ("assert(1, 2)", "1\t2"), ("type(nil), type(null), type(list()), type(session.state), type(print)", "nil\tuserdata\ttable\ttable\tfunction"),
        ("null == null, tostring(null)", "true\tnull"),
        ("coroutine.resume(coroutine.create(function(...) return coroutine.yield(...) end), 1, 2)", "true\t1\t2"),
        ("coroutine.wrap(function() return pcall(coroutine.yield, 7) end)()", "7"), ("coroutine.isyieldable()", "false"),
        ("select(2, coroutine.resume(coroutine.create(function() error('x', 0) end)))", "x"), ("coroutine.wrap(function() error({}) end)()", nil),
        ("select(2, coroutine.running())", "true"),
    ] as [(String, String?)]).map { ($0.0, $0.1 ?? "raises") }

@Suite("Libraries")
struct LibraryTests {
    @Test("Functions of the libraries answer as in Lua", arguments: expressions)
    func answers(expression: String, printed: String) throws {
        let outcome = try handle("print(\(expression))")
        #expect(outcome.printed.first ?? "raises" == printed, "\(String(describing: outcome.report))")
    }

    @Test("table functions work on lists of the state")
    func lists() throws {
        let outcome = try handle(
            """
            session.state.list = { 5, 3, 9 }
            local l = session.state.list
            table.insert(l, 7) table.insert(l, 1, 1) table.sort(l)
            print(table.concat(l, " "), #l, table.unpack(l, 1, 2))
            table.sort(l, function(a, b) return a > b end)
            print(table.concat(l, " "), table.remove(l), table.remove(l, 1), table.remove(l, #l + 1), l[1])
            print(table.concat(table.move(l, 2, 3, 1), " "), table.concat(table.move(l, 1, 2, 1, {}), " "), next(l), select("#", table.unpack(l)))
            session.state.map = { b = 2, a = 1, c = { 3 } }
            for k, v in pairs(session.state.map) do print(k, v) end
            for i, v in ipairs(l) do print(i, v) end
            print(pcall(table.insert, session.state.map, 1))
            """)
        #expect(outcome.printed[0] == "1 3 5 7 9\t5\t1\t3")
        #expect(outcome.printed[1] == "9 7 5 3 1\t1\t9\tnil\t7")
        #expect(outcome.printed[2] == "5 3 3\t5 3\t1\t3")
        #expect(Set(outcome.printed[3...5]) == ["a\t1", "b\t2", "c\ttable"])
        #expect(outcome.printed[6...8] == ["1\t5", "2\t3", "3\t3"])
        #expect(outcome.printed[9].hasPrefix("false\t"))
    }

    @Test("Budget-free errors can be caught, and a coroutine goes on after one in another")
    func catching() throws {
        let outcome = try handle(
            """
            local co = coroutine.create(function() local ok, e = pcall(function() coroutine.yield(1) error("inner", 0) end) coroutine.yield(e) return "end" end)
            for i = 1, 4 do print(coroutine.resume(co)) end
            print((pcall(string.rep, "x", -1)), coroutine.status(co))
            """)
        #expect(outcome.printed == ["true\t1", "true\tinner", "true\tend", "false\tcannot resume dead coroutine", "true\tdead"])
    }
}
