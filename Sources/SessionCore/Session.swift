import ActivityModel

/// One shared run of an activity: admits requests in order, and turns what the script engine did into what everybody gets.
///
/// A request is admitted by the rights and states known now, and handed to the engine; its outcome comes back in the same
/// order and decides. So `pending` is the session's single order.
final class Session {
    enum State: Equatable {
        case starting
        case running
        /// The engine was told to close; what was admitted before still has its outcome.
        case ending
        case ended
    }

    let key: SessionKey
    let id: SessionID
    let activity: ActivityDescription
    let initiator: MemberID
    let epoch: String
    /// Kept until the session has ended, which is when the group lets go of it.
    let group: Group
    var state = State.starting
    var parameters: [UInt8]
    /// The position of the last committed input.
    var seq: UInt64 = 0
    /// In join order; those who are joining included.
    private(set) var places: [Place] = []
    private var placesByID: [ParticipantID: Place] = [:]
    var pending = Queue<Pending>()
    var history: History
    /// The current `latest` messages that went to all, for newcomers.
    var latest: LatestMessages
    private var nextParticipant: UInt32 = 1
    private var armedTimer: SessionOutcome.Timer?
    /// When the armed timer falls due, in ms of uptime.
    private var timerDue: Int64 = 0
    /// The earliest wake that waits for a timer, in ms of uptime.
    private var timerWake: Int64?
    /// Since when there have been participants without a break, in ms since 1970: what fell due before is late.
    private var attendedSince: Int64 = 0
    private var isAnnouncementDue = false
    /// Requests that would replace this session, in order; the first is under way.
    private var replacements: [(begin: (@escaping (SessionID?) -> Void) -> Void, refused: () -> Void)] = []
    private lazy var vacancy = Vacancy(effects: effects, milliseconds: limits[.emptySessionMs]) { [unowned self] in end(.ended) }
    private var logLines: TokenBucket

    /// What to do with the outcome of a request that the engine has.
    enum Pending {
        case open
        case start(parameters: [UInt8], (Result<Void, Rejection>) -> Void)
        case join(Place, Requester)
        case leave(Place, LeaveReason, Requester?)
        case send(Place, name: String, body: [UInt8], to: [ParticipantID]?, Requester)
        case timer(UInt64, late: Bool)
        case change(parameters: [UInt8], Requester)
        case member(Member)
        case view(Place, ViewPurpose)
        case export((Result<[UInt8], Rejection>) -> Void)
        case close(InvalidationReason, replacedBy: SessionID?, note: String?, () -> Void)
    }

    enum ViewPurpose {
        /// The answer to a join of a participant that is in the session already.
        case joined(Requester)
        case snapshot
    }

    init(key: SessionKey, id: SessionID, activity: ActivityDescription, parameters: [UInt8], initiator: MemberID, group: Group) {
        self.key = key
        self.id = id
        self.activity = activity
        self.parameters = parameters
        self.initiator = initiator
        self.group = group
        epoch = "e" + String(group.core.random.next() as UInt32, radix: 36)
        history = History(maximumBytes: group.limits[.backlogBytes])
        latest = LatestMessages(maximumBytes: 4 * group.limits[.backlogBytes])
        logLines = TokenBucket(rate: group.limits[.logLinesPerSecond], burst: group.limits[.logLinesPerSecond])
    }

    var effects: Effects { group.core.effects }
    var limits: Limits { group.limits }
    var isRunning: Bool { state == .running }
    func place(_ id: ParticipantID) -> Place? { placesByID[id] }
    private var hasParticipants: Bool { places.contains { $0.state != .joining } }

    func add(_ place: Place) {
        places.append(place)
        placesByID[place.id] = place
    }

    func remove(_ place: Place) {
        places.removeAll { $0 === place }
        placesByID[place.id] = nil
        if let peer = place.peer, peer.places[id] === place { peer.places[id] = nil }
    }

    /// Hands a request to the engine and notes what its outcome is for.
    func submit(_ work: EngineRequest.Work, _ purpose: Pending) {
        pending.append(purpose)
        effects.engine.append(EngineRequest(session: key, time: effects.now, work: work))
    }

    func record(_ event: LogRecord.Event) {
        effects.log.append(LogRecord(session: key, time: effects.now, event: event))
    }

    // MARK: Life

    func start(completion: @escaping (Result<Void, Rejection>) -> Void) {
        let seed = group.core.random.next() as UInt64
        record(
            .opened(
                group: group.code, id: id, activity: activity.name, scriptHash: activity.script.hash, initiator: initiator, seed: seed,
                epoch: epoch))
        submit(.open(activity.script, id: id, initiator: initiator, seed: seed), .open)
        submit(.input(.start(parameters: parameters)), .start(parameters: parameters, completion))
    }

    func finishStart(_ outcome: SessionOutcome, _ given: [UInt8], _ completion: (Result<Void, Rejection>) -> Void) {
        switch outcome.result {
        case .committed(let seq), .stands(let seq):
            commit(seq, .start(parameters: given), stands: false)
            state = .running
            announceNow()
            effects.events.append(.sessionStarted(group.code, id, activity: activity.name, by: group.member(initiator)))
            completion(.success(()))
            reviewEmptiness()
        case .rejected(let rejection):
            state = .ended
            record(.closed(.failed))
            submit(.close, .close(.failed, replacedBy: nil, note: nil, {}))
            completion(.failure(rejection))
        case .done: preconditionFailure("a start commits or is rejected")
        }
    }

