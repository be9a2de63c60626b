import SessionHost

/// A loop and a clock that a test moves by hand; nothing happens by itself.
package final class ManualLoop: EventLoop, Clock, @unchecked Sendable {
    /// ms since 1970; tests may set it to anything, as people do with clocks.
    package var now: Int64 = 1_790_000_000_000
    package private(set) var uptime: Int64 = 1_000_000
    private var posted: [@Sendable () -> Void] = []
    private var scheduled: [(at: Int64, order: Int, work: () -> Void)] = []
    private var endOfTurn: [() -> Void] = []
    private var nextOrder = 0

    package init() {}

    package func post(_ work: @escaping @Sendable () -> Void) { posted.append(work) }

    package func schedule(afterMilliseconds: Int, _ work: @escaping () -> Void) {
        scheduled.append((uptime + Int64(afterMilliseconds), nextOrder, work))
        nextOrder += 1
    }

    package func atEndOfTurn(_ work: @escaping () -> Void) { endOfTurn.append(work) }

    /// Ends the turn, and runs what was posted, until nothing is left.
    package func run() {
        while !posted.isEmpty || !endOfTurn.isEmpty {
            let work = posted
            posted = []
            for item in work { item() }
            let ends = endOfTurn
            endOfTurn = []
            for item in ends { item() }
        }
    }

    /// Moves both clocks on, running what falls due on the way at its time.
    package func advance(milliseconds: Int64) {
        run()
        let end = uptime + milliseconds
        while let next = scheduled.filter({ $0.at <= end }).min(by: { ($0.at, $0.order) < ($1.at, $1.order) }) {
            scheduled.removeAll { $0.order == next.order }
            move(to: max(uptime, next.at))
            next.work()
            run()
        }
        move(to: end)
    }

    private func move(to time: Int64) {
        now += time - uptime
        uptime = time
    }
}

/// A random number generator that gives the same numbers for the same seed (SplitMix64).
package struct SeededRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64
    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
