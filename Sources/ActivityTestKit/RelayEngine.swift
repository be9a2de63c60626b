package import ActivityModel
package import SessionCore

/// The script engine's twin without scripts: every message is relayed, and the state is the list of bodies that committed.
///
/// Tests set `react` to make it do what a script could do, and `isHeld` to keep outcomes back. Confined to one thread.
package final class RelayEngine: ScriptEngine, @unchecked Sendable {
    /// What the twin does with an input instead of relaying it.
    package struct Reaction {
        package var rejection: Rejection?
        package var relay = SessionOutcome.Relay.received
        package var sends: [SessionOutcome.Send] = []
        package var refresh: [ParticipantID] = []
        package var finished: String?
        package var stands = false
        /// New timers, due at these times.
        package var timers: [Int64] = []
        package init() {}
    }

    private final class Run {
        let id: SessionID
        var seq: UInt64 = 0
        var bodies: [[UInt8]] = []
        var participants: [ParticipantID] = []
        var isFinished = false
        var timers: [SessionOutcome.Timer] = []
        init(id: SessionID) { self.id = id }
    }

    package var react: (SessionInput) -> Reaction = { _ in Reaction() }
    /// Messages of these names are not durable.
    package var deliveries: [String: Delivery] = [:]
    /// Outcomes are kept until this is false again.
    package var isHeld = false {
        didSet { if !isHeld { flush() } }
    }
    /// Views are refused, as those of a script that raises.
    package var failsViews = false
    /// How many views were asked for.
    package private(set) var viewCount = 0
    /// How many requests came for sessions that were never opened or are closed.
    package private(set) var strayCount = 0

    private var runs: [SessionKey: Run] = [:]
    private var waiting: [SessionOutcome] = []
    private var nextTimer: UInt64 = 0
    private let deliver: @Sendable ([SessionOutcome]) -> Void

    package init(deliver: @escaping @Sendable ([SessionOutcome]) -> Void) { self.deliver = deliver }

    package func submit(_ requests: [EngineRequest]) {
        waiting += requests.map(run)
        if !isHeld { flush() }
    }

    package func shutDown() {}

    private func flush() {
        guard !waiting.isEmpty else { return }
        let outcomes = waiting
        waiting = []
        deliver(outcomes)
    }

    private func run(_ request: EngineRequest) -> SessionOutcome {
        var outcome = SessionOutcome(session: request.session, result: .done)
        if case .open(_, let id, _, _) = request.work {
            runs[request.session] = Run(id: id)
            return outcome
        }
        guard let run = runs[request.session] else {
            strayCount += 1
            return reject(outcome, .noSuchSession)
        }
        switch request.work {
        case .open, .query(.snapshot): break
        case .close: runs[request.session] = nil
        case .query(.view(let participant)):
            guard run.participants.contains(participant) else { return reject(outcome, .notJoined) }
            guard !failsViews else { return reject(outcome, .activityFailed) }
            viewCount += 1
            outcome.view = view(run)
        case .query(.export(let kind, _)): outcome.view = Array(kind.utf8)
        case .input(let input):
            let before = (run.participants, run.bodies)
            outcome = apply(input, run, outcome)
            if case .rejected = outcome.result { (run.participants, run.bodies) = before }
        }
        return outcome
    }

    private func apply(_ input: SessionInput, _ run: Run, _ blank: SessionOutcome) -> SessionOutcome {
        var outcome = blank
        guard !run.isFinished else { return reject(outcome, .noSuchSession) }
        let reaction = react(input)
        if let rejection = reaction.rejection {
            outcome.result = .rejected(rejection)
            return outcome
        }
        var isDurable = true
        switch input {
        case .join(let participant): run.participants.append(participant.id)
        case .leave(let id, _):
            guard run.participants.contains(id) else { return reject(outcome, .notJoined) }
            run.participants.removeAll { $0 == id }
        case .message(let sender, let name, let body, let to):
            guard run.participants.contains(sender) else { return reject(outcome, .notJoined) }
            guard to?.allSatisfy(run.participants.contains) ?? true else { return reject(outcome, .noSuchParticipant) }
            isDurable = deliveries[name, default: .durable] == .durable
            if isDurable { run.bodies.append(body) }
            outcome.relay = reaction.relay
        case .timer(let id, _):
            guard run.timers.contains(where: { $0.id == id }) else { return reject(outcome, .unavailable) }
            run.timers.removeAll { $0.id == id }
        case .start, .change, .member: break
        }
        for due in reaction.timers {
            nextTimer += 1
            run.timers.append(SessionOutcome.Timer(id: nextTimer, due: due))
        }
        outcome.nextTimer = run.timers.min { $0.due < $1.due }
        if isDurable {
            run.seq += 1
            outcome.result = reaction.stands ? .stands(seq: run.seq) : .committed(seq: run.seq)
        }
        if case .join = input { outcome.view = view(run) }
        outcome.sends = reaction.sends
        outcome.refresh = reaction.refresh
        outcome.finished = reaction.finished
        run.isFinished = reaction.finished != nil
        return outcome
    }

    private func reject(_ outcome: SessionOutcome, _ code: RejectionCode) -> SessionOutcome {
        var outcome = outcome
        outcome.result = .rejected(Rejection(code, "refused by the relay"))
        return outcome
    }

    private func view(_ run: Run) -> [UInt8] {
        Array("[".utf8) + Array(run.bodies.joined(separator: Array(",".utf8))) + Array("]".utf8)
    }
}
