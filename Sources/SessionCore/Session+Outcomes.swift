import ActivityModel

/// What the engine did becomes what everybody gets.
extension Session {
    func apply(_ outcome: SessionOutcome) {
        guard let purpose = pending.popFirst() else { return }
        switch purpose {
        case .open: break
        case .start(let parameters, let completion): finishStart(outcome, parameters, completion)
        case .join(let place, let requester): finishJoin(outcome, place, requester)
        case .leave(let place, let reason, let requester): finishLeave(outcome, place, reason, requester)
        case .send(let place, let name, let body, let to, let requester):
            finishSend(requester, body)
            finishMessage(outcome, place, name: name, body: body, to: to, requester)
        case .timer(let timer, let late): finishTimer(outcome, timer, late)
        case .change(let parameters, let requester): finishChange(outcome, parameters, requester)
        case .member(let member): finishMember(outcome, member)
        case .view(let place, let purpose): finishView(outcome, place, purpose)
        case .export(let completion): finishExport(outcome, completion)
        case .close(let reason, let replacedBy, let note, let completion): return finishEnd(reason, replacedBy: replacedBy, note: note, completion)
        }
        report(outcome, message: purpose.message)
        guard state == .running else { return }
        if outcome.nextTimer != nil || purpose.isInput { arm(outcome.nextTimer) }
        if case .join(let place, _) = purpose, place.state == .joined { fireOverdueTimer() }
        if let note = outcome.finished { end(.ended, note: note) }
    }

    /// Notes an input that is part of the session now.
    func commit(_ seq: UInt64, _ input: SessionInput, stands: Bool) {
        self.seq = seq
        record(.input(seq: seq, input, stands: stands))
    }

    // MARK: Messages

    private func finishMessage(
        _ outcome: SessionOutcome, _ place: Place, name: String, body: [UInt8], to: [ParticipantID]?, _ requester: Requester
    ) {
        var seq: UInt64?
        switch outcome.result {
        case .rejected(let rejection): return requester.reject(rejection)
        case .committed(let number), .stands(let number):
            commit(number, .message(from: place.id, name: name, body: body, to: to), stands: false)
            seq = number
        case .done: break
        }
        var relayed = body
        var audience = to.map { History.Audience.only($0) } ?? .allBut(place.id)
        switch outcome.relay {
        case .none: audience = .only([])
        case .received: break
        case .replaced(let other):
            relayed = other
            audience = to.map { .only($0.contains(place.id) ? $0 : $0 + [place.id]) } ?? .all
        }
        if outcome.relay != .none {
            let isLatest = seq == nil && activity.messageType(name)?.delivery == .latest
            let bytes = HostEnvelope.message(session: id, seq: seq, from: place.id, name: name, body: relayed)
            deliver(bytes, seq: seq, audience, latest: isLatest ? latest(from: place.id, name, relayed, toAll: to == nil) : nil)
        }
        deliver(outcome.sends, seq: seq, newcomer: nil)
        refresh(outcome.refresh)
        requester.accept(session: id, seq: seq)
    }

    /// Hands an envelope to all of an audience, and remembers it for those who are away.
    private func deliver(
        _ bytes: [UInt8], seq: UInt64?, _ audience: History.Audience,
        latest: Latest? = nil
    ) {
        let envelope = Envelope(bytes, session: key, kind: latest.map { .latest($0.key) } ?? .replaceable)
        if let latest, latest.toAll { self.latest.set(latest.isNull ? nil : envelope, for: latest.key) }
        if let seq { history.append(seq: seq, audience, envelope) }
        switch audience {
        case .only(let ids):
            for id in ids { if let place = place(id) { send(envelope, to: place) } }
        case .all:
            for place in places { send(envelope, to: place) }
        case .allBut(let excluded):
            for place in places where place.id != excluded { send(envelope, to: place) }
        }
    }

    /// What is particular about a `latest` message; a null body takes the current one back.
    private typealias Latest = (key: LatestKey, toAll: Bool, isNull: Bool)

    private func latest(from sender: ParticipantID?, _ name: String, _ body: [UInt8], toAll: Bool) -> Latest {
        (LatestKey(session: key, sender: sender, name: name), toAll, body.elementsEqual("null".utf8))
    }

    /// Envelopes that a view stands for are left out while one is in the making.
    private func send(_ envelope: Envelope, to place: Place) {
        guard place.state == .joined, !place.awaitsJoined, let peer = place.peer else { return }
        if place.sync != .live, envelope.kind == .replaceable { return }
        group.core.counters.messagesDelivered += 1
        effects.send(envelope, to: peer)
    }

    private func deliver(_ sends: [SessionOutcome.Send], seq: UInt64?, newcomer: ParticipantID?) {
        for send in sends {
            let number = send.delivery == .durable ? seq : nil
            let audience = send.to.map { History.Audience.only($0) } ?? newcomer.map { .allBut($0) } ?? .all
            let bytes = HostEnvelope.message(session: id, seq: number, from: nil, name: send.name, body: send.body)
            let latest = send.delivery == .latest ? latest(from: nil, send.name, send.body, toAll: send.to == nil) : nil
            deliver(bytes, seq: number, audience, latest: latest)
        }
    }

