import ActivityModel
import Testing

@Suite struct GroupCodeTests {
    @Test(arguments: ["BCDFGH", "bcd-fgh", " b c d f g h ", "BCD-FGH"])
    func codesAreReadInAnyCaseWithSpacesAndDashes(text: String) {
        #expect(GroupCode(text)?.description == "BCDFGH")
        #expect(GroupCode(text)?.spelled == "BCD-FGH")
    }

    @Test(arguments: ["", "BCDFG", "BCDFGHJ", "BCDFGA", "BCDFG1", "BCDFGÉ", "BCD_FGH"])
    func whatIsNoCodeIsNil(text: String) {
        #expect(GroupCode(text) == nil)
    }

    @Test func tokensHave128BitsAndAreReadBack() {
        var random = SystemRandomNumberGenerator()
        let token = SecretToken(using: &random)
        #expect(token.description.utf8.count == 22)
        #expect(SecretToken(token.description) == token)
        #expect(SecretToken(token.description + "x") == nil)
        #expect(SecretToken("../../../../etc/passwd") == nil)
    }
}

@Suite struct PersonNameTests {
    @Test(arguments: [
        ("  Ada   Lovelace ", "Ada Lovelace"), ("e\u{301}", "\u{e9}"), ("a\u{0}b\u{7}", "a b"), ("\u{202e}evil", "evil"),
        ("👩‍👩‍👧", "👩‍👩‍👧"), (String(repeating: "x", count: 30), String(repeating: "x", count: 24)), ("记分板", "记分板"),
    ])
    func namesAreCleaned(text: String, name: String) {
        #expect(PersonName.clean(text).map { Array($0.unicodeScalars) } == Array(name.unicodeScalars))
    }

    @Test(arguments: ["", "   ", "\u{0}", "\u{202e}"])
    func nothingStaysNothing(text: String) {
        #expect(PersonName.clean(text) == nil)
    }

    @Test func aPileOfMarksIsBounded() {
        let name = PersonName.clean("a" + String(repeating: "\u{301}", count: 1000))
        #expect(name.map { $0.utf8.count <= 256 } ?? true)
    }

    @Test func distinctNamesAreNumberedWithinTheLength() {
        #expect(PersonName.distinct("Ana", among: ["Ana", "Ana (2)"]) == "Ana (3)")
        let long = String(repeating: "x", count: 24)
        #expect(PersonName.distinct(long, among: [long]).count == 24)
    }

    @Test func twelvePeopleHaveTwelveColours() {
        var used: [String] = []
        for _ in 0..<12 { used.append(PersonColor.next(after: used)) }
        #expect(Set(used).count == 12)
    }
}

@Suite struct IdentifierTests {
    @Test(arguments: [("p7", 7 as UInt32?), ("p0", nil), ("p07", nil), ("p+7", nil), ("m7", nil), ("p", nil), ("p4294967296", nil), ("p7x", nil)])
    func idsAreReadExactly(text: String, number: UInt32?) {
        #expect(ParticipantID(text)?.number == number)
    }
}

@Suite struct ShortIDTests {
    @Test(arguments: [("p1", 1), ("p10", 10), ("p4294967295", UInt32.max)])
    func anIDIsReadAndWritten(text: String, number: UInt32) {
        #expect(ParticipantID(text)?.number == number)
        var out: [UInt8] = []
        out.append(id: ParticipantID(number: number))
        #expect(String(decoding: out, as: UTF8.self) == text && ParticipantID(number: number).description == text)
    }

    @Test(arguments: ["", "p", "p0", "p01", "p+1", "p-1", "p 1", "p1 ", "p1e3", "p4294967296", "P1", "m1", "\u{301}p1", "p\u{661}"])
    func anythingElseIsNoID(text: String) {
        #expect(ParticipantID(text) == nil)
    }

    @Test(arguments: [0, 1, 9, 10, 99, 100, -1, 4_096, Int64.max, Int64.min])
    func wholeNumbersAreWrittenInDigits(number: Int64) {
        var out: [UInt8] = []
        out.append(decimal: number)
        out.append(UInt8(ascii: " "))
        out.append(decimal: UInt64(number.magnitude))
        #expect(String(decoding: out, as: UTF8.self) == "\(number) \(number.magnitude)")
    }
}
