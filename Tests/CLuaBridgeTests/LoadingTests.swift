import CLuaBridge
import Testing

private struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state
    }
}

private func failure(_ text: String) -> ScriptReport? { failure(ScriptSource("activity.lua", text)) }

private func failure(_ source: ScriptSource) -> ScriptReport? {
    do {
        ah_script_free(try loadScript([source]))
        return nil
    } catch {
        return error as? ScriptReport
    }
}

@Suite("Loading scripts")
struct LoadingTests {
    static let head = "identifier = 'org.example.quiz', metadata = { title = 'Quiz' }"

    @Test(
        "An activity's table is examined, and what is wrong is named",
        arguments: [
            ("return 5", "the script has to return a table, but returned number"), ("", "the script has to return a table, but returned nil"),
            ("return {}", "identifier is missing"), ("return { identifier = 'quiz' }", "identifier: a name like"),
            ("return { identifier = 'a.b' }", "metadata is missing"),
            ("return { identifier = 'a..b', metadata = { title = 'x' } }", "identifier: a name like"),
            ("return { identifier = 'a.b', metadata = {} }", "metadata.title is missing"),
            ("return { identifier = 'a.b', metadata = { title = {} } }", "metadata.title: a text expected"),
            ("return { identifier = 'a.b', metadata = { title = { en = 5 } } }", "metadata.title: a text expected"),
            ("return { identifier = 'a.b', metadata = { title = 'x', type = 'play_togeter' } }", "did you mean \"play_together\"?"),
            ("return { identifier = 'a.b', metadata = { title = 'x', lifetime = 5 } }", "metadata.lifetime: unknown value"),
            (
                "return { identifier = 'a.b', metadata = { title = 'x', fallback_url = 'javascript:1' } }",
                "metadata.fallback_url: an http or https address expected"
            ),
            ("return { identifier = 'a.b', metadata = { title = 'x', preview = '../x.png' } }", "metadata.preview: the name of a file"),
            ("return { \(head), version = 0 }", "version: a positive integer expected"),
            ("return { \(head), version = 1.5 }", "version: a positive integer expected"),
            ("return { \(head), aliases = 'x' }", "aliases: a list of texts expected"),
            ("return { \(head), aliases = { 1 } }", "aliases: a list of texts expected"),
            ("return { \(head), messages = { ['move.card'] = 'any' } }", "messages: a name of letters, digits and _ expected"),
            ("return { \(head), messages = { [1] = 'any' } }", "messages: a name of letters"),
            ("return { \(head), messages = { add = { points = 'integr' } } }", "messages.add.points: "),
            ("return { \(head), messages = { add = { 'latst' } } }", "messages.add: "),
            ("return { \(head), parameters = { game = 5 } }", "parameters.game: "),
            (
                "return { \(head), messages = { add_points = {} }, on = { add_point = print } }",
                "on.add_point: messages has no add_point, did you mean add_points?"
            ),
            ("return { \(head), on = { start = print } }", "on.start: messages has no start; declare it there"),
            ("return { \(head), on = { [1] = print } }", "on: names expected as keys"),
            ("return { \(head), messages = { a = {} }, on = { a = 5 } }", "on.a: a function expected, got number"),
            ("return { \(head), start = 5 }", "start: a function expected, got number"),
            ("return { \(head), export = { csv = true } }", "export.csv: a function expected, got boolean"),
            ("return { \(head), export = { ['a/b'] = print } }", "export.a/b: a name of letters"),
        ])
    func examined(text: String, message: String) {
        let report = failure(text)
        #expect(report?.message.contains(message) == true, "\(String(describing: report))")
        #expect(report?.file == "activity.lua")
    }

    @Test(
        "Errors of loading carry file and line",
        arguments: [
            ("local x = = 1", 1, "unexpected symbol near '='"), ("\n\nerror('no')", 3, "no"),
            ("\nlocal t = nil\nt.x = 1", 3, "attempt to index a nil value (local 't')"),
            ("\nwhile true do end", 2, "the script ran"), ("\nlocal t = {} for i = 1, 1e9 do t[i] = { i } end", 2, "the script "),
            ("\nmath.random()", 2, "math.random works in handlers only"),
            ("\n\nlocal s = 'x' while true do s = s .. s end", 3, "the script made a string longer than 1048576 bytes"),
        ])
    func positions(text: String, line: Int, message: String) {
        let report = failure(text)
        #expect(report?.file == "activity.lua" && report?.line == line && report?.message.hasPrefix(message) == true, "\(String(describing: report))")
    }