    /// A view that is under way already is made after this input, so it stands for it.
    private func refresh(_ ids: [ParticipantID]) {
        for place in ids.lazy.compactMap(place) {
            if case .behind = place.sync { continue }
            if place.peer == nil {
                place.viewedUpTo = seq
            } else if place.viewsUnderWay == 0 {
                view(place, .snapshot)
            }
        }
    }

    // MARK: Participants

    private func finishJoin(_ outcome: SessionOutcome, _ place: Place, _ requester: Requester) {
        switch outcome.result {
        case .rejected(let rejection):
            remove(place)
            release(place.id)
            requester.reject(rejection)
            reviewEmptiness()
            return
        case .committed(let seq), .stands(let seq): commit(seq, .join(place.participant), stands: false)
        case .done: preconditionFailure("a join commits or is rejected")
        }
        reviewEmptiness()
        place.hasJoined = true
        place.viewedUpTo = seq - 1
        if place.state == .joining { place.state = .joined }
        deliver(presence(joined: [place.participant]), .allBut(place.id))
        deliver(outcome.sends, seq: seq, newcomer: place.id)
        answerJoin(of: place, requester, view: outcome.view)
        refresh(outcome.refresh)
        announceSoon()
        effects.events.append(.participantJoined(group.code, id, place.participant))
    }

    private func finishLeave(_ outcome: SessionOutcome, _ place: Place, _ reason: LeaveReason, _ requester: Requester?) {
        switch outcome.result {
        case .rejected(let rejection):
            requester?.reject(rejection)
            // Its join was refused while the leave was on its way; otherwise the script cannot be run any more.
            if place.hasJoined { end(.failed) }
            return
        case .committed(let seq): commit(seq, .leave(place.id, reason), stands: false)
        case .stands(let seq): commit(seq, .leave(place.id, reason), stands: true)
        case .done: preconditionFailure("a leave commits or is rejected")
        }
        remove(place)
        latest.removeAll(from: place.id)
        deliver(presence(left: (place.id, reason)), .all)
        deliver(outcome.sends, seq: seq, newcomer: nil)
        refresh(outcome.refresh)
        requester?.accept(session: id, seq: seq)
        if let peer = place.peer {
            let ended: InvalidationReason = reason == .removed ? .removed : .left
            effects.send(Envelope(HostEnvelope.invalidated(session: id, reason: ended), session: key), to: peer)
        }
        announceSoon()
        effects.events.append(.participantLeft(group.code, id, place.participant, reason))
        let member = place.participant.member.id
        if activity.endsWhenInitiatorLeaves, member == initiator, !places.contains(where: { $0.participant.member.id == member }) {
            end(.ended)
        }
        reviewEmptiness()
    }

    /// Presence is kept in every backlog: it is small, and no view stands for it.
    private func deliver(_ presence: [UInt8], _ audience: History.Audience) {
        let envelope = Envelope(presence, session: key)
        history.append(seq: seq, audience, envelope)
        for place in places where audience.contains(place.id) && place.state == .joined && !place.awaitsJoined {
            if let peer = place.peer { effects.send(envelope, to: peer) }
        }
    }

    private func presence(
        joined: [Participant] = [], left: (id: ParticipantID, reason: LeaveReason)? = nil, changed: [Participant] = []
    ) -> [UInt8] {
        HostEnvelope.participants(session: id, seq: seq, joined: joined, left: left, changed: changed)
    }

    private func finishMember(_ outcome: SessionOutcome, _ member: Member) {
        guard case .committed(let seq) = outcome.result else { return }
        commit(seq, .member(member), stands: false)
        var changed: [Participant] = []
        for place in places where place.participant.member.id == member.id {
            place.participant.member = member
            if place.state == .joined { changed.append(place.participant) }
        }
        if !changed.isEmpty { deliver(presence(changed: changed), .all) }
    }

    // MARK: Timers, parameters, exports

    private func finishTimer(_ outcome: SessionOutcome, _ timer: UInt64, _ late: Bool) {
        switch outcome.result {
        case .committed(let seq): commit(seq, .timer(timer, late: late), stands: false)
        case .stands(let seq): commit(seq, .timer(timer, late: late), stands: true)
        case .rejected, .done: return
        }
        deliver(outcome.sends, seq: seq, newcomer: nil)
        refresh(outcome.refresh)
    }

    private func finishChange(_ outcome: SessionOutcome, _ given: [UInt8], _ requester: Requester) {
        switch outcome.result {
        case .rejected(let rejection): return requester.reject(rejection)
        case .committed(let seq), .stands(let seq):
            let member = requester.seat.member
            commit(seq, .change(parameters: given, by: member), stands: false)
            parameters = given
            let bytes = HostEnvelope.changed(session: id, seq: seq, parameters: given, by: member)
            deliver(bytes, seq: seq, .all)
            deliver(outcome.sends, seq: seq, newcomer: nil)
            refresh(outcome.refresh)
            requester.accept(session: id, seq: seq)
            announceSoon()
        case .done: preconditionFailure("a change commits or is rejected")
        }
    }

