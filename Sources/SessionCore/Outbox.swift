package import ActivityModel

/// One encoded envelope on its way to any number of connections; shared by reference, never copied per receiver.
package final class Envelope: Sendable {
    package enum Kind: Sendable, Equatable {
        /// Answers, presence and endings: always kept.
        case kept
        /// `message` and `changed`: a snapshot may stand for them.
        case replaceable
        case latest(LatestKey)
        /// A snapshot of its session: not counted in the bound.
        case snapshot
    }

    package let bytes: [UInt8]
    package let session: SessionKey?
    package let kind: Kind

    package init(_ bytes: [UInt8], session: SessionKey? = nil, kind: Kind = .kept) {
        self.bytes = bytes
        self.session = session
        self.kind = kind
    }
}

/// What a newer `latest` message replaces: the one of the same session, sender and name.
package struct LatestKey: Hashable, Sendable {
    package var session: SessionKey
    /// nil for the script.
    package var sender: ParticipantID?
    package var name: String
}

/// What waits to be written to one connection, in order and bounded by its owner.
package struct Outbox {
    private struct Entry {
        var envelope: Envelope
        /// Envelopes of one input go out in one frame.
        var input: UInt64
    }

    private var entries = Queue<Entry>()
    /// Bytes waiting, snapshots not counted.
    package private(set) var bytes = 0
    private var snapshotBytes = 0

    package init() {}
    package var isEmpty: Bool { entries.isEmpty }

    package mutating func append(_ envelope: Envelope, input: UInt64) {
        entries.append(Entry(envelope: envelope, input: input))
        count(envelope, +1)
    }

    private mutating func count(_ envelope: Envelope, _ sign: Int) {
        if envelope.kind == .snapshot { snapshotBytes += sign * envelope.bytes.count } else { bytes += sign * envelope.bytes.count }
    }

    /// Makes a snapshot of a session stand for all before it when more snapshots wait than `bound` bytes.
    package mutating func makeRoomForSnapshot(of session: SessionKey, bound: Int) {
        if snapshotBytes > bound { dropReplaceable(of: session) }
    }

    /// Takes what fits into one frame of about `size` bytes: a JSON array of envelopes. Nil when nothing waits.
    package mutating func takeFrame(size: Int) -> [UInt8]? {
        guard var entry = entries.popFirst() else { return nil }
        var frame: [UInt8] = []
        frame.reserveCapacity(min(size, bytes + entry.envelope.bytes.count) + entries.count + 16)
        frame.append(UInt8(ascii: "["))
        while true {
            frame.append(contentsOf: entry.envelope.bytes)
            count(entry.envelope, -1)
            guard let next = entries.first,
                next.input == entry.input || frame.count + next.envelope.bytes.count < size
            else { break }
            frame.append(UInt8(ascii: ","))
            entry = entries.popFirst()!
        }
        frame.append(UInt8(ascii: "]"))
        return frame
    }

    /// Drops every `latest` message that a newer one in the queue makes useless.
    package mutating func coalesceLatest() {
        var newest: [LatestKey: ObjectIdentifier] = [:]
        entries.forEach { entry in
            if case .latest(let key) = entry.envelope.kind { newest[key] = ObjectIdentifier(entry.envelope) }
        }
        guard !newest.isEmpty else { return }
        drop { envelope in
            guard case .latest(let key) = envelope.kind else { return false }
            return newest[key] != ObjectIdentifier(envelope)
        }
    }

    /// Drops what a snapshot of `session` replaces; returns whether there was any.
    @discardableResult
    package mutating func dropReplaceable(of session: SessionKey) -> Bool {
        drop { $0.session == session && ($0.kind == .replaceable || $0.kind == .snapshot) }
    }

    @discardableResult
    private mutating func drop(_ isDropped: (Envelope) -> Bool) -> Bool {
        let before = entries.count
        var dropped: [Envelope] = []
        entries.filter { entry in
            guard isDropped(entry.envelope) else { return true }
            dropped.append(entry.envelope)
            return false
        }
        for envelope in dropped { count(envelope, -1) }
        return entries.count != before
    }
}
