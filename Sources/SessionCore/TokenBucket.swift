import ActivityModel

/// Lets through `rate` a second on average, `burst` at once; time comes from the caller, in ms of any clock that never goes back.
package struct TokenBucket: Sendable {
    private let rate: Double
    private let burst: Double
    private var tokens: Double
    private var updated: Int64 = .min

    package init(rate: Int, burst: Int) {
        self.rate = Double(rate)
        self.burst = Double(burst)
        tokens = Double(burst)
    }

    /// Takes one token, or says in how many ms there will be one.
    package mutating func take(at uptime: Int64) -> Taken {
        if updated == .min { updated = uptime }
        tokens = min(burst, tokens + Double(uptime - updated) * rate / 1000)
        updated = uptime
        if tokens >= 1 {
            tokens -= 1
            return .taken
        }
        return .retry(milliseconds: max(1, Int(((1 - tokens) * 1000 / rate).rounded(.up))))
    }

    package enum Taken: Equatable, Sendable {
        case taken
        case retry(milliseconds: Int)
    }
}

extension Rejection {
    /// The answer to a request for which a bucket has no token.
    static func rateLimited(_ limit: Limits.Name, _ limits: Limits, retryMilliseconds: Int) -> Rejection {
        let exceeded = ExceededLimit(limit.rawValue, allowed: limits[limit], found: limits[limit] + 1, retryMs: retryMilliseconds)
        return Rejection(.rateLimited, "too many at once; try again in \(retryMilliseconds) ms", exceeded: exceeded)
    }
}
