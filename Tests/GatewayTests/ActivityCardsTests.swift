import Testing

@testable import Gateway

@Suite("Activities that are shown") struct ActivityCardsTests {
    private static func good(_ name: String, folder: String? = nil) -> ActivityCard {
        ActivityCard(name: name, publicRow: Array("{}".utf8), operatorRow: Array("{}".utf8), folder: folder)
    }

    private static func broken(_ name: String) -> ActivityCard {
        ActivityCard(name: name, publicRow: nil, operatorRow: Array("{}".utf8), folder: nil)
    }

    @Test("Another one of the name in a second folder hides nothing, whichever comes first", arguments: [true, false])
    func twins(isBrokenFirst: Bool) {
        var cards = ActivityCards()
        let twins = [Self.good("draw", folder: "mine/draw"), Self.broken("draw")]
        cards.replace(with: isBrokenFirst ? twins.reversed() : twins)
        #expect(cards.all.count == 2)
        #expect(cards["draw"]?.isUsable == true)
        #expect(cards.page(of: "draw")?.folder == "mine/draw")
    }

    @Test("A script that breaks keeps its page while it is there")
    func broken() {
        var cards = ActivityCards()
        cards.replace(with: [Self.broken("quiz")])
        #expect(cards.page(of: "quiz") == nil)
        cards.replace(with: [Self.good("quiz", folder: "mine/quiz")])
        for _ in 0..<2 {
            cards.replace(with: [Self.broken("quiz")])
            #expect(cards["quiz"]?.isUsable == false)
            #expect(cards.page(of: "quiz")?.folder == "mine/quiz")
        }
        cards.replace(with: [])
        #expect(cards.page(of: "quiz") == nil)
    }
}
