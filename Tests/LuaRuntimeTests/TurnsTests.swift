import SessionCore
import Testing

@testable import LuaRuntime

@Suite("Turns")
struct TurnsTests {
    private static func requests(_ session: UInt64, _ count: Int) -> [EngineRequest] {
        (0..<count).map { _ in EngineRequest(session: SessionKey(number: session), time: 0, work: .close) }
    }

    /// Takes turns, each as long as `milliseconds` says for its session; the sessions in their order.
    private static func take(_ count: Int, of turns: inout Turns, _ milliseconds: (UInt64) -> UInt64) -> [UInt64] {
        (0..<count).map { _ in
            let (line, _) = turns.begin()
            turns.end(line, nanoseconds: milliseconds(line.session.number) * 1_000_000, sessionIsOver: false)
            return line.session.number
        }
    }

    @Test("of equal sessions go round")
    func round() {
        var turns = Turns()
        turns.add((1...3).flatMap { Self.requests($0, 2) })
        #expect(Self.take(6, of: &turns) { _ in 0 } == [1, 2, 3, 1, 2, 3])
        #expect(turns.isEmpty)
    }

    @Test("of many slow sessions delay a quick one by one of theirs")
    func manySlow() {
        var turns = Turns()
        turns.add((1...15).flatMap { Self.requests($0, 10) } + Self.requests(99, 10))
        let order = Self.take(16 + 18, of: &turns) { $0 == 99 ? 0 : 50 }
        #expect(Array(order.prefix(16)) == Array(1...15) + [99])
        // From now on it is known who is slow.
        #expect(Array(order.dropFirst(16)) == (1...9).flatMap { [$0, 99] })
    }

    @Test("come to slow sessions too, however busy the quick ones are")
    func nobodyStarves() {
        var turns = Turns()
        turns.add(Self.requests(1, 20) + Self.requests(2, 100) + Self.requests(3, 100))
        let order = Self.take(60, of: &turns) { $0 == 1 ? 50 : 0 }
        #expect(order.count { $0 == 1 } == 20)
    }

    @Test("of a session that mixes long and short handlers are slow ones")
    func mixed() {
        var turns = Turns()
        turns.add((1...8).flatMap { Self.requests($0, 40) } + Self.requests(99, 40))
        var count = 0
        _ = Self.take(9, of: &turns) { $0 == 99 ? 0 : 50 }
        let order = Self.take(60, of: &turns) { session in
            count += 1
            return session == 99 || count % 3 != 0 ? 0 : 50
        }
        let waits = order.split(separator: 99).map(\.count)
        #expect(waits.max() == 1)
    }

    @Test("of a session that has been quick for long are quick ones again")
    func forgiven() {
        var turns = Turns()
        turns.add(Self.requests(1, 40) + Self.requests(2, 40) + Self.requests(3, 40))
        var count = 0
        let order = Self.take(90, of: &turns) { session in
            count += 1
            return session == 1 && count < 4 ? 8 : 0
        }
        #expect([order.suffix(9).prefix(3), order.suffix(6).prefix(3), order.suffix(3)].allSatisfy { Set($0) == [1, 2, 3] })
    }
}
