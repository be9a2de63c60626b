import ActivityModel

/// Remembers what a client of a seat asked under which `ref`, so that nothing accepted is applied twice.
package struct RefLedger {
    private static let remembered = 1000
    private var answers: [Int64: Envelope] = [:]
    private var order = Queue<Int64>()
    /// Requests under way, and the connection that waits for each answer: the one that asked last.
    private var pending: [Int64: Peer] = [:]
    /// Refs up to here were accepted so long ago that their answers are forgotten, or never were accepted.
    private var floor: Int64 = 0
    /// The highest accepted ref.
    package private(set) var acknowledged: Int64 = 0

    package init() {}

    package enum Claim {
        /// Not seen, or rejected before: go on.
        case new
        /// Under way: its answer will come.
        case pending
        case answered(Envelope)
        /// So old that nobody can tell whether it was accepted.
        case forgotten
    }

    package mutating func claim(_ ref: Int64, for peer: Peer) -> Claim {
        if let answer = answers[ref] { return .answered(answer) }
        if ref <= floor { return .forgotten }
        return pending.updateValue(peer, forKey: ref) == nil ? .new : .pending
    }

    /// Notes that `ref` was accepted; returns the connection to answer.
    package mutating func accept(_ ref: Int64, answer: Envelope) -> Peer? {
        acknowledged = max(acknowledged, ref)
        answers[ref] = answer
        order.append(ref)
        if order.count > Self.remembered, let oldest = order.popFirst() {
            answers[oldest] = nil
            floor = max(floor, oldest)
        }
        return pending.removeValue(forKey: ref)
    }

    /// Forgets a rejected `ref`, which may be tried again; returns the connection to answer.
    package mutating func reject(_ ref: Int64) -> Peer? {
        pending.removeValue(forKey: ref)
    }
}
