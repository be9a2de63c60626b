import ActivityModel
import ActivityTestKit
import SessionCore
import Testing

@Suite struct DeliveryTests {
    let world = TestWorld()

    @Test func latestAndTransientMessagesCarryNoSeqAndAreNotLogged() {
        let group = world.makeGroup()
        let ana = world.participant("Ana", of: group)
        let ben = world.participant("Ben", of: group)
        ana.say(2, #"{"x":1}"#, name: "point")
        ana.say(3, #"{"x":2}"#, name: "wave")
        let messages = ben.takeAll("message")
        #expect(messages.map { $0["name"]!.string } == ["point", "wave"])
        #expect(messages.allSatisfy { $0["seq"] == nil })
        #expect(world.log.records(of: SessionKey(number: 1), from: 4)?.isEmpty == true)
    }

    @Test func newcomersGetTheCurrentLatestMessagesAfterJoinedUntilTheSenderClearsThemOrLeaves() {
        let group = world.makeGroup()
        let ana = world.participant("Ana", of: group)
        ana.say(2, #"{"x":1}"#, name: "point")
        ana.say(3, #"{"x":2}"#, name: "point")
        let ben = world.member("Ben", of: group)
        ben.send(#"[{"type":"join","ref":1,"session":"s1"}]"#)
        #expect(ben.take("joined") != nil)
        #expect(ben.takeAll("message").map { $0["body"]!["x"]!.integer } == [2])
        ana.say(4, "null", name: "point")
        let cyd = world.member("Cyd", of: group)
        cyd.send(#"[{"type":"join","ref":1,"session":"s1"}]"#)
        #expect(cyd.takeAll("message").isEmpty)
        ana.say(5, #"{"x":3}"#, name: "point")
        ana.send(#"[{"type":"leave","ref":6,"session":"s1"}]"#)
        let dee = world.member("Dee", of: group)
        dee.send(#"[{"type":"join","ref":1,"session":"s1"}]"#)
        #expect(dee.takeAll("message").isEmpty)
    }

    @Test func targetedMessagesReachTheirReceiversOnly() {
        let group = world.makeGroup()
        let ana = world.participant("Ana", of: group)
        let ben = world.participant("Ben", of: group)
        let cyd = world.participant("Cyd", of: group)
        ana.send(#"[{"type":"send","ref":2,"session":"s1","name":"whisper","body":1,"to":["p2"]}]"#)
        #expect(ben.take("message")?["body"]?.integer == 1)
        #expect(cyd.take("message") == nil)
        ana.send(#"[{"type":"send","ref":3,"session":"s1","name":"say","body":1,"to":["p2"]}]"#)
        #expect(ana.take("rejected")?["code"]?.string == "forbidden")
        ana.send(#"[{"type":"send","ref":4,"session":"s1","name":"whisper","body":1,"to":["p9"]}]"#)
        #expect(ana.take("rejected")?["code"]?.string == "no_such_participant")
    }

    @Test func theSenderLearnsThatATargetLeftWhileItsMessageWasOnTheWay() {
        let group = world.makeGroup()
        let ana = world.participant("Ana", of: group)
        let ben = world.participant("Ben", of: group)
        world.relay.isHeld = true
        ben.send(#"[{"type":"leave","ref":2,"session":"s1"}]"#)
        ana.send(#"[{"type":"send","ref":2,"session":"s1","name":"whisper","body":1,"to":["p2"]}]"#)
        world.relay.isHeld = false
        world.settle()
        #expect(ana.take("rejected")?["code"]?.string == "no_such_participant")
    }

    @Test(arguments: [
        ("rule", Role.participant, false), ("rule", .moderator, true), ("lead", .participant, false), ("lead", .moderator, true),
        ("result", .host, false), ("say", .viewer, false), ("say", .participant, true), ("point", .viewer, false),
    ])
    func rightsDecideWhoMaySend(message: String, role: Role, isAllowed: Bool) {
        let group = world.makeGroup()
        let host = world.participant("Host", of: group, seat: group.seat.description)
        let ben = world.participant("Ben", of: group)
        host.send(#"[{"type":"role","ref":2,"member":"m2","role":"\#(role.rawValue)"}]"#)
        ben.say(2, "1", name: message)
        if isAllowed {
            #expect(ben.take("accepted")?["ref"]?.integer == 2)
        } else {
            #expect(ben.take("rejected")?["code"]?.string == "forbidden")
        }
    }

    @Test func aStormFromOneConnectionIsRefusedWithTheLimitAndTheConnectionStays() {
        let group = world.makeGroup()
        let ana = world.participant("Ana", of: group)
        let batch = (2...500).map { #"{"type":"send","ref":\#($0),"session":"s1","name":"say","body":1}"# }
        ana.send("[" + batch.joined(separator: ",") + "]")
        let refused = ana.takeAll("rejected")
        #expect(refused.count == 99)
        #expect(refused[0]["code"]?.string == "rate_limited")
        #expect(refused[0]["limit"]?.string == "messages_per_second")
        #expect(refused[0]["allowed"]?.integer == 200)
        #expect(refused[0]["retry_ms"]!.integer! > 0)
        #expect(ana.closeCode == nil)
        world.loop.advance(milliseconds: 1000)
        ana.say(600, "1")
        #expect(ana.take("accepted")?["ref"]?.integer == 600)
    }
}

@Suite struct SlowReaderTests {
    @Test func aBacklogOverItsBoundIsReplacedByOneSnapshotAndAnswersAreKept() {
        var limits = Limits()
        limits[.backlogBytes] = 20_000
        let world = TestWorld(limits: limits)
        let group = world.makeGroup()
        let ana = world.participant("Ana", of: group)
        let ben = world.participant("Ben", of: group)
        ben.isReady = false
        ben.say(2, #""from ben""#)
        let text = String(repeating: "x", count: 1000)
        for ref in 2...101 {
            ana.say(ref, #""\#(text)""#)
            world.loop.advance(milliseconds: 10)
        }
        #expect(world.relay.viewCount == 1)
        ben.isReady = true
        world.settle()
        #expect(ben.inbox.contains { $0["type"]?.string == "accepted" && $0["ref"]?.integer == 2 })
        let snapshots = ben.inbox.filter { $0["type"]?.string == "snapshot" }
        #expect(snapshots.count <= 1)
        world.loop.advance(milliseconds: 6000)
        let last = ben.takeAll("snapshot").last ?? snapshots.last
        #expect(last?["state"]?.array?.count == 101)
        ana.say(200, "1")
        #expect(ben.take("message")?["body"]?.integer == 1)
    }

    @Test func oldLatestMessagesAreDroppedFirst() {
        var limits = Limits()
        limits[.backlogBytes] = 4096
        let world = TestWorld(limits: limits)
        let group = world.makeGroup()
        let ana = world.participant("Ana", of: group)
        let ben = world.participant("Ben", of: group)
        ben.isReady = false
        for ref in 2...200 {
            ana.say(ref, #"{"x":\#(ref)}"#, name: "point")
            world.loop.advance(milliseconds: 10)
        }
        ana.say(201, "1")
        ben.isReady = true
        let messages = ben.takeAll("message")
        #expect(messages.count < 60)
        #expect(messages.last { $0["name"]?.string == "point" }?["body"]?["x"]?.integer == 200)
        #expect(messages.last?["body"]?.integer == 1)
        #expect(world.relay.viewCount == 0)
    }

    @Test func aConnectionThatSendsWithoutReadingIsNotReadFromForAWhile() {
        var limits = Limits()
        limits[.backlogBytes] = 4096
        limits[.messageBurst] = 10_000
        let world = TestWorld(limits: limits)
        let group = world.makeGroup()
        let ana = world.participant("Ana", of: group)
        ana.isReady = false
        for ref in 2...200 { ana.say(ref, "1") }
        #expect(!ana.isReading)
        ana.isReady = true
        world.settle()
        #expect(ana.isReading)
        #expect(ana.takeAll("accepted").count == 199)
    }
}
