internal import ActivityModel
internal import SessionCore
package import SessionHost
package import WebSockets

/// Joins a server's sockets to a host's groups: connections become peers, requests become answers.
///
/// Service thread only.
package final class Gateway: ServerDelegate {
    let configuration: GatewayConfiguration
    let host: Host
    let pages: Pages
    var groupBudget = AddressBudget()
    private(set) var activities = ActivityCards()
    /// Whether the host takes new people: false before it listens and once it stops.
    package var isReady = false
    private let admission: Admission
    private var router = Router(routes: [])

    package init(configuration: GatewayConfiguration, host: Host) {
        self.configuration = configuration
        self.host = host
        pages = Pages(configuration)
        admission = Admission(configuration)
        router = Router(routes: pageRoutes + groupRoutes + activityRoutes + statusRoutes)
    }

    /// What `/v1/activities` and `/activities/` show from now on.
    package func setActivities(_ cards: [ActivityCard]) {
        activities.replace(with: cards)
    }

    /// Headers that every response of the server should have.
    package static let commonHeaders: [HTTPHeaders.Field] = [
        .init(name: "x-content-type-options", value: "nosniff"),
        .init(name: "referrer-policy", value: "no-referrer"),
        .init(name: "cross-origin-resource-policy", value: "same-origin"),
    ]

    // MARK: HTTP

    package func server(_ server: Server, request: HTTPRequest, exchange: HTTPExchange) {
        let caller: Caller
        switch admission.admit(request) {
        case .success(let admitted): caller = admitted
        case .failure(let refusal): return exchange.respond(refusal.response)
        }
        switch router.match(method: request.method, path: request.path) {
        case .found(let route, let captures):
            if route.method == .post, !admission.allowsOrigin(of: request, caller: caller) {
                return exchange.respond(Self.foreignOrigin.response)
            }
            route.handler(Visit(request: request, caller: caller, captures: captures, server: server, exchange: exchange))
        case .otherMethods(let allow):
            var response = Refusal(405, "method_not_allowed", "this path answers \(allow)").response
            response.headers.append(.init(name: "allow", value: allow))
            exchange.respond(response)
        case .nothing:
            exchange.respond(Refusal.notFound.response)
        }
    }

    private static let foreignOrigin = Refusal(403, "forbidden", "pages of this origin may not use this host; name it with --allow-origin")

    // MARK: WebSocket

    package func server(_ server: Server, upgrade request: HTTPRequest) -> HTTPResponse? {
        switch admission.admit(request) {
        case .failure(let refusal): refusal.response
        case .success(let caller): admission.allowsOrigin(of: request, caller: caller) ? nil : Self.foreignOrigin.response
        }
    }

    package func server(_ server: Server, opened connection: Connection) {
        let caller = try? admission.admit(connection.request).get()
        connection.context = host.opened(SocketTransport(connection), address: caller?.address ?? connection.request.remoteAddress.text)
    }

    package func server(_ server: Server, connection: Connection, received text: UnsafeRawBufferPointer) {
        guard let peer = connection.context as? Peer else { return }
        host.received(peer, frame: text)
    }

    package func server(_ server: Server, drained connection: Connection) {
        guard let peer = connection.context as? Peer else { return }
        host.drained(peer)
    }

    package func server(_ server: Server, closed connection: Connection) {
        guard let peer = connection.context as? Peer else { return }
        connection.context = nil
        host.closed(peer)
    }
}
