import ActivityModel
import Gateway
import Glibc
import LuaRuntime
import SessionCore
import SessionHost
import WebSockets

/// A host put together from its parts: catalogue, script engine, groups, sockets, pages. Runs on the thread that makes it.
final class HostService {
    let settings: HostSettings
    let data: DataDirectory
    let operatorToken: String
    private let catalogue: Catalogue
    private(set) var activities: CatalogueState
    private let host: Host
    private let gateway: Gateway
    private let server: Server
    /// The origin that links begin with.
    let origin: WebOrigin
    private let notice: @Sendable (String, String) -> Void

    /// Makes the parts and binds the addresses. `observe` is told what happens in groups, `notice` what happens to the program
    /// (an event's name and a sentence), on any thread.
    init(
        settings: HostSettings, folders: ResourceFolders, data: DataDirectory, observe: @escaping (HostEvent) -> Void,
        notice: @escaping @Sendable (String, String) -> Void
    ) throws {
        self.settings = settings
        self.data = data
        self.notice = notice
        operatorToken = try data.operatorToken()
        catalogue = Catalogue(directories: folders.activities, limits: settings.limits)
        activities = catalogue.scan()
        let front = Front()
        server = try Self.bind(settings, delegate: front, report: { notice("server", $0) })
        origin = Self.linkOrigin(settings, port: server.boundPorts[0])
        host = Host(
            configuration: Self.hostConfiguration(settings), activities: activities.activities, loop: ServerLoop(server), log: MemoryEventLog(),
            makeEngine: { deliver in LuaEngine(workers: settings.workers, limits: settings.limits, deliver: deliver) }, observe: observe)
        let pages = Self.gatewayConfiguration(settings, origin: origin, operatorToken: operatorToken, web: try ResourceFolders.web())
        gateway = Gateway(configuration: pages, host: host)
        gateway.setActivities(activities.cards)
        front.gateway = gateway
    }

    /// Where it listens, as `127.0.0.1:4750`.
    var listen: String { HostName.text(server.configuration.listen[0].host, port: server.boundPorts[0]) }

    /// Further origins under which this machine may be reached, if the first does not work.
    var otherOrigins: [WebOrigin] {
        guard settings.isWildcard, settings.publicURLs.isEmpty else { return Array(settings.publicURLs.dropFirst()) }
        return Machine.addresses().dropFirst().prefix(4).map { WebOrigin(scheme: .http, address: $0, port: server.boundPorts[0]) }
    }

    /// Serves until a signal asks it to stop. `started` runs on this thread as soon as connections are accepted.
    func run(signals: Signals, started: @escaping (HostService) -> Void) throws {
        // This thread is the service thread: what these closures carry never leaves it.
        nonisolated(unsafe) let service = self
        nonisolated(unsafe) let started = started
        let server = self.server
        server.post {
            service.gateway.isReady = true
            started(service)
        }
        signals.whenAsked { server.post { service.stop() } }
        CatalogueWatcher.watch(catalogue, after: activities) { state in
            server.post { service.adopt(state) }
        }
        try data.writeRecord(
            HostRecord(process: getpid(), address: Self.localAddress(server.configuration.listen[0].host), port: server.boundPorts[0]))
        server.run()
        data.removeRecord()
    }

    /// Opens a group with a session of an activity.
    func createGroup(_ activity: String, parameters: [UInt8], completion: @escaping (Result<Host.CreatedGroup, Rejection>) -> Void) {
        host.createGroup(activity: activity, parameters: parameters, completion: completion)
    }

    /// Ends in order: nobody new, what waits is written, everybody is told to come back later.
    func stop() {
        gateway.isReady = false
        let server = self.server
        host.shutDown { server.stop() }
    }

