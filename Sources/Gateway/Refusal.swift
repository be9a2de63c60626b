internal import ActivityModel
internal import WebSockets

/// An HTTP request that is not done as asked: told as `{"error":{"code":…,"message":…}}`.
struct Refusal: Error {
    var status: Int
    var code: String
    var message: String
    /// When to try again, in ms.
    var retryMs: Int?
    /// More fields of the error, as `,"key":value` text.
    private var more: [UInt8] = []

    init(_ status: Int, _ code: String, _ message: String, retryMs: Int? = nil) {
        self.status = status
        self.code = code
        self.message = message
        self.retryMs = retryMs
    }

    /// A refusal of the group or the script, with all that its sender would be told over the socket.
    init(_ rejection: Rejection) {
        self.init(Self.status(of: rejection.code), rejection.code.rawValue, rejection.message, retryMs: rejection.exceeded?.retryMs)
        if let path = rejection.path { add("path", .string(path)) }
        if let reason = rejection.reason { add("reason", .string(reason)) }
        if let data = rejection.data {
            more += Array(",\"data\":".utf8) + data
        }
        if let exceeded = rejection.exceeded {
            add("limit", .string(exceeded.limit))
            add("allowed", .integer(Int64(exceeded.allowed)))
            add("found", .integer(Int64(exceeded.found)))
        }
    }

    static let notFound = Refusal(404, "not_found", "there is nothing here")
    static let noSuchGroup = Refusal(404, "no_such_group", "there is no group with this code; it may have ended")

    static func tooManyTries(_ retryMs: Int) -> Refusal {
        Refusal(429, "too_many_tries", "too many wrong codes from this address; wait, or use the invitation's link", retryMs: retryMs)
    }

    private mutating func add(_ key: String, _ value: JSONValue) {
        more.append(UInt8(ascii: ","))
        more.appendJSON(key)
        more.append(UInt8(ascii: ":"))
        value.write(into: &more)
    }

    private static func status(of code: RejectionCode) -> Int {
        switch code {
        case .invalidFrame, .unknownType, .invalidMessage, .unknownMessage: 400
        case .forbidden: 403
        case .noSuchSession, .noSuchActivity, .noSuchParticipant: 404
        case .notJoined, .refused: 409
        case .tooLarge: 413
        case .rateLimited: 429
        case .activityFailed: 500
        case .limitReached, .unavailable: 503
        }
    }

    var response: HTTPResponse {
        var body: [UInt8] = Array("{\"error\":{\"code\":".utf8)
        body.appendJSON(code)
        body.append(text: ",\"message\":")
        body.appendJSON(message)
        body += more
        if let retryMs { body += Array(",\"retry_ms\":\(retryMs)".utf8) }
        body.append(text: "}}\n")
        var response = HTTPResponse.json(body, status: status)
        if let retryMs { response.headers.append(.init(name: "retry-after", value: String(max(1, (retryMs + 999) / 1000)))) }
        if status == 401 { response.headers.append(.init(name: "www-authenticate", value: "Bearer")) }
        return response
    }
}

extension HTTPResponse {
    /// JSON that nobody keeps: it is about now.
    static func json(_ body: [UInt8], status: Int = 200) -> HTTPResponse {
        HTTPResponse(
            status: status,
            headers: [
                .init(name: "content-type", value: "application/json; charset=utf-8"),
                .init(name: "cache-control", value: "no-store"),
            ],
            body: .bytes(body))
    }
}
