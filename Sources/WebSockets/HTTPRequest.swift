/// One HTTP request, checked against the grammar; its body is complete.
package struct HTTPRequest: Sendable {
    /// In capitals, as it came.
    package var method: String
    /// The path as it came, still percent-encoded, without the query.
    package var rawPath: String
    /// The path, percent-decoded exactly once: valid UTF-8 without control characters. It may hold `..` and `//`.
    package var path: String
    /// What follows the first `?`, as it came; nil if there is none.
    package var query: String?
    package var headers: HTTPHeaders
    package var body: [UInt8] = []
    package var remoteAddress: RemoteAddress
    /// The client spoke HTTP/1.1, not 1.0.
    package var isVersion11 = true

    /// The Host that the request names, as it came; nil only with HTTP/1.0.
    package var host: String? { headers["host"] }

    /// The connection can carry another request after this one; with HTTP/1.0 that was never agreed on by all.
    var allowsKeepAlive: Bool {
        isVersion11 && !headers.contains(token: "close", in: "connection")
    }
}

/// Why a request is refused before anybody sees it; the connection is closed after the answer.
struct HTTPFault: Error, Equatable {
    let status: Int
    let reason: String

    static func bad(_ reason: String) -> HTTPFault { HTTPFault(status: 400, reason: reason) }
}

/// Decodes the percent-encoding of a path, once; nil for broken encoding, bad UTF-8 and control characters.
func percentDecoded(_ path: Substring) -> String? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(path.utf8.count)
    var rest = path.utf8.makeIterator()
    while var byte = rest.next() {
        if byte == UInt8(ascii: "%") {
            guard let high = rest.next().flatMap(hexValue), let low = rest.next().flatMap(hexValue) else { return nil }
            byte = high << 4 | low
        }
        guard byte >= 0x20, byte != 0x7F else { return nil }
        bytes.append(byte)
    }
    return String(validating: bytes, as: UTF8.self)
}

private func hexValue(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
}
