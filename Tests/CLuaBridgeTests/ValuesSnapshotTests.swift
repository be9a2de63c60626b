import CLuaBridge
import Testing

@Suite struct ValuesSnapshotTests {
    private static let script = """
        activity.messages = { fill = {} }
        function activity.on.fill(session)
          session.state = { number = 9007199254740993, real = 0.1, text = "a\\"é😀", list = { 1, { x = null } }, empty = {}, none = list() }
          session:after(5000, "ring", { round = 1 })
          session:after(6000, "ring")
          math.random()
        end
        """

    private static func filled() throws -> ValuesSession {
        let session = try ValuesSession(script)
        session.send("fill", "{}")
        return session
    }

    @Test func aSnapshotMakesAnEqualSession() async throws {
        try await onVMThread {
            let session = try Self.filled()
            let written = session.written()
            #expect(written.hasPrefix(#"{"format":1,"id":"s1","initiator":1,"seq":4,"time":1790000000000,"random":[""#))
            try session.recover()
            #expect(session.written() == written)
        }
    }

    @Test func aSnapshotCutAnywhereIsRefused() async throws {
        try await onVMThread {
            let session = try Self.filled()
            let written = Array(session.written().utf8)
            for count in 0..<written.count {
                let report = #expect(throws: ValuesReport.self) { try session.recover(from: written.prefix(count)) }
                #expect(report?.code == "invalid_snapshot")
            }
            #expect(Array(session.written().utf8) == written)
        }
    }

    @Test func aDamagedByteIsRefusedOrMakesAConsistentSession() async throws {
        try await onVMThread {
            let session = try Self.filled()
            let written = Array(session.written().utf8)
            for index in written.indices {
                for byte: UInt8 in [0, 0x22, 0x30, 0x5b, 0x7d, 0xff] {
                    var damaged = written
                    damaged[index] = byte
                    try? session.recover(from: damaged)
                    #expect(session.stateBytes == session.state.utf8.count)
                }
            }
        }
    }

    @Test(arguments: [
        (#""format":1"#, #""format":2"#, "another version"), (#""format":1"#, #""format":1,"format":1"#, "duplicate key"),
        (#""seq":4"#, #""seq":-4"#, "negative"),
        (#""seq":4"#, #""seq":4.0"#, "an integer is expected"), (#""seq":4,"#, "", "a field is missing"),
        (#""seq":4"#, #""seq":4,"more":1"#, "unknown field"),
        (#""initiator":1"#, #""initiator":4294967296"#, "does not fit"), (#""participant":2"#, #""participant":1"#, "taken"),
        (#""id":1,"due""#, #""id":2,"due""#, "not in the order"), (#""next_timer":3"#, #""next_timer":2"#, "still to be given"),
        (#""parameters":{}"#, #""parameters":[]"#, "an object is expected"), (#""state":{"#, #""state":5,"x":{"#, "the state must be"),
        (#""real":0.1"#, #""real":1e999"#, "number too large"), (#""real":0.1"#, #""number":0.1"#, "duplicate key"),
        (#""real":0.1"#, #""real":"\ud800""#, "lone surrogate"), (#""empty":{}"#, #""empty":{]"#, "expected"),
        (#""empty":{}"#, "\"empty\":\(String(repeating: "[", count: 64))\(String(repeating: "]", count: 64))", "too deeply nested"),
    ])
    func aSnapshotThatCannotBeIsRefusedWithAReason(part: String, damaged: String, reason: String) async throws {
        try await onVMThread {
            let session = try Self.filled()
            let written = session.written()
            guard let range = written.firstRange(of: part) else {
                Issue.record("\(part) is not in \(written)")
                return
            }
            var text = written
            text.replaceSubrange(range, with: damaged)
            let bytes = Array(text.utf8)
            let report = #expect(throws: ValuesReport.self) { try session.recover(from: bytes) }
            #expect(report?.message.contains(reason) == true, "got \(report?.message ?? "")")
            #expect(session.written() == written)
        }
    }
}
