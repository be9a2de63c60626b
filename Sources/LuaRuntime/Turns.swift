import SessionCore

/// A first-in, first-out list that takes its elements out in rounds.
///
/// The core's queue does more and is generic code of another module, which is not specialised here: 0.3 µs a message.
private struct Rounds<Element> {
    private var round: [Element?] = []
    private var taken = 0
    private var nextRound: [Element?] = []

    var isEmpty: Bool { count == 0 }
    var count: Int { round.count - taken + nextRound.count }

    mutating func append(_ element: Element) { nextRound.append(element) }

    mutating func popFirst() -> Element? {
        if taken == round.count {
            guard !nextRound.isEmpty else { return nil }
            round.removeAll(keepingCapacity: round.count <= 64)
            taken = 0
            swap(&round, &nextRound)
        }
        defer { taken += 1 }
        return round[taken].take()
    }
}

/// What the sessions of a worker have to do: one request a turn for each. All quick sessions that wait get theirs between two
/// turns of slow ones, so that slow sessions delay the others by one handler, however many they are. Confined to the worker's thread.
struct Turns {
    /// A turn longer than this is slow.
    static let slowNanoseconds: UInt64 = 5_000_000
    /// A session counts as quick again after one quick turn for each of these in its slow turns, and after so many at most: who
    /// is slow now and then must not get in front of the others each time.
    static let nanosecondsOfPenance: UInt64 = 500_000
    static let mostPenance = 1000

    /// The requests of one session, in its order.
    final class Line {
        let session: SessionKey
        fileprivate var requests = Rounds<EngineRequest>()
        /// Whether the session is in line for a turn or has it.
        fileprivate var isWaiting = false
        /// How many quick turns it has to take until it counts as quick.
        fileprivate var penance = 0

        fileprivate init(_ session: SessionKey) { self.session = session }
    }

    private var lines: [SessionKey: Line] = [:]
    private var quick = Rounds<Line>()
    private var slow = Rounds<Line>()
    /// How many quick sessions come before the next slow one.
    private var quickFirst = 0

    /// Whether no session waits for a turn.
    var isEmpty: Bool { quick.isEmpty && slow.isEmpty }

    /// Sorts requests into the lines of their sessions.
    mutating func add(_ batch: [EngineRequest]) {
        for request in batch {
            let line = line(of: request.session)
            line.requests.append(request)
            guard !line.isWaiting else { continue }
            line.isWaiting = true
            enqueue(line)
        }
    }

    private mutating func enqueue(_ line: Line) {
        if line.penance > 0 { slow.append(line) } else { quick.append(line) }
    }

    /// Gives the turn to the quick or slow session that waited longest; `end` must follow. Some session must be waiting.
    mutating func begin() -> (line: Line, request: EngineRequest) {
        let isQuicks = slow.isEmpty || (quickFirst > 0 && !quick.isEmpty)
        if isQuicks { quickFirst = max(0, quickFirst - 1) }
        guard let line = isQuicks ? quick.popFirst() : slow.popFirst(), let request = line.requests.popFirst() else {
            preconditionFailure("nobody waits for a turn")
        }
        return (line, request)
    }

    /// Ends a turn that took so long: the session gets in line again behind all others if it has more to do; if not, and it is over, it is forgotten.
    mutating func end(_ line: Line, nanoseconds: UInt64, sessionIsOver: Bool) {
        let wasSlows = line.penance > 0
        if nanoseconds > Self.slowNanoseconds {
            line.penance = min(Self.mostPenance, line.penance + Int(clamping: nanoseconds / Self.nanosecondsOfPenance))
        } else if wasSlows {
            line.penance -= 1
        }
        if wasSlows || line.penance > 0 { quickFirst = quick.count }
        if !line.requests.isEmpty {
            enqueue(line)
        } else {
            line.isWaiting = false
            if sessionIsOver { lines[line.session] = nil }
        }
    }

    private mutating func line(of session: SessionKey) -> Line {
        if let line = lines[session] { return line }
        let line = Line(session)
        lines[session] = line
        return line
    }
}
