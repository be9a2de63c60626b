import ActivityModel

/// What a connection that reads too slowly is spared.
extension Group {
    /// No snapshot is made for a slow reader more often than this.
    private static let snapshotPause: Int64 = 5000

    /// Brings a backlog under its bound: first old `latest` messages go, then a snapshot stands for what a session sent.
    func relieve(_ peer: Peer) {
        peer.outbox.coalesceLatest()
        guard peer.outbox.bytes > limits[.backlogBytes] else { return }
        for (id, place) in peer.places {
            guard let session = sessions[id], session.isRunning,
                peer.outbox.dropReplaceable(of: session.key), place.sync == .live
            else { continue }
            let next = place.lastSnapshot == .min ? effects.uptime : place.lastSnapshot + Self.snapshotPause
            if next <= effects.uptime {
                session.view(place, .snapshot)
            } else {
                place.sync = .behind(until: next)
                place.viewedUpTo = .max
                effects.schedule(after: Int(next - effects.uptime)) {
                    guard session.isRunning, place.sync == .behind(until: next), place.peer != nil else { return }
                    session.view(place, .snapshot)
                }
            }
        }
        // What is kept has a bound too: nobody owes a connection that reads nothing more than this.
        if core.isOverwhelmed(peer) { effects.close(peer, .goingAway, "this connection reads too slowly") }
    }
}