    private func finishExport(_ outcome: SessionOutcome, _ completion: (Result<[UInt8], Rejection>) -> Void) {
        if case .rejected(let rejection) = outcome.result { return completion(.failure(rejection)) }
        completion(.success(outcome.view ?? []))
    }

    // MARK: Views

    private func finishView(_ outcome: SessionOutcome, _ place: Place, _ purpose: ViewPurpose) {
        guard self.place(place.id) === place else {
            if case .joined(let requester) = purpose { requester.reject(Rejection(.notJoined, "you have left session \(id)")) }
            return
        }
        if case .rejected(let rejection) = outcome.result {
            place.viewsUnderWay -= 1
            // What came meanwhile was left to the view: without it the participant has a gap.
            if case .joined(let requester) = purpose { requester.reject(rejection) }
            return fail(place)
        }
        place.viewsUnderWay -= 1
        if place.viewsUnderWay == 0 {
            place.sync = .live
            place.viewedUpTo = seq
        }
        switch purpose {
        case .joined(let requester):
            answerJoin(of: place, requester, view: outcome.view)
        case .snapshot:
            guard let peer = place.peer, !place.awaitsJoined else { return }
            place.lastSnapshot = effects.uptime
            group.core.counters.snapshots += 1
            peer.outbox.makeRoomForSnapshot(of: key, bound: limits[.backlogBytes])
            effects.send(Envelope(snapshot(outcome.view ?? []), session: key, kind: .snapshot), to: peer)
        }
    }

    /// A view that cannot be made: the session is over for this participant.
    private func fail(_ place: Place) {
        place.sync = .live
        if let peer = place.peer {
            effects.send(Envelope(HostEnvelope.invalidated(session: id, reason: .failed), session: key), to: peer)
            peer.places[id] = nil
            place.peer = nil
        }
        guard isRunning, place.state == .joined else { return }
        place.state = .leaving
        submit(.input(.leave(place.id, .disconnected)), .leave(place, .disconnected, nil))
    }

    /// Answers a join by the view, on the connection that asked last: it may have come in the place of one that was lost meanwhile.
    private func answerJoin(of place: Place, _ requester: Requester, view: [UInt8]?) {
        let waiting = requester.finishJoin()
        if place.peer == nil, place.state == .joined, waiting.isOpen, waiting.places[id] == nil {
            place.peer = waiting
            waiting.places[id] = place
        }
        guard place.peer === waiting else {
            let rejection = Rejection(.notJoined, "this place in session \(id) is another connection's")
            return effects.send(Envelope(HostEnvelope.rejected(ref: requester.ref, rejection)), to: waiting)
        }
        place.awaitsJoined = false
        effects.send(Envelope(joined(place, requester, view: view, at: seq)), to: waiting)
        sendLatest(to: waiting, but: place.id)
    }

    func sendLatest(to peer: Peer, but sender: ParticipantID) {
        for envelope in latest.all(but: sender) { effects.send(envelope, to: peer) }
    }

    func joined(_ place: Place, _ requester: Requester, view: [UInt8]?, at seq: UInt64) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity((view?.count ?? 0) + 256 + places.count * 96)
        out.append(text: "{\"type\":\"joined\"")
        if let ref = requester.ref {
            out.append(text: ",\"ref\":")
            out.append(decimal: ref)
        }
        writePosition(into: &out, seq: seq)
        out.append(text: ",\"participant\":\"")
        out.append(id: place.id)
        out.append(text: "\",\"acknowledged\":")
        out.append(decimal: requester.client.ledger.acknowledged)
        if let view {
            out.append(text: ",\"state\":")
            out.append(contentsOf: view)
        }
        out.append(text: "}")
        return out
    }

    private func snapshot(_ view: [UInt8]) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(view.count + 256 + places.count * 96)
        out.append(text: "{\"type\":\"snapshot\"")
        writePosition(into: &out, seq: seq)
        out.append(text: ",\"state\":")
        out.append(contentsOf: view)
        out.append(text: "}")
        return out
    }

    /// What `joined` and `snapshot` share: session, position, parameters, participants.
    private func writePosition(into out: inout [UInt8], seq: UInt64) {
        out.append(text: ",\"session\":\"")
        out.append(id: id)
        out.append(text: "\",\"epoch\":\"")
        out.append(contentsOf: epoch.utf8)
        out.append(text: "\",\"seq\":")
        out.append(decimal: seq)
        out.append(text: ",\"parameters\":")
        out.append(contentsOf: parameters)
        out.append(text: ",\"participants\":")
        HostEnvelope.list(places.filter(\.hasJoined).map(\.participant), into: &out, HostEnvelope.participant)
    }
}

extension Session.Pending {
    /// Whether the outcome tells the session's earliest timer.
    fileprivate var isInput: Bool {
        switch self {
        case .start, .join, .leave, .send, .timer, .change, .member: true
        case .open, .view, .export, .close: false
        }
    }

    /// The message and sender, for a report.
    fileprivate var message: String? {
        guard case .send(let place, let name, _, _, _) = self else { return nil }
        return "\(name) from \(place.participant.member.name) (\(place.id))"
    }
}
