/// A numeric address and port to listen on. Port 0 lets the system pick one.
package struct ListenAddress: Sendable, Hashable {
    /// An IPv4 or IPv6 address in numbers, without brackets.
    package var host: String
    package var port: UInt16

    package init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }
}

/// What a ``Server`` is told once, before it runs. All lengths are bytes, all times seconds.
package struct ServerConfiguration: Sendable {
    /// Addresses to accept connections on. Those with port 0 share one port where that is possible.
    package var listen: [ListenAddress]
    /// The only path that upgrades to WebSocket.
    package var path = "/v1/socket"
    /// The subprotocol that is chosen when a client offers it.
    package var subprotocol = "activityhost.v1"
    /// Longest message a client may send; a longer one closes its connection with 1009.
    package var frameBytes = 1_048_576
    /// Longest body of an HTTP request; a longer one is answered with 413.
    package var bodyBytes = 1_048_576
    /// Longest request line and headers together; more is answered with 431.
    package var headerBytes = 16_384
    /// Time from the first moment of a connection, or the first byte of a later request, to the end of its headers.
    package var headerSeconds = 10.0
    /// Time from the end of the headers to the end of the body.
    package var bodySeconds = 30.0
    /// Time that an HTTP connection may wait for its next request.
    package var idleSeconds = 30.0
    /// Time that the owner may take for an answer; then the client gets 503.
    package var answerSeconds = 30.0
    /// Time between two pings on a WebSocket connection.
    package var pingSeconds = 25.0
    /// Time after which a peer that sends nothing at all, or takes nothing of a response, is dropped.
    package var silentSeconds = 60.0
    /// Time that closing waits for the peer's part of it.
    package var closeSeconds = 2.0
    /// Open connections that one remote address may have.
    package var connectionsPerAddress = 64
    /// Whether a remote address, in numbers, is without that cap: a proxy that carries the connections of many.
    package var isUncapped: @Sendable (String) -> Bool = { _ in false }
    /// Accepting rests above this descriptor, so that logs and files can still be opened. Nil: the process's limit, less 32 or a quarter.
    package var highestDescriptor: Int?
    /// Headers that every response gets, unless it has its own of the same name (in lower case).
    package var responseHeaders: [HTTPHeaders.Field] = []
    /// Told, on the service thread, what an operator should know. One sentence, no line end.
    package var report: @Sendable (String) -> Void = { _ in }

    package init(listen: [ListenAddress]) {
        self.listen = listen
    }
}

/// Why a server could not be made. The text says what, where and what to do next.
package struct ServerError: Error, CustomStringConvertible {
    package let description: String
}

/// What the owner of a ``Server`` hears from it. Everything is called on the service thread.
package protocol ServerDelegate: AnyObject {
    /// A request came in whole. Answer it now or later through `exchange`.
    func server(_ server: Server, request: HTTPRequest, exchange: HTTPExchange)
    /// A client wants to upgrade: nil accepts it, a response refuses it.
    func server(_ server: Server, upgrade request: HTTPRequest) -> HTTPResponse?
    /// A WebSocket connection is there; `connection.request` is the request that opened it.
    func server(_ server: Server, opened connection: Connection)
    /// One whole text message of valid UTF-8. The bytes are good until the method returns.
    func server(_ server: Server, connection: Connection, received text: UnsafeRawBufferPointer)
    /// What was pending on this connection has left: more may be sent.
    func server(_ server: Server, drained connection: Connection)
    /// The connection is gone. Called exactly once for each that was opened, never from within `send` or `close`.
    func server(_ server: Server, closed connection: Connection)
}
