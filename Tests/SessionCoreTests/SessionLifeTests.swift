import ActivityModel
import ActivityTestKit
import SessionCore
import SessionHost
import Testing

@Suite struct SessionLifeTests {
    let world = TestWorld()

    @Test func startingInvitesTheOthersAndPullsNobodyIn() {
        let group = world.makeGroup(activity: nil)
        let ana = world.member("Ana", of: group)
        let ben = world.member("Ben", of: group)
        ana.send(#"[{"type":"start","ref":1,"activity":"relay","parameters":{}}]"#)
        #expect(ana.take("started")?["session"]?.string == "s1")
        let invitation = ben.take("session")?["session"]
        #expect(invitation?["initiator"]?.string == "m2")
        #expect(invitation?["participants"]?.integer == 0)
        #expect(ben.take("joined") == nil)
    }

    @Test func leavingTouchesNobodyElseAndRejoiningGivesANewParticipant() {
        let group = world.makeGroup()
        let ana = world.participant("Ana", of: group)
        let ben = world.participant("Ben", of: group)
        ben.send(#"[{"type":"leave","ref":2,"session":"s1"}]"#)
        #expect(ben.inbox.contains { $0["type"]?.string == "invalidated" && $0["reason"]?.string == "left" })
        #expect(ben.take("accepted")?["ref"]?.integer == 2)
        #expect(ana.takeAll("participants").last?["left"]?.array?.first?["id"]?.string == "p2")
        ben.send(#"[{"type":"join","ref":3,"session":"s1"}]"#)
        #expect(ben.take("joined")?["participant"]?.string == "p3")
    }

    @Test func endingIsForTheInitiatorAndModeratorsAndEndsItForEveryone() {
        let group = world.makeGroup()
        let host = world.participant("Host", of: group, seat: group.seat.description)
        let ben = world.participant("Ben", of: group)
        ben.send(#"[{"type":"end","ref":2,"session":"s1"}]"#)
        #expect(ben.take("rejected")?["code"]?.string == "forbidden")
        host.send(#"[{"type":"end","ref":2,"session":"s1"}]"#)
        #expect(host.take("accepted")?["ref"]?.integer == 2)
        #expect(ben.take("invalidated")?["reason"]?.string == "ended")
        ben.say(3, "1")
        #expect(ben.take("rejected")?["code"]?.string == "no_such_session")
    }

    @Test func aSessionThatEndsAsksNothingMoreOfTheEngine() {
        var limits = Limits()
        limits[.backlogBytes] = 20_000
        let world = TestWorld(limits: limits)
        let group = world.makeGroup()
        let host = world.participant("Host", of: group, seat: group.seat.description)
        let ben = world.participant("Ben", of: group)
        ben.isReady = false
        world.relay.react = { input in
            var reaction = RelayEngine.Reaction()
            if case .message = input { reaction.refresh = [ParticipantID(number: 1)] }
            return reaction
        }
        world.relay.isHeld = true
        for ref in 2...3 { host.say(ref, "\"\(String(repeating: "x", count: 30_000))\"") }
        host.send(#"[{"type":"end","ref":4,"session":"s1"}]"#)
        world.relay.isHeld = false
        world.settle()
        #expect(host.inbox.compactMap { $0["type"]?.string == "accepted" ? $0["ref"]?.integer : nil } == [2, 3, 4])
        #expect(world.relay.strayCount == 0)
        ben.isReady = true
        #expect(ben.take("invalidated")?["reason"]?.string == "ended")
    }

    @Test func aSessionWhoseGroupEndedWhileItStartedEndsToo() {
        var limits = Limits()
        limits[.emptySessionMs] = 1000
        limits[.graceMs] = 0
        let world = TestWorld(limits: limits)
        let group = world.makeGroup(activity: nil)
        let ana = world.member("Ana", of: group)
        world.relay.isHeld = true
        ana.send(#"[{"type":"start","ref":1,"activity":"relay"}]"#)
        ana.drop()
        world.loop.advance(milliseconds: 2000)
        #expect(world.host.statistics.groups == 0)
        world.relay.isHeld = false
        world.settle()
        #expect(world.host.statistics.sessions == 0)
    }

    @Test func replacingIsOneStepAndTheSecondIsTooLate() {
        let group = world.makeGroup()
        let host = world.participant("Host", of: group, seat: group.seat.description)
        let ben = world.participant("Ben", of: group)
        host.send(#"[{"type":"role","ref":2,"member":"m2","role":"moderator"}]"#)
        world.relay.isHeld = true
        host.send(#"[{"type":"start","ref":3,"activity":"relay","replaces":"s1"}]"#)
        ben.send(#"[{"type":"start","ref":3,"activity":"relay","replaces":"s1"}]"#)
        world.relay.isHeld = false
        world.settle()
        #expect(host.take("started")?["session"]?.string == "s2")
        let over = ben.inbox.first { $0["type"]?.string == "invalidated" }
        #expect(over?["reason"]?.string == "replaced")
        #expect(over?["replaced_by"]?.string == "s2")
        #expect(ben.take("rejected")?["code"]?.string == "no_such_session")
        #expect(world.host.statistics.sessions == 1)
    }

    @Test func aReplacementThatDoesNotStartLeavesTheOldSessionAlone() {
        let group = world.makeGroup()
        let host = world.participant("Host", of: group, seat: group.seat.description)
        world.relay.react = { input in
            var reaction = RelayEngine.Reaction()
            if case .start = input { reaction.rejection = Rejection(.invalidMessage, "no") }
            return reaction
        }
        host.send(#"[{"type":"start","ref":3,"activity":"relay","replaces":"s1"}]"#)
        #expect(host.take("rejected")?["ref"]?.integer == 3)
        world.relay.react = { _ in RelayEngine.Reaction() }
        host.say(4, "1")
        #expect(host.take("accepted")?["ref"]?.integer == 4)
        host.send(#"[{"type":"start","ref":5,"activity":"relay","replaces":"s1"}]"#)
        #expect(host.take("started")?["session"]?.string == "s2")
    }

    @Test func newParametersReachEverybodyInTheOrderOfMessages() {
        let group = world.makeGroup()
        let host = world.participant("Host", of: group, seat: group.seat.description)
        let ben = world.participant("Ben", of: group)
        host.send(#"[{"type":"change","ref":2,"session":"s1","parameters":{"title":"Two"}}]"#)
        let changed = ben.take("changed")
        #expect(changed?["parameters"]?["title"]?.string == "Two")
        #expect(changed?["by"]?.string == "m1")
        #expect(host.take("accepted")?["seq"]?.integer == changed?["seq"]?.integer)
    }

    @Test func aScriptThatFinishesEndsItsSession() {
        let group = world.makeGroup()
        let ana = world.participant("Ana", of: group)
        world.relay.react = { _ in
            var reaction = RelayEngine.Reaction()
            reaction.finished = "all done"
            return reaction
        }
        ana.say(2, "1")
        #expect(ana.take("accepted")?["ref"]?.integer == 2)
        let over = ana.take("invalidated")
        #expect(over?["reason"]?.string == "ended")
        #expect(over?["message"]?.string == "all done")
    }

    @Test func aSessionHoldsSoManyParticipantsAndAGroupSoManySessions() {
        var limits = Limits()
        limits[.participants] = 1
        limits[.sessions] = 2
        let world = TestWorld(limits: limits)
        let group = world.makeGroup()
        let ana = world.participant("Ana", of: group)
        let ben = world.member("Ben", of: group)
        ben.send(#"[{"type":"join","ref":1,"session":"s1"}]"#)
        let full = ben.take("rejected")
        #expect(full?["limit"]?.string == "participants")
        #expect(full?["allowed"]?.integer == 1)
        ana.send(#"[{"type":"start","ref":2,"activity":"relay"},{"type":"start","ref":3,"activity":"relay"}]"#)
        #expect(ana.take("rejected")?["limit"]?.string == "sessions")
    }

    @Test func timersOfASessionWithoutParticipantsWaitAndFireLateAtTheNextJoin() {
        let group = world.makeGroup()
        let ana = world.participant("Ana", of: group)
        var fired: [Bool] = []
        world.relay.react = { [loop = world.loop] input in
            if case .timer(_, let late) = input { fired.append(late) }
            var reaction = RelayEngine.Reaction()
            if case .message = input { reaction.timers = [loop.now + 100, loop.now + 5000] }
            return reaction
        }
        ana.say(2, "1")
        world.loop.advance(milliseconds: 200)
        #expect(fired == [false])
        ana.say(3, "1")
        ana.send(#"[{"type":"leave","ref":4,"session":"s1"}]"#)
        world.loop.advance(milliseconds: 20_000)
        #expect(fired == [false])
        ana.send(#"[{"type":"join","ref":5,"session":"s1"}]"#)
        world.settle()
        #expect(fired == [false, true, true, true])
    }

    @Test func aSessionWhoseEngineCannotLetSomebodyLeaveFailsForEveryone() {
        let group = world.makeGroup()
        let ana = world.participant("Ana", of: group)
        let ben = world.participant("Ben", of: group)
        world.relay.react = { input in
            var reaction = RelayEngine.Reaction()
            if case .leave = input { reaction.rejection = Rejection(.unavailable, "no memory") }
            return reaction
        }
        ben.drop()
        world.loop.advance(milliseconds: 31_000)
        #expect(ana.take("invalidated")?["reason"]?.string == "failed")
        #expect(world.host.statistics.sessions == 0)
    }

    @Test func renamingReachesTheGroupAndEverySession() {
        let group = world.makeGroup()
        let ana = world.participant("Ana", of: group)
        let ben = world.participant("Ben", of: group)
        ben.send(#"[{"type":"rename","ref":2,"name":"Benjamin"}]"#)
        #expect(ben.take("accepted")?["ref"]?.integer == 2)
        #expect(ana.inbox.contains { $0["type"]?.string == "members" && $0["changed"]?.array?.first?["name"]?.string == "Benjamin" })
        #expect(ana.takeAll("participants").last?["changed"]?.array?.first?["name"]?.string == "Benjamin")
    }

    @Test func manyRoundsOfComingAndGoingLeaveNothingBehind() {
        let group = world.makeGroup()
        let ana = world.participant("Ana", of: group)
        for round in 0..<500 {
            let client = world.member("Guest", of: group, client: "c\(round)")
            client.send(#"[{"type":"join","ref":1,"session":"s1"}]"#)
            client.drop()
            world.loop.advance(milliseconds: 31_000)
        }
        _ = ana
        #expect(world.host.statistics.members == 1)
        #expect(world.host.statistics.connections == 1)
    }
}
