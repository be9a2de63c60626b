/// The name and port that a `Host` header or a URL gives, the name in lower case and without brackets.
package struct HostName: Hashable, Sendable {
    package var name: String
    /// nil: the scheme's own.
    package var port: UInt16?

    /// Reads `name`, `name:port`, `[::1]` and `[::1]:port`; nil for anything else.
    package init?(_ text: some StringProtocol) {
        var rest = Substring(text)
        if rest.first == "[" {
            guard let end = rest.firstIndex(of: "]") else { return nil }
            name = rest[rest.index(after: rest.startIndex)..<end].lowercased()
            guard !name.isEmpty, name.utf8.allSatisfy(Self.isAddressByte) else { return nil }
            rest = rest[rest.index(after: end)...]
        } else {
            let end = rest.firstIndex(of: ":") ?? rest.endIndex
            name = rest[..<end].lowercased()
            if name.hasSuffix(".") { name.removeLast() }
            guard !name.isEmpty, name.utf8.allSatisfy(Self.isNameByte) else { return nil }
            rest = rest[end...]
        }
        guard !rest.isEmpty else { return }
        guard rest.first == ":", rest.dropFirst().utf8.allSatisfy({ $0 &- 0x30 < 10 }), let port = UInt16(rest.dropFirst()), port > 0 else {
            return nil
        }
        self.port = port
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
    }

    private static func isAddressByte(_ byte: UInt8) -> Bool {
        byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 6 || byte == UInt8(ascii: ":") || byte == UInt8(ascii: ".")
    }

    /// A numeric address and a port, as they stand in URLs.
    package static func text(_ address: String, port: UInt16) -> String {
        address.contains(":") ? "[\(address)]:\(port)" : "\(address):\(port)"
    }

    /// The name stands for this machine itself.
    package var isLoopback: Bool {
        name == "localhost" || name == "::1" || Self.loopback.contains(name)
    }

    // Numbers only: anybody may own a name that begins with 127.
    private static let loopback = AddressRange("127.0.0.0/8")!

    /// As it stands in URLs.
    package var text: String {
        let bracketed = name.contains(":") ? "[\(name)]" : name
        return port.map { "\(bracketed):\($0)" } ?? bracketed
    }
}

/// Scheme, name and port of a web page's address: what browsers call its origin.
package struct WebOrigin: Hashable, Sendable {
    package enum Scheme: String, Sendable {
        case http, https
        var port: UInt16 { self == .http ? 80 : 443 }
    }

    package var scheme: Scheme
    package var host: HostName

    package init(scheme: Scheme, host: HostName) {
        self.scheme = scheme
        self.host = host
        if host.port == scheme.port { self.host.port = nil }
    }

    /// The origin of pages that a numeric address and a port serve.
    package init(scheme: Scheme, address: String, port: UInt16) {
        // Every numeric address is a name that can be read back.
        self.init(scheme: scheme, host: HostName(HostName.text(address, port: port))!)
    }

    /// Reads `http://name:port` and `https://name:port`, with a slash at the end or none; nil for anything else, `null` included.
    package init?(_ text: some StringProtocol) {
        let scheme: Scheme
        var rest = Substring(text)
        if rest.lowercased().hasPrefix("http://") {
            scheme = .http
            rest = rest.dropFirst(7)
        } else if rest.lowercased().hasPrefix("https://") {
            scheme = .https
            rest = rest.dropFirst(8)
        } else {
            return nil
        }
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        guard let host = HostName(rest) else { return nil }
        self.init(scheme: scheme, host: host)
    }

    package var text: String { "\(scheme.rawValue)://\(host.text)" }
}
