internal import ActivityModel
internal import WebSockets

/// Who sent a request, and what follows from it.
struct Caller {
    /// The numeric address of the person's machine, as far as trusted proxies tell it.
    var address: String
    /// The Host that was asked for; one of ours.
    var host: HostName
    /// The origin under which the caller reached us.
    var origin: WebOrigin
    var isOperator: Bool
    /// The token of an `Authorization: Bearer` header.
    var bearer: String?
}

/// Decides which requests are let in: by the Host they name, the page they come from and the rights they show.
final class Admission {
    private let configuration: GatewayConfiguration
    private var knownNames: Set<String>
    private let publicHosts: Set<HostName>
    private static let forwardingHeaders = ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip", "via"]

    init(_ configuration: GatewayConfiguration) {
        self.configuration = configuration
        knownNames = configuration.hostNames
        publicHosts = Set(configuration.publicURLs.map(\.host))
    }

    /// The caller of a request; a refusal when its Host is not a name of ours, or its page not one we know.
    func admit(_ request: HTTPRequest) -> Result<Caller, Refusal> {
        guard let text = request.host, let host = HostName(text), isOurs(host) else {
            return .failure(Refusal(403, "forbidden", "this host is not known by that name; name it with --public-url"))
        }
        let isProxied = configuration.trustedProxies.contains { $0.contains(request.remoteAddress.text) }
        let origin = reachedOrigin(host, isSecure: isProxied && forwardedProtocol(request) == "https")
        let bearer = bearerToken(request)
        let caller = Caller(
            address: isProxied ? forwardedAddress(request) : request.remoteAddress.text,
            host: host, origin: origin, isOperator: isOperator(request, bearer: bearer), bearer: bearer)
        return .success(caller)
    }

    /// Whether the page that sent this upgrade or POST may do so. No Origin means no browser.
    func allowsOrigin(of request: HTTPRequest, caller: Caller) -> Bool {
        switch request.headers.count(of: "origin") {
        case 0: return true
        case 1: break
        default: return false
        }
        guard let text = request.headers["origin"], let origin = WebOrigin(text) else { return false }
        if configuration.allowedOrigins.contains(origin) || configuration.publicURLs.contains(origin) { return true }
        return origin == caller.origin
    }

    private func isOurs(_ host: HostName) -> Bool {
        if host.isLoopback || knownNames.contains(host.name) || publicHosts.contains(where: { $0.name == host.name }) { return true }
        // Only numeric addresses come and go; names would let a foreign page's server call itself ours.
        guard AddressRange.isAddress(host.name) else { return false }
        knownNames = configuration.hostNames.union(configuration.ownAddresses())
        return knownNames.contains(host.name)
    }

    private func reachedOrigin(_ host: HostName, isSecure: Bool) -> WebOrigin {
        let plain = WebOrigin(scheme: .http, host: host)
        let secure = WebOrigin(scheme: .https, host: host)
        if isSecure { return secure }
        return configuration.publicURLs.contains(secure) && !configuration.publicURLs.contains(plain) ? secure : plain
    }

    private func isOperator(_ request: HTTPRequest, bearer: String?) -> Bool {
        // Who shows a token is who the token says, wherever the request comes from.
        if request.headers["authorization"] != nil { return bearer.map { isEqual($0, configuration.operatorToken) } ?? false }
        return request.remoteAddress.isLoopback && configuration.publicURLs.isEmpty
            && Self.forwardingHeaders.allSatisfy { request.headers[$0] == nil }
    }

    private func bearerToken(_ request: HTTPRequest) -> String? {
        guard request.headers.count(of: "authorization") == 1, let value = request.headers["authorization"] else { return nil }
        let words = value.split(separator: " ")
        return words.count == 2 && words[0].lowercased() == "bearer" ? String(words[1]) : nil
    }

    /// Compares in a time that does not tell where two secrets begin to differ.
    private func isEqual(_ given: String, _ secret: String) -> Bool {
        let a = Array(given.utf8)
        let b = Array(secret.utf8)
        guard a.count == b.count, !b.isEmpty else { return false }
        return zip(a, b).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private func forwardedProtocol(_ request: HTTPRequest) -> String? {
        request.headers.tokens("x-forwarded-proto").last?.lowercased() ?? forwardedPairs(request, "proto").last?.lowercased()
    }

    /// The last address that no trusted proxy has: what stands before it is only the client's word.
    private func forwardedAddress(_ request: HTTPRequest) -> String {
        var chain = request.headers.tokens("x-forwarded-for")
        if chain.isEmpty { chain = forwardedPairs(request, "for") }
        for hop in chain.reversed() {
            guard let address = Self.numericAddress(hop) else { break }
            if !configuration.trustedProxies.contains(where: { $0.contains(address) }) { return address }
        }
        return request.remoteAddress.text
    }

    private func forwardedPairs(_ request: HTTPRequest, _ key: String) -> [String] {
        request.headers.tokens("forwarded").flatMap { $0.split(separator: ";") }.compactMap { pair in
            let halves = pair.split(separator: "=", maxSplits: 1)
            guard halves.count == 2, halves[0].filter({ $0 != " " }).lowercased() == key else { return nil }
            return halves[1].filter { $0 != "\"" && $0 != " " }
        }
    }

    /// The address in `1.2.3.4`, `1.2.3.4:5`, `::1` and `[::1]:5`.
    private static func numericAddress(_ hop: String) -> String? {
        if AddressRange.isAddress(hop) { return hop }
        guard let name = HostName(hop)?.name, AddressRange.isAddress(name) else { return nil }
        return name
    }
}