    private func adopt(_ state: CatalogueState) {
        for row in state.rows where !activities.rows.contains(row) {
            if let error = row.error {
                notice("activity_broken", "\(row.name) is broken: \(error.position): \(error.message)")
            } else {
                notice("activity_loaded", "\(row.name) was loaded\(row.title.map { " (\($0))" } ?? "")")
            }
        }
        for row in activities.rows where !state.rows.contains(where: { $0.path == row.path }) {
            notice("activity_removed", "\(row.name) is gone")
        }
        activities = state
        host.setActivities(state.activities)
        gateway.setActivities(state.cards)
    }

    // MARK: Making the parts

    /// Stands in for the gateway until there is one: it needs the port that the server picked.
    private final class Front: ServerDelegate {
        var gateway: Gateway!

        func server(_ server: Server, request: HTTPRequest, exchange: HTTPExchange) {
            gateway.server(server, request: request, exchange: exchange)
        }
        func server(_ server: Server, upgrade request: HTTPRequest) -> HTTPResponse? { gateway.server(server, upgrade: request) }
        func server(_ server: Server, opened connection: Connection) { gateway.server(server, opened: connection) }
        func server(_ server: Server, connection: Connection, received text: UnsafeRawBufferPointer) {
            gateway.server(server, connection: connection, received: text)
        }
        func server(_ server: Server, drained connection: Connection) { gateway.server(server, drained: connection) }
        func server(_ server: Server, closed connection: Connection) { gateway.server(server, closed: connection) }
    }

    private static func bind(_ settings: HostSettings, delegate: any ServerDelegate, report: @escaping @Sendable (String) -> Void) throws -> Server {
        let port = settings.listen.port
        let four = ListenAddress(host: "0.0.0.0", port: port)
        var configuration = ServerConfiguration(listen: settings.isLAN ? [four, ListenAddress(host: "::", port: port)] : [settings.listen])
        configuration.frameBytes = settings.limits[.frameBytes]
        configuration.bodySeconds = 10
        configuration.connectionsPerAddress = settings.limits[.connections]
        let proxies = settings.trustedProxies
        configuration.isUncapped = { address in proxies.contains { $0.contains(address) } }
        configuration.responseHeaders = Gateway.commonHeaders
        configuration.report = report
        if settings.isLAN {
            // A machine may have no IPv6 at all.
            if let server = try? Server(configuration: configuration, delegate: delegate) { return server }
            configuration.listen = [four]
        }
        return try Server(configuration: configuration, delegate: delegate)
    }

    private static func hostConfiguration(_ settings: HostSettings) -> HostConfiguration {
        let core = CoreSettings(limits: settings.limits, open: settings.isOpen, hostVersion: "activityhost/\(Program.version)")
        return HostConfiguration(core: core, gatherMilliseconds: Int64(settings.gatherMilliseconds))
    }

    private static func gatewayConfiguration(_ settings: HostSettings, origin: WebOrigin, operatorToken: String, web: String) -> GatewayConfiguration
    {
        var configuration = GatewayConfiguration(advertisedOrigin: origin, webFolder: web, operatorToken: operatorToken)
        configuration.publicURLs = settings.publicURLs
        configuration.allowedOrigins = Set(settings.allowedOrigins)
        configuration.trustedProxies = settings.trustedProxies
        configuration.hostNames = [settings.listen.host]
        configuration.mediaFolder = settings.mediaFolder
        configuration.isOpenToAll = settings.isOpenToAll
        if settings.isWildcard {
            configuration.hostNames.formUnion(Machine.addresses())
            configuration.ownAddresses = { Machine.addresses() }
        }
        return configuration
    }

    private static func linkOrigin(_ settings: HostSettings, port: UInt16) -> WebOrigin {
        if let first = settings.publicURLs.first { return first }
        let address = settings.isWildcard ? Machine.addresses().first ?? "127.0.0.1" : settings.listen.host
        return WebOrigin(scheme: .http, address: address, port: port)
    }

    /// Where programs on this machine reach a host that listens on an address.
    private static func localAddress(_ listen: String) -> String {
        switch listen {
        case "0.0.0.0": "127.0.0.1"
        case "::": "::1"
        default: listen
        }
    }
}
