import ActivityModel

/// The latest envelopes of a session and whom they were for, so that a participant who lost the connection gets what it missed.
struct History {
    enum Audience {
        case all
        case allBut(ParticipantID)
        case only([ParticipantID])

        func contains(_ id: ParticipantID) -> Bool {
            switch self {
            case .all: true
            case .allBut(let excluded): id != excluded
            case .only(let ids): ids.contains(id)
            }
        }
    }

    private struct Entry {
        var seq: UInt64
        var audience: Audience
        var envelope: Envelope
    }

    private var entries = Queue<Entry>()
    private var bytes = 0
    private let maximumBytes: Int
    private static let entryOverhead = 64
    /// Everything after this seq is here.
    private var floor: UInt64 = 0

    init(maximumBytes: Int) { self.maximumBytes = maximumBytes }

    mutating func append(seq: UInt64, _ audience: Audience, _ envelope: Envelope) {
        entries.append(Entry(seq: seq, audience: audience, envelope: envelope))
        bytes += Self.entryOverhead + envelope.bytes.count
        while bytes > maximumBytes, let oldest = entries.popFirst() {
            bytes -= Self.entryOverhead + oldest.envelope.bytes.count
            floor = max(floor, oldest.seq)
        }
    }

    /// What `participant` missed after `seq`, complete and in order; nil when that cannot be proved.
    func missed(by participant: ParticipantID, after seq: UInt64) -> [Envelope]? {
        guard seq >= floor else { return nil }
        var missed: [Envelope] = []
        entries.forEach { entry in
            if entry.seq > seq, entry.audience.contains(participant) { missed.append(entry.envelope) }
        }
        return missed
    }
}
