/// A group's code: six consonants without Y, so that it spells no word and has no letter that looks like a digit.
///
/// 20^6 is 64 million; the set is that of RFC 8628, section 6.1.
package struct GroupCode: Hashable, Sendable, CustomStringConvertible {
    package static let letters = Array("BCDFGHJKLMNPQRSTVWXZ".utf8)
    package static let length = 6
    private let text: String

    /// Reads a code in any case, spaces and dashes ignored; nil if it is none.
    package init?(_ text: some StringProtocol) {
        var letters: [UInt8] = []
        for byte in text.utf8 where byte != UInt8(ascii: " ") && byte != UInt8(ascii: "-") {
            let upper = byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z") ? byte - 32 : byte
            guard Self.letters.contains(upper), letters.count < Self.length else { return nil }
            letters.append(upper)
        }
        guard letters.count == Self.length else { return nil }
        self.text = String(decoding: letters, as: UTF8.self)
    }

    package init(using random: inout some RandomNumberGenerator) {
        text = String(decoding: (0..<Self.length).map { _ in Self.letters.randomElement(using: &random)! }, as: UTF8.self)
    }

    /// As it stands in URLs and on the wire: `BCDFGH`.
    package var description: String { text }

    /// As people read it: `BCD-FGH`.
    package var spelled: String { "\(text.prefix(3))-\(text.suffix(3))" }
}

/// A secret of 128 random bits, as 22 characters of base64url: seats, invitation links, the operator's token.
package struct SecretToken: Hashable, Sendable, CustomStringConvertible {
    package let description: String
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    private static let length = 22

    package init(using random: inout some RandomNumberGenerator) {
        var bits = [random.next(), random.next()] as [UInt64]
        var text: [UInt8] = []
        for index in 0..<Self.length {
            let word = index < 11 ? 0 : 1
            text.append(Self.alphabet[Int(bits[word] & 63)])
            bits[word] >>= 6
        }
        description = String(decoding: text, as: UTF8.self)
    }

    /// Reads what `description` writes; nil for anything else.
    package init?(_ text: some StringProtocol) {
        guard text.utf8.count == Self.length, text.utf8.allSatisfy(Self.alphabet.contains) else { return nil }
        description = String(text)
    }
}
