package import ActivityModel
import Glibc
package import SessionCore

/// Owns sessions and runs their requests one after the other.
///
/// Confined to the thread that made it, whose stack must have 8 MB or more.
package final class LuaWorker {
    private let limits: Limits
    private let shelf: ScriptShelf
    private let thread = pthread_self()
    private var sessions: [SessionKey: Place] = [:]

    private enum Place {
        case session(LuaSession)
        /// It could not be opened, and what follows is refused with the same words until it is closed.
        case failed(Rejection)
    }

    package init(limits: Limits, shelf: ScriptShelf) {
        self.limits = limits
        self.shelf = shelf
    }

    /// Runs one request to its end. Never throws: what goes wrong is in the outcome.
    package func run(_ request: EngineRequest) -> SessionOutcome {
        assert(pthread_equal(thread, pthread_self()) != 0, "a worker is used by the thread that made it")
        switch request.work {
        case .open(let source, let id, let initiator, let seed):
            return open(request.session, source, id: id, initiator: initiator, seed: seed)
        case .close:
            sessions[request.session] = nil
            return SessionOutcome(session: request.session, result: .done)
        case .input(let input):
            return withSession(request.session) { $0.run(input, time: request.time) }
        case .query(let query):
            return withSession(request.session) { $0.run(query, time: request.time) }
        }
    }

    /// Whether a session was opened here and not closed.
    package func holds(_ session: SessionKey) -> Bool { sessions[session] != nil }

    private func withSession(_ key: SessionKey, _ body: (LuaSession) -> SessionOutcome) -> SessionOutcome {
        switch sessions[key] {
        case .session(let session): body(session)
        case .failed(let rejection): SessionOutcome(session: key, result: .rejected(rejection))
        case nil: SessionOutcome(session: key, result: .rejected(Rejection(.noSuchSession, "There is no such session.")))
        }
    }

    private func open(
        _ key: SessionKey, _ source: ScriptSource, id: SessionID, initiator: MemberID, seed: UInt64
    ) -> SessionOutcome {
        guard sessions[key] == nil else {
            return SessionOutcome(session: key, result: .rejected(Rejection(.unavailable, "This session is open already.")))
        }
        do throws(ScriptLoadError) {
            let script = try shelf.script(source)
            sessions[key] = .session(LuaSession(key: key, script: script, limits: limits, id: id, initiator: initiator, seed: seed))
            return SessionOutcome(session: key, result: .done)
        } catch {
            let rejection = Rejection(.activityFailed, "The activity has a problem and cannot be started.")
            sessions[key] = .failed(rejection)
            var outcome = SessionOutcome(session: key, result: .rejected(rejection))
            outcome.report = error.report
            return outcome
        }
    }
}
