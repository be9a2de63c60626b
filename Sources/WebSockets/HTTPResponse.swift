internal import Glibc

/// An answer to an ``HTTPRequest``. Length, date and connection headers are added by the server.
package struct HTTPResponse: Sendable {
    package enum Body: Sendable {
        case empty
        case bytes([UInt8])
        /// Part of an open file, sent in pieces as the client takes them. The server closes the descriptor, in every case.
        case file(descriptor: Int32, offset: Int, length: Int)
    }

    package var status: Int
    package var headers: [HTTPHeaders.Field]
    package var body: Body

    package init(status: Int, headers: [HTTPHeaders.Field] = [], body: Body = .empty) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// A short answer in plain text.
    package static func text(_ status: Int, _ text: String) -> HTTPResponse {
        HTTPResponse(
            status: status, headers: [.init(name: "content-type", value: "text/plain; charset=utf-8")], body: .bytes(Array((text + "\n").utf8)))
    }

    var bodyLength: Int {
        switch body {
        case .empty: 0
        case .bytes(let bytes): bytes.count
        case .file(_, _, let length): length
        }
    }

    /// Such a response has no body, and names no length.
    var isBodyless: Bool { status < 200 || status == 204 || status == 304 }

    /// The response up to its body, as bytes.
    func head(date: String, common: [HTTPHeaders.Field], closing: Bool) -> [UInt8] {
        var text = "HTTP/1.1 \(status) \(HTTPResponse.phrase(status))\r\n"
        for field in headers { text += HTTPResponse.line(field) }
        for field in common where !headers.contains(where: { $0.name == field.name }) { text += HTTPResponse.line(field) }
        text += "date: \(date)\r\n"
        if !isBodyless { text += "content-length: \(bodyLength)\r\n" }
        if closing { text += "connection: close\r\n" }
        text += "\r\n"
        return Array(text.utf8)
    }

    private static func line(_ field: HTTPHeaders.Field) -> String {
        // Whoever fills a header from outside must not be able to begin a new line with it.
        let value = field.value.unicodeScalars.contains { $0.value < 0x20 && $0 != "\t" || $0.value == 0x7F } ? "" : field.value
        return "\(field.name): \(value)\r\n"
    }

    static func phrase(_ status: Int) -> String {
        switch status {
        case 100: "Continue"
        case 101: "Switching Protocols"
        case 200: "OK"
        case 201: "Created"
        case 204: "No Content"
        case 206: "Partial Content"
        case 301: "Moved Permanently"
        case 302: "Found"
        case 303: "See Other"
        case 304: "Not Modified"
        case 307: "Temporary Redirect"
        case 308: "Permanent Redirect"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 406: "Not Acceptable"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 411: "Length Required"
        case 412: "Precondition Failed"
        case 413: "Content Too Large"
        case 415: "Unsupported Media Type"
        case 416: "Range Not Satisfiable"
        case 422: "Unprocessable Content"
        case 426: "Upgrade Required"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 503: "Service Unavailable"
        case 505: "HTTP Version Not Supported"
        default: "Status"
        }
    }
}

/// The time as HTTP writes it, always in English.
func httpDate(_ seconds: Int) -> String {
    var time = time_t(seconds)
    var parts = tm()
    gmtime_r(&time, &parts)
    let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(days[Int(parts.tm_wday)]), \(two(parts.tm_mday)) \(months[Int(parts.tm_mon)]) \(parts.tm_year + 1900) "
        + "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)) GMT"
}
