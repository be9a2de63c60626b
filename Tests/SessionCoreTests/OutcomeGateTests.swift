import Foundation
import SessionHost
import Testing

@Suite struct OutcomeGateTests {
    /// A thread that enters with so many bytes, and has done so when `wait` returns.
    private final class Visitor: @unchecked Sendable {
        private let entered = DispatchSemaphore(value: 0)

        init(_ gate: OutcomeGate, bytes: Int) {
            Thread.detachNewThread { [entered] in
                gate.enter(bytes)
                entered.signal()
            }
        }

        func wait() -> Bool { entered.wait(timeout: .now() + 10) == .success }
    }

    private func awaitWaiting(_ gate: OutcomeGate) -> Bool {
        let deadline = Date().addingTimeInterval(10)
        while gate.waitingThreads == 0, Date() < deadline { sched_yield() }
        return gate.waitingThreads > 0
    }

    @Test func whatIsOverTheBoundWaitsUntilSomethingLeft() {
        let gate = OutcomeGate(maximumBytes: 100)
        gate.enter(80)
        let visitor = Visitor(gate, bytes: 50)
        #expect(awaitWaiting(gate))
        gate.leave(80)
        #expect(visitor.wait())
    }

    @Test func somethingLargerThanTheBoundPassesAlone() {
        let gate = OutcomeGate(maximumBytes: 100)
        let visitor = Visitor(gate, bytes: 1000)
        #expect(visitor.wait())
        gate.leave(1000)
        #expect(gate.waitingThreads == 0)
    }

    @Test func aHostThatStopsLetsEverythingPass() {
        let gate = OutcomeGate(maximumBytes: 100)
        gate.enter(100)
        let visitor = Visitor(gate, bytes: 100)
        #expect(awaitWaiting(gate))
        gate.open()
        #expect(visitor.wait())
    }
}
