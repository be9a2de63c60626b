import ActivityModel
import Glibc
import SessionCore

/// A thread of an engine: takes requests out of its mailbox, gives its sessions turns, delivers outcomes in batches.
struct EngineWorker: Sendable {
    /// Outcomes wait for others at most this long while there is more to run.
    private static let gatherNanoseconds: UInt64 = 1_000_000

    private let mailbox: Mailbox<EngineRequest>
    private let thread: ScriptThread

    /// Starts the thread. `deliver` is called on it.
    init(limits: Limits, shelf: ScriptShelf, deliver: @escaping @Sendable ([SessionOutcome]) -> Void) {
        let mailbox = Mailbox<EngineRequest>()
        self.mailbox = mailbox
        thread = ScriptThread {
            Self.serve(mailbox, LuaWorker(limits: limits, shelf: shelf), deliver)
        }
    }

    func post(_ requests: [EngineRequest]) { mailbox.post(requests) }

    /// Lets the thread end when all that was posted is done.
    func close() { mailbox.close() }

    func join() { thread.join() }

    private static func serve(_ mailbox: Mailbox<EngineRequest>, _ worker: LuaWorker, _ deliver: ([SessionOutcome]) -> Void) {
        var turns = Turns()
        var outcomes: [SessionOutcome] = []
        while let arrived = mailbox.wait() {
            turns.add(arrived)
            var gatheredSince = monotonicNanoseconds()
            var turnBegan = gatheredSince
            while !turns.isEmpty {
                let (line, request) = turns.begin()
                outcomes.append(worker.run(request))
                let now = monotonicNanoseconds()
                // What came meanwhile gets in line before this session does again.
                turns.add(mailbox.take())
                turns.end(line, nanoseconds: now - turnBegan, sessionIsOver: !worker.holds(line.session))
                turnBegan = now
                guard turns.isEmpty || now - gatheredSince >= gatherNanoseconds else { continue }
                deliver(outcomes)
                outcomes.removeAll(keepingCapacity: outcomes.count <= 1024)
                gatheredSince = now
            }
        }
    }
}

/// The time that only goes on, in nanoseconds.
private func monotonicNanoseconds() -> UInt64 {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
}
