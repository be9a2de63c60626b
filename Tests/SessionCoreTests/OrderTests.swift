import ActivityModel
import ActivityTestKit
import SessionCore
import Testing

@Suite struct OrderTests {
    let world = TestWorld()

    @Test func messagesReachTheOthersWithRisingSeqAndTheSenderIsAnswered() {
        let group = world.makeGroup()
        let ana = world.participant("Ana", of: group)
        let ben = world.participant("Ben", of: group)
        ana.say(2, #"{"n":1}"#)
        ben.say(2, #"{"n":2}"#)
        let first = ben.take("message")
        #expect(first?["from"]?.string == "p1")
        #expect(first?["body"]?["n"]?.integer == 1)
        let anaSeq = ana.take("accepted")?["seq"]?.integer
        #expect(anaSeq == first?["seq"]?.integer)
        #expect(ana.take("message")?["seq"]?.integer == anaSeq! + 1)
    }

    @Test func allThatOneInputCausesIsInOneFrameRelayFirstThenSendsThenAccepted() throws {
        let group = world.makeGroup()
        let ana = world.participant("Ana", of: group)
        let ben = world.participant("Ben", of: group)
        world.relay.react = { input in
            var reaction = RelayEngine.Reaction()
            if case .message = input {
                reaction.relay = .replaced(Array(#"{"n":"replaced"}"#.utf8))
                reaction.sends = [.init(name: "result", body: Array("{}".utf8), delivery: .durable, to: nil)]
            }
            return reaction
        }
        ana.say(2, #"{"n":1}"#)
        let forAna = try JSONValue.parse(Array(ana.frames.last!.utf8)).array!
        #expect(forAna.map { $0["type"]!.string } == ["message", "message", "accepted"])
        #expect(forAna[0]["from"]?.string == "p1")
        #expect(forAna[1]["from"] == .null)
        #expect(Set(forAna.map { $0["seq"]!.integer! }).count == 1)
        let forBen = try JSONValue.parse(Array(ben.frames.last!.utf8)).array!
        #expect(forBen.map { $0["name"]!.string } == ["say", "result"])
    }

    @Test func aNewcomerGetsTheViewAtItsSeqAndEverythingAfter() {
        let group = world.makeGroup()
        let ana = world.participant("Ana", of: group)
        for ref in 2...50 { ana.say(ref, "\(ref)") }
        world.relay.isHeld = true
        for ref in 51...60 { ana.say(ref, "\(ref)") }
        let ben = world.member("Ben", of: group)
        ben.send(#"[{"type":"join","ref":1,"session":"s1"}]"#)
        for ref in 61...70 { ana.say(ref, "\(ref)") }
        world.relay.isHeld = false
        world.settle()
        let joined = ben.take("joined")!
        let view = joined["state"]!.array!.map { $0.integer! }
        #expect(view == Array(2...60))
        let later = ben.takeAll("message")
        #expect(later.map { $0["body"]!.integer! } == Array(61...70))
        #expect(later.allSatisfy { $0["seq"]!.integer! > joined["seq"]!.integer! })
    }

    @Test func sendsBetweenJoinAndJoinedAreCarriedOutAndThoseBeforeJoinAreRefused() {
        let group = world.makeGroup()
        let ana = world.participant("Ana", of: group)
        let ben = world.member("Ben", of: group)
        ben.say(1, "1")
        #expect(ben.take("rejected")?["code"]?.string == "not_joined")
        ben.send(
            #"[{"type":"join","ref":2,"session":"s1"},{"type":"send","ref":3,"session":"s1","name":"say","body":2}]"#)
        #expect(ben.take("joined") != nil)
        #expect(ben.take("accepted")?["ref"]?.integer == 3)
        #expect(ana.take("message")?["body"]?.integer == 2)
    }

    @Test func aRefusedInputLeavesNoSeqAndNoId() {
        let group = world.makeGroup()
        let ana = world.participant("Ana", of: group)
        world.relay.react = { input in
            var reaction = RelayEngine.Reaction()
            if case .join = input { reaction.rejection = Rejection(.refused, "full") }
            return reaction
        }
        let ben = world.member("Ben", of: group)
        ben.send(#"[{"type":"join","ref":1,"session":"s1"}]"#)
        #expect(ben.take("rejected")?["code"]?.string == "refused")
        world.relay.react = { _ in RelayEngine.Reaction() }
        ana.say(2, "1")
        #expect(ana.take("accepted")?["seq"]?.integer == 3)
        ben.send(#"[{"type":"join","ref":2,"session":"s1"}]"#)
        #expect(ben.take("joined")?["participant"]?.string == "p2")
    }

    @Test func idleConnectionsGetMessagesAtOnceAndBusyOnesGatherThem() {
        let group = world.makeGroup()
        let ana = world.participant("Ana", of: group)
        let ben = world.participant("Ben", of: group)
        world.settle()
        let before = ben.frames.count
        ana.send(#"[{"type":"send","session":"s1","name":"say","body":1}]"#)
        #expect(ben.frames.count == before + 1)
        world.loop.advance(milliseconds: 20)
        ana.send(#"[{"type":"send","session":"s1","name":"say","body":2},{"type":"send","session":"s1","name":"say","body":3}]"#)
        #expect(ben.frames.count == before + 2)
    }

    @Test func eachInputIsInTheLogBeforeAnythingIsSent() throws {
        let group = world.makeGroup()
        let ana = world.participant("Ana", of: group)
        ana.say(2, "7")
        let records = try #require(world.log.records(of: SessionKey(number: 1), from: 1))
        let inputs = records.compactMap { record -> UInt64? in
            if case .input(let seq, _, _) = record.event { return seq }
            return nil
        }
        #expect(inputs == [1, 2, 3])
    }
}
