internal import WebSockets

/// One HTTP request on its way to an answer.
struct Visit {
    let request: HTTPRequest
    let caller: Caller
    /// What the placeholders of the route's path stand for.
    let captures: [String]
    /// The server that it came through.
    let server: Server
    private let exchange: HTTPExchange

    init(request: HTTPRequest, caller: Caller, captures: [String], server: Server, exchange: HTTPExchange) {
        self.server = server
        self.request = request
        self.caller = caller
        self.captures = captures
        self.exchange = exchange
    }

    func answer(_ response: HTTPResponse) {
        exchange.respond(response)
    }

    func answer(_ refusal: Refusal) {
        exchange.respond(refusal.response)
    }
}
