import SessionCore

/// A first-in, first-out list that takes its elements out in rounds.
///
/// The core's queue does more and is generic code of another module, which is not specialised here: 0.3 µs a message.
private struct Rounds<Element> {
    private var round: [Element?] = []
    private var taken = 0
    private var nextRound: [Element?] = []

    var isEmpty: Bool { taken == round.count && nextRound.isEmpty }

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

/// What the sessions of a worker have to do: one request a turn for each, so that a slow session delays the others by one
/// handler. Confined to the worker's thread.
struct Turns {
    /// The requests of one session, in its order.
    final class Line {
        let session: SessionKey
        fileprivate var requests = Rounds<EngineRequest>()
        /// Whether the session is in line for a turn or has it.
        fileprivate var isWaiting = false

        fileprivate init(_ session: SessionKey) { self.session = session }
    }

    private var lines: [SessionKey: Line] = [:]
    private var order = Rounds<Line>()

    /// Whether no session waits for a turn.
    var isEmpty: Bool { order.isEmpty }

    /// Sorts requests into the lines of their sessions.
    mutating func add(_ batch: [EngineRequest]) {
        for request in batch {
            let line = line(of: request.session)
            line.requests.append(request)
            guard !line.isWaiting else { continue }
            line.isWaiting = true
            order.append(line)
        }
    }

    /// Gives the turn to the session that waited longest; `end` must follow. Some session must be waiting.
    mutating func begin() -> (line: Line, request: EngineRequest) {
        guard let line = order.popFirst(), let request = line.requests.popFirst() else { preconditionFailure("nobody waits for a turn") }
        return (line, request)
    }

    /// Ends a turn: the session gets in line again behind all others if it has more to do; if not, and it is over, it is forgotten.
    mutating func end(_ line: Line, sessionIsOver: Bool) {
        if !line.requests.isEmpty {
            order.append(line)
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
