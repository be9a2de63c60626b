import Testing

@testable import activityhost

@Suite("Arguments")
struct ArgumentsTests {
    private static let options = [Option.listen, .lan, .limit, .json]

    private func parse(_ words: [String], _ environment: [String: String] = [:], takesParameters: Bool = false) throws -> Arguments {
        try Arguments(words, options: Self.options, environment: environment, takesParameters: takesParameters)
    }

    @Test("Values follow a space or an equals sign; the last one counts, repeated ones add up")
    func readsValues() throws {
        let arguments = try parse(["a", "--listen", "1:1", "--listen=2:2", "--limit", "x=1", "--limit=y=2", "--lan", "b"])
        #expect(arguments.operands == ["a", "b"])
        #expect(arguments.value(.listen) == "2:2")
        #expect(arguments.values(.limit) == ["x=1", "y=2"])
        #expect(arguments.has(.lan) && !arguments.has(.json))
    }

    @Test("The environment fills in what no flag says")
    func readsEnvironment() throws {
        let environment = ["ACTIVITYHOST_LISTEN": "3:3", "ACTIVITYHOST_LIMIT": "x=1,y=2", "ACTIVITYHOST_LAN": "true", "ACTIVITYHOST_JSON": "0"]
        let arguments = try parse(["--listen", "4:4"], environment)
        #expect(arguments.value(.listen) == "4:4")
        #expect(arguments.values(.limit) == ["x=1", "y=2"])
        #expect(arguments.has(.lan) && !arguments.has(.json))
        #expect(try !parse(["--lan=false"], environment).has(.lan))
    }

    @Test("What is no option of the command may be a parameter of the activity")
    func readsParameters() throws {
        let arguments = try parse(["draw", "--title", "A b", "--count=-5", "--anonymous", "--lan"], takesParameters: true)
        #expect(arguments.operands == ["draw"])
        #expect(
            arguments.parameters == [.init(key: "title", value: "A b"), .init(key: "count", value: "-5"), .init(key: "anonymous", value: nil)])
        #expect(arguments.has(.lan))
    }

    @Test("After two dashes everything is a word")
    func stopsAtDashes() throws {
        #expect(try parse(["--", "--lan", "-x"]).operands == ["--lan", "-x"])
    }

    @Test(
        "Wrong usage says what is meant",
        arguments: [
            (["--listn", "x"], "--listen"), (["--listen"], "value"), (["--listen", "--lan"], "value"), (["--lan=maybe"], "true or false"),
            (["-x"], "-x"),
            (["--nothing-like-it"], "no option"),
        ])
    func refuses(words: [String], hint: String) {
        let error = #expect(throws: UsageError.self) { try parse(words) }
        #expect(error?.message.contains(hint) == true)
    }
}

@Suite("Parameters")
struct ParameterValuesTests {
    private static let schemas = Array(
        """
        {"parameters":{"type":"object","properties":{"title":{"type":"string"},"count":{"type":"integer"},"size":{"type":"number"},
        "open":{"type":"boolean"},"words":{"type":"array"},"kind":{"enum":["a","b"]},"free":{}}},"messages":{}}
        """.utf8)

    private func json(_ parameters: [Arguments.Parameter]) throws -> String {
        String(decoding: try ParameterValues.json(parameters, schemas: Self.schemas, options: Option.hosting), as: UTF8.self)
    }

    @Test(
        "A value is read by the type that the schema names",
        arguments: [
            ("title", "5", #"{"title":"5"}"#), ("count", "-5", #"{"count":-5}"#), ("count", "9007199254740993", #"{"count":9007199254740993}"#),
            ("size", "1.5", #"{"size":1.5}"#), ("size", "2", #"{"size":2}"#), ("open", "false", #"{"open":false}"#), ("open", nil, #"{"open":true}"#),
            ("words", #"["a",1]"#, #"{"words":["a",1]}"#), ("kind", "a", #"{"kind":"a"}"#), ("free", "5", #"{"free":5}"#),
            ("free", "x", #"{"free":"x"}"#),
        ] as [(String, String?, String)])
    func reads(key: String, value: String?, expected: String) throws {
        #expect(try json([.init(key: key, value: value)]) == expected)
    }

    @Test(
        "What does not fit is wrong usage",
        arguments: [
            ("count", "5.0", "whole number"), ("count", "99999999999999999999", "whole number"), ("size", "nan", "number"),
            ("size", "1e999", "number"),
            ("open", "yes", "true or false"), ("words", "[", "JSON"), ("title", nil, "value"), ("titel", "x", "--title"), ("lann", "x", "--lan"),
        ] as [(String, String?, String)])
    func refuses(key: String, value: String?, hint: String) {
        let error = #expect(throws: UsageError.self) { try json([.init(key: key, value: value)]) }
        #expect(error?.message.contains(hint) == true)
    }

    @Test("A parameter is given once")
    func refusesTwice() {
        #expect(throws: UsageError.self) { try json([.init(key: "title", value: "a"), .init(key: "title", value: "b")]) }
    }
}
