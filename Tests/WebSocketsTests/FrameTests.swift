import Testing
import WebSockets

private func emptyContinuations(_ count: Int) -> [UInt8] {
    Array(repeatElement([0x00, 0x80, 1, 2, 3, 4], count: count).joined())
}

/// What RFC 6455 forbids a client, and what must happen then. Every case has a connection of its own.
struct Hostile: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let bytes: [UInt8]
    let code: Int

    init(_ name: String, _ code: Int, _ bytes: [UInt8]) {
        testDescription = name
        self.bytes = bytes
        self.code = code
    }

    static let all: [Hostile] = [
        Hostile("a ping without FIN", 1002, masked(0x09, "x")),
        Hostile("a ping of 126 bytes", 1002, masked(0x89, String(repeating: "x", count: 126))),
        Hostile("a ping of 126 bytes, header only", 1002, [0x89, 0x80 | 126]),
        Hostile("a continuation first", 1002, masked(0x80, "llo")),
        Hostile("a continuation first, header only", 1002, [0x00, 0x83]),
        Hostile("a text inside a fragmented text", 1002, masked(0x01, "he") + masked(0x81, "llo")),
        Hostile("a million empty continuations", 1002, masked(0x01, "a") + emptyContinuations(1_000_000)),
        Hostile("RSV1 without an extension", 1002, masked(0xC1, "x")),
        Hostile("RSV2", 1002, masked(0xA1, "x")),
        Hostile("RSV3", 1002, masked(0x91, "x")),
        Hostile("RSV1 alone in one byte", 1002, [0xC1]),
        Hostile("an unmasked frame", 1002, [0x81, 0x02, 0x68, 0x69]),
        Hostile("opcode 3", 1002, masked(0x83, "x")),
        Hostile("opcode 0xB", 1002, masked(0x8B, "x")),
        Hostile("a length with its top bit set", 1002, [0x81, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 1]),
        Hostile("a length of all ones", 1002, [0x81, 0xFF] + [UInt8](repeating: 0xFF, count: 12)),
        Hostile("a length of 2^40", 1009, [0x81, 0xFF, 0, 0, 1, 0, 0, 0, 0, 0]),
        Hostile("a length of 2^62 and a mask", 1009, [0x81, 0xFF, 0x40, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]),
        Hostile("one byte too many", 1009, [0x81, 0xFF, 0, 0, 0, 0, 0, 0x10, 0, 1]),
        Hostile("fragments that are too long together", 1009, masked(0x01, [UInt8](repeating: 0x61, count: 1_048_570)) + masked(0x80, "7 bytes")),
        Hostile("a length that is not written the short way", 1002, [0x81, 0x80 | 126, 0, 5, 1, 2, 3, 4]),
        Hostile("a binary message", 1003, masked(0x82, "x")),
        Hostile("overlong UTF-8", 1007, masked(0x81, [0xC0, 0xAF])),
        Hostile("a lone surrogate", 1007, masked(0x81, [0xED, 0xA0, 0x80])),
        Hostile("half a character at the end", 1007, masked(0x81, [0x61, 0xE2, 0x82])),
        Hostile("bad UTF-8 over two fragments", 1007, masked(0x01, [0xE2, 0x82]) + masked(0x80, [0x61])),
        Hostile("a close of one byte", 1002, masked(0x88, [3])),
        Hostile("close code 1005", 1002, masked(0x88, [0x03, 0xED])),
        Hostile("close code 999", 1002, masked(0x88, [0x03, 0xE7])),
        Hostile("a close reason that is no text", 1007, masked(0x88, [0x03, 0xE8, 0xFF])),
    ]
}

@Suite("Frames")
struct FrameTests {
    @Test("Forbidden bytes close their connection with the right code and touch no other", arguments: Hostile.all)
    func hostile(_ hostile: Hostile) throws {
        try EchoHost().run { host in
            let bystander = try RawClient.upgraded(port: host.port)
            let client = try RawClient.upgraded(port: host.port)
            client.send(hostile.bytes)
            #expect(try client.readCloseCode() == hostile.code)
            #expect(try client.readToEnd() == [])
            bystander.send(masked(0x81, "still here"))
            #expect(try bystander.readFrame() == .text("still here"))
        }
    }

    @Test("Forbidden bytes are refused the same when they come one by one", arguments: Hostile.all.filter { $0.bytes.count < 1000 })
    func hostileInDrips(_ hostile: Hostile) throws {
        try EchoHost().run { host in
            let client = try RawClient.upgraded(port: host.port)
            for byte in hostile.bytes where !client.send([byte]) { break }
            #expect(try client.readCloseCode() == hostile.code)
        }
    }

    @Test("A ping between two fragments is answered, and the message is whole")
    func pingBetweenFragments() throws {
        try EchoHost().run { host in
            let client = try RawClient.upgraded(port: host.port)
            client.send(masked(0x01, "he") + masked(0x89, "x") + masked(0x80, "llo"))
            #expect(try client.readFrame() == .pong("x"))
            #expect(try client.readFrame() == .text("hello"))
        }
    }

    @Test("Messages of every length class come back the same", arguments: [0, 1, 125, 126, 127, 65_535, 65_536, 200_000, 1_048_576])
    func lengths(_ length: Int) throws {
        try EchoHost().run { host in
            let client = try RawClient.upgraded(port: host.port)
            let payload = (0..<length).map { UInt8(0x20 + $0 % 90) }
            client.send(masked(0x81, payload))
            #expect(try client.readFrame() == RawClient.Frame(opcode: 1, payload: payload))
        }
    }

    @Test("A message may come in single bytes, in fragments and in a bunch, cut anywhere", arguments: 1..<20)
    func cuts(_ piece: Int) throws {
        try EchoHost().run { host in
            let client = try RawClient.upgraded(port: host.port)
            let texts = ["", "a", "grüße 🎲", String(repeating: "ä", count: 100), "end"]
            var bytes: [UInt8] = []
            for text in texts {
                bytes += masked(0x81, text) + masked(0x8A, "nobody asked")
                bytes += masked(0x01, "") + masked(0x00, text) + masked(0x80, "")
            }
            var start = 0
            while start < bytes.count {
                client.send(Array(bytes[start..<min(start + piece, bytes.count)]))
                start += piece
            }
            for text in texts {
                #expect(try client.readFrame() == .text(text))
                #expect(try client.readFrame() == .text(text))
            }
        }
    }

    @Test("A client that closes gets its code back and the end of the connection")
    func clientCloses() throws {
        try EchoHost().run { host in
            let client = try RawClient.upgraded(port: host.port)
            client.send(masked(0x88, [0x03, 0xE9]))
            #expect(try client.readFrame() == RawClient.Frame(opcode: 8, payload: [0x03, 0xE9]))
            #expect(try client.readToEnd() == [])
            #expect(host.wait { $0.contains("closed 1") })
            let silent = try RawClient.upgraded(port: host.port)
            silent.send(masked(0x88, []))
            #expect(try silent.readFrame() == RawClient.Frame(opcode: 8, payload: []))
        }
    }

    @Test("What comes in the packet of the upgrade is read too")
    func bytesBehindTheUpgrade() throws {
        try EchoHost().run { host in
            let client = try RawClient(port: host.port)
            client.send(Array(RawClient.upgrade.utf8) + masked(0x81, "at once") + masked(0x81, "twice"))
            let head = try client.readHead()
            #expect(head.contains("sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"))
            #expect(head.contains("sec-websocket-protocol: activityhost.v1\r\n"))
            #expect(try client.readFrame() == .text("at once"))
            #expect(try client.readFrame() == .text("twice"))
        }
    }
}
