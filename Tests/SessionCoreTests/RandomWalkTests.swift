import ActivityModel
import ActivityTestKit
import SessionCore
import Testing

/// One person of a walk: what the connections heard, checked against what the contract promises.
private final class Walker {
    let name: String
    var seat: String?
    var connection: TestClient!
    var ref: Int64 = 0
    /// The answers to each ref, as they first came.
    var answers: [Int64: JSONValue] = [:]
    /// Where the connection stands in each session that it was told `joined` for.
    private var seqs: [String: Int64] = [:]
    var places: [String: (participant: String, epoch: String, seq: Int64)] = [:]
    /// Where there is something to take part in.
    var sessions: Set<String> = []
    var problems: [String] = []
    /// What was asked on this connection and has no answer yet.
    var asked: Set<Int64> = []

    init(_ name: String, seat: String?) {
        self.name = name
        self.seat = seat
    }

    func connect(_ world: TestWorld, _ group: HostCore.CreatedGroup) {
        connection = world.member(name, of: group, seat: seat)
        seat = connection.seat
        seqs = [:]
        asked = []
        hear()
    }

    func hear() {
        for envelope in connection.takeEverything() {
            let type = envelope["type"]!.string!
            if type == "session" { sessions.insert(envelope["session"]!["id"]!.string!) }
            if let ref = envelope["ref"]?.integer { asked.remove(ref) }
            if let ref = envelope["ref"]?.integer, type != "rejected" {
                if type != "joined", let before = answers[ref], before != envelope { problems.append("two answers: \(before) \(envelope)") }
                answers[ref] = envelope
            }
            guard let session = envelope["session"]?.string else { continue }
            switch type {
            case "joined":
                seqs[session] = envelope["seq"]!.integer!
                let participant = envelope["participant"]!.string!
                places[session] = (participant, envelope["epoch"]!.string!, envelope["seq"]!.integer!)
                let listed = envelope["participants"]!.array!.contains { $0["id"]?.string == participant }
                if !listed { problems.append("joined without oneself: \(envelope)") }
            case "invalidated":
                seqs[session] = nil
                places[session] = nil
                sessions.remove(session)
                if envelope["reason"]?.string == "left" { sessions.insert(session) }
            case "message", "changed", "participants", "snapshot":
                guard let seq = envelope["seq"]?.integer else { continue }
                guard let before = seqs[session] else {
                    problems.append("before joined: \(envelope)")
                    continue
                }
                if seq < before { problems.append("back from \(before): \(envelope)") }
                seqs[session] = seq
                places[session]?.seq = seq
            default: break
            }
        }
    }
}

@Suite struct RandomWalkTests {
    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func whoeverComesAndGoesHoweverTheOrderStaysAndEachRequestHasOneAnswer(seed: UInt64) {
        var chance = SeededRandom(seed: seed)
        var limits = Limits()
        limits[.graceMs] = 400
        let world = TestWorld(limits: limits, seed: seed)
        let group = world.makeGroup()
        let walkers = [Walker("Host", seat: group.seat.description)] + (1...4).map { Walker("P\($0)", seat: nil) }
        for walker in walkers { walker.connect(world, group) }
        for _ in 0..<400 {
            let walker = walkers.randomElement(using: &chance)!
            if Int.random(in: 0..<12, using: &chance) == 0 {
                walker.connection.drop()
                world.relay.isHeld = Bool.random(using: &chance)
                walker.connect(world, group)
                for (session, place) in walker.places.sorted(by: { $0.key < $1.key }) {
                    walker.ref += 1
                    walker.asked.insert(walker.ref)
                    let since = Bool.random(using: &chance) ? #"{"epoch":"\#(place.epoch)","seq":\#(place.seq)}"# : "null"
                    walker.connection.send(
                        #"[{"type":"join","ref":\#(walker.ref),"session":"\#(session)","participant":"\#(place.participant)","since":\#(since)}]"#)
                }
            }
            walker.hear()
            let requests = (0..<Int.random(in: 1...4, using: &chance)).map { _ in
                walker.ref += 1
                walker.asked.insert(walker.ref)
                return Self.request(walker.ref, in: walker.sessions.sorted().randomElement(using: &chance) ?? "s1", using: &chance)
            }
            world.relay.isHeld = Bool.random(using: &chance)
            walker.connection.send("[" + requests.joined(separator: ",") + "]")
            if Bool.random(using: &chance) { world.loop.advance(milliseconds: Int64.random(in: 0...300, using: &chance)) }
        }
        world.relay.isHeld = false
        world.settle()
        for walker in walkers {
            walker.hear()
            #expect(walker.problems.isEmpty, "\(walker.name): \(walker.problems.prefix(3))")
            #expect(walker.asked.isEmpty)
            #expect(walker.connection.closeCode == nil)
        }
    }

    private static func request(_ ref: Int64, in session: String, using chance: inout SeededRandom) -> String {
        let head = #""ref":\#(ref),"session":"\#(session)""#
        return switch Int.random(in: 0..<20, using: &chance) {
        case 0..<8: #"{"type":"send",\#(head),"name":"say","body":\#(ref)}"#
        case 8..<12: #"{"type":"join",\#(head)}"#
        case 12..<15: #"{"type":"leave",\#(head)}"#
        case 15: #"{"type":"start","ref":\#(ref),"activity":"relay","replaces":"\#(session)"}"#
        case 16: #"{"type":"start","ref":\#(ref),"activity":"relay"}"#
        case 17: #"{"type":"rename","ref":\#(ref),"name":"N\#(ref % 5)"}"#
        case 18: #"{"type":"send",\#(head),"name":"whisper","body":\#(ref),"to":["p\#(Int.random(in: 1...9, using: &chance))"]}"#
        default: #"{"type":"send",\#(head),"name":"point","body":\#(ref)}"#
        }
    }
}
