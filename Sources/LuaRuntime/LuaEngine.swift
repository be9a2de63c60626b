package import ActivityModel
package import SessionCore

/// Runs sessions on threads of its own, in this process.
///
/// A session stays with the worker that had the fewest when it was opened. Its requests run in order; sessions of one worker
/// take turns. Outcomes are delivered on the workers' threads, by several at once if there are several.
package final class LuaEngine: ScriptEngine {
    private let routes: Routes
    private let workers: [EngineWorker]
    private let isShutDown = Guarded(false)

    /// Starts the threads. `deliver` gets outcomes in batches, in order for each session; it must not wait for the engine.
    package init(workers count: Int, limits: Limits, deliver: @escaping @Sendable ([SessionOutcome]) -> Void) {
        precondition(count > 0, "an engine has workers")
        routes = Routes(workers: count)
        let shelf = ScriptShelf(limits: limits)
        workers = (0..<count).map { _ in EngineWorker(limits: limits, shelf: shelf, deliver: deliver) }
    }

    deinit { shutDown() }

    /// Takes requests; a session's last one is its close.
    package func submit(_ requests: [EngineRequest]) {
        if workers.count == 1 { return workers[0].post(requests) }
        for (worker, batch) in zip(workers, routes.split(requests)) where !batch.isEmpty { worker.post(batch) }
    }

    package func shutDown() {
        let isFirst = isShutDown.withLock { done in
            defer { done = true }
            return !done
        }
        guard isFirst else { return }
        for worker in workers { worker.close() }
        for worker in workers { worker.join() }
    }
}

/// Which worker has which session, from its open to its close.
private final class Routes: Sendable {
    private let table: Guarded<RouteTable>

    init(workers: Int) { table = Guarded(RouteTable(sessions: Array(repeating: 0, count: workers))) }

    /// Sorts requests by worker, keeping their order; opens and closes change the table on the way.
    func split(_ requests: [EngineRequest]) -> [[EngineRequest]] {
        table.withLock { table in
            var batches = [[EngineRequest]](repeating: [], count: table.sessions.count)
            for request in requests { batches[table.route(request)].append(request) }
            return batches
        }
    }
}

private struct RouteTable {
    var worker: [SessionKey: Int] = [:]
    /// How many sessions each worker has.
    var sessions: [Int]

    mutating func route(_ request: EngineRequest) -> Int {
        let session = request.session
        guard let known = worker[session] else {
            guard case .open = request.work, let least = sessions.min(), let chosen = sessions.firstIndex(of: least) else {
                // Nobody has it; the same worker each time, so that its refusals come in order too.
                return Int(session.number % UInt64(sessions.count))
            }
            worker[session] = chosen
            sessions[chosen] += 1
            return chosen
        }
        if case .close = request.work {
            worker[session] = nil
            sessions[known] -= 1
        }
        return known
    }
}
