import ActivityModel

/// The current `latest` messages of a session that went to all, for newcomers.
///
/// A relay takes any name, so there is a bound in bytes; past it the oldest go.
struct LatestMessages {
    private struct Entry {
        var envelope: Envelope
        var order: UInt64
    }

    private var entries: [LatestKey: Entry] = [:]
    private var bytes = 0
    private var nextOrder: UInt64 = 0
    private let maximumBytes: Int
    private static let entryOverhead = 256

    init(maximumBytes: Int) { self.maximumBytes = maximumBytes }

    /// Puts a message in the place of the one before it; nil clears it.
    mutating func set(_ envelope: Envelope?, for key: LatestKey) {
        remove(key)
        guard let envelope else { return }
        entries[key] = Entry(envelope: envelope, order: nextOrder)
        nextOrder += 1
        bytes += Self.size(envelope)
        if bytes > maximumBytes { dropOldest() }
    }

    mutating func removeAll(from sender: ParticipantID) {
        for key in entries.keys where key.sender == sender { remove(key) }
    }

    /// In the order in which they came.
    func all(but sender: ParticipantID) -> [Envelope] {
        entries.filter { $0.key.sender != sender }.values.sorted { $0.order < $1.order }.map(\.envelope)
    }

    private mutating func remove(_ key: LatestKey) {
        guard let entry = entries.removeValue(forKey: key) else { return }
        bytes -= Self.size(entry.envelope)
    }

    /// Makes more room than is needed now, so that the search for the oldest is rare.
    private mutating func dropOldest() {
        for (key, _) in entries.sorted(by: { $0.value.order < $1.value.order }) where bytes > maximumBytes / 4 * 3 { remove(key) }
    }

    private static func size(_ envelope: Envelope) -> Int { entryOverhead + envelope.bytes.count }
}
