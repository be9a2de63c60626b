import Foundation
import Testing
import WebSockets

@Suite("Lifetime")
struct LifetimeTests {
    @Test("Stopping closes every WebSocket with 1012 and ends the server, also when a client does not answer")
    func stop() throws {
        let host = try EchoHost { $0.closeSeconds = 0.2 }
        try host.run { host in
            let clients = try (0..<20).map { _ in try RawClient.upgraded(port: host.port) }
            let idle = try RawClient(port: host.port)
            idle.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = try idle.readResponse()
            host.server.stop()
            for client in clients { #expect(try client.readFrame().closeCode == 1012) }
            #expect(try idle.readToEnd() == [])
            #expect(host.waitForStop())
            #expect(host.allEvents.filter { $0.hasPrefix("closed ") }.count == 20)
            #expect(throws: RawClient.Failure.self) { try RawClient(port: host.port) }
        }
    }

    @Test("What can't be finished does not hold up the end: an open answer, a file nobody takes, a message nobody reads")
    func stopWithWorkLeft() throws {
        let host = try EchoHost { $0.closeSeconds = 0.1 }
        let chunk = [UInt8](repeating: 0x61, count: 8_000_000)
        host.onRequest = { request, exchange in
            host.note("request")
            if request.path == "/file" {
                exchange.respond(HTTPResponse(status: 200, body: .file(descriptor: open("/dev/zero", O_RDONLY), offset: 0, length: 1 << 40)))
            } else {
                host.server.schedule(afterMilliseconds: 60_000) { exchange.respond(.text(200, "late")) }
            }
        }
        host.onMessage = { connection, _ in
            host.note("message")
            connection.send(chunk)
        }
        try host.run { host in
            let asking = try RawClient(port: host.port)
            asking.send("GET /late HTTP/1.1\r\nHost: a\r\n\r\n")
            let loading = try RawClient(port: host.port, receiveBuffer: 4096)
            loading.send("GET /file HTTP/1.1\r\nHost: a\r\n\r\n")
            let flooded = try RawClient.upgraded(port: host.port, receiveBuffer: 4096)
            flooded.send(masked(0x81, "x"))
            #expect(host.wait { Set($0).count == 3 && $0.count == 4 })
            host.server.stop()
            #expect(host.waitForStop())
            #expect(host.allEvents.last == "closed 1")
        }
    }

    @Test("A server can be stopped before it has run, and work posted after the end is dropped")
    func stopBeforeRun() throws {
        let host = try EchoHost()
        host.server.stop()
        host.run { host in #expect(host.waitForStop()) }
        host.server.post { Issue.record("ran after the end") }
    }

    @Test("Work scheduled by the owner does not run after the end, nor hold it up")
    func scheduledWorkAtTheEnd() throws {
        let start = Date()
        try EchoHost().run { host in
            host.post { _ in host.server.schedule(afterMilliseconds: 60_000) { Issue.record("ran") } }
        }
        #expect(Date().timeIntervalSince(start) < 30)
    }

    @Test("Work posted from many threads runs on the service thread, in each thread's order")
    func post() throws {
        try EchoHost().run { host in
            let threads = 4
            let each = 5000
            for thread in 0..<threads {
                Thread { for number in 0..<each { host.post { _ in host.note("\(thread) \(number)") } } }.start()
            }
            #expect(host.wait { $0.count == threads * each })
            for thread in 0..<threads {
                let mine = host.allEvents.filter { $0.hasPrefix("\(thread) ") }
                #expect(mine == (0..<each).map { "\(thread) \($0)" })
            }
        }
    }

    @Test("Scheduled work runs in the order of its times, and not when it was cancelled")
    func schedule() throws {
        try EchoHost().run { host in
            host.post { _ in
                host.server.schedule(afterMilliseconds: 40) { host.note("late") }
                host.server.schedule(afterMilliseconds: 1) { host.note("early") }
                let cancelled = host.server.schedule(afterMilliseconds: 10) { host.note("cancelled") }
                cancelled.cancel()
                cancelled.cancel()
                host.server.schedule(afterMilliseconds: 20) { host.note(cancelled.isPending ? "pending" : "middle") }
            }
            #expect(host.wait { $0.count >= 3 })
            #expect(host.allEvents == ["early", "middle", "late"])
        }
    }

    @Test("Messages can be sent from work that another thread posted")
    func sendFromPost() throws {
        try EchoHost().run { host in
            let clients = try (0..<5).map { _ in try RawClient.upgraded(port: host.port) }
            #expect(host.wait { $0.count == 5 })
            host.post { connections in
                for connection in connections { connection.send(Array("to \(connection.id)".utf8)) }
            }
            for client in clients { #expect(String(decoding: try client.readFrame().payload, as: UTF8.self).hasPrefix("to ")) }
        }
    }

    @Test("A closed connection says its code and reason, and what comes afterwards is not delivered")
    func close() throws {
        let host = try EchoHost()
        host.onMessage = { connection, text in
            host.note("message \(String(decoding: text, as: UTF8.self))")
            connection.close(code: 4403, reason: String(repeating: "ü", count: 100))
            connection.send(Array("too late".utf8))
        }
        try host.run { host in
            let client = try RawClient.upgraded(port: host.port)
            client.send(masked(0x81, "one") + masked(0x81, "two"))
            let frame = try client.readFrame()
            #expect(frame.closeCode == 4403)
            #expect(String(validating: frame.payload.dropFirst(2), as: UTF8.self) == String(repeating: "ü", count: 61))
            client.send(masked(0x88, [0x11, 0x33]))
            #expect(try client.readToEnd() == [])
            #expect(host.wait { $0.contains("closed 1") })
            #expect(host.allEvents == ["opened 1", "message one", "closed 1"])
        }
    }

    @Test("A connection that is cut is told as closed once")
    func cut() throws {
        try EchoHost().run { host in
            do {
                let client = try RawClient.upgraded(port: host.port)
                client.send([0x81, 0xFF, 0])
            }
            #expect(host.wait { $0.contains("closed 1") })
            host.post { connections in host.note("left \(connections.count)") }
            #expect(host.wait { $0.last == "left 0" })
        }
    }

    @Test("A client that does not read leaves bytes pending, holds up nobody, and drains when it reads again")
    func slowReader() throws {
        let chunk = [UInt8](repeating: 0x61, count: 1_000_000)
        let host = try EchoHost()
        host.onMessage = { connection, text in
            if text == Array("flood".utf8) {
                for _ in 0..<8 { connection.send(chunk) }
                host.note("pending \(connection.isPending && connection.pendingBytes > 0)")
            } else {
                connection.send(text)
            }
        }
        try host.run { host in
            let slow = try RawClient.upgraded(port: host.port, receiveBuffer: 4096)
            let other = try RawClient.upgraded(port: host.port)
            slow.send(masked(0x81, "flood"))
            #expect(host.wait { $0.contains("pending true") })
            // What the slow one sends is still read: a ping, and another message.
            slow.send(masked(0x89, "old") + masked(0x89, "new") + masked(0x81, "after"))
            other.send(masked(0x81, "hello"))
            #expect(try other.readFrame() == .text("hello"))
            for _ in 0..<8 { #expect(try slow.readFrame().payload == chunk) }
            #expect(
                Set([try slow.readFrame(), try slow.readFrame()].map(\.description))
                    == Set([RawClient.Frame.text("after"), .pong("new")].map(\.description)))
            #expect(host.wait { $0.contains("drained 1") })
        }
    }

    @Test("A paused connection keeps its messages in order until it is resumed")
    func pause() throws {
        let host = try EchoHost()
        host.onMessage = { connection, text in
            let text = String(decoding: text, as: UTF8.self)
            host.note(text)
            if text == "1" { connection.pauseReading() }
            if text == "blink" {
                connection.pauseReading()
                connection.resumeReading()
            }
        }
        try host.run { host in
            let client = try RawClient.upgraded(port: host.port)
            client.send(masked(0x81, "1") + masked(0x81, "2") + Array(masked(0x81, "blink").dropLast(3)))
            #expect(host.wait { $0.contains("1") })
            client.send(Array(masked(0x81, "blink").suffix(3)) + masked(0x81, "4"))
            host.post { _ in host.note("posted") }
            #expect(host.wait { $0.last == "posted" })
            #expect(host.allEvents == ["opened 1", "1", "posted"])
            host.post { $0[0].resumeReading() }
            #expect(host.wait { $0.last == "4" })
            #expect(host.allEvents.suffix(4) == ["posted", "2", "blink", "4"])
        }
    }

    @Test("Many clients at once get back what they sent, each its own")
    func manyClients() throws {
        try EchoHost { $0.connectionsPerAddress = 1000 }.run { host in
            let clients = try (0..<200).map { _ in try RawClient.upgraded(port: host.port) }
            for round in 0..<20 {
                for (number, client) in clients.enumerated() { client.send(masked(0x81, "\(number) \(round)")) }
            }
            for round in 0..<20 {
                for (number, client) in clients.enumerated() { #expect(try client.readFrame() == .text("\(number) \(round)")) }
            }
        }
    }

    @Test("A hundred thousand small messages come back in order")
    func throughput() throws {
        try EchoHost().run { host in
            let client = try RawClient.upgraded(port: host.port)
            let bunch = (0..<1000).flatMap { masked(0x81, "message \($0)") }
            for _ in 0..<100 {
                client.send(bunch)
                for number in 0..<1000 { #expect(try client.readFrame() == .text("message \(number)")) }
            }
        }
    }
}
