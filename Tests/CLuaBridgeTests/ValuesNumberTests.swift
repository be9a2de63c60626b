import CLuaBridge
import Testing

/// Numbers and text on their whole way: client, script, state, snapshot, recovery, client.
@Suite struct ValuesNumberTests {
    private static let keeper = """
        activity.messages = { set = { value = "any" }, make = { code = "string(200)" } }
        function activity.on.set(session, message)
          session.state.value = message.value
          return { value = session.state.value }
        end
        local made = {
          ["10/2"] = function() return 10 / 2 end, ["10//1"] = function() return 10 // 1 end, ["2^53"] = function() return 2 ^ 53 end,
          ["0/0"] = function() return 0 / 0 end, ["1/0"] = function() return 1 / 0 end, ["-1/0"] = function() return -1 / 0 end,
          ["maxinteger + 1"] = function() return math.maxinteger + 1 end, ["-0.0"] = function() return -0.0 end,
          ["bytes"] = function() return "\\xff\\x80" end, ["half"] = function() return ("é"):sub(1, 1) end,
          ["surrogate"] = function() return "\\xed\\xa0\\x80" end, ["beyond"] = function() return "\\xfd\\xbf\\xbf\\xbf\\xbf\\xbf" end,
          ["key"] = function() return { ["\\xff"] = 1 } end, ["nul"] = function() return "\\0" end,
          ["cycle"] = function() local t = {} t.t = t return t end,
          ["tower"] = function() local t = {} for _ = 1, 100000 do t = { t } end return t end,
        }
        function activity.on.make(session, message) session.state.value = made[message.code]() end
        """

