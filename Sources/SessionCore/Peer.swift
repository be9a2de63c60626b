package import ActivityModel

/// A connection to write to; everything is called on the host's thread.
package protocol PeerTransport: AnyObject {
    /// False while earlier bytes are still buffered; the host is told by `drained` when that changes.
    var isReady: Bool { get }
    /// Writes one text frame; called only while ready.
    func send(_ frame: [UInt8])
    func close(_ code: CloseCode, reason: String)
    func pauseReading()
    func resumeReading()
}

/// One connection as the core sees it: who it is, what it may still send, and what waits to be written to it.
///
/// Confined to the thread of its host.
package final class Peer {
    package enum State {
        /// Nothing said yet.
        case greeting
        case member(Group, Seat, Client)
        case closed
    }

    package let id: UInt64
    package let address: String
    package internal(set) var state = State.greeting
    package internal(set) var outbox = Outbox()
    /// Whether it is in `Effects.closing`: nothing more is heard from it.
    var isClosing = false
    /// Whether this peer is in `Effects.writable` already.
    var isListed = false
    /// Whether the next flush must not wait for the gathering window.
    package var isUrgent = false
    /// Weighs the requests under way: bytes of bodies, and a constant for each.
    var underWay = 0
    package internal(set) var isReadingPaused = false
    var messages: TokenBucket
    var requests: TokenBucket
    /// Where this connection takes part.
    var places: [SessionID: Place] = [:]
    /// What writes to the connection; nil once it is gone.
    package var transport: (any PeerTransport)?
    /// When the host last wrote to it, in ms of uptime.
    package var lastWrite: Int64 = .min
    /// Whether it waits for the end of its gathering window.
    package var isGathering = false

    package init(id: UInt64, address: String, limits: Limits) {
        self.id = id
        self.address = address
        messages = TokenBucket(rate: limits[.messagesPerSecond], burst: limits[.messageBurst])
        requests = TokenBucket(rate: limits[.requestsPerSecond], burst: limits[.requestsPerSecond])
    }

    /// Takes the next frame to write, of about `size` bytes; nil when nothing waits.
    package func takeFrame(size: Int) -> [UInt8]? { outbox.takeFrame(size: size) }

    /// Whose connection it is; nil before hello and after the end.
    var member: MemberID? {
        if case .member(_, let seat, _) = state { return seat.member }
        return nil
    }

    package var isOpen: Bool {
        if case .closed = state { return false }
        return true
    }
}

/// What makes a connection a certain member again: a secret, and what its clients asked.
package final class Seat {
    package let token: SecretToken
    package let member: MemberID
    /// The name that the person last asked for, before it was made distinct.
    var requestedName: String?
    var isBanned = false
    /// Exports come over HTTP, each on a connection of its own; so it is the seat that may ask for so many.
    var exports: TokenBucket
    private var clients: [String: Client] = [:]
    private var clientOrder = Queue<String>()
    private static let rememberedClients = 64
    /// Of an id only so many bytes count: a single character may have any number.
    private static let clientBytes = 64

    init(token: SecretToken, member: MemberID, limits: Limits) {
        self.token = token
        self.member = member
        exports = TokenBucket(rate: limits[.requestsPerSecond], burst: limits[.requestsPerSecond])
    }

    /// The client with this id, one per tab; of many, the oldest that has no connection is forgotten.
    func client(_ text: String) -> Client {
        let id = String(decoding: text.utf8.prefix(Self.clientBytes), as: UTF8.self)
        if let client = clients[id] { return client }
        let client = Client()
        clients[id] = client
        clientOrder.append(id)
        if clientOrder.count > Self.rememberedClients { forgetOldest() }
        return client
    }

    private func forgetOldest() {
        for _ in 0..<clientOrder.count {
            guard let oldest = clientOrder.popFirst() else { return }
            if clients[oldest]?.connections == 0 { return clients[oldest] = nil }
            clientOrder.append(oldest)
        }
    }
}

/// One tab or program of a seat.
package final class Client {
    var connections = 0
    var ledger = RefLedger()
}

/// A participant's place in a session; it is kept for a while when the connection is lost.
final class Place {
    enum State { case joining, joined, leaving }
    /// How far what is sent to this participant is behind the session.
    enum Sync: Equatable {
        case live
        /// A view is in the making and will stand for all before it.
        case viewing
        /// It reads too slowly, and no view is made before this time (ms of uptime).
        case behind(until: Int64)
    }

    var participant: Participant
    let seat: Seat
    let client: Client
    var peer: Peer?
    var state = State.joining
    /// Whether its join is in the session: it is a participant until its leave is, too.
    var hasJoined = false
    var sync = Sync.live
    /// Its connection is new and has not been told `joined` yet: that view stands for all before it.
    var awaitsJoined = false
    var lastSnapshot: Int64 = .min
    /// Up to this seq the history does not tell all that this participant was owed: a view stood for some of it.
    var viewedUpTo: UInt64?
    var viewsUnderWay = 0
    /// Counts losses of the connection, so that an old grace period does not end a new one.
    var losses = 0

    init(participant: Participant, seat: Seat, client: Client, peer: Peer) {
        self.participant = participant
        self.seat = seat
        self.client = client
        self.peer = peer
    }

    var id: ParticipantID { participant.id }
}
