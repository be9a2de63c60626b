/// A number that stands behind a short id of the wire: 7 is "p7", "m7" or "s7", depending on the type.
package protocol NumberedID: Hashable, Sendable, Comparable, CustomStringConvertible, LosslessStringConvertible {
    static var prefix: Unicode.Scalar { get }
    var number: UInt32 { get }
    init(number: UInt32)
}

extension NumberedID {
    package var description: String { "\(Self.prefix)\(number)" }

    /// Reads exactly what `description` writes; anything else is nil.
    package init?(_ description: String) {
        let letters = description.utf8
        guard letters.first == UInt8(ascii: Self.prefix), let first = letters.dropFirst().first, (0x31...0x39).contains(first),
            let number = UInt32(description.dropFirst())
        else { return nil }
        self.init(number: number)
    }

    package static func < (a: Self, b: Self) -> Bool { a.number < b.number }
}

/// A connection of a member that has joined a session; unique in its session.
package struct ParticipantID: NumberedID {
    package static let prefix: Unicode.Scalar = "p"
    package let number: UInt32
    package init(number: UInt32) { self.number = number }
}

/// A person in a group; unique in the group.
package struct MemberID: NumberedID {
    package static let prefix: Unicode.Scalar = "m"
    package let number: UInt32
    package init(number: UInt32) { self.number = number }
}

/// One shared run of an activity; unique in its group.
package struct SessionID: NumberedID {
    package static let prefix: Unicode.Scalar = "s"
    package let number: UInt32
    package init(number: UInt32) { self.number = number }
}