    @Test(arguments: [
        ("0", "0"), ("-0", "-0.0"), ("1", "1"), ("1.0", "1.0"), ("199", "199"), ("0.1", "0.1"), ("0.30000000000000004", "0.30000000000000004"),
        ("9007199254740991", "9007199254740991"), ("9007199254740993", "9007199254740993"), ("9223372036854775807", "9223372036854775807"),
        ("-9223372036854775808", "-9223372036854775808"), ("1e15", "1000000000000000.0"), ("1e21", "1e21"), ("5e-324", "5e-324"),
        ("1e308", "1e308"), ("1E-400", "0.0"), ("12.50", "12.5"), ("1e-7", "1e-7"), ("123456789012345678", "123456789012345678"),
        ("0.1234567890123456789", "0.12345678901234568"), (#""\ud83d\ude00\u0000""#, #""😀\u0000""#), ("null", "null"), ("[]", "[]"), ("{}", "{}"),
    ])
    func whatCanBeRepresentedSurvivesTheWholeWay(sent: String, kept: String) async throws {
        try await onVMThread {
            let session = try ValuesSession(Self.keeper)
            let outcome = session.send("set", "{\"value\":\(sent)}")
            #expect(outcome.status == AH_COMMITTED)
            #expect(outcome.body == "{\"value\":\(kept)}")
            #expect(session.state == "{\"value\":\(kept)}")
            #expect(session.stateBytes == session.state.utf8.count)
            let before = session.written()
            try session.recover()
            #expect(session.written() == before)
            #expect(session.apply(AH_VIEW).view == "{\"value\":\(kept)}")
        }
    }

    @Test(arguments: [
        "18446744073709551616", "9223372036854775808", "-9223372036854775809", "1e400", "-1e400", "01", "+1", ".5", "1.", "1e", "0x10", "NaN",
        "Infinity", "-", "--1", "1_000", #""\ud800""#, #""\udc00\ud800""#, #""\x""#, "\"\u{1}\"", "'a'", "[1,]", #"{"a":1,"a":2}"#,
        #"{"a":1,"\u0061":2}"#, #"[{"b":{"a":1,"a":1}}]"#, "tru", "nil", "",
    ])
    func whatCannotBeRepresentedIsRefused(sent: String) async throws {
        try await onVMThread {
            let session = try ValuesSession(Self.keeper)
            let before = session.written()
            let outcome = session.send("set", "{\"value\":\(sent)}")
            #expect(outcome.status == AH_REJECTED)
            #expect(outcome.code == "invalid_message")
            #expect(session.written() == before)
        }
    }

    /// A body with these bytes in a string.
    private static func framed(_ bytes: [UInt8]) -> [UInt8] { Array(#"{"value":""#.utf8) + bytes + Array(#""}"#.utf8) }

    @Test(arguments: [
        framed([0xff]), framed([0xc0, 0x80]), framed([0xed, 0xa0, 0x80]), framed([0xf4, 0x90, 0x80, 0x80]), framed([0xc3]), framed([0]),
        [0xef, 0xbb, 0xbf] + Array(#"{"value":1}"#.utf8), [], [0], Array(#"{"value":1}}"#.utf8),
    ])
    func bytesThatAreNoJSONAreRefused(body: [UInt8]) async throws {
        try await onVMThread {
            let outcome = try ValuesSession(Self.keeper).apply(AH_MESSAGE, name: "set", body: body)
            #expect(outcome.status == AH_REJECTED)
            #expect(outcome.code == "invalid_message")
        }
    }

    @Test(arguments: [
        (String(repeating: "[", count: 100_000), ""), (String(repeating: #"{"a":"#, count: 50_000), ""),
        (String(repeating: #"{"v":"#, count: 256), String(repeating: "}", count: 256)),
        (String(repeating: "[", count: 17), String(repeating: "]", count: 17)),
    ])
    func deepTextIsRefusedAndHarmsNothing(open: String, close: String) async throws {
        try await onVMThread {
            let session = try ValuesSession(Self.keeper)
            #expect(session.send("set", "{\"value\":\(open)42\(close)}").code == "invalid_message")
            #expect(session.send("set", open).code == "invalid_message")
            #expect(session.send("set", #"{"value":1}"#).status == AH_COMMITTED)
        }
    }

    @Test(arguments: [
        ("10/2", "5.0"), ("10//1", "10"), ("2^53", "9007199254740992.0"), ("maxinteger + 1", "-9223372036854775808"), ("-0.0", "-0.0"),
        ("nul", #""\u0000""#),
    ])
    func numbersThatAScriptMakesKeepTheirKind(code: String, kept: String) async throws {
        try await onVMThread {
            let session = try ValuesSession(Self.keeper)
            #expect(session.send("make", "{\"code\":\"\(code)\"}").status == AH_COMMITTED)
            #expect(session.state == "{\"value\":\(kept)}")
        }
    }

    @Test(arguments: [
        ("0/0", "session.state.value: NaN cannot be stored"), ("1/0", "session.state.value: infinity cannot be stored"),
        ("-1/0", "session.state.value: infinity cannot be stored"),
        ("bytes", "session.state.value: a string that is not valid UTF-8 cannot be stored"),
        ("half", "session.state.value: a string that is not valid UTF-8 cannot be stored"),
        ("surrogate", "session.state.value: a string that is not valid UTF-8 cannot be stored"),
        ("beyond", "session.state.value: a string that is not valid UTF-8 cannot be stored"),
        ("key", #"session.state.value["?"]: a key that is not valid UTF-8 cannot be stored"#),
        ("cycle", "a cycle or more than 64 levels cannot be stored"), ("tower", "a cycle or more than 64 levels cannot be stored"),
    ])
    func whatAScriptMustNotStoreIsAnErrorWithThePath(code: String, error: String) async throws {
        try await onVMThread {
            let session = try ValuesSession(Self.keeper)
            let before = session.written()
            let outcome = session.send("make", "{\"code\":\"\(code)\"}")
            #expect(outcome.status == AH_REJECTED)
            #expect(outcome.code == "activity_failed")
            #expect(outcome.report.contains(error), "got \(outcome.report)")
            #expect(session.written() == before)
        }
    }
}