    @Test("Compiled Lua is refused in a thousand variants, also behind a byte order mark or a comment line")
    func bytecode() {
        var random = SeededGenerator(state: 8)
        for round in 0..<1000 {
            var bytes: [UInt8] = [0x1B] + Array("Lua".utf8) + [0x54, 0, 0x19, 0x93, 0x0D, 0x0A, 0x1A, 0x0A, 4, 8, 8]
            bytes += (0..<55).map { _ in UInt8.random(in: 0...255, using: &random) }
            for _ in 0..<Int.random(in: 1...20, using: &random) {
                bytes[Int.random(in: 1..<bytes.count, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
            }
            let prefixes: [[UInt8]] = [[], [0xEF, 0xBB, 0xBF], Array("#!lua\n".utf8), [0xEF, 0xBB, 0xBF] + Array("#\n".utf8)]
            let report = failure(ScriptSource("activity.lua", bytes: prefixes[round % 4] + bytes))
            #expect(report?.code == "load_failed")
        }
        #expect(failure(ScriptSource("activity.lua", bytes: [0x1B, 0x4C]))?.message.contains("compiled Lua") == true)
    }

    @Test("A source is text of 256 KiB at most; a byte order mark is skipped, a line with # refused")
    func text() {
        let good = "return { \(Self.head) }"
        #expect(failure("\u{FEFF}\(good)") == nil)
        #expect(failure(good + "\n--" + String(repeating: "x", count: 200_000)) == nil)
        #expect(failure("#!/usr/bin/lua\n\(good)")?.message.contains("first line") == true)
        #expect(failure(good + "\n--" + String(repeating: "x", count: 256 << 10))?.message.contains("at most 262144") == true)
        let bad = failure(ScriptSource("activity.lua", bytes: Array("\n\nlocal x = '".utf8) + [0xFF] + Array("'\n".utf8)))
        #expect(bad?.message == "this line is not valid UTF-8" && bad?.line == 3)
        #expect(failure(ScriptSource("activity.txt", good))?.code == "load_failed")
    }

    @Test(
        "Shapes that Lua's own parser and error messages cannot stand are refused",
        arguments: [
            ("a" + String(repeating: "._ENV", count: 20_000), "200 fields"), ("a" + String(repeating: ".b", count: 201), "200 fields"),
            ("(a" + String(repeating: ".b", count: 150) + ")" + String(repeating: ".c", count: 100), "200 fields"),
            ("((a" + String(repeating: "[1]", count: 150) + "))" + String(repeating: ".c", count: 100), "200 fields"),
            ("a" + String(repeating: "[b", count: 150) + String(repeating: "]", count: 150) + String(repeating: ".c", count: 100), "200 fields"),
            ("a[function() return b\(String(repeating: ".c", count: 150)) end]" + String(repeating: ".c", count: 100), "200 fields"),
            (String(repeating: "(", count: 1000), "nested more than 250"), (String(repeating: "{", count: 1000), "nested more than 250"),
            ("a" + String(repeating: " and a", count: 40_000), "500 of `and`"),
            ("a and (b" + String(repeating: ") and (c", count: 600) + ")", "500 of `and`"),
        ])
    func shapes(expression: String, message: String) {
        #expect(failure("pcall(function() return \(expression) end)")?.message.contains(message) == true)
    }

    @Test("What people write passes: long tables, calls in a row, many functions, every kind of literal")
    func ordinary() {
        let rows = (0..<2000).map { "{ id = \($0), name = words.list.item[\($0)], f = function(x) return x.a.b.c end }" }.joined(separator: ",\n")
        let calls = String(repeating: ":upper():lower()", count: 150)
        let text = """
            local words = { list = { item = {} } }
            local rows = {
            \(rows) }
            local text = ("x")\(calls)
            local long, quoted, number = [==[ ]] ]=] ]==], "a\\"\\z
                 b", 0x1p4 + 1e-3 -- comment ]]
            --[[ a.b.c.d ]]
            if words == nil or text == "" and long ~= quoted then error("no") end
            goto done
            ::done::
            return { \(Self.head) }
            """
        #expect(failure(text) == nil)
    }

    @Test("The manifest says what the script takes and has")
    func manifest() throws {
        let text = """
            local activity = {
              identifier = "org.example.quiz", aliases = { "com.example.quiz" }, version = 3, metadata = { title = { en = "Quiz", ["zh-Hans"] = "测验" }, type = "play_together" },
              parameters = { game = "string(60)?" },
              messages = { add = { points = "integer(0,5)" }, move = { "latest", x = "number" }, tell = { "transient", "targeted", "moderator" }, result = { "script" }, ["*"] = "any" },
              on = { add = print, anything = print }, export = { csv = print, json = print },
            }
            function activity.start() end
            function activity.view() end
            return activity
            """
        let script = try loadScript([ScriptSource("activity.lua", text)])
        defer { ah_script_free(script) }
        let manifest = String(ah_script_manifest(script))
        #expect(
            manifest.hasPrefix(
                #"{"identifier":"org.example.quiz","aliases":["com.example.quiz"],"version":3,"metadata":{"title":{"en":"Quiz","zh-Hans":"测验"},"type":"play_together"}"#
            ))
        for part in [
            #""*":{"index":0,"delivery":"durable","targeted":false,"right":"participant","schema":{}}"#, #""add":{"index":1,"delivery":"durable""#,
            #""move":{"index":2,"delivery":"latest","targeted":false,"right":"participant""#,
            #""result":{"index":3,"delivery":"durable","targeted":false,"right":"script""#,
            #""tell":{"index":4,"delivery":"transient","targeted":true,"right":"moderator""#,
            #""handlers":["start","view","on.add","on.anything"],"exports":["csv","json"]}"#,
        ] {
            #expect(manifest.contains(part))
        }
    }
}
