import ActivityModel

/// Who asked for something, and under which ref; answers exactly once, on the connection that asked last.
package struct Requester {
    package let peer: Peer
    package let group: Group
    package let seat: Seat
    package let client: Client
    package let ref: Int64?

    var member: Member { group.member(seat.member) }
    private var effects: Effects { group.core.effects }

    /// Whether the request is to be carried out; answers it here when it was before.
    func claim() -> Bool {
        guard let ref else { return true }
        switch client.ledger.claim(ref, for: peer) {
        case .new: return true
        case .pending: return false
        case .answered(let envelope):
            effects.send(envelope, to: peer)
            return false
        case .forgotten:
            effects.send(Envelope(HostEnvelope.rejected(ref: ref, Rejection(.invalidFrame, "this ref is too old", path: "ref"))), to: peer)
            return false
        }
    }

    func accept(session: SessionID? = nil, seq: UInt64? = nil) {
        guard let ref else { return }
        answer(Envelope(HostEnvelope.accepted(ref: ref, session: session, seq: seq)), ref)
    }

    func started(_ session: SessionID) {
        guard let ref else { return }
        answer(Envelope(HostEnvelope.started(ref: ref, session: session)), ref)
    }

    private func answer(_ envelope: Envelope, _ ref: Int64) {
        if let waiting = client.ledger.accept(ref, answer: envelope) { effects.send(envelope, to: waiting) }
    }

    func reject(_ rejection: Rejection) {
        group.core.counters.rejected += 1
        let waiting = ref.flatMap { client.ledger.reject($0) } ?? peer
        effects.send(Envelope(HostEnvelope.rejected(ref: ref, rejection)), to: waiting)
    }

    /// Notes that a `join` is answered, by `joined` instead of `accepted`; a join is never repeated from memory.
    func finishJoin() -> Peer {
        ref.flatMap { client.ledger.reject($0) } ?? peer
    }
}
