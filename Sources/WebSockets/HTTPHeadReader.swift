/// Collects the head of a request (request line and headers) and reads it strictly.
///
/// Whatever two programs could read differently is refused: bare line ends, folded lines, blanks before a colon,
/// two lengths, any transfer coding.
struct HTTPHeadReader {
    private let mostBytes: Int
    private let mostFields = 100
    private var bytes: [UInt8] = []

    init(mostBytes: Int) {
        self.mostBytes = mostBytes
    }

    /// Something of a request has come.
    var isStarted: Bool { !bytes.isEmpty }

    /// A whole head, and how it announces its body.
    struct Head {
        var request: HTTPRequest
        var contentLength: Int
        var expectsContinue: Bool
    }

    /// Takes bytes up to the end of the head. Returns how many it took; the head is whole when `isComplete`.
    mutating func take(_ input: UnsafeRawBufferPointer) throws(HTTPFault) -> Int {
        var taken = 0
        while taken < input.count, !isComplete {
            bytes.append(input[taken])
            taken += 1
            try check()
        }
        return taken
    }

    private(set) var isComplete = false
    private var hasSkippedLine = false

    /// One empty line before a request is tolerated, as the standard asks.
    private mutating func skipEmptyLine() throws(HTTPFault) {
        guard !hasSkippedLine else { throw .bad("empty lines in place of a request") }
        hasSkippedLine = true
        bytes = []
    }

    /// Looks at the byte that came last.
    private mutating func check() throws(HTTPFault) {
        let last = bytes.count - 1
        let byte = bytes[last]
        let afterReturn = last > 0 && bytes[last - 1] == 0x0D
        if byte == 0x0A {
            guard afterReturn else { throw .bad("a line ends without a carriage return") }
            if last == 1 { return try skipEmptyLine() }
            isComplete = last >= 3 && bytes[last - 2] == 0x0A && bytes[last - 3] == 0x0D
        } else if afterReturn {
            throw .bad("a carriage return stands inside a line")
        } else if byte == 0 {
            throw .bad("a zero byte in the headers")
        }
        guard bytes.count <= mostBytes else { throw HTTPFault(status: 431, reason: "request line and headers are too large") }
    }

    /// The head that is complete; the reader is empty again.
    mutating func finish(from remoteAddress: RemoteAddress) throws(HTTPFault) -> Head {
        let text = String(decoding: bytes.dropLast(4), as: UTF8.self)
        bytes = []
        isComplete = false
        hasSkippedLine = false
        var lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)[...]
        guard let requestLine = lines.popFirst() else { throw .bad("no request line") }
        guard lines.count <= mostFields else { throw HTTPFault(status: 431, reason: "too many headers") }
        var request = try parse(requestLine, from: remoteAddress)
        for line in lines { try parse(field: line, into: &request.headers) }
        return try checked(request)
    }

    private func parse(_ line: Substring, from remoteAddress: RemoteAddress) throws(HTTPFault) -> HTTPRequest {
        let parts = line.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw .bad("the request line has not three parts") }
        let method = parts[0]
        guard (1...20).contains(method.utf8.count), method.utf8.allSatisfy({ (0x41...0x5A).contains($0) }) else {
            throw .bad("the method is not a word in capitals")
        }
        guard parts[2] == "HTTP/1.1" || parts[2] == "HTTP/1.0" else {
            throw parts[2].hasPrefix("HTTP/") ? HTTPFault(status: 505, reason: "only HTTP/1.1 is spoken here") : .bad("no HTTP version")
        }
        var target = parts[1]
        guard target.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") }) else {
            throw .bad("the target holds characters that must be encoded")
        }
        var headers = HTTPHeaders()
        for scheme in ["http://", "https://"] where target.lowercased().hasPrefix(scheme) {
            let rest = target.dropFirst(scheme.count)
            let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
            // The address in an absolute target stands above the Host header.
            headers.append(name: absoluteHost, value: String(rest[..<end]))
            target = end < rest.endIndex && rest[end] == "/" ? rest[end...] : "/" + rest[end...]
        }
        guard target.hasPrefix("/") else { throw .bad("the target is not a path") }
        let pathEnd = target.firstIndex(of: "?") ?? target.endIndex
        guard let path = percentDecoded(target[..<pathEnd]) else { throw .bad("the path is not well encoded") }
        return HTTPRequest(
            method: String(method), rawPath: String(target[..<pathEnd]), path: path,
            query: pathEnd < target.endIndex ? String(target[target.index(after: pathEnd)...]) : nil,
            headers: headers, remoteAddress: remoteAddress, isVersion11: parts[2] == "HTTP/1.1")
    }

    private func parse(field line: Substring, into headers: inout HTTPHeaders) throws(HTTPFault) {
        guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) else { throw .bad("a header without a colon") }
        let name = line[..<colon]
        guard !name.isEmpty, name.utf8.allSatisfy(isTokenCharacter) else { throw .bad("a header's name is not a word") }
        let value = line[line.utf8.index(after: colon)...].trimmingBlanks()
        guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else { throw .bad("a control character in a header") }
        headers.append(name: name.lowercased(), value: value)
    }

    private func checked(_ request: HTTPRequest) throws(HTTPFault) -> Head {
        var request = request
        for name in singleFields where request.headers.count(of: name) > 1 { throw .bad("\(name) is given twice") }
        guard request.headers["host"] != nil || !request.isVersion11 else { throw .bad("no Host header") }
        if let host = request.headers[absoluteHost] {
            var headers = HTTPHeaders()
            headers.append(name: "host", value: host)
            for field in request.headers.fields where field.name != absoluteHost && field.name != "host" {
                headers.append(name: field.name, value: field.value)
            }
            request.headers = headers
        }
        let coding = request.headers["transfer-encoding"]
        let length = request.headers["content-length"]
        if let coding {
            guard length == nil, coding.lowercased() == "chunked", request.isVersion11 else { throw .bad("the body's length is ambiguous") }
            throw HTTPFault(status: 411, reason: "give the body's length in Content-Length")
        }
        var contentLength = 0
        if let length {
            guard !length.isEmpty, length.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { throw .bad("Content-Length is not a number") }
            guard let number = Int(length) else { throw HTTPFault(status: 413, reason: "the body is too large") }
            contentLength = number
        }
        let expectsContinue = request.isVersion11 && request.headers["expect"]?.lowercased() == "100-continue"
        return Head(request: request, contentLength: contentLength, expectsContinue: expectsContinue)
    }
}

/// A name that no client can send, since it is no token.
private let absoluteHost = ":authority"

private let singleFields = [
    "host", "origin", "authorization", "content-length", "transfer-encoding", "content-type", "expect", "range", "sec-websocket-key",
    "sec-websocket-version",
]

private func isTokenCharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
}
