import Foundation
import Testing
import WebSockets

/// One request, byte for byte, and the start of the answer to it.
struct Exchange: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let status: Int
    let bytes: [UInt8]

    init(_ name: String, _ status: Int, _ text: String) {
        testDescription = name
        self.status = status
        bytes = Array(text.utf8)
    }

    static let refused: [Exchange] = [
        Exchange("an unknown transfer coding", 400, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"),
        Exchange("a blank before the colon", 400, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n"),
        Exchange("both lengths", 400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        Exchange("chunked alone", 411, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        Exchange("chunked twice", 400, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"),
        Exchange("chunked in HTTP/1.0", 400, "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"),
        Exchange("two lengths", 400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!"),
        Exchange("two lengths that agree", 400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello"),
        Exchange("a list of lengths", 400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5, 5\r\n\r\nhello"),
        Exchange("a signed length", 400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +5\r\n\r\nhello"),
        Exchange("an empty length", 400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\nhello"),
        Exchange("a length of 30 digits", 413, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(String(repeating: "9", count: 30))\r\n\r\n"),
        Exchange("a body that is too large", 413, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1048577\r\n\r\n"),
        Exchange("a bare line feed", 400, "GET / HTTP/1.1\nHost: a\n\n"),
        Exchange("a bare line feed after a header", 400, "GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n"),
        Exchange("a carriage return inside a line", 400, "GET / HTTP/1.1\r\nHost: a\rb\r\n\r\n"),
        Exchange("a folded line", 400, "GET / HTTP/1.1\r\nHost: a\r\nX: b\r\n  c\r\n\r\n"),
        Exchange("a first line that begins with a blank", 400, "GET / HTTP/1.1\r\n Host: a\r\n\r\n"),
        Exchange("a header without a colon", 400, "GET / HTTP/1.1\r\nHost: a\r\nnonsense\r\n\r\n"),
        Exchange("a header without a name", 400, "GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n"),
        Exchange("a zero byte", 400, "GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n"),
        Exchange("a control character", 400, "GET / HTTP/1.1\r\nHost: a\u{1}b\r\n\r\n"),
        Exchange("no Host", 400, "GET / HTTP/1.1\r\n\r\n"),
        Exchange("two Hosts", 400, "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"),
        Exchange("two Origins", 400, "GET / HTTP/1.1\r\nHost: a\r\nOrigin: http://a\r\nOrigin: http://b\r\n\r\n"),
        Exchange("a method in small letters", 400, "get / HTTP/1.1\r\nHost: a\r\n\r\n"),
        Exchange("no version", 400, "GET /\r\n\r\n"),
        Exchange("two blanks", 400, "GET  / HTTP/1.1\r\nHost: a\r\n\r\n"),
        Exchange("HTTP/2 in words", 505, "GET / HTTP/2.0\r\nHost: a\r\n\r\n"),
        Exchange("a target that is no path", 400, "GET a HTTP/1.1\r\nHost: a\r\n\r\n"),
        Exchange("an asterisk", 400, "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n"),
        Exchange("a fragment", 400, "GET /#a HTTP/1.1\r\nHost: a\r\n\r\n"),
        Exchange("an encoded zero byte", 400, "GET /x%00.html HTTP/1.1\r\nHost: a\r\n\r\n"),
        Exchange("an encoded line end", 400, "GET /x%0d%0ay HTTP/1.1\r\nHost: a\r\n\r\n"),
        Exchange("half an encoded byte", 400, "GET /x%4 HTTP/1.1\r\nHost: a\r\n\r\n"),
        Exchange("a wrong digit", 400, "GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n"),
        Exchange("a path that is no UTF-8", 400, "GET /%c0%af HTTP/1.1\r\nHost: a\r\n\r\n"),
        Exchange("a raw umlaut", 400, "GET /ä HTTP/1.1\r\nHost: a\r\n\r\n"),
        Exchange("two empty lines", 400, "\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"),
        Exchange("another protocol", 400, "\u{16}\u{3}\u{1}\r\n\r\n"),
        Exchange("a million headers", 431, "GET / HTTP/1.1\r\nHost: a\r\n" + String(repeating: "a: 1\r\n", count: 1_000_000)),
        Exchange("101 headers", 431, "GET / HTTP/1.1\r\nHost: a\r\n" + String(repeating: "a: 1\r\n", count: 100) + "\r\n"),
        Exchange("a header of 10 MB", 431, "GET / HTTP/1.1\r\nHost: a\r\nX: " + String(repeating: "x", count: 10_000_000)),
        Exchange("a request line of 10 MB", 431, "GET /" + String(repeating: "x", count: 10_000_000)),
    ]

    static let answered: [Exchange] = [
        Exchange("GET / - a 0", 200, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"),
        Exchange("GET / - a 0", 200, "\r\nGET / HTTP/1.1\r\nHost:\t a \r\n\r\n"),
        Exchange("POST /p x=%20 a 5", 200, "POST /p?x=%20 HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"),
        Exchange("GET /a b/ü - a 0", 200, "GET /a%20b/%C3%BC HTTP/1.1\r\nhOST: a\r\n\r\n"),
        Exchange("GET /../secret - a 0", 200, "GET /..%2fsecret HTTP/1.1\r\nHost: a\r\n\r\n"),
        Exchange("GET /%2e%2e/x - a 0", 200, "GET /%252e%252e/x HTTP/1.1\r\nHost: a\r\n\r\n"),
        Exchange("GET /p ? b:80 0", 200, "GET http://b:80/p?? HTTP/1.1\r\nHost: a\r\n\r\n"),
        Exchange("GET / q b 0", 200, "GET http://b?q HTTP/1.1\r\nHost: a\r\n\r\n"),
        Exchange("GET / - - 0", 200, "GET / HTTP/1.0\r\n\r\n"),
    ]
}

@Suite("Requests")
struct RequestTests {
    @Test("Ambiguous and oversized requests are refused, and the connection is closed", arguments: Exchange.refused)
    func refused(_ exchange: Exchange) throws {
        try EchoHost().run { host in
            let client = try RawClient(port: host.port)
            client.send(exchange.bytes)
            let answer = String(decoding: try client.readToEnd(), as: UTF8.self)
            #expect(answer.hasPrefix("HTTP/1.1 \(exchange.status) "))
            #expect(answer.contains("\r\nconnection: close\r\n"))
            #expect(!answer.contains("\nHTTP/1.1 "), "what follows is not read as a request")
        }
    }

    @Test("Requests are read as they are meant, also when they come byte by byte", arguments: Exchange.answered, [false, true])
    func answered(_ exchange: Exchange, inDrips: Bool) throws {
        try EchoHost().run { host in
            let client = try RawClient(port: host.port)
            if inDrips {
                for byte in exchange.bytes { client.send([byte]) }
            } else {
                client.send(exchange.bytes)
            }
            let answer = try client.readResponse()
            #expect(answer.head.hasPrefix("HTTP/1.1 \(exchange.status) "))
            #expect(answer.body == exchange.testDescription + "\n")
        }
    }

    @Test("Requests in a row are answered in order on one connection, also those that are answered later")
    func pipeline() throws {
        let host = try EchoHost()
        host.onRequest = { request, exchange in
            host.server.schedule(afterMilliseconds: request.path == "/0" ? 50 : 0) { exchange.respond(.text(200, request.path)) }
        }
        try host.run { host in
            let client = try RawClient(port: host.port)
            client.send((0..<100).map { "GET /\($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined())
            for number in 0..<100 { #expect(try client.readResponse().body == "/\(number)\n") }
            client.send("GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            #expect(String(decoding: try client.readToEnd(), as: UTF8.self).hasSuffix("/last\n"))
        }
    }

    @Test("A pipeline whose answers nobody reads stops being read itself")
    func unreadPipeline() throws {
        let host = try EchoHost { $0.silentSeconds = 0.4 }
        let page = [UInt8](repeating: 0x61, count: 200_000)
        host.onRequest = { _, exchange in
            host.note("request")
            exchange.respond(HTTPResponse(status: 200, body: .bytes(page)))
        }
        try host.run { host in
            let client = try RawClient(port: host.port, receiveBuffer: 4096)
            for _ in 0..<1000 where !client.send(String(repeating: "GET / HTTP/1.1\r\nHost: a\r\n\r\n", count: 100)) { break }
            #expect(host.allEvents.count < 100)
        }
    }

    @Test("HEAD gets the head alone, and 304 and 204 have no length")
    func bodyless() throws {
        let host = try EchoHost()
        host.onRequest = { request, exchange in
            exchange.respond(request.path == "/" ? .text(200, "hello") : HTTPResponse(status: Int(request.path.dropFirst()) ?? 500))
        }
        try host.run { host in
            let client = try RawClient(port: host.port)
            client.send(
                "HEAD / HTTP/1.1\r\nHost: a\r\n\r\nGET /304 HTTP/1.1\r\nHost: a\r\n\r\nGET /204 HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"
            )
            #expect(try client.readHead().contains("content-length: 6\r\n"))
            #expect(try !client.readHead().contains("content-length"))
            #expect(try !client.readHead().contains("content-length"))
            #expect(try client.readResponse().body == "hello\n")
        }
    }

    @Test("A file is sent from the middle, whole and in order, and its descriptor is closed")
    func file() throws {
        let path = NSTemporaryDirectory() + "activityhost-\(UUID().uuidString)"
        let content = (0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        try Data(content).write(to: URL(fileURLWithPath: path))
        defer { unlink(path) }
        let host = try EchoHost()
        host.onRequest = { request, exchange in
            let body = HTTPResponse.Body.file(descriptor: open(path, O_RDONLY), offset: 1000, length: content.count - 1000)
            exchange.respond(HTTPResponse(status: 206, body: body))
        }
        try host.run { host in
            let client = try RawClient(port: host.port)
            client.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try client.readHead().contains("content-length: 4999000\r\n"))
            for _ in 0..<2 {
                client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                _ = try client.readHead()
                #expect(try client.read(content.count - 1000) == Array(content[1000...]))
            }
            let cut = try RawClient(port: host.port, receiveBuffer: 4096)
            cut.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = try cut.readHead()
        }
        let leaked = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path
        }
        #expect(leaked.isEmpty)
    }

    @Test("A body is asked for when the client waits for that")
    func expectContinue() throws {
        try EchoHost().run { host in
            let client = try RawClient(port: host.port)
            client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
            #expect(try client.readHead() == "HTTP/1.1 100 Continue\r\n\r\n")
            client.send("hello")
            #expect(try client.readResponse().body == "POST / - a 5\n")
        }
    }

    @Test("Headers of the configuration come with every answer, and a value can't begin a new line")
    func responseHeaders() throws {
        let host = try EchoHost { $0.responseHeaders = [.init(name: "x-frame-options", value: "DENY"), .init(name: "x-own", value: "no")] }
        host.onRequest = { _, exchange in
            exchange.respond(
                HTTPResponse(status: 200, headers: [.init(name: "x-own", value: "yes"), .init(name: "location", value: "/\r\nset-cookie: a=b")]))
        }
        try host.run { host in
            let client = try RawClient(port: host.port)
            client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            let head = try client.readHead()
            #expect(head.contains("\r\nx-frame-options: DENY\r\n"))
            #expect(head.contains("\r\nx-own: yes\r\n") && !head.contains("x-own: no"))
            #expect(!head.contains("set-cookie"))
            #expect(head.contains(" GMT\r\n") && !head.lowercased().contains("\r\nserver:"))
        }
    }

    @Test(
        "A request for the socket that asks wrongly is told how",
        arguments: [
            ("GET /v1/socket HTTP/1.1\r\nHost: a\r\n\r\n", 426),
            ("POST /v1/socket HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", 405),
            (RawClient.upgrade.replacingOccurrences(of: "Version: 13", with: "Version: 8"), 426),
            (RawClient.upgrade.replacingOccurrences(of: "dGhlIHNhbXBsZSBub25jZQ==", with: "dGhlIHNhbXBsZQ=="), 400),
            (RawClient.upgrade.replacingOccurrences(of: "activityhost.v1", with: "chat"), 400),
            (RawClient.upgrade.replacingOccurrences(of: "HTTP/1.1", with: "HTTP/1.0"), 426),
            (RawClient.upgrade.replacingOccurrences(of: "Host: localhost", with: "Host: localhost\r\nOrigin: https://evil.example"), 403),
            (RawClient.upgrade.replacingOccurrences(of: "Host: localhost", with: "Host: localhost\r\nContent-Length: 2"), 400),
        ])
    func wrongUpgrade(_ request: String, _ status: Int) throws {
        try EchoHost().run { host in
            let client = try RawClient(port: host.port)
            client.send(request)
            #expect(String(decoding: try client.readToEnd(), as: UTF8.self).hasPrefix("HTTP/1.1 \(status) "))
        }
    }
}
