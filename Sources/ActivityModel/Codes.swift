/// Why a request was refused: the `code` of `rejected`.
package enum RejectionCode: String, Sendable, CaseIterable {
    case invalidFrame = "invalid_frame"
    case unknownType = "unknown_type"
    case invalidMessage = "invalid_message"
    case unknownMessage = "unknown_message"
    case tooLarge = "too_large"
    case rateLimited = "rate_limited"
    case limitReached = "limit_reached"
    case notJoined = "not_joined"
    case forbidden
    case noSuchSession = "no_such_session"
    case noSuchActivity = "no_such_activity"
    case noSuchParticipant = "no_such_participant"
    case activityFailed = "activity_failed"
    case refused
    case unavailable
}

/// A refusal as the sender of the request is told it.
package struct Rejection: Sendable, Equatable, Error {
    package var code: RejectionCode
    package var message: String
    package var path: String?
    /// With `refused`: the script's own code.
    package var reason: String?
    /// With `refused`: the script's data as JSON.
    package var data: [UInt8]?
    package var exceeded: ExceededLimit?

    package init(_ code: RejectionCode, _ message: String, path: String? = nil, exceeded: ExceededLimit? = nil) {
        self.code = code
        self.message = message
        self.path = path
        self.exceeded = exceeded
    }
}

/// A limit that a request went over: its name, the value allowed, what was found, and when to try again.
package struct ExceededLimit: Sendable, Equatable {
    package var limit: String
    package var allowed: Int
    package var found: Int
    package var retryMs: Int?

    package init(_ limit: String, allowed: Int, found: Int, retryMs: Int? = nil) {
        self.limit = limit
        self.allowed = allowed
        self.found = found
        self.retryMs = retryMs
    }
}

/// WebSocket close codes of the contract.
package enum CloseCode: UInt16, Sendable {
    case goingAway = 1001
    case frameTooLarge = 1009
    case restart = 1012
    case invalidFrame = 4400
    case badToken = 4401
    case removed = 4403
    case noSuchGroup = 4404
    case helloTimeout = 4408
    case takenOver = 4409
    case groupEnded = 4410
    case tooManyTries = 4429
}

/// Why a session is over for somebody.
package enum InvalidationReason: String, Sendable {
    case left, ended, replaced, removed, failed
}
