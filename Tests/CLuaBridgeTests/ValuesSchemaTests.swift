import CLuaBridge
import Testing

@Suite struct ValuesSchemaTests {
    @Test(arguments: [
        (#"{ points = "integr" }"#, #"messages.add.points: unknown type "integr", did you mean "integer"?"#),
        (#"{ a = { b = "strng(3)" } }"#, #"messages.add.a.b: unknown type "strng", did you mean "string"?"#),
        (#"{ "modrator" }"#, #"messages.add: unknown word "modrator", did you mean "moderator"?"#),
        (#"{ a = { "latest" } }"#, #"messages.add.a: "latest" can stand only at the top of a message"#),
        (#"{ "transient", "latest" }"#, "messages.add: transient and latest exclude each other"),
        (#"{ "host", "script" }"#, "messages.add: only one of script, moderator, host and initiator can be given"),
        (#"{ a = "integer(1)" }"#, "messages.add.a: integer takes (MIN,MAX), two integers"),
        (#"{ a = "integer(2,1)" }"#, "messages.add.a: integer takes (MIN,MAX), two integers"),
        (#"{ a = "string(9,3)" }"#, "messages.add.a: string takes (MAX) or (MIN,MAX), from 0 to 1048576"),
        (#"{ a = "number[0]" }"#, "messages.add.a: a list has a limit, from [1] to [1000000]"),
        (#"{ a = "number?[4]" }"#, #"messages.add.a: the elements of a list cannot be optional; "?" comes last"#),
        (#"{ a = "enum()" }"#, "messages.add.a: enum takes a list of different words of at most 64 bytes, enum(red,green)"),
        (#"{ a = "enum(a,b,a)" }"#, "messages.add.a: enum takes a list of different words"),
        (#"{ a = "enum(\xff)" }"#, "messages.add.a: enum takes a list of different words"), (#"{ ["\xff"] = "id" }"#, "UTF-8"),
        (#"{ a = "\xff" }"#, #"messages.add.a: unknown type """#), (#"{ a = "string x" }"#, #"messages.add.a: unexpected "x" in a type"#),
        (#"{ a = { { x = "number" } } }"#, "messages.add.a: a list needs max = N, from 1 to 1000000"),
        (#"{ a = { { x = "nmber" }, max = 2 } }"#, #"messages.add.a[1].x: unknown type "nmber", did you mean "number"?"#),
        (#"{ ["*"] = "integer", b = "id" }"#, #"messages.add: ["*"] makes a map, which has no other fields"#),
        ("{ a = 5 }", #"messages.add.a: a type such as "string" or a table of fields expected, got number"#),
        ("(function() local t = {} t.t = t return t end)()", "a cycle or more than 32 levels"),
        (#"(function() local t = "id" for _ = 1, 20 do t = { a = t, b = t } end return t end)()"#, "more than 10000 types in one schema"),
    ])
    func aMistakeInASchemaIsNamed(schema: String, error: String) async throws {
        try await onVMThread {
            let report = #expect(throws: ValuesReport.self) { _ = try ValuesSession("activity.messages = { add = \(schema) }") }
            #expect(report?.message.contains(error) == true, "got \(report?.message ?? "")")
        }
    }

    private static let every = """
        activity.messages = { m = {
          id = "id?", color = "color?", uuid = "uuid?", kind = "enum(pen, brush)?", n = "integer(-5,5)?", f = "number(0,1)?", s = "string(2,3)?",
          b = "boolean?", list = "number[3]?", strokes = { { x = "number", y = "integer?" }, max = 2 }, map = { ["*"] = "integer" }, any = "any?",
          inner = { deep = { v = "string" } },
        } }
        function activity.on.m(session, message) return message end
        """
    private static let rest = #""strokes":[],"map":{},"inner":{"deep":{"v":""}}"#

    @Test(arguments: [
        (#""n":"x""#, "n", "integer expected, got string"), (#""n":5.0"#, "n", "integer expected, got 5.0"),
        (#""n":6"#, "n", "integer from -5 to 5 expected, got 6"), (#""n":true"#, "n", "integer expected, got boolean"),
        (#""n":[]"#, "n", "integer expected, got list"), (#""n":{}"#, "n", "integer expected, got object"),
        (#""f":1.5"#, "f", "number from 0 to 1 expected, got 1.5"), (#""s":"a""#, "s", "string of at least 2 characters expected, got 1"),
        (#""s":"éééé""#, "s", "string of at most 3 characters expected, got 4"), (#""id":"""#, "id", #"id expected, got """#),
        (#""id":"a b""#, "id", #"id expected, got "a b""#), ("\"color\":\"#12345g\"", "color", "color expected, got \"#12345g\""),
        (#""uuid":"1""#, "uuid", #"uuid expected, got "1""#), (#""kind":"pencil""#, "kind", #"one of pen, brush expected, got "pencil""#),
        (#""list":"x""#, "list", "number list expected, got string"), (#""list":[1,"x"]"#, "list[2]", "number expected, got string"),
        (#""list":[1,2,3,4]"#, "list", "list of at most 3 elements expected"), (#""list":[null]"#, "list[1]", "number expected, got null"),
        (#""zz":1"#, "zz", "unknown field"), (#""odd key":1"#, #"["odd key"]"#, "unknown field"), (#""map":{}"#, "map", "duplicate key"),
        (#""any":{"a":1,"a":1}"#, "any.a", "duplicate key"),
        (#""n":9223372036854775808"#, "n", "number too large: integers have 64 bits, others are doubles"),
    ])
    func aBodyThatDoesNotFitIsRefusedWithThePath(field: String, path: String, reason: String) async throws {
        try await onVMThread {
            let outcome = try ValuesSession(Self.every).send("m", "{\(Self.rest),\(field)}")
            #expect(outcome.code == "invalid_message")
            #expect(outcome.path == path)
            #expect(outcome.message == "\(path): \(reason)")
        }
    }

    @Test(arguments: [
        ("{}", "inner: object expected, but it is missing"), ("[]", "object expected, got list"), ("null", "object expected, got null"),
        (#"{"inner":{"deep":{"v":5}}}"#, "inner.deep.v: string expected, got integer"),
        (#"{"strokes":[{"x":1},{"x":"1"}]}"#, "strokes[2].x: number expected, got string"),
        (#"{"strokes":[{}]}"#, "strokes[1].x: number expected, but it is missing"), (#"{"map":{"a":1,"a":2}}"#, "map.a: duplicate key"),
        (#"{"map":{"a":null}}"#, "map.a: integer expected, got null"),
    ])
    func aBodyOfTheWrongFormIsRefused(body: String, message: String) async throws {
        try await onVMThread {
            let outcome = try ValuesSession(Self.every).send("m", body)
            #expect(outcome.message == message)
        }
    }

    @Test(arguments: [
        (#""n":null,"any":null"#, ""), (#""f":1"#, #""f":1,"#), (#""\u0066":0.5"#, #""f":0.5,"#), (#""s":"ééé""#, #""s":"ééé","#),
        (#""any":{"b":[{},[]],"a":null}"#, #""any":{"a":null,"b":[{},[]]},"#), (#" "b" : true "#, #""b":true,"#),
    ])
    func aBodyThatFitsComesBackWithItsFieldsInOrder(field: String, kept: String) async throws {
        try await onVMThread {
            let outcome = try ValuesSession(Self.every).send("m", "{\(Self.rest),\(field)}")
            #expect(outcome.status == AH_COMMITTED)
            let fields = [#""any""#, #""b""#, #""f""#, #""s""#]
            let early = fields.prefix(3).contains { kept.hasPrefix($0) } ? kept : ""
            let late = kept.hasPrefix(#""s""#) ? kept : ""
            #expect(outcome.body == "{\(early)\"inner\":{\"deep\":{\"v\":\"\"}},\"map\":{},\(late)\"strokes\":[]}")
        }
    }

    @Test func manyFreeKeysAreCheckedForRepeats() async throws {
        try await onVMThread {
            let session = try ValuesSession(
                #"activity.messages = { m = { v = "any" } } function activity.on.m(session, message) session.state.v = message.v end"#)
            let keys = (0..<10_000).map { "\"key\($0)\":\($0)" }.joined(separator: ",")
            #expect(session.send("m", "{\"v\":{\(keys)}}").status == AH_COMMITTED)
            #expect(session.send("m", "{\"v\":{\(keys),\"key7\":1}}").message == "v.key7: duplicate key")
            try session.recover()
        }
    }
}
