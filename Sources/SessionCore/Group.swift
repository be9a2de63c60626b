package import ActivityModel

/// People connected by one invitation, and the sessions they run; it outlives activities.
package final class Group {
    package internal(set) var code: GroupCode
    package internal(set) var link: SecretToken
    package internal(set) var locked = false
    /// Codes and links that it had before, oldest first.
    var formerNames = Queue<String>()
    unowned let core: HostCore

    private var seats: [SecretToken: Seat] = [:]
    /// Everybody who ever had a seat, present or not.
    private var people: [MemberID: Member] = [:]
    /// Who is in the group's list, in the order of coming.
    private(set) var present: [MemberID] = []
    private(set) var peers: [UInt64: Peer] = [:]
    var sessions: [SessionID: Session] = [:]
    private var nextMember: UInt32 = 1
    var nextSession: UInt32 = 1
    private lazy var vacancy = Vacancy(effects: effects, milliseconds: limits[.emptySessionMs]) { [unowned self] in end() }
    private(set) var hasEnded = false

    init(code: GroupCode, link: SecretToken, core: HostCore) {
        self.code = code
        self.link = link
        self.core = core
    }

    var effects: Effects { core.effects }
    var limits: Limits { core.settings.limits }
    package var members: [Member] { present.map { people[$0]! } }
    func member(_ id: MemberID) -> Member { people[id]! }
    func seat(_ token: String) -> Seat? { SecretToken(token).flatMap { seats[$0] } }

    // MARK: Coming and going

    func makeHostSeat() -> Seat { makeSeat(name: "Host", role: .host) }

    private func makeSeat(name: String, role: Role) -> Seat {
        forgetOldest()
        let id = MemberID(number: nextMember)
        nextMember += 1
        people[id] = Member(id: id, name: name, color: freeColor, role: role)
        let seat = Seat(token: SecretToken(using: &core.random), member: id, limits: limits)
        seats[seat.token] = seat
        return seat
    }

    /// A colour that none of those present has, nor a host who has yet to come.
    private var freeColor: String {
        let present = Set(present)
        return PersonColor.next(after: people.values.filter { present.contains($0.id) || $0.role == .host }.map(\.color))
    }

    /// Keeps the number of seats bounded, whoever comes and goes: the oldest of the absent is forgotten, hosts are not.
    private func forgetOldest() {
        guard people.count >= limits[.members] * 10 else { return }
        let kept = Set(present).union(peers.values.lazy.compactMap(\.member))
        let absent = people.values.filter { $0.role < .host && !kept.contains($0.id) }
        guard let oldest = absent.map(\.id).min() else { return }
        people[oldest] = nil
        seats = seats.filter { $0.value.member != oldest }
    }

    /// Takes in a connection that said hello, or closes it with the reason.
    func greet(_ peer: Peer, _ hello: ClientEnvelope.Hello) {
        var known: Seat?
        if let token = hello.token, !token.isEmpty {
            guard let seat = seat(token) else { return effects.close(peer, .badToken, "this seat is not known here") }
            guard !seat.isBanned else { return effects.close(peer, .removed, "you were removed from this group") }
            known = seat
        } else if locked {
            return effects.close(peer, .noSuchGroup, "this group is locked")
        } else if present.count >= limits[.members] {
            return refuse(peer, hello.ref, "members", found: present.count + 1)
        }
        if let known {
            let connections = peers.values.count { peer in
                if case .member(_, let seat, _) = peer.state { return seat === known }
                return false
            }
            if connections >= limits[.seatConnections] {
                return refuse(peer, hello.ref, "connections", allowed: limits[.seatConnections], found: connections + 1)
            }
        }
        let seat = known ?? makeSeat(name: "", role: .participant)
        let client = seat.client(hello.client ?? "")
        peer.state = .member(self, seat, client)
        peers[peer.id] = peer
        client.connections += 1
        vacancy.end()
        adoptName(hello.name, seat)
        if !present.contains(seat.member) { rename(seat.member, to: member(seat.member).name) }
        effects.send(Envelope(welcome(seat, client)), to: peer)
        guard !present.contains(seat.member) else { return }
        present.append(seat.member)
        let member = member(seat.member)
        broadcast(HostEnvelope.members(joined: [member]), except: peer)
        effects.events.append(.memberJoined(code, member))
    }

    private func refuse(_ peer: Peer, _ ref: Int64?, _ limit: String, allowed: Int? = nil, found: Int) {
        let exceeded = ExceededLimit(limit, allowed: allowed ?? limits[Limits.Name(rawValue: limit)!], found: found)
        let rejection = Rejection(.limitReached, "this group is full", exceeded: exceeded)
        effects.send(Envelope(HostEnvelope.rejected(ref: ref, rejection)), to: peer)
    }

    /// Gives the person the name asked for, unless it is the one asked for before (a `rename` since then counts).
    private func adoptName(_ text: String, _ seat: Seat) {
        let wanted = PersonName.clean(text)
        if let wanted, wanted != seat.requestedName {
            seat.requestedName = wanted
            rename(seat.member, to: wanted)
        } else if member(seat.member).name.isEmpty {
            rename(seat.member, to: "Guest")
        }
    }

    /// Changes a member's name to a distinct one; true if it differs from before.
    @discardableResult
    func rename(_ id: MemberID, to wanted: String) -> Bool {
        let taken = Set(present.lazy.filter { $0 != id }.map { self.people[$0]!.name })
        let name = PersonName.distinct(wanted, among: taken)
        guard people[id]!.name != name else { return false }
        people[id]!.name = name
        if present.contains(id) { announce(changed: id) }
        return true
    }

    func setRole(_ id: MemberID, _ role: Role) {
        guard people[id]!.role != role else { return }
        people[id]!.role = role
        announce(changed: id)
    }

    private func announce(changed id: MemberID) {
        broadcast(HostEnvelope.members(changed: [member(id)]))
        for session in sessions.values { session.memberChanged(member(id)) }
    }

    /// A connection was lost: its places are kept for the grace time, and so is the member's.
    func lost(_ peer: Peer, _ seat: Seat, _ client: Client) {
        peers[peer.id] = nil
        client.connections -= 1
        for place in peer.places.values where place.peer === peer { place.peer = nil }
        for (session, place) in peer.places { sessions[session]?.lost(place) }
        peer.places = [:]
        guard !hasConnection(seat.member) else { return }
        effects.schedule(after: limits[.graceMs]) { [self] in depart(seat.member) }
        reviewEmptiness()
    }

    private func hasConnection(_ member: MemberID) -> Bool { peers.values.contains { $0.member == member } }

    /// Takes a member who has no connection any more out of the list; the seat stays good.
    private func depart(_ id: MemberID) {
        guard !hasConnection(id), let index = present.firstIndex(of: id) else { return }
        present.remove(at: index)
        broadcast(HostEnvelope.members(left: [id]))
        effects.events.append(.memberLeft(code, member(id)))
    }

    /// Removes a member for good: the seat is banned, connections close with 4403.
    func removeMember(_ id: MemberID) {
        for seat in seats.values where seat.member == id { seat.isBanned = true }
        for session in sessions.values { session.removeMember(id) }
        for peer in peers.values where peer.member == id { effects.close(peer, .removed, "you were removed from this group") }
        guard let index = present.firstIndex(of: id) else { return }
        present.remove(at: index)
        broadcast(HostEnvelope.members(left: [id]))
        effects.events.append(.memberLeft(code, member(id)))
    }

    // MARK: The group's own things

    func setLocked(_ locked: Bool) {
        self.locked = locked
        broadcast(HostEnvelope.group(code: code, link: link, locked: locked))
    }

    /// Makes a new code and link; the old ones are void at once.
    func renewCode() {
        core.rename(self, code: core.unusedCode(), link: SecretToken(using: &core.random))
        broadcast(HostEnvelope.group(code: code, link: link, locked: locked))
    }

    func broadcast(_ bytes: [UInt8], except: Peer? = nil) {
        let envelope = Envelope(bytes)
        for peer in peers.values where peer !== except { effects.send(envelope, to: peer) }
    }

    /// Begins to wait for somebody to come back when nobody is here: a group ends that long after the last person.
    func reviewEmptiness() {
        if peers.isEmpty { vacancy.begin() }
    }

    /// Ends all sessions and the group; connections close with 4410.
    package func end() {
        guard !hasEnded else { return }
        hasEnded = true
        for session in sessions.values { session.end(.ended) }
        for peer in peers.values { effects.close(peer, .groupEnded, "this group has ended") }
        core.remove(self)
    }

    // MARK: Welcome

    private func welcome(_ seat: Seat, _ client: Client) -> [UInt8] {
        var out: [UInt8] = []
        out.append(text: "{\"type\":\"welcome\",\"protocol\":1,\"host\":")
        out.appendJSON(core.settings.hostVersion)
        out.append(text: ",\"time\":")
        out.append(decimal: effects.now)
        out.append(text: ",\"token\":\"")
        out.append(contentsOf: seat.token.description.utf8)
        out.append(text: "\",\"acknowledged\":")
        out.append(decimal: client.ledger.acknowledged)
        out.append(text: ",\"member\":")
        HostEnvelope.member(member(seat.member), into: &out)
        out.append(text: ",\"group\":{\"code\":\"")
        out.append(contentsOf: code.description.utf8)
        out.append(text: "\",\"link\":\"")
        out.append(contentsOf: link.description.utf8)
        out.append(text: "\",\"locked\":")
        out.append(text: locked ? "true" : "false")
        out.append(text: ",\"members\":")
        let listed = present.contains(seat.member) ? members : members + [member(seat.member)]
        HostEnvelope.list(listed, into: &out, HostEnvelope.member)
        out.append(text: ",\"sessions\":")
        let running = sessions.values.filter(\.isRunning).sorted { $0.id < $1.id }
        HostEnvelope.list(running, into: &out) { $0.writeDescription(into: &$1) }
        out.append(text: "},\"activities\":")
        out.append(contentsOf: core.activitiesJSON)
        out.append(text: ",\"limits\":{")
        for (index, name) in Limits.Name.allCases.enumerated() {
            if index > 0 { out.append(UInt8(ascii: ",")) }
            out.appendJSON(name.rawValue)
            out.append(UInt8(ascii: ":"))
            out.append(decimal: limits[name])
        }
        out.append(text: "}}")
        return out
    }
}
