import ActivityModel

extension Group {
    /// Carries out one request of a member's connection, or refuses it.
    func handle(_ envelope: ClientEnvelope, from requester: Requester) {
        switch envelope {
        case .ping(let time):
            effects.send(Envelope(HostEnvelope.pong(time: time, now: effects.now)), to: requester.peer)
            requester.peer.isUrgent = true
        case .invalid(_, let rejection): requester.reject(rejection)
        case .hello: requester.reject(Rejection(.invalidFrame, "hello comes once"))
        case .send(_, let session, let name, let body, let to):
            guard allow(&requester.peer.messages, .messagesPerSecond, requester), requester.claim() else { return }
            guard let session = running(session, requester) else { return }
            session.send(name: name, body: body, to: to, from: requester)
        case .start(_, let activity, let parameters, let replaces):
            guard allow(&requester.peer.requests, .requestsPerSecond, requester), requester.claim() else { return }
            start(activity, parameters, replaces, requester)
        case .join(_, let session, let participant, let since):
            guard allow(&requester.peer.requests, .requestsPerSecond, requester), requester.claim() else { return }
            running(session, requester)?.join(requester, participant: participant, since: since)
        case .change(_, let session, let parameters):
            guard allow(&requester.peer.requests, .requestsPerSecond, requester), requester.claim() else { return }
            guard let session = running(session, requester), mayDirect(session, requester) else { return }
            session.change(parameters: parameters, from: requester)
        default:
            guard allow(&requester.peer.messages, .messagesPerSecond, requester), requester.claim() else { return }
            handleRare(envelope, requester)
        }
    }

    private func handleRare(_ envelope: ClientEnvelope, _ requester: Requester) {
        switch envelope {
        case .leave(_, let session):
            running(session, requester)?.leave(requester)
        case .end(_, let session):
            guard let session = running(session, requester), mayDirect(session, requester) else { return }
            session.end(.ended) { requester.accept(session: session.id) }
        case .rename(_, let name):
            guard let name = PersonName.clean(name) else {
                return requester.reject(Rejection(.invalidMessage, "a name has at least one letter", path: "name"))
            }
            requester.seat.requestedName = name
            rename(requester.seat.member, to: name)
            requester.accept()
        case .role(_, let member, let role): changeRole(of: member, to: role, requester)
        case .remove(_, let member):
            guard let member = target(member, requester) else { return }
            guard member.id != requester.seat.member else { return requester.reject(Rejection(.forbidden, "nobody removes themselves")) }
            requester.accept()
            removeMember(member.id)
        case .lock(_, let locked):
            guard isModerator(requester) else { return }
            setLocked(locked)
            requester.accept()
        case .newCode:
            guard isModerator(requester) else { return }
            renewCode()
            requester.accept()
        default: break
        }
    }

    /// Whether the bucket lets one more through; refuses with what is allowed and when to try again.
    private func allow(_ bucket: inout TokenBucket, _ limit: Limits.Name, _ requester: Requester) -> Bool {
        guard case .retry(let milliseconds) = bucket.take(at: effects.uptime) else { return true }
        core.counters.rejected += 1
        // Past the ledger: under this ref another request may be under way.
        let rejection = Rejection.rateLimited(limit, limits, retryMilliseconds: milliseconds)
        effects.send(Envelope(HostEnvelope.rejected(ref: requester.ref, rejection)), to: requester.peer)
        return false
    }

    private func running(_ id: String, _ requester: Requester) -> Session? {
        if let session = SessionID(id).flatMap({ sessions[$0] }), session.isRunning { return session }
        requester.reject(Rejection(.noSuchSession, "there is no session \"\(id.prefix(32))\""))
        return nil
    }

    /// Whether somebody may change, end or replace a session: who started it, moderators, with `--open` participants too.
    private func mayDirect(_ session: Session, _ requester: Requester) -> Bool {
        let member = requester.member
        if member.role >= .moderator { return true }
        if member.role >= .participant, member.id == session.initiator || core.settings.open { return true }
        requester.reject(Rejection(.forbidden, "only who started this session and moderators may do that"))
        return false
    }

    private func isModerator(_ requester: Requester) -> Bool {
        if requester.member.role >= .moderator { return true }
        requester.reject(Rejection(.forbidden, "only moderators may do that"))
        return false
    }

    /// The member that a moderator acts on; never one above.
    private func target(_ id: String, _ requester: Requester) -> Member? {
        guard isModerator(requester) else { return nil }
        guard let id = MemberID(id), let member = members.first(where: { $0.id == id }) else {
            requester.reject(Rejection(.noSuchParticipant, "there is no member \"\(id.prefix(32))\"", path: "member"))
            return nil
        }
        guard member.role <= requester.member.role else {
            requester.reject(Rejection(.forbidden, "only a host may do that to a host"))
            return nil
        }
        return member
    }

    private func changeRole(of id: String, to word: String, _ requester: Requester) {
        guard let role = Role(rawValue: word) else {
            return requester.reject(Rejection(.invalidMessage, "a role is one of viewer, participant, moderator, host", path: "role"))
        }
        guard let member = target(id, requester) else { return }
        guard role <= requester.member.role else { return requester.reject(Rejection(.forbidden, "nobody gives a role above their own")) }
        setRole(member.id, role)
        requester.accept()
    }

    // MARK: Starting

    private func start(_ name: String, _ parameters: [UInt8], _ replaces: String?, _ requester: Requester) {
        guard requester.member.role >= .participant else { return requester.reject(Rejection(.forbidden, "viewers start nothing")) }
        guard let activity = core.activities[name] else {
            return requester.reject(Rejection(.noSuchActivity, "there is no activity \"\(name.prefix(64))\""))
        }
        let finish: (Result<SessionID, Rejection>) -> Void = { result in
            switch result {
            case .success(let session): requester.started(session)
            case .failure(let rejection): requester.reject(rejection)
            }
        }
        guard let replaces else {
            return start(activity, parameters: parameters, replaces: nil, by: requester.seat.member, completion: finish)
        }
        guard let old = running(replaces, requester), mayDirect(old, requester) else { return }
        old.replace { [self] done in
            start(activity, parameters: parameters, replaces: old, by: requester.seat.member) { result in
                finish(result)
                done(try? result.get())
            }
        } refused: {
            requester.reject(Rejection(.noSuchSession, "session \(old.id) was replaced already"))
        }
    }

    /// Starts a session; the others are invited when its `start` handler has succeeded.
    func start(
        _ activity: ActivityDescription, parameters: [UInt8], replaces: Session?, by member: MemberID,
        completion: @escaping (Result<SessionID, Rejection>) -> Void
    ) {
        let alive = sessions.values.count { $0 !== replaces }
        guard alive < limits[.sessions] else {
            let exceeded = ExceededLimit("sessions", allowed: limits[.sessions], found: alive + 1)
            return completion(.failure(Rejection(.limitReached, "this group has \(alive) sessions already", exceeded: exceeded)))
        }
        let id = SessionID(number: nextSession)
        nextSession += 1
        let session = core.register { Session(key: $0, id: id, activity: activity, parameters: parameters, initiator: member, group: self) }
        sessions[id] = session
        session.start { [self] result in
            switch result {
            case .success:
                completion(.success(id))
                if hasEnded { session.end(.ended) }
            case .failure(let rejection):
                sessions[id] = nil
                // What was refused leaves no trace: the id is free again unless a later start has the next one.
                if nextSession == id.number + 1 { nextSession = id.number }
                completion(.failure(rejection))
            }
        }
    }
}
