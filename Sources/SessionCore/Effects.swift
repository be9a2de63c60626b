package import ActivityModel

/// What the core wants done after a turn, and the time it is told; the only way out of the core.
///
/// The host carries it out in this order: `log` is committed, `engine` submitted, `writable` peers are written to, `closing` closed.
package final class Effects {
    /// Wall clock in ms since 1970, for people and scripts.
    package var now: Int64 = 0
    /// A clock in ms that never goes back, for durations.
    package var uptime: Int64 = 0

    package var log: [LogRecord] = []
    package var engine: [EngineRequest] = []
    package var writable: [Peer] = []
    package var closing: [Closing] = []
    package var reading: [Peer] = []
    package var wakes: [Wake] = []
    package var events: [HostEvent] = []

    /// Numbers the inputs of a turn, so that what one input causes is written in one frame.
    private(set) var input: UInt64 = 0

    package struct Closing {
        package var peer: Peer
        package var code: CloseCode
        package var reason: String
    }

    /// Something to run later; the core checks then whether it still applies.
    package struct Wake {
        package var uptime: Int64
        package var action: () -> Void
    }

    package init() {}

    package var isEmpty: Bool {
        log.isEmpty && engine.isEmpty && writable.isEmpty && closing.isEmpty && reading.isEmpty && wakes.isEmpty && events.isEmpty
    }

    func beginInput() { input += 1 }

    func send(_ envelope: Envelope, to peer: Peer) {
        guard peer.isOpen else { return }
        peer.outbox.append(envelope, input: input)
        touch(peer)
    }

    /// Notes that a connection is to be written to at the end of the turn.
    package func touch(_ peer: Peer) {
        guard !peer.isListed else { return }
        peer.isListed = true
        writable.append(peer)
    }

    /// The peers to write to, each once.
    package func takeWritable() -> [Peer] {
        for peer in writable { peer.isListed = false }
        defer { writable.removeAll(keepingCapacity: true) }
        return writable
    }

    func close(_ peer: Peer, _ code: CloseCode, _ reason: String) {
        guard peer.isOpen, !peer.isClosing else { return }
        peer.isClosing = true
        closing.append(Closing(peer: peer, code: code, reason: reason))
    }

    func schedule(after milliseconds: Int, _ action: @escaping () -> Void) {
        wakes.append(Wake(uptime: uptime + Int64(milliseconds), action: action))
    }
}

/// What an operator at the terminal wants to see.
package enum HostEvent: Sendable {
    case memberJoined(GroupCode, Member)
    case memberLeft(GroupCode, Member)
    case sessionStarted(GroupCode, SessionID, activity: String, by: Member?)
    case sessionEnded(GroupCode, SessionID, activity: String, InvalidationReason)
    case participantJoined(GroupCode, SessionID, Participant)
    case participantLeft(GroupCode, SessionID, Participant, LeaveReason)
    /// `message` is the name of the message that was being handled, and its sender's name.
    case report(GroupCode, SessionID, AuthorReport, message: String?)
    case log(GroupCode, SessionID, activity: String, LogLine)
    /// The event log could not be written.
    case logFailed(String)
}
