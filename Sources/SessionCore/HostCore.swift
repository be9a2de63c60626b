package import ActivityModel

/// Settings of a host that its groups and sessions consult.
package struct CoreSettings: Sendable {
    package var limits: Limits
    /// `--open`: participants may end, change and replace sessions too.
    package var open: Bool
    /// As told in `welcome.host`.
    package var hostVersion: String

    package init(limits: Limits = Limits(), open: Bool = false, hostVersion: String = "activityhost") {
        self.limits = limits
        self.open = open
        self.hostVersion = hostVersion
    }
}

/// All groups of a host: finds a connection's group, hands requests to it and outcomes to sessions.
///
/// Pure: no socket, no file, no clock, no randomness of its own. What is to be done stands in `effects`. Confined to one thread.
package final class HostCore {
    package let settings: CoreSettings
    package let effects = Effects()
    package internal(set) var counters = Counters()
    package private(set) var activities: [String: ActivityDescription] = [:]
    /// The value of `welcome.activities`, made once a change.
    private(set) var activitiesJSON: [UInt8] = Array("[]".utf8)

    private(set) var groups: [GroupCode: Group] = [:]
    private var links: [SecretToken: GroupCode] = [:]
    /// Codes and links that a group had before: void for everybody but who has a seat there.
    private var formerNames: [String: Group] = [:]
    /// A group's older names are nobody's any more: who makes new codes all the time must not fill the host.
    private static let rememberedNames = 64
    private var endedCodes = Queue<GroupCode>()
    private var ended: Set<GroupCode> = []
    private var sessions: [SessionKey: Session] = [:]
    private var nextSession: UInt64 = 1
    private var tries = TryCounter()
    var random: any RandomNumberGenerator

    package init(settings: CoreSettings, activities: [ActivityDescription], random: any RandomNumberGenerator) {
        self.settings = settings
        self.random = random
        setActivities(activities)
    }

    /// What a host counts, for its metrics.
    package struct Counters: Sendable {
        package var messagesReceived: UInt64 = 0
        package var messagesDelivered: UInt64 = 0
        package var rejected: UInt64 = 0
        package var snapshots: UInt64 = 0
        package var scriptErrors: UInt64 = 0
    }

    /// The activities that can be started from now on; running sessions keep their version.
    package func setActivities(_ list: [ActivityDescription]) {
        activities = Dictionary(list.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        var out: [UInt8] = []
        HostEnvelope.list(activities.values.sorted { $0.name < $1.name }, into: &out) { activity, out in
            out.append(text: "{\"name\":")
            out.appendJSON(activity.name)
            out.append(text: ",\"identifier\":")
            out.appendJSON(activity.identifier)
            out.append(text: ",\"version\":")
            out.append(decimal: activity.version)
            out.append(text: ",\"page\":")
            out.append(text: activity.hasPage ? "true" : "false")
            out.append(text: ",\"metadata\":")
            out.append(contentsOf: activity.metadata)
            out.append(text: "}")
        }
        activitiesJSON = out
    }

    // MARK: Connections

    /// Says hello's deadline: the host closes with 4408 when it has passed and the peer is still `greeting`.
    package static let helloMilliseconds = 10_000

    /// Begins the hello deadline of a new connection.
    package func opened(_ peer: Peer) {
        effects.schedule(after: Self.helloMilliseconds) { [effects] in
            guard case .greeting = peer.state else { return }
            effects.close(peer, .helloTimeout, "no hello within 10 s")
        }
    }

    /// Handles one frame of a connection.
    package func received(_ peer: Peer, frame: UnsafeRawBufferPointer) {
        guard peer.isOpen, !peer.isClosing else { return }
        let envelopes: [ClientEnvelope]
        do throws(JSONError) {
            envelopes = try ClientEnvelope.parse(frame: frame)
        } catch {
            return effects.close(peer, .invalidFrame, "a frame is a JSON array of envelopes: \(error.message) at \(error.offset)")
        }
        for envelope in envelopes {
            effects.beginInput()
            switch (peer.state, envelope) {
            case (.closed, _): return
            case (.greeting, .hello(let hello)): greet(peer, hello)
            case (.greeting, _): return effects.close(peer, .invalidFrame, "hello comes first")
            case (.member(let group, let seat, let client), let envelope):
                group.handle(envelope, from: Requester(peer: peer, group: group, seat: seat, client: client, ref: envelope.ref))
            }
            if peer.isClosing { return }
            if isOverwhelmed(peer) { return effects.close(peer, .goingAway, "one frame asked for more answers than are kept") }
        }
        reviewReading(peer)
    }

    /// The connection is gone; its places are kept for the grace time.
    package func closed(_ peer: Peer) {
        if case .member(let group, let seat, let client) = peer.state { group.lost(peer, seat, client) }
        peer.state = .closed
        peer.outbox = Outbox()
    }

    private func greet(_ peer: Peer, _ hello: ClientEnvelope.Hello) {
        guard hello.version == 1 else { return effects.close(peer, .invalidFrame, "this host speaks protocol 1") }
        if case .retry(let milliseconds) = peer.requests.take(at: effects.uptime) {
            counters.rejected += 1
            let rejection = Rejection.rateLimited(.requestsPerSecond, settings.limits, retryMilliseconds: milliseconds)
            return effects.send(Envelope(HostEnvelope.rejected(ref: hello.ref, rejection)), to: peer)
        }
        switch find(hello.group, address: peer.address, seat: hello.token) {
        case .failure(.tooManyTries(let retry)): effects.close(peer, .tooManyTries, "too many tries; wait \(retry / 1000 + 1) s")
        case .failure(.ended): effects.close(peer, .groupEnded, "this group has ended")
        case .failure(.malformed): effects.close(peer, .badToken, "a code is six letters like BCD-FGH")
        case .failure(.noSuchGroup): effects.close(peer, .noSuchGroup, "no such group")
        case .success(let group): group.greet(peer, hello)
        }
    }

    /// Reading stops while too much of a connection's is under way or unread, and goes on when there is less.
    package func reviewReading(_ peer: Peer) {
        let isFull = peer.underWay > 2 << 20 || peer.outbox.bytes > settings.limits[.backlogBytes]
        guard peer.isOpen, isFull != peer.isReadingPaused else { return }
        peer.isReadingPaused = isFull
        effects.reading.append(peer)
    }

    /// Whether more waits for a connection than is kept for anybody who does not read.
    func isOverwhelmed(_ peer: Peer) -> Bool { peer.outbox.bytes > 4 * settings.limits[.backlogBytes] }

    /// Makes room in the outbox of a connection that reads too slowly; called when it is over `backlog_bytes` after a flush.
    package func relieve(_ peer: Peer) {
        guard case .member(let group, _, _) = peer.state else { return }
        group.relieve(peer)
    }

    // MARK: Groups

    package enum LookupError: Error, Equatable {
        case malformed, noSuchGroup, ended
        case tooManyTries(retryMilliseconds: Int)
    }

    /// Finds a group by its code or an invitation link's token; wrong ones count against the address.
    ///
    /// Who has a seat in the group comes in although others at the same address guessed too often.
    package func find(_ text: String, address: String, seat: String? = nil) -> Result<Group, LookupError> {
        let link = SecretToken(text)
        let code = link.flatMap { links[$0] } ?? GroupCode(text)
        let known = code.flatMap { groups[$0] } ?? formerNames[code?.description ?? text]
        if let seat, let known, known.seat(seat) != nil { return .success(known) }
        if let retry = tries.refusal(for: address, at: effects.uptime) { return .failure(.tooManyTries(retryMilliseconds: retry)) }
        if let code, let group = groups[code] { return .success(group) }
        if let code, ended.contains(code) { return .failure(.ended) }
        tries.noteWrong(address, at: effects.uptime)
        return .failure(code == nil && link == nil ? .malformed : .noSuchGroup)
    }

    package struct CreatedGroup: Sendable {
        package var code: GroupCode
        package var link: SecretToken
        package var seat: SecretToken
        package var session: SessionID?
    }

    /// Opens a group with a seat for its host and, if an activity is named, a session of it.
    package func createGroup(
        activity: String?, parameters: [UInt8], completion: @escaping (Result<CreatedGroup, Rejection>) -> Void
    ) {
        var description: ActivityDescription?
        if let activity {
            description = activities[activity]
            guard description != nil else {
                return completion(.failure(Rejection(.noSuchActivity, "there is no activity \"\(activity.prefix(64))\"")))
            }
        }
        let code = unusedCode()
        let group = Group(code: code, link: SecretToken(using: &random), core: self)
        groups[code] = group
        links[group.link] = code
        let seat = group.makeHostSeat()
        var created = CreatedGroup(code: code, link: group.link, seat: seat.token, session: nil)
        guard let description else {
            group.reviewEmptiness()
            return completion(.success(created))
        }
        group.start(description, parameters: parameters, replaces: nil, by: seat.member) { [self] result in
            switch result {
            case .success(let session):
                created.session = session
                group.reviewEmptiness()
                completion(.success(created))
            case .failure(let rejection):
                remove(group)
                completion(.failure(rejection))
            }
        }
    }

    /// Gives a group a new code and link; the old ones let in nobody but its members.
    func rename(_ group: Group, code: GroupCode, link: SecretToken) {
        for name in [group.code.description, group.link.description] {
            formerNames[name] = group
            group.formerNames.append(name)
        }
        while group.formerNames.count > Self.rememberedNames, let oldest = group.formerNames.popFirst() { formerNames[oldest] = nil }
        groups[group.code] = nil
        links[group.link] = nil
        group.code = code
        group.link = link
        groups[code] = group
        links[link] = code
    }

    func unusedCode() -> GroupCode {
        while true {
            let code = GroupCode(using: &random)
            if groups[code] == nil, !ended.contains(code), formerNames[code.description] == nil { return code }
        }
    }

    /// Forgets a group that has ended; its code is remembered for a while, so that late comers are told.
    func remove(_ group: Group) {
        groups[group.code] = nil
        links[group.link] = nil
        while let name = group.formerNames.popFirst() { formerNames[name] = nil }
        ended.insert(group.code)
        endedCodes.append(group.code)
        if endedCodes.count > 10_000, let oldest = endedCodes.popFirst() { ended.remove(oldest) }
    }

    package var groupCount: Int { groups.count }
    package var sessionCount: Int { sessions.count }
    package var memberCount: Int { groups.values.reduce(0) { $0 + $1.members.count } }

    /// Ends every group and session.
    package func endGroups() {
        for group in groups.values { group.end() }
    }

    /// For a host that stops; connections are the host's to close.
    package func forEachPeer(_ body: (Peer) -> Void) {
        for group in groups.values { group.peers.values.forEach(body) }
    }

    // MARK: Sessions

    func register(_ make: (SessionKey) -> Session) -> Session {
        let key = SessionKey(number: nextSession)
        nextSession += 1
        let session = make(key)
        sessions[key] = session
        return session
    }

    func session(_ key: SessionKey) -> Session? { sessions[key] }

    func unregister(_ session: Session) { sessions[session.key] = nil }

    /// What a batch of requests did, in the order of the engine.
    package func apply(_ outcomes: [SessionOutcome]) {
        for outcome in outcomes {
            effects.beginInput()
            sessions[outcome.session]?.apply(outcome)
        }
    }
}
