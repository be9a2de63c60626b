import Foundation
import WebSockets

/// A server on a thread of its own that answers requests with what it understood and sends every message back.
///
/// What happens on the service thread is kept under a lock, so that a test can wait for it.
final class EchoHost: ServerDelegate, @unchecked Sendable {
    private(set) var server: Server!
    private let condition = NSCondition()
    private var events: [String] = []
    private var connections: [Connection] = []
    private var reports: [String] = []
    private var isRunning = true

    /// Answers a request in place of the echo; service thread.
    var onRequest: ((HTTPRequest, HTTPExchange) -> Void)?
    /// Sees a message in place of the echo; service thread.
    var onMessage: ((Connection, [UInt8]) -> Void)?
    var onDrained: ((Connection) -> Void)?

    var port: UInt16 { server.boundPorts[0] }

    init(_ configure: (inout ServerConfiguration) -> Void = { _ in }) throws {
        var configuration = ServerConfiguration(listen: [ListenAddress(host: "127.0.0.1", port: 0)])
        configure(&configuration)
        configuration.report = { [weak self] text in self?.note(report: text) }
        server = try Server(configuration: configuration, delegate: self)
    }

    /// Runs the server while `body` runs; it has ended when this returns.
    func run<Result>(_ body: (EchoHost) throws -> Result) rethrows -> Result {
        let thread = Thread { [self] in
            server.run()
            condition.withLock {
                isRunning = false
                condition.broadcast()
            }
        }
        thread.start()
        defer {
            server.stop()
            condition.withLock { while isRunning { condition.wait() } }
            // They hold the host, as it holds them.
            (onRequest, onMessage, onDrained) = (nil, nil, nil)
        }
        return try body(self)
    }

    /// Waits until the condition holds, for at most some seconds.
    func wait(until isMet: (_ events: [String]) -> Bool) -> Bool {
        let deadline = Date(timeIntervalSinceNow: 8)
        return condition.withLock {
            while !isMet(events) {
                if !condition.wait(until: deadline) { return isMet(events) }
            }
            return true
        }
    }

    func waitForStop() -> Bool {
        let deadline = Date(timeIntervalSinceNow: 8)
        return condition.withLock {
            while isRunning, condition.wait(until: deadline) {}
            return !isRunning
        }
    }

    /// Does something with the connections on the service thread.
    func post(_ work: @escaping @Sendable ([Connection]) -> Void) {
        server.post { [self] in work(connections) }
    }

    var allEvents: [String] { condition.withLock { events } }
    var allReports: [String] { condition.withLock { reports } }

    func note(_ event: String) {
        condition.withLock {
            events.append(event)
            condition.broadcast()
        }
    }

    private func note(report: String) {
        condition.withLock { reports.append(report) }
        note("report")
    }

    func server(_ server: Server, request: HTTPRequest, exchange: HTTPExchange) {
        if let onRequest { return onRequest(request, exchange) }
        let text = "\(request.method) \(request.path) \(request.query ?? "-") \(request.headers["host"] ?? "-") \(request.body.count)"
        exchange.respond(.text(200, text))
    }

    func server(_ server: Server, upgrade request: HTTPRequest) -> HTTPResponse? {
        request.headers["origin"] == "https://evil.example" ? .text(403, "not from there") : nil
    }

    func server(_ server: Server, opened connection: Connection) {
        connections.append(connection)
        note("opened \(connection.id)")
    }

    func server(_ server: Server, connection: Connection, received text: UnsafeRawBufferPointer) {
        if let onMessage { return onMessage(connection, Array(text)) }
        connection.send(text)
    }

    func server(_ server: Server, drained connection: Connection) {
        onDrained?(connection)
        note("drained \(connection.id)")
    }

    func server(_ server: Server, closed connection: Connection) {
        connections.removeAll { $0 === connection }
        note("closed \(connection.id)")
    }
}
