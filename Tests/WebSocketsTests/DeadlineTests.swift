import Foundation
import Testing
import WebSockets

@Suite("Deadlines and limits")
struct DeadlineTests {
    @Test("Headers that drip in are cut off at an absolute deadline, and silent connections too, while others are served")
    func slowHeaders() throws {
        try EchoHost { $0.headerSeconds = 0.5 }.run { host in
            let dripping = try RawClient(port: host.port)
            let silent = try RawClient(port: host.port)
            let upgraded = try RawClient.upgraded(port: host.port)
            let start = Date()
            // Each byte comes well before the deadline; all of them together don't.
            var sent = 0
            while Date().timeIntervalSince(start) < 5, dripping.send(sent == 0 ? "G" : "E") {
                sent += 1
                var pause = timespec(tv_sec: 0, tv_nsec: 20_000_000)
                nanosleep(&pause, nil)
            }
            #expect(Date().timeIntervalSince(start) < 4)
            #expect(try silent.readToEnd() == [])
            upgraded.send(masked(0x81, "unharmed"))
            #expect(try upgraded.readFrame() == .text("unharmed"))
        }
    }

    @Test(
        "A request that stays incomplete is answered with 408",
        arguments: ["GET / HTTP/1.1\r\nHo", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhell"])
    func incomplete(_ request: String) throws {
        let host = try EchoHost {
            $0.headerSeconds = 0.2
            $0.bodySeconds = 0.2
        }
        try host.run { host in
            let client = try RawClient(port: host.port)
            client.send(request)
            #expect(String(decoding: try client.readToEnd(), as: UTF8.self).hasPrefix("HTTP/1.1 408 "))
        }
    }

    @Test("A request that the owner never answers gets 503")
    func unanswered() throws {
        let host = try EchoHost { $0.answerSeconds = 0.1 }
        host.onRequest = { _, exchange in host.server.schedule(afterMilliseconds: 100_000) { exchange.respond(.text(200, "late")) } }
        try host.run { host in
            let client = try RawClient(port: host.port)
            client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(String(decoding: try client.readToEnd(), as: UTF8.self).hasPrefix("HTTP/1.1 503 "))
        }
    }

    @Test("An idle keep-alive connection is closed after its time")
    func idle() throws {
        try EchoHost { $0.idleSeconds = 0.1 }.run { host in
            let client = try RawClient(port: host.port)
            client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = try client.readResponse()
            #expect(try client.readToEnd() == [])
        }
    }

    @Test("A peer gets pings; one that answers them stays, one that is silent is dropped")
    func pings() throws {
        let host = try EchoHost {
            $0.pingSeconds = 0.1
            $0.silentSeconds = 0.6
        }
        try host.run { host in
            let silent = try RawClient.upgraded(port: host.port)
            let lively = try RawClient.upgraded(port: host.port)
            for _ in 0..<20 {
                #expect(try lively.readFrame() == RawClient.Frame(opcode: 9, payload: []))
                lively.send(masked(0x8A, ""))
            }
            #expect(host.wait { $0.contains("closed 1") })
            #expect(try silent.readToEnd().count % 2 == 0)
            lively.send(masked(0x81, "still here"))
            var frame = try lively.readFrame()
            while frame.opcode == 9 { frame = try lively.readFrame() }
            #expect(frame == .text("still here"))
            #expect(host.allReports.count == 1)
        }
    }

    @Test("Connections over the cap of their address are told so, and a freed place can be taken")
    func cap() throws {
        try EchoHost { $0.connectionsPerAddress = 3 }.run { host in
            var clients = try (0..<3).map { _ in try RawClient.upgraded(port: host.port) }
            let surplus = try RawClient(port: host.port)
            surplus.send(RawClient.upgrade)
            let answer = String(decoding: try surplus.readToEnd(), as: UTF8.self)
            #expect(answer.hasPrefix("HTTP/1.1 429 "))
            #expect(answer.contains(#""limit":"connections","allowed":3,"found":4"#))
            clients.removeFirst()
            #expect(host.wait { $0.contains("closed 1") })
            #expect(throws: Never.self) { try RawClient.upgraded(port: host.port) }
        }
    }

    @Test("Far too many connections from one address are not even answered")
    func flood() throws {
        try EchoHost { $0.connectionsPerAddress = 2 }.run { host in
            let clients = try (0..<20).map { _ in try RawClient(port: host.port) }
            for client in clients.dropFirst(4) { #expect(try client.readToEnd() == []) }
        }
    }

    @Test("Accepting rests when few descriptors are left, and goes on by itself when some are free again")
    func descriptors() throws {
        // As if the limit were a little above what is open now.
        let probe = open("/dev/null", O_RDONLY)
        close(probe)
        let host = try EchoHost {
            $0.connectionsPerAddress = 1000
            $0.highestDescriptor = Int(probe) + 60
        }
        try host.run { host in
            var clients = try (0..<200).map { _ in try RawClient(port: host.port) }
            let last = clients.removeLast()
            last.send(RawClient.upgrade)
            #expect(host.wait { $0.contains("report") })
            clients.removeAll()
            #expect(try last.readHead().hasPrefix("HTTP/1.1 101 "))
            #expect(host.allReports.count == 1)
        }
    }

    @Test("Addresses that carry others have no cap")
    func uncapped() throws {
        let host = try EchoHost {
            $0.connectionsPerAddress = 2
            $0.isUncapped = { $0 == "127.0.0.1" }
        }
        try host.run { host in
            let clients = try (0..<10).map { _ in try RawClient.upgraded(port: host.port) }
            #expect(clients.count == 10)
        }
    }

    @Test("Both families are listened on with one port, and a port that is taken is told with what to do")
    func addresses() throws {
        let host = try EchoHost { $0.listen = [ListenAddress(host: "127.0.0.1", port: 0), ListenAddress(host: "127.0.0.2", port: 0)] }
        host.run { host in
            #expect(host.server.boundPorts.count == 2)
            #expect(Set(host.server.boundPorts).count == 1)
            let failure = #expect(throws: ServerError.self) { try EchoHost { $0.listen = [ListenAddress(host: "127.0.0.1", port: host.port)] } }
            #expect(failure?.description == "cannot listen on 127.0.0.1:\(host.port): another program uses this port; choose another one, or port 0")
        }
        #expect(throws: ServerError.self) { try EchoHost { $0.listen = [ListenAddress(host: "localhost", port: 0)] } }
    }
}
