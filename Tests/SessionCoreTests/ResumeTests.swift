import ActivityModel
import ActivityTestKit
import SessionCore
import Testing

@Suite struct ResumeTests {
    let world = TestWorld()

    private func rejoin(_ name: String, _ group: HostCore.CreatedGroup, seat: String, since: (String, Int64)?, ref: Int = 900) -> TestClient {
        let client = world.member(name, of: group, seat: seat)
        let position = since.map { #"{"epoch":"\#($0.0)","seq":\#($0.1)}"# } ?? "null"
        client.send(#"[{"type":"join","ref":\#(ref),"session":"s1","participant":"p2","since":\#(position)}]"#)
        return client
    }

    private func joinBen(_ group: HostCore.CreatedGroup) -> (TestClient, epoch: String, seq: Int64) {
        let ben = world.member("Ben", of: group)
        ben.send(#"[{"type":"join","ref":1,"session":"s1"}]"#)
        let joined = ben.take("joined")!
        return (ben, joined["epoch"]!.string!, joined["seq"]!.integer!)
    }

    @Test func whoComesBackInTimeGetsExactlyWhatItMissedAndTheOthersNoticeNothing() {
        let group = world.makeGroup()
        let ana = world.participant("Ana", of: group)
        let (ben, epoch, seq) = joinBen(group)
        ana.say(2, "1")
        ben.drop()
        ana.say(3, "2")
        ana.say(4, "3")
        _ = ana.takeAll("participants")
        world.loop.advance(milliseconds: 5000)
        let back = rejoin("Ben", group, seat: ben.seat!, since: (epoch, seq + 1))
        let joined = back.take("joined")
        #expect(joined?["participant"]?.string == "p2")
        #expect(joined?["state"] == nil)
        #expect(back.takeAll("message").map { $0["body"]!.integer } == [2, 3])
        world.loop.advance(milliseconds: 60_000)
        #expect(ana.takeAll("participants").isEmpty)
    }

    @Test(arguments: [("e0", Int64(3)), (nil, 0), ("same", 999)])
    func aPositionThatProvesNothingGetsAView(epoch: String?, seq: Int64) {
        let group = world.makeGroup()
        let ana = world.participant("Ana", of: group)
        let (ben, realEpoch, _) = joinBen(group)
        ana.say(2, "1")
        ben.drop()
        let back = rejoin("Ben", group, seat: ben.seat!, since: epoch.map { ($0 == "same" ? realEpoch : $0, seq) })
        let joined = back.take("joined")
        #expect(joined?["participant"]?.string == "p2")
        #expect(joined?["state"]?.array?.count == 1)
    }

    @Test func afterTheGraceTimeTheOthersGetOneLeaveAndTheComerIsNew() {
        let group = world.makeGroup()
        let ana = world.participant("Ana", of: group)
        let (ben, epoch, seq) = joinBen(group)
        _ = ana.takeAll("participants")
        ben.drop()
        world.loop.advance(milliseconds: 30_500)
        let left = ana.inbox.filter { $0["type"]?.string == "participants" }.flatMap { $0["left"]!.array! }
        #expect(left.map { $0["reason"]!.string } == ["disconnected"])
        #expect(ana.inbox.contains { $0["type"]?.string == "members" && $0["left"]?.array == [.string("m3")] })
        let back = rejoin("Ben", group, seat: ben.seat!, since: (epoch, seq))
        let joined = back.take("joined")
        #expect(joined?["participant"]?.string == "p3")
        #expect(joined?["state"] != nil)
    }

    @Test func whatWasAcceptedUnderARefIsAnsweredAgainAndNotAppliedAgain() {
        let group = world.makeGroup()
        let ana = world.participant("Ana", of: group)
        let (ben, epoch, seq) = joinBen(group)
        ben.say(2, "1")
        ben.say(3, "2")
        let seqOf2 = ben.take("accepted")?["seq"]?.integer
        ben.drop()
        let back = rejoin("Ben", group, seat: ben.seat!, since: (epoch, seq), ref: 4)
        for (ref, body) in [(2, "1"), (3, "2"), (5, "3"), (3, "2")] { back.say(ref, body) }
        let answers = back.takeAll("accepted")
        #expect(answers.map { $0["ref"]!.integer } == [2, 3, 5, 3])
        #expect(answers[0]["seq"]?.integer == seqOf2)
        #expect(ana.takeAll("message").map { $0["body"]!.integer } == [1, 2, 3])
    }

    @Test func aRefUnderWayIsAnsweredOnceOnTheConnectionThatAskedLast() {
        let group = world.makeGroup()
        let ana = world.participant("Ana", of: group)
        let (ben, epoch, seq) = joinBen(group)
        world.relay.isHeld = true
        ben.say(2, "1")
        ben.drop()
        let back = rejoin("Ben", group, seat: ben.seat!, since: (epoch, seq))
        back.say(2, "1")
        world.relay.isHeld = false
        world.settle()
        #expect(back.takeAll("accepted").map { $0["ref"]!.integer } == [2])
        #expect(ana.takeAll("message").count == 1)
    }

    @Test func aRejectedRefMayBeTriedAgain() {
        let group = world.makeGroup()
        let (ben, _, _) = joinBen(group)
        world.relay.react = { _ in
            var reaction = RelayEngine.Reaction()
            reaction.rejection = Rejection(.refused, "not now")
            return reaction
        }
        ben.say(2, "1")
        #expect(ben.take("rejected")?["code"]?.string == "refused")
        world.relay.react = { _ in RelayEngine.Reaction() }
        ben.say(2, "1")
        #expect(ben.take("accepted")?["ref"]?.integer == 2)
    }

    @Test func aNewerConnectionTakesOverAndTheOldOneIsClosedWith4409() {
        let group = world.makeGroup()
        _ = world.participant("Ana", of: group)
        let (ben, epoch, seq) = joinBen(group)
        let back = rejoin("Ben", group, seat: ben.seat!, since: (epoch, seq))
        #expect(back.take("joined")?["participant"]?.string == "p2")
        #expect(ben.closeCode == .takenOver)
    }

    @Test func aPlaceIsNobodyElses() {
        let group = world.makeGroup()
        _ = world.participant("Ana", of: group)
        let (ben, epoch, seq) = joinBen(group)
        ben.drop()
        let eve = world.member("Eve", of: group)
        eve.send(#"[{"type":"join","ref":1,"session":"s1","participant":"p2","since":{"epoch":"\#(epoch)","seq":\#(seq)}}]"#)
        let joined = eve.take("joined")
        #expect(joined?["participant"]?.string == "p3")
        #expect(joined?["state"] != nil)
    }

    @Test func aViewThatWasMissedIsMadeAgain() {
        let group = world.makeGroup()
        let ana = world.participant("Ana", of: group)
        let (ben, epoch, seq) = joinBen(group)
        ben.drop()
        world.relay.react = { _ in
            var reaction = RelayEngine.Reaction()
            reaction.refresh = [ParticipantID(number: 2)]
            return reaction
        }
        ana.say(2, "1")
        world.relay.react = { _ in RelayEngine.Reaction() }
        let back = rejoin("Ben", group, seat: ben.seat!, since: (epoch, seq))
        #expect(back.take("joined")?["state"]?.array?.count == 1)
    }
}
