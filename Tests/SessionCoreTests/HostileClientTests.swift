import ActivityModel
import ActivityTestKit
import SessionCore
import SessionHost
import Testing

@Suite struct HostileClientTests {
    private let world = TestWorld()

    @Test func nobodyGetsWhatWasSentBeforeTheyJoinedByAForgedPosition() {
        let group = world.makeGroup()
        let ana = world.participant("Ana", of: group)
        for ref in 2...5 { ana.say(ref, #""before \#(ref)""#) }
        let eve = world.member("Eve", of: group)
        eve.send(#"[{"type":"join","ref":1,"session":"s1"}]"#)
        let joined = eve.take("joined")!
        eve.drop()
        let back = world.member("Eve", of: group, seat: eve.seat)
        let epoch = joined["epoch"]!.string!
        back.send(#"[{"type":"join","ref":2,"session":"s1","participant":"p2","since":{"epoch":"\#(epoch)","seq":1}}]"#)
        let again = back.take("joined")
        #expect(again?["participant"]?.string == "p2")
        #expect(again?["state"] != nil)
        #expect(back.takeAll("message").isEmpty)
    }

    @Test func theirOwnJoinIsAPositionToResumeFrom() {
        let group = world.makeGroup()
        let ana = world.participant("Ana", of: group)
        let ben = world.member("Ben", of: group)
        ben.send(#"[{"type":"join","ref":1,"session":"s1"}]"#)
        let joined = ben.take("joined")!
        ben.drop()
        ana.say(2, "1")
        let back = world.member("Ben", of: group, seat: ben.seat)
        let (epoch, seq) = (joined["epoch"]!.string!, joined["seq"]!.integer!)
        back.send(#"[{"type":"join","ref":2,"session":"s1","participant":"p2","since":{"epoch":"\#(epoch)","seq":\#(seq)}}]"#)
        let again = back.take("joined")
        #expect(again != nil && again?["state"] == nil)
        #expect(back.takeAll("message").map { $0["body"]!.integer } == [1])
    }

    @Test(arguments: [100, 1])
    func leavingAndJoiningInOneFrameGivesANewParticipantAlsoInAFullSession(most: Int) {
        var limits = Limits()
        limits[.participants] = most
        let world = TestWorld(limits: limits)
        let group = world.makeGroup()
        let ana = world.participant("Ana", of: group)
        ana.send(
            #"[{"type":"leave","ref":2,"session":"s1"},{"type":"join","ref":3,"session":"s1"},{"type":"send","ref":4,"session":"s1","name":"say","body":1}]"#
        )
        world.settle()
        #expect(ana.take("accepted")?["ref"]?.integer == 2)
        #expect(ana.take("invalidated")?["reason"]?.string == "left")
        let joined = ana.take("joined")
        #expect(joined?["participant"]?.string == "p2")
        #expect(joined?["participants"]?.array?.count == 1)
        #expect(ana.take("accepted")?["ref"]?.integer == 4)
        ana.say(5, "2")
        #expect(ana.take("accepted")?["ref"]?.integer == 5)
    }

    @Test func aJoinAskedAgainOnANewConnectionIsAnsweredThere() {
        let group = world.makeGroup()
        let ana = world.participant("Ana", of: group)
        let ben = world.member("Ben", of: group)
        world.relay.isHeld = true
        ben.send(#"[{"type":"join","ref":1,"session":"s1"}]"#)
        ben.drop()
        let back = world.member("Ben", of: group, seat: ben.seat)
        back.send(#"[{"type":"join","ref":1,"session":"s1"}]"#)
        world.relay.isHeld = false
        world.settle()
        #expect(back.take("joined")?["ref"]?.integer == 1)
        ana.say(2, "7")
        #expect(back.take("message")?["body"]?.integer == 7)
        world.loop.advance(milliseconds: 60_000)
        #expect(ana.takeAll("participants").allSatisfy { $0["left"]?.array?.isEmpty ?? true })
    }

    @Test func aResumeAskedAgainOnANewConnectionIsAnsweredThere() {
        let group = world.makeGroup()
        let ana = world.participant("Ana", of: group)
        let ben = world.participant("Ben", of: group)
        ben.drop()
        let second = world.member("Ben", of: group, seat: ben.seat)
        world.relay.isHeld = true
        second.send(#"[{"type":"join","ref":2,"session":"s1","participant":"p2"}]"#)
        second.drop()
        let third = world.member("Ben", of: group, seat: ben.seat)
        third.send(#"[{"type":"join","ref":2,"session":"s1","participant":"p2"}]"#)
        world.relay.isHeld = false
        world.settle()
        #expect(third.take("joined")?["participant"]?.string == "p2")
        ana.say(2, "7")
        #expect(third.take("message")?["body"]?.integer == 7)
    }

    @Test func joinedIsTheFirstThingThatANewConnectionHearsOfItsSession() {
        let group = world.makeGroup()
        let ana = world.participant("Ana", of: group)
        let ben = world.participant("Ben", of: group)
        ben.drop()
        let back = world.member("Ben", of: group, seat: ben.seat)
        world.relay.isHeld = true
        ana.send(#"[{"type":"rename","ref":2,"name":"Anna"}]"#)
        ana.say(3, "1", name: "point")
        ana.say(4, "2")
        back.send(#"[{"type":"join","ref":2,"session":"s1","participant":"p2"}]"#)
        _ = back.takeAll("members")
        world.relay.isHeld = false
        world.settle()
        let heard = back.inbox.filter { $0["session"]?.string == "s1" }
        #expect(heard.map { $0["type"]?.string } == ["joined", "message"])
        #expect(heard.first?["participants"]?.array?.first?["name"]?.string == "Anna")
        #expect(heard.first?["state"]?.array?.count == 1)
        #expect(heard.last?["name"]?.string == "point")
    }

    @Test func whoCannotBeShownTheViewAgainIsToldAndNotLeftWithAGap() {
        let group = world.makeGroup()
        let ana = world.participant("Ana", of: group)
        let ben = world.participant("Ben", of: group)
        world.relay.failsViews = true
        ben.send(#"[{"type":"join","ref":2,"session":"s1"}]"#)
        #expect(ben.take("rejected")?["ref"]?.integer == 2)
        #expect(ben.take("invalidated")?["reason"]?.string == "failed")
        world.settle()
        #expect(ana.takeAll("participants").last?["left"]?.array?.first?["id"]?.string == "p2")
        world.relay.failsViews = false
        ben.send(#"[{"type":"join","ref":3,"session":"s1"}]"#)
        #expect(ben.take("joined")?["participant"]?.string == "p3")
        ana.say(2, "7")
        #expect(ben.take("message")?["body"]?.integer == 7)
    }

    @Test func aClientInUseIsNotForgottenForOthersOfItsSeat() {
        let group = world.makeGroup()
        let ana = world.participant("Ana", of: group)
        ana.say(2, "1")
        for number in 0..<100 { world.member("Ana", of: group, seat: ana.seat, client: "other \(number)").drop() }
        ana.drop()
        let back = world.member("Ana", of: group, seat: ana.seat, client: "Ana")
        #expect(back.take("welcome")?["acknowledged"]?.integer == 2)
    }
}

@Suite struct BoundTests {
    @Test func ofAClientsIdSixtyFourBytesCountHoweverFewCharactersTheyAre() {
        let world = TestWorld()
        let group = world.makeGroup()
        let marks = String(repeating: "\u{301}", count: 60)
        let ana = world.member("Ana", of: group, client: "a" + marks + "1")
        ana.send(#"[{"type":"rename","ref":7,"name":"Anna"}]"#)
        let other = world.member("Ana", of: group, seat: ana.seat, client: "a" + marks + "2")
        #expect(other.take("welcome")?["acknowledged"]?.integer == 7)
    }

    @Test func exportsOfOneSeatAreCountedAsRequestsAndTheOperatorsAreNot() {
        let world = TestWorld()
        let group = world.makeGroup()
        let ana = world.participant("Ana", of: group)
        func export(seat: String?) -> Result<[UInt8], ExportError> {
            var answer: Result<[UInt8], ExportError>?
            world.host.export(
                code: group.code.description, session: "s1", kind: "text", seat: seat, isOperator: seat == nil, address: "192.0.2.1"
            ) { answer = $0 }
            world.loop.run()
            return answer!
        }
        for _ in 0..<20 { #expect(throws: Never.self) { try export(seat: ana.seat).get() } }
        guard case .failure(.rateLimited(let rejection)) = export(seat: ana.seat) else { return #expect(Bool(false)) }
        #expect(rejection.exceeded == ExceededLimit("requests_per_second", allowed: 20, found: 21, retryMs: 50))
        #expect(export(seat: nil) == .success(Array("text".utf8)))
        world.loop.advance(milliseconds: 50)
        #expect(export(seat: ana.seat) == .success(Array("text".utf8)))
    }

    @Test func refreshingEverybodyOnEachMessageKeepsFewSnapshotsForWhoDoesNotRead() {
        var limits = Limits()
        limits[.backlogBytes] = 20_000
        let world = TestWorld(limits: limits)
        let group = world.makeGroup()
        let ana = world.participant("Ana", of: group)
        let ben = world.participant("Ben", of: group)
        world.relay.react = { input in
            var reaction = RelayEngine.Reaction()
            if case .message = input { reaction.refresh = [ParticipantID("p2")!] }
            return reaction
        }
        ben.isReady = false
        let text = String(repeating: "x", count: 500)
        for ref in 2...150 {
            ana.say(ref, #""\#(text)""#)
            world.loop.advance(milliseconds: 20)
        }
        let before = ben.frames.count
        ben.isReady = true
        world.settle()
        let bytes = ben.frames[before...].reduce(0) { $0 + $1.utf8.count }
        // The bound, what may be kept of it, and two views of 75 kB.
        #expect(bytes < 250_000, "\(bytes) bytes were kept for somebody who does not read")
        world.loop.advance(milliseconds: 6000)
        #expect(ben.takeAll("snapshot").last?["state"]?.array?.count == 149)
    }

    @Test func oneViewInTheMakingStandsForAllRefreshesBeforeIt() {
        let world = TestWorld()
        let group = world.makeGroup()
        let ana = world.participant("Ana", of: group)
        let ben = world.participant("Ben", of: group)
        world.relay.react = { input in
            var reaction = RelayEngine.Reaction()
            if case .message = input { reaction.refresh = [ParticipantID("p2")!] }
            return reaction
        }
        ana.send("[" + (2...101).map { #"{"type":"send","ref":\#($0),"session":"s1","name":"say","body":\#($0)}"# }.joined(separator: ",") + "]")
        world.settle()
        #expect(world.relay.viewCount == 1)
        #expect(ben.takeAll("snapshot").last?["state"]?.array?.count == 100)
    }

    @Test func aFarTimerAndComingAndGoingLeaveNoWakesBehind() {
        let world = TestWorld()
        let group = world.makeGroup()
        let ana = world.participant("Ana", of: group)
        let far = world.loop.now + 86_400_000
        var isFirst = true
        world.relay.react = { input in
            var reaction = RelayEngine.Reaction()
            if case .message = input, isFirst {
                reaction.timers = [far]
                isFirst = false
            }
            return reaction
        }
        for ref in 2...300 {
            ana.say(ref, "1")
            world.loop.advance(milliseconds: 20)
        }
        ana.send(#"[{"type":"leave","ref":301,"session":"s1"}]"#)
        for round in 0..<200 {
            ana.send(#"[{"type":"join","ref":\#(302 + 2 * round),"session":"s1"},{"type":"leave","ref":\#(303 + 2 * round),"session":"s1"}]"#)
            world.loop.advance(milliseconds: 100)
        }
        ana.drop()
        for _ in 0..<200 {
            world.member("Ana", of: group, seat: ana.seat).drop()
            world.loop.advance(milliseconds: 100)
        }
        world.loop.advance(milliseconds: 60_000)
        #expect(world.host.waitingWakes < 20)
    }

    @Test(arguments: ["{}", #"{"type":"ping"}"#, #"{"type":"nothing","ref":1}"#, #"{"type":"hello"}"#, #"{"type":"new_code"}"#])
    func aFrameOfVeryManyEnvelopesIsAnsweredWithinTheBoundOrEndsItsConnection(envelope: String) {
        let world = TestWorld()
        let group = world.makeGroup()
        let ana = world.participant("Ana", of: group)
        let eve = world.member("Eve", of: group)
        eve.isReady = false
        let count = (1 << 20) / (envelope.utf8.count + 1)
        eve.send("[" + Array(repeating: envelope, count: count).joined(separator: ",") + "]")
        let before = eve.frames.count
        eve.isReady = true
        #expect(eve.frames[before...].reduce(0) { $0 + $1.utf8.count } < 5 << 20)
        #expect(world.host.statistics.counters.rejected < 70_000)
        ana.say(2, "1")
        #expect(ana.take("accepted")?["ref"]?.integer == 2)
    }

    @Test func aRelayKeepsOnlySoMuchOfWhatIsLatest() {
        var limits = Limits()
        limits[.backlogBytes] = 20_000
        var activity = TestWorld.activity
        activity.messages = ["*": MessageType(delivery: .latest, right: .participant, targeted: false)]
        let world = TestWorld(limits: limits, activities: [activity])
        let group = world.makeGroup()
        let ana = world.participant("Ana", of: group)
        let text = String(repeating: "x", count: 1000)
        for number in 0..<300 {
            let name = "name\(number)"
            world.relay.deliveries[name] = .latest
            ana.say(number + 2, #""\#(text)""#, name: name)
            world.loop.advance(milliseconds: 10)
        }
        let ben = world.participant("Ben", of: group)
        let names = ben.takeAll("message").compactMap { $0["name"]?.string }
        #expect((1...80).contains(names.count))
        #expect(names.contains("name299"))
    }
}
