import ActivityModel

/// Admission: what participants ask is checked by what is known now, and handed to the engine.
extension Session {
    /// Weighs a request under way beside its body's bytes.
    private static let requestWeight = 8192

    func send(name: String, body: [UInt8], to: [String]?, from requester: Requester) {
        guard let place = requester.peer.places[id], place.state != .leaving else {
            return requester.reject(Rejection(.notJoined, "join session \(id) first"))
        }
        guard let type = activity.messageType(name) else {
            return requester.reject(Rejection(.unknownMessage, "\(activity.name) has no message \"\(name.prefix(64))\"", path: "name"))
        }
        if let refusal = refusal(of: type, to: to, requester) { return requester.reject(refusal) }
        guard body.count <= limits[.messageBytes] else {
            let exceeded = ExceededLimit("message_bytes", allowed: limits[.messageBytes], found: body.count)
            return requester.reject(Rejection(.tooLarge, "a message has \(limits[.messageBytes]) bytes at most", exceeded: exceeded))
        }
        var receivers: [ParticipantID]?
        if let to {
            var ids: [ParticipantID] = []
            for text in to {
                guard let id = ParticipantID(text), self.place(id) != nil else {
                    return requester.reject(Rejection(.noSuchParticipant, "\"\(text.prefix(32))\" is not in this session", path: "to"))
                }
                if !ids.contains(id) { ids.append(id) }
            }
            receivers = ids
        }
        requester.peer.underWay += body.count + Self.requestWeight
        group.core.counters.messagesReceived += 1
        submit(
            .input(.message(from: place.id, name: name, body: body, to: receivers)),
            .send(place, name: name, body: body, to: receivers, requester))
    }

    /// The request has its outcome.
    func finishSend(_ requester: Requester, _ body: [UInt8]) {
        requester.peer.underWay -= body.count + Self.requestWeight
        if requester.peer.isReadingPaused { group.core.reviewReading(requester.peer) }
    }

    private func refusal(of type: MessageType, to: [String]?, _ requester: Requester) -> Rejection? {
        let member = requester.member
        if member.role < .participant { return Rejection(.forbidden, "viewers send nothing") }
        let isAllowed =
            switch type.right {
            case .participant: true
            case .moderator: member.role >= .moderator
            case .host: member.role >= .host
            case .initiator: member.id == initiator || member.role >= .moderator
            case .script: false
            }
        guard isAllowed else { return Rejection(.forbidden, "this message is for \(type.right.rawValue)s") }
        guard to == nil || type.targeted else { return Rejection(.forbidden, "this message goes to everyone", path: "to") }
        return nil
    }

    func change(parameters: [UInt8], from requester: Requester) {
        guard parameters.count <= limits[.messageBytes] else {
            let exceeded = ExceededLimit("message_bytes", allowed: limits[.messageBytes], found: parameters.count)
            return requester.reject(Rejection(.tooLarge, "parameters are too large", exceeded: exceeded))
        }
        submit(.input(.change(parameters: parameters, by: requester.seat.member)), .change(parameters: parameters, requester))
    }

    func memberChanged(_ member: Member) {
        guard isRunning, places.contains(where: { $0.participant.member.id == member.id }) else { return }
        submit(.input(.member(member)), .member(member))
    }

    // MARK: Joining and leaving

    func join(_ requester: Requester, participant: String?, since: Position?) {
        if let participant, let place = ParticipantID(participant).flatMap({ self.place($0) }), isSame(place, requester) {
            return resume(place, requester, since)
        }
        if let place = requester.peer.places[id], place.state != .leaving {
            // A second join of one connection: the same participant, a fresh view.
            return resume(place, requester, nil)
        }
        // One client is one tab: a place that it lost and does not ask for is nobody's any more.
        for place in places where place.client === requester.client && place.peer == nil && place.state == .joined {
            leave(place, .disconnected, nil)
        }
        // Who leaves has left when this join's turn comes.
        let others = places.count { $0.state != .leaving }
        guard others < limits[.participants] else {
            let exceeded = ExceededLimit("participants", allowed: limits[.participants], found: others + 1)
            return requester.reject(Rejection(.limitReached, "this session is full", exceeded: exceeded))
        }
        let participant = Participant(id: nextParticipantID(), member: requester.member)
        let place = Place(participant: participant, seat: requester.seat, client: requester.client, peer: requester.peer)
        add(place)
        requester.peer.places[id] = place
        submit(.input(.join(participant)), .join(place, requester))
    }

    /// Whether somebody asks for a place that is theirs: the same seat and client, and the place still kept.
    private func isSame(_ place: Place, _ requester: Requester) -> Bool {
        place.seat === requester.seat && place.client === requester.client && place.state == .joined
    }

    /// Gives a place to the connection that asks for it: by what it missed since a position, or by a new view.
    private func resume(_ place: Place, _ requester: Requester, _ since: Position?) {
        let isNew = place.peer !== requester.peer
        if let old = place.peer, isNew {
            old.places[id] = nil
            effects.close(old, .takenOver, "this seat is open in a newer connection")
        }
        place.peer = requester.peer
        requester.peer.places[id] = place
        if let since, since.epoch == epoch, since.seq <= seq, place.viewedUpTo.map({ since.seq > $0 }) ?? true,
            let missed = history.missed(by: place.id, after: since.seq)
        {
            let waiting = requester.finishJoin()
            place.awaitsJoined = false
            effects.send(Envelope(joined(place, requester, view: nil, at: since.seq)), to: waiting)
            for envelope in missed { effects.send(envelope, to: waiting) }
            sendLatest(to: waiting, but: place.id)
        } else {
            if isNew { place.awaitsJoined = true }
            view(place, .joined(requester))
        }
    }

    func leave(_ requester: Requester) {
        guard let place = requester.peer.places[id], place.state != .leaving else {
            return requester.reject(Rejection(.notJoined, "you are not in session \(id)"))
        }
        leave(place, .left, requester)
    }

    private func leave(_ place: Place, _ reason: LeaveReason, _ requester: Requester?) {
        place.state = .leaving
        submit(.input(.leave(place.id, reason)), .leave(place, reason, requester))
    }

    func removeMember(_ member: MemberID) {
        guard isRunning else { return }
        for place in places where place.participant.member.id == member && place.state != .leaving { leave(place, .removed, nil) }
    }

    /// The connection of a place is gone; the place is kept for the grace time.
    func lost(_ place: Place) {
        place.losses += 1
        place.sync = .live
        let losses = place.losses
        effects.schedule(after: limits[.graceMs]) { [self] in
            guard isRunning, place.losses == losses, place.peer == nil, place.state != .leaving, self.place(place.id) === place else { return }
            effects.beginInput()
            leave(place, .disconnected, nil)
        }
    }

    // MARK: Queries

    func export(kind: String, member: MemberID?, completion: @escaping (Result<[UInt8], Rejection>) -> Void) {
        submit(.query(.export(kind: kind, member: member)), .export(completion))
    }

    /// Brings a participant up to date by a view: it asks for one, its view changed, or it reads too slowly.
    ///
    /// A session that ends makes none: the engine has been told to close it, and what comes after that it may answer out of order.
    func view(_ place: Place, _ purpose: ViewPurpose) {
        guard isRunning else { return }
        place.sync = .viewing
        place.viewedUpTo = .max
        place.viewsUnderWay += 1
        submit(.query(.view(place.id)), .view(place, purpose))
    }
}
