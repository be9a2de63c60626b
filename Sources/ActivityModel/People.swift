/// What a member may do; each role may do what those below it may.
package enum Role: String, Sendable, Comparable, CaseIterable {
    case viewer, participant, moderator, host

    private var rank: Int { Self.allCases.firstIndex(of: self)! }
    package static func < (a: Role, b: Role) -> Bool { a.rank < b.rank }
}

/// A person in a group, as the others see them.
package struct Member: Sendable, Equatable {
    package let id: MemberID
    package var name: String
    package var color: String
    package var role: Role

    package init(id: MemberID, name: String, color: String, role: Role) {
        self.id = id
        self.name = name
        self.color = color
        self.role = role
    }
}

/// A connection of a member that has joined a session, as scripts and the others see it.
package struct Participant: Sendable, Equatable {
    package let id: ParticipantID
    package var member: Member

    package init(id: ParticipantID, member: Member) {
        self.id = id
        self.member = member
    }
}

/// Why a participant left a session; the words of the wire and of `leave` handlers.
package enum LeaveReason: String, Sendable {
    case left, disconnected, removed
}
