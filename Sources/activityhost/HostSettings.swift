import ActivityModel
import Gateway
import WebSockets

/// What a command line says about the host to run, checked.
struct HostSettings {
    var listen: ListenAddress
    /// Listen on every address of this machine.
    var isLAN: Bool
    var publicURLs: [WebOrigin]
    var allowedOrigins: [WebOrigin]
    var trustedProxies: [AddressRange]
    var mediaFolder: String?
    var limits: Limits
    var gatherMilliseconds: Int
    var workers: Int
    var isOpen: Bool
    var isOpenToAll: Bool

    static let defaultListen = ListenAddress(host: "127.0.0.1", port: 4750)

    init(_ arguments: Arguments) throws(UsageError) {
        listen = try arguments.value(.listen).map(Self.address) ?? Self.defaultListen
        isLAN = arguments.has(.lan)
        publicURLs = try arguments.values(.publicURL).map { text throws(UsageError) in try Self.origin(text, .publicURL) }
        allowedOrigins = try arguments.values(.allowOrigin).map { text throws(UsageError) in try Self.origin(text, .allowOrigin) }
        trustedProxies = try arguments.values(.trustProxy).map(Self.range)
        mediaFolder = try arguments.value(.media).map { folder throws(UsageError) in
            guard ResourceFolders.isFolder(folder) else { throw UsageError("--media \(folder): there is no such folder") }
            return folder
        }
        limits = try Self.limits(arguments)
        gatherMilliseconds = try arguments.value(.gather).map { text throws(UsageError) in try Self.number(text, .gather, 0...1000) } ?? 8
        workers = try arguments.value(.workers).map { text throws(UsageError) in try Self.number(text, .workers, 1...64) } ?? min(Machine.cores, 8)
        isOpen = arguments.has(.open)
        isOpenToAll = arguments.has(.openToAll)
    }

    /// Whether people on other machines can connect.
    var isReachable: Bool {
        isLAN || !publicURLs.isEmpty || !(listen.host == "::1" || listen.host.hasPrefix("127."))
    }

    /// Listens on all addresses, whichever they are.
    var isWildcard: Bool {
        isLAN || listen.host == "0.0.0.0" || listen.host == "::"
    }

    /// The limits that a command line sets.
    static func limits(_ arguments: Arguments) throws(UsageError) -> Limits {
        var limits = Limits()
        for text in arguments.values(.limit) {
            let halves = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard let name = Limits.Name(rawValue: halves[0]) else {
                let hint = Suggestion.nearest(to: halves[0], among: Limits.Name.allCases.map(\.rawValue)).map { "; did you mean \($0)?" } ?? ""
                throw UsageError("there is no limit \"\(halves[0])\"\(hint); activityhost help limits lists them")
            }
            guard halves.count == 2, let value = Int(halves[1]), name.range.contains(value) else {
                throw UsageError("--limit \(name.rawValue)=VALUE takes a whole number from \(name.range.lowerBound) to \(name.range.upperBound)")
            }
            limits[name] = value
        }
        return limits
    }

    private static func address(_ text: String) throws(UsageError) -> ListenAddress {
        let problem = UsageError("--listen is \"\(text)\"; it can be ADDR:PORT with a numeric address, such as 127.0.0.1:4750 or [::1]:4750")
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else { throw problem }
        var host = String(text[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        if host == "localhost" { host = "127.0.0.1" }
        guard AddressRange.isAddress(host) else { throw problem }
        return ListenAddress(host: host, port: port)
    }

    private static func origin(_ text: String, _ option: Option) throws(UsageError) -> WebOrigin {
        guard let origin = WebOrigin(text) else {
            throw UsageError("--\(option.name) is \"\(text)\"; it can be scheme, name and port, such as https://play.example.org, without a path")
        }
        return origin
    }

    private static func range(_ text: String) throws(UsageError) -> AddressRange {
        guard let range = AddressRange(text) else {
            throw UsageError("--trust-proxy is \"\(text)\"; it can be an address such as 10.0.0.7 or a range such as 10.0.0.0/8")
        }
        return range
    }

    private static func number(_ text: String, _ option: Option, _ range: ClosedRange<Int>) throws(UsageError) -> Int {
        guard let number = Int(text), range.contains(number) else {
            throw UsageError("--\(option.name) is \"\(text)\"; it can be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}