    /// Ends the session for everyone, after what was admitted before; does nothing if it is not running.
    func end(_ reason: InvalidationReason, replacedBy: SessionID? = nil, note: String? = nil, completion: @escaping () -> Void = {}) {
        guard isRunning else { return }
        state = .ending
        submit(.close, .close(reason, replacedBy: replacedBy, note: note, completion))
    }

    func finishEnd(_ reason: InvalidationReason, replacedBy: SessionID?, note: String?, _ completion: () -> Void) {
        let wasRefused = state == .ended
        state = .ended
        group.core.unregister(self)
        guard !wasRefused else { return }
        group.sessions[id] = nil
        record(.closed(reason))
        completion()
        group.broadcast(HostEnvelope.invalidated(session: id, reason: reason, replacedBy: replacedBy, note: note))
        effects.events.append(.sessionEnded(group.code, id, activity: activity.name, reason))
        for place in places { place.peer?.places[id] = nil }
        places = []
        placesByID = [:]
        for replacement in replacements.dropFirst() { replacement.refused() }
        replacements = []
    }

    /// Runs `begin` when no other replacement is under way: only one session can take this one's place.
    func replace(begin: @escaping (@escaping (SessionID?) -> Void) -> Void, refused: @escaping () -> Void) {
        replacements.append((begin, refused))
        if replacements.count == 1 { tryReplacement() }
    }

    private func tryReplacement() {
        guard let replacement = replacements.first else { return }
        guard isRunning else { return replacement.refused() }
        replacement.begin { [self] successor in
            if let successor {
                end(.replaced, replacedBy: successor)
            } else if !replacements.isEmpty {
                replacements.removeFirst()
                tryReplacement()
            }
        }
    }

    /// Begins the grace time of a session without participants.
    func reviewEmptiness() {
        if !places.isEmpty { vacancy.end() } else if isRunning { vacancy.begin() }
    }

    // MARK: Announcements

    /// The session as the whole group sees it; with `participants`, how many are in.
    func writeDescription(into out: inout [UInt8]) {
        out.append(text: "{\"id\":\"")
        out.append(id: id)
        out.append(text: "\",\"activity\":")
        out.appendJSON(activity.name)
        out.append(text: ",\"version\":")
        out.append(decimal: activity.version)
        out.append(text: ",\"metadata\":")
        out.append(contentsOf: activity.metadata)
        out.append(text: ",\"parameters\":")
        out.append(contentsOf: parameters)
        out.append(text: ",\"initiator\":\"")
        out.append(id: initiator)
        out.append(text: "\",\"participants\":")
        out.append(decimal: places.count { $0.state == .joined })
        out.append(text: "}")
    }

    func announceNow() {
        isAnnouncementDue = false
        var out: [UInt8] = []
        out.append(text: "{\"type\":\"session\",\"session\":")
        writeDescription(into: &out)
        out.append(text: "}")
        group.broadcast(out)
    }

    /// Tells the group of a change soon; many changes in a short time are told once.
    func announceSoon() {
        guard !isAnnouncementDue else { return }
        isAnnouncementDue = true
        effects.schedule(after: 200) { [self] in
            guard isAnnouncementDue, isRunning else { return }
            effects.beginInput()
            announceNow()
        }
    }

    // MARK: Timers and the author's log

    /// Arms the wake-up for the earliest timer; a session without participants lets its timers wait.
    func arm(_ timer: SessionOutcome.Timer?) {
        if let timer, timer != armedTimer { timerDue = effects.uptime + max(0, timer.due - effects.now) }
        armedTimer = timer
        if timer != nil { awaitTimer() }
    }

    /// One wake waits at a time, unless an earlier timer comes.
    private func awaitTimer() {
        guard timerWake.map({ timerDue < $0 }) ?? true else { return }
        let wake = timerDue
        timerWake = wake
        // By its key: the wake may be days away, and must not keep a session that has ended.
        effects.schedule(after: Int(clamping: max(0, wake - effects.uptime))) { [core = group.core, key] in
            core.session(key)?.timerWoke(wake)
        }
    }

    private func timerWoke(_ wake: Int64) {
        guard timerWake == wake else { return }
        timerWake = nil
        guard let timer = armedTimer, isRunning, hasParticipants else { return }
        if timerDue <= effects.uptime { fire(timer) } else { awaitTimer() }
    }

    /// Fires what fell due while nobody was here; called when somebody has joined.
    func fireOverdueTimer() {
        if places.count(where: { $0.state != .joining }) == 1 { attendedSince = effects.now }
        guard let armedTimer, armedTimer.due <= effects.now else { return }
        fire(armedTimer)
    }

    private func fire(_ timer: SessionOutcome.Timer) {
        armedTimer = nil
        let late = timer.due < attendedSince
        submit(.input(.timer(timer.id, late: late)), .timer(timer.id, late: late))
    }

    func report(_ outcome: SessionOutcome, message: @autoclosure () -> String?) {
        if let report = outcome.report {
            group.core.counters.scriptErrors += 1
            if case .taken = logLines.take(at: effects.uptime) { effects.events.append(.report(group.code, id, report, message: message())) }
        }
        for line in outcome.logs {
            guard case .taken = logLines.take(at: effects.uptime) else { return }
            effects.events.append(.log(group.code, id, activity: activity.name, line))
        }
    }

    func nextParticipantID() -> ParticipantID {
        defer { nextParticipant += 1 }
        return ParticipantID(number: nextParticipant)
    }

    /// Gives back an id that a refused join had, unless a later one has the next.
    func release(_ id: ParticipantID) {
        if nextParticipant == id.number + 1 { nextParticipant = id.number }
    }
}
