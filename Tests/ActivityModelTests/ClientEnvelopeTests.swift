import Testing

@testable import ActivityModel

private func parse(_ frame: String) throws(JSONError) -> [ClientEnvelope] {
    var result: Result<[ClientEnvelope], JSONError> = .success([])
    var frame = frame
    frame.withUTF8 { text in
        do throws(JSONError) {
            result = .success(try ClientEnvelope.parse(frame: UnsafeRawBufferPointer(text)))
        } catch {
            result = .failure(error)
        }
    }
    return try result.get()
}

@Suite struct ClientEnvelopeTests {
    @Test func everyRequestOfTheContractIsRead() throws {
        let frame = #"""
            [{"type":"hello","protocol":1,"group":"BCD-FGH","name":"Ada","token":null,"client":"k3J9x2","locale":"en"},
             {"type":"start","ref":1,"activity":"draw","parameters":{},"replaces":null},
             {"type":"join","ref":2,"session":"s1","participant":null,"since":null},
             {"type":"send","ref":3,"session":"s1","name":"upsert_stroke","body":{"id":"a1","points":[1,2]},"to":["p2"]},
             {"type":"change","ref":4,"session":"s1","parameters":{"title":"Episode 2"}},
             {"type":"leave","ref":5,"session":"s1"},{"type":"end","ref":6,"session":"s1"},
             {"type":"rename","ref":7,"name":"Ada L."},{"type":"role","ref":8,"member":"m2","role":"moderator"},
             {"type":"remove","ref":9,"member":"m3"},{"type":"lock","ref":10,"locked":true},{"type":"new_code","ref":11},
             {"type":"ping","time":1790000000000}]
            """#
        #expect(
            try parse(frame) == [
                .hello(.init(ref: nil, version: 1, group: "BCD-FGH", name: "Ada", token: nil, client: "k3J9x2")),
                .start(ref: 1, activity: "draw", parameters: Array("{}".utf8), replaces: nil),
                .join(ref: 2, session: "s1", participant: nil, since: nil),
                .send(ref: 3, session: "s1", name: "upsert_stroke", body: Array(#"{"id":"a1","points":[1,2]}"#.utf8), to: ["p2"]),
                .change(ref: 4, session: "s1", parameters: Array(#"{"title":"Episode 2"}"#.utf8)),
                .leave(ref: 5, session: "s1"), .end(ref: 6, session: "s1"), .rename(ref: 7, name: "Ada L."),
                .role(ref: 8, member: "m2", role: "moderator"), .remove(ref: 9, member: "m3"), .lock(ref: 10, locked: true),
                .newCode(ref: 11), .ping(time: 1_790_000_000_000),
            ])
    }

    @Test func aBodyIsKeptAsItCame() throws {
        let body = #"{ "b" : [1.0, -0, 9007199254740993 ,"é"] }"#
        let envelopes = try parse(#"[ {"type":"send","session":"s1","name":"x","body":\#(body) } ]"#)
        #expect(envelopes == [.send(ref: nil, session: "s1", name: "x", body: Array(body.utf8), to: nil)])
    }

    @Test(arguments: [
        "", "{}", "1", "[", "[1", "[{]", #"[{"type":"ping"}"#, #"[{"type":"ping"},]"#, #"[{"type":"ping",}]"#, "[] []", #"[{"a" 1}]"#,
        #"[{"a":01}]"#, #"[{"a":+1}]"#, #"[{"a":.5}]"#, #"[{"a":0x10}]"#, #"[{"a":NaN}]"#, #"[{"a":"\x"}]"#, "[{\"a\":\"\n\"}]",
        #"[{"a":tru}]"#, #"[{"a":[1,2}]"#, String(repeating: "[", count: 100_000),
    ])
    func whatIsNotAJSONArrayThrows(frame: String) {
        #expect(throws: JSONError.self) { try parse(frame) }
    }

    @Test(arguments: [
        ("[1]", RejectionCode.invalidFrame, nil as Int64?), ("[{}]", .invalidFrame, nil), (#"[{"type":"dance","ref":4}]"#, .unknownType, 4),
        (#"[{"type":"join","ref":4}]"#, .invalidFrame, 4), (#"[{"type":"join","ref":4,"session":7}]"#, .invalidFrame, 4),
        (#"[{"type":"send","ref":4,"session":"s1","name":"x"}]"#, .invalidFrame, 4),
        (#"[{"type":"leave","ref":-1,"session":"s1"}]"#, .invalidFrame, nil), (#"[{"type":"leave","ref":1.5,"session":"s1"}]"#, .invalidFrame, nil),
        (#"[{"type":"send","ref":4,"session":"s1","name":"x","body":1,"to":"p2"}]"#, .invalidFrame, 4),
        (#"[{"type":"lock","ref":4,"locked":1}]"#, .invalidFrame, 4),
        (#"[{"type":"start","ref":4,"activity":"x","parameters":[]}]"#, .invalidFrame, 4),
    ])
    func whatIsNoProperEnvelopeIsRefusedWithItsRef(frame: String, code: RejectionCode, ref: Int64?) throws {
        let envelopes = try parse(frame)
        guard case .invalid(ref, let rejection) = envelopes.first else {
            Issue.record("\(envelopes)")
            return
        }
        #expect(rejection.code == code)
    }

    @Test func nestingOfAnyDepthIsReadWithoutRecursion() throws {
        let deep = String(repeating: "[", count: 200_000) + String(repeating: "]", count: 200_000)
        let envelopes = try parse(#"[{"type":"send","session":"s1","name":"x","body":\#(deep)}]"#)
        #expect(envelopes.count == 1)
    }

    @Test func escapesAreResolved() throws {
        let envelopes = try parse(#"[{"type":"rename","name":"a\n\"\\\u00e9\ud83d\ude42\/"}]"#)
        #expect(envelopes == [.rename(ref: nil, name: "a\n\"\\é🙂/")])
        #expect(try parse(#"[{"type":"rename","name":"\ud800x\udc00\ud83d\u0041"}]"#) == [.rename(ref: nil, name: "\u{FFFD}x\u{FFFD}\u{FFFD}A")])
    }
}

@Suite struct JSONValueTests {
    @Test(arguments: ["null", "true", "-7", "9223372036854775807", #""a\u0000b""#, #"{"a":[1,{"b":[]}],"c":{}}"#, "1.5"])
    func valuesSurviveTheWayInAndOut(text: String) throws {
        #expect(String(decoding: try JSONValue.parse(Array(text.utf8)).text, as: UTF8.self) == text)
    }

    @Test(arguments: [
        "18446744073709551616", "1e400", #"{"a":1,"a":2}"#, "[1,]", "\u{FEFF}1",
        String(repeating: "[", count: 65) + String(repeating: "]", count: 65),
    ])
    func whatCannotBeKeptIsRefused(text: String) {
        #expect(throws: JSONError.self) { try JSONValue.parse(Array(text.utf8)) }
    }

    @Test func textThatIsNotUTF8IsRefused() {
        #expect(throws: JSONError.self) { try JSONValue.parse([0x22, 0xFF, 0x22]) }
    }
}
