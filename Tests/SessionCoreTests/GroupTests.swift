import ActivityModel
import ActivityTestKit
import SessionCore
import SessionHost
import Testing

@Suite struct GroupTests {
    let world = TestWorld()

    @Test(arguments: [
        ("[1", CloseCode.invalidFrame), ("{}", .invalidFrame), (#"[{"type":"ping","time":1}]"#, .invalidFrame),
        (#"[{"type":"hello","protocol":2,"group":"BCDFGH"}]"#, .invalidFrame), (#"[{"type":"hello","protocol":1,"group":"BCDFGH"}]"#, .noSuchGroup),
        (#"[{"type":"hello","protocol":1,"group":"AEIOUY"}]"#, .badToken), (#"[{"type":"hello","protocol":1}]"#, .badToken),
    ])
    func aConnectionThatDoesNotSayHelloProperlyIsClosed(frame: String, code: CloseCode) {
        let client = world.connect()
        client.send(frame)
        #expect(client.closeCode == code)
    }

    @Test func aConnectionWithoutHelloIsClosedAfterTenSeconds() {
        let client = world.connect()
        world.loop.advance(milliseconds: 9000)
        #expect(client.closeCode == nil)
        world.loop.advance(milliseconds: 1100)
        #expect(client.closeCode == .helloTimeout)
    }

    @Test func guessingCodesEndsInARefusalThatPasses() {
        let group = world.makeGroup()
        for _ in 0..<10 {
            let client = world.connect(address: "192.0.2.9")
            client.hello(group: "BCDFGH", name: "Eve", seat: nil, client: "c")
            #expect(client.closeCode == .noSuchGroup)
        }
        let guesser = world.connect(address: "192.0.2.9")
        guesser.hello(group: group.code.description, name: "Eve", seat: nil, client: "c")
        #expect(guesser.closeCode == .tooManyTries)
        let neighbour = world.connect(address: "192.0.2.10")
        neighbour.hello(group: group.code.description, name: "Ana", seat: nil, client: "c")
        #expect(neighbour.seat != nil)
        world.loop.advance(milliseconds: 61_000)
        let later = world.connect(address: "192.0.2.9")
        later.hello(group: group.code.description, name: "Eve", seat: nil, client: "c")
        #expect(later.seat != nil)
    }

    @Test func namesAreCleanedAndMadeDistinctAndNeverRefused() {
        let group = world.makeGroup()
        let names = ["Ana", "Ana", "  Ana  ", #"\u202eevil\u0000"#, "", String(repeating: "x", count: 100)].map { name in
            let client = world.member(name, of: group, client: "c\(world.loop.uptime)")
            world.loop.advance(milliseconds: 100)
            return client.take("welcome")?["member"]?["name"]?.string
        }
        #expect(names == ["Ana", "Ana (2)", "Ana (3)", "evil", "Guest", String(repeating: "x", count: 24)])
    }

    @Test func everybodyHasAColourOfTheirOwnAlsoAHostWhoComesLast() {
        let group = world.makeGroup()
        let people = [nil, nil, group.seat.description].enumerated().map { number, seat in
            world.member("Somebody", of: group, seat: seat, client: "c\(number)").take("welcome")?["member"]?["color"]?.string
        }
        #expect(Set(people).count == 3)
    }

    @Test func aLockedGroupLetsMembersBackInAndNobodyElse() {
        let group = world.makeGroup()
        let host = world.member("Host", of: group, seat: group.seat.description)
        let ben = world.member("Ben", of: group)
        host.send(#"[{"type":"lock","ref":1,"locked":true}]"#)
        #expect(host.take("accepted")?["ref"]?.integer == 1)
        let eve = world.member("Eve", of: group)
        #expect(eve.closeCode == .noSuchGroup)
        ben.drop()
        let back = world.member("Ben", of: group, seat: ben.seat)
        #expect(back.take("welcome")?["member"]?["id"]?.string == "m2")
    }

    @Test func aRemovedMemberIsClosedAndStaysOut() {
        let group = world.makeGroup()
        let host = world.participant("Host", of: group, seat: group.seat.description)
        let ben = world.participant("Ben", of: group)
        host.send(#"[{"type":"remove","ref":5,"member":"m2"}]"#)
        #expect(ben.closeCode == .removed)
        world.settle()
        let left = host.inbox.filter { $0["type"]?.string == "participants" }.flatMap { $0["left"]!.array! }
        #expect(left.map { $0["reason"]!.string } == ["removed"])
        let back = world.member("Ben", of: group, seat: ben.seat)
        #expect(back.closeCode == .removed)
    }

    @Test(arguments: [
        (#"{"type":"role","ref":5,"member":"m1","role":"viewer"}"#), (#"{"type":"role","ref":5,"member":"m3","role":"host"}"#),
        (#"{"type":"remove","ref":5,"member":"m1"}"#), (#"{"type":"remove","ref":5,"member":"m2"}"#),
    ])
    func moderatorsNeverActUpwardsOrOnThemselves(request: String) {
        let group = world.makeGroup()
        let host = world.member("Host", of: group, seat: group.seat.description)
        let ben = world.member("Ben", of: group)
        _ = world.member("Cyd", of: group)
        host.send(#"[{"type":"role","ref":1,"member":"m2","role":"moderator"}]"#)
        ben.send("[\(request)]")
        #expect(ben.take("rejected")?["code"]?.string == "forbidden")
    }

    @Test func aNewCodeVoidsTheOldOneAndTheLink() {
        let group = world.makeGroup()
        let host = world.member("Host", of: group, seat: group.seat.description)
        host.send(#"[{"type":"new_code","ref":1}]"#)
        let code = host.take("group")?["group"]?["code"]?.string
        #expect(code != nil && code != group.code.description)
        for old in [group.code.description, group.link.description] {
            let client = world.connect()
            client.hello(group: old, name: "Eve", seat: nil, client: "c")
            #expect(client.closeCode == .noSuchGroup)
        }
        host.drop()
        let back = world.member("Host", of: group, seat: group.seat.description)
        #expect(back.take("welcome")?["group"]?["code"]?.string == code)
        let ben = world.connect()
        ben.hello(group: code!, name: "Ben", seat: nil, client: "c")
        #expect(ben.seat != nil)
    }

    @Test func onlyTheLatestOfManyOldCodesStillLeadMembersBack() {
        let group = world.makeGroup()
        let host = world.member("Host", of: group, seat: group.seat.description)
        for ref in 1...40 { host.send(#"[{"type":"new_code","ref":\#(ref)}]"#) }
        let codes = host.takeAll("group").compactMap { $0["group"]?["code"]?.string }
        #expect(codes.count == 40)
        for (code, isKnown) in [(group.code.description, false), (codes[10], true), (codes[39], true)] {
            let back = world.connect()
            back.hello(group: code, name: "Host", seat: group.seat.description, client: "c")
            #expect((back.seat != nil) == isKnown, "\(code)")
        }
    }

    @Test func helloMayBeRepeatedSoOftenAndIsAnsweredEachTime() {
        var limits = Limits()
        limits[.members] = 1
        let world = TestWorld(limits: limits)
        let group = world.makeGroup()
        _ = world.member("Ana", of: group)
        let ben = world.connect()
        let hello = #"{"type":"hello","protocol":1,"group":"\#(group.code)","name":"Ben"}"#
        ben.send("[" + Array(repeating: hello, count: 21).joined(separator: ",") + "]")
        let codes = ben.takeAll("rejected").compactMap { $0["code"]?.string }
        #expect(codes == Array(repeating: "limit_reached", count: 20) + ["rate_limited"])
    }

    @Test func aSeatHoldsEightConnectionsAndAGroupSoManyMembers() {
        var limits = Limits()
        limits[.members] = 3
        let world = TestWorld(limits: limits)
        let group = world.makeGroup()
        let ana = world.member("Ana", of: group)
        for number in 1...7 { #expect(world.member("Ana", of: group, seat: ana.seat, client: "t\(number)").seat != nil) }
        let ninth = world.member("Ana", of: group, seat: ana.seat, client: "t8")
        let refusal = ninth.take("rejected")
        #expect(refusal?["code"]?.string == "limit_reached")
        #expect(refusal?["limit"]?.string == "connections")
        #expect(refusal?["allowed"]?.integer == 8)
        _ = world.member("Ben", of: group)
        _ = world.member("Cyd", of: group)
        #expect(world.member("Dee", of: group).take("rejected")?["limit"]?.string == "members")
    }

    @Test func anEmptyGroupEndsAfterItsGraceTimeAndItsCodeSaysSo() {
        let group = world.makeGroup()
        let ana = world.participant("Ana", of: group)
        ana.drop()
        world.loop.advance(milliseconds: 43_200_000 + 60_000)
        let late = world.member("Ana", of: group, seat: ana.seat)
        #expect(late.closeCode == .groupEnded)
        #expect(world.host.statistics.sessions == 0)
        #expect(world.host.statistics.groups == 0)
    }
}
