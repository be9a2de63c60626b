import ActivityModel
import Glibc
import SessionCore
import Testing

@testable import LuaRuntime

@Suite("An engine")
struct LuaEngineTests {
    private static let counter = script(
        """
          messages = { add = { n = "integer", filler = "string(20000)" } },
          start = function(session) session.state.last = 0 end,
          on = { add = function(session, message)
            if message.n ~= session.state.last + 1 then session:reject("out of order", "order") end
            session.state.last = message.n
            return { n = message.n, filler = "" }
          end },
        """)

    @Test("keeps the order of 10,000 inputs of several sessions and sizes", arguments: [1, 2, 3])
    func order(workers: Int) {
        let deliveries = Deliveries()
        let engine = LuaEngine(workers: workers, limits: Limits(), deliver: deliveries.add)
        let sessions: [UInt64] = Array(1...7)
        var runs = sessions.map { SessionRun(Self.counter, key: $0, people: 1...1) }
        var batch = runs.flatMap(\.requests)
        var sent = Array(repeating: 0, count: runs.count)
        var random = SystemRandomNumberGenerator()
        for step in 0..<10_000 {
            let index = Int.random(in: 0..<runs.count, using: &random)
            sent[index] += 1
            let before = runs[index].requests.count
            let size = step % 97 == 0 ? 20_000 : step % 7
            runs[index].send("add", #"{"n":\#(sent[index]),"filler":"\#(String(repeating: "x", count: size))"}"#)
            batch += runs[index].requests[before...]
            if step % 61 == 0 {
                engine.submit(batch)
                batch = []
            }
        }
        engine.submit(batch)
        engine.shutDown()
        let outcomes = deliveries.all.flatMap { $0 }
        for (run, count) in zip(runs, sent) {
            let own = outcomes.filter { $0.session == run.key }
            #expect(own.count == run.requests.count)
            // Told as one truth each: the lists are too long to print.
            let seqsRise = own.compactMap(\.seq) == Array(1...UInt64(count + 2))
            #expect(seqsRise)
            let relaysFollow = own.dropFirst(3).map(\.relayText) == (1...max(count, 1)).map { #"{"filler":"","n":\#($0)}"# }
            #expect(relaysFollow)
        }
    }

    @Test("delays a quick session by no more than one handler of a slow one a turn")
    func fairness() {
        let slow = script("messages = { loop = {} }, on = { loop = function() while true do end end },", name: "slow")
        var busy = SessionRun(slow, key: 1, people: 1...1)
        for _ in 0..<8 { busy.send("loop") }
        var quick = SessionRun(Self.counter, key: 2, people: 1...1)
        quick.send("add", #"{"n":1,"filler":""}"#)
        let deliveries = Deliveries()
        var limits = Limits()
        limits[.handlerMs] = 20
        let engine = LuaEngine(workers: 1, limits: limits, deliver: deliveries.add)
        engine.submit(busy.requests + quick.requests)
        engine.shutDown()
        let batches = deliveries.all
        let outcomes = batches.flatMap { $0 }
        let order = outcomes.map(\.session.number)
        // Each has four requests at first; they take turns to the end of the quick one.
        #expect(Array(order.prefix(8)) == [1, 2, 1, 2, 1, 2, 1, 2])
        #expect(outcomes.filter { $0.rejection?.code == .activityFailed }.count == 8)
        // A handler of 20 ms is longer than outcomes may wait for others.
        #expect(batches.count >= 8)
    }

    @Test("answers each request once, also for sessions that it does not have")
    func answers() {
        let deliveries = Deliveries()
        let engine = LuaEngine(workers: 2, limits: Limits(), deliver: deliveries.add)
        var stray = SessionRun(source(name: "bad", ["activity.lua": "return 1"]), key: 5)
        stray.add(.close)
        engine.submit(stray.requests)
        engine.submit([EngineRequest(session: SessionKey(number: 6), time: 0, work: .query(.snapshot))])
        engine.submit([])
        engine.shutDown()
        let outcomes = deliveries.all.flatMap { $0 }
        let own = outcomes.filter { $0.session == stray.key }
        #expect(own.map(\.rejection?.code) == Array(repeating: .activityFailed, count: 4) + [nil])
        #expect(outcomes.filter { $0.session != stray.key }.map(\.rejection?.code) == [.noSuchSession])
        engine.submit(stray.requests)
        #expect(deliveries.all.flatMap { $0 }.count == outcomes.count)
    }

    @Test("holds its memory flat over 1,000 sessions opened and closed")
    func memory() {
        func round(_ numbers: Range<UInt64>) {
            let deliveries = Deliveries()
            let engine = LuaEngine(workers: 2, limits: Limits(), deliver: { deliveries.add($0.filter { $0.rejection != nil }) })
            for number in numbers {
                var run = SessionRun(Self.counter, key: number)
                run.send("add", #"{"n":1,"filler":"\#(String(repeating: "x", count: 10_000))"}"#)
                run.add(.close)
                engine.submit(run.requests)
            }
            engine.shutDown()
            #expect(deliveries.all.flatMap { $0 }.count == 0)
        }
        round(0..<200)
        // Other tests of this process take memory meanwhile; what a session leaves behind would show in every try.
        let grown = (1...5).lazy.map { number in
            let before = residentBytes()
            round(UInt64(number * 1000)..<UInt64(number * 1000 + 1000))
            return residentBytes() - before
        }
        // A VM that stayed would cost 50 KB or more, 1,000 of them 50 MB.
        #expect(grown.contains { $0 < 8 << 20 })
    }

    private func residentBytes() -> Int {
        guard let file = fopen("/proc/self/statm", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        guard fgets(&line, 256, file) != nil else { return 0 }
        let fields = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self).split(separator: " ")
        return (Int(fields[1]) ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}
