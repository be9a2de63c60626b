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
    private var sessions: [SessionKey: LuaSession] = [:]

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
            return sessions[request.session]?.run(input, time: request.time) ?? noSuchSession(request.session)
        case .query(let query):
            return sessions[request.session]?.run(query, time: request.time) ?? noSuchSession(request.session)
        }
    }

    /// Whether a session is open here.
    package func holds(_ session: SessionKey) -> Bool { sessions[session] != nil }

    private func open(
        _ key: SessionKey, _ source: ScriptSource, id: SessionID, initiator: MemberID, seed: UInt64
    ) -> SessionOutcome {
        guard sessions[key] == nil else {
            return SessionOutcome(session: key, result: .rejected(Rejection(.unavailable, "This session is open already.")))
        }
        do throws(ScriptLoadError) {
            let script = try shelf.script(source)
            sessions[key] = LuaSession(key: key, script: script, limits: limits, id: id, initiator: initiator, seed: seed)
            return SessionOutcome(session: key, result: .done)
        } catch {
            var outcome = SessionOutcome(
                session: key, result: .rejected(Rejection(.activityFailed, "The activity has a problem and cannot be started.")))
            outcome.report = error.report
            return outcome
        }
    }

    private func noSuchSession(_ key: SessionKey) -> SessionOutcome {
        SessionOutcome(session: key, result: .rejected(Rejection(.noSuchSession, "There is no such session.")))
    }
}
