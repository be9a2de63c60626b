package import ActivityModel
package import SessionCore

/// Settings of a host.
package struct HostConfiguration: Sendable {
    package var core: CoreSettings
    /// How long a connection that is being written to gathers what comes, in ms.
    package var gatherMilliseconds: Int64

    package init(core: CoreSettings = CoreSettings(), gatherMilliseconds: Int64 = 8) {
        self.core = core
        self.gatherMilliseconds = gatherMilliseconds
    }
}

/// Drives the core: hands it what connections, the script engine and the clock bring, and carries out its effects.
///
/// Everything is called on the thread of `loop`, unless it says otherwise.
package final class Host {
    package let core: HostCore
    private let gather: Int64
    private let clock: any Clock
    private let loop: any EventLoop
    private let log: any EventLog
    private var engine: (any ScriptEngine)!
    private let observe: (HostEvent) -> Void
    private let gate = OutcomeGate(maximumBytes: Host.outcomeBytes)

    private var nextPeer: UInt64 = 1
    private var connections = 0
    private var wakes = WakeQueue()
    private var armedWake: Int64?
    /// Peers whose gathering window is open.
    private var gathering: [Peer] = []
    private var isGatherArmed = false
    /// Whether the turn's end is arranged for, or under way.
    private var isTurnOpen = false
    private var isStopping = false

    /// Frames hold about this many bytes at most, so that a big backlog does not become one huge message.
    private static let frameSize = 256 << 10
    /// What the engine may be ahead of the host.
    private static let outcomeBytes = 64 << 20
    /// A backlog of this size does not wait for the window.
    private static let gatherBytes = 64 << 10

    package init(
        configuration: HostConfiguration, activities: [ActivityDescription], loop: any EventLoop, log: any EventLog,
        clock: any Clock = SystemClock(), random: any RandomNumberGenerator = SystemRandomNumberGenerator(),
        makeEngine: (@escaping @Sendable ([SessionOutcome]) -> Void) -> any ScriptEngine, observe: @escaping (HostEvent) -> Void
    ) {
        core = HostCore(settings: configuration.core, activities: activities, random: random)
        gather = configuration.gatherMilliseconds
        self.clock = clock
        self.loop = loop
        self.log = log
        self.observe = observe
        let confined = Confined(self)
        engine = makeEngine { [gate] outcomes in
            let size = outcomes.reduce(0) { $0 + $1.size }
            gate.enter(size)
            loop.post {
                confined.host?.turn { $0.apply(outcomes) }
                gate.leave(size)
            }
        }
    }

    deinit { gate.open() }

    /// Carries a host through closures that run on its own thread only.
    private struct Confined: @unchecked Sendable {
        weak var host: Host?
        init(_ host: Host) { self.host = host }
    }

    // MARK: Connections

    /// A connection was accepted; the peer stands for it from now on.
    package func opened(_ transport: any PeerTransport, address: String) -> Peer {
        let peer = Peer(id: nextPeer, address: address, limits: core.settings.limits)
        nextPeer += 1
        connections += 1
        peer.transport = transport
        turn { $0.opened(peer) }
        return peer
    }

    /// One whole text frame came, valid UTF-8.
    package func received(_ peer: Peer, frame: UnsafeRawBufferPointer) {
        turn { $0.received(peer, frame: frame) }
    }

    /// What was written to a connection has left.
    package func drained(_ peer: Peer) {
        turn { $0.effects.touch(peer) }
    }

    package func closed(_ peer: Peer) {
        connections -= 1
        peer.transport = nil
        turn { $0.closed(peer) }
    }

    // MARK: Operators

    package typealias CreatedGroup = HostCore.CreatedGroup

    package func createGroup(
        activity: String?, parameters: [UInt8], completion: @escaping (Result<CreatedGroup, Rejection>) -> Void
    ) {
        turn { $0.createGroup(activity: activity, parameters: parameters, completion: completion) }
    }

    package func preview(_ code: String, address: String) -> Result<GroupPreview, HostCore.LookupError> {
        turn { core in core.find(code, address: address).map { $0.preview } }
    }

    package func export(
        code: String, session: String, kind: String, seat: String?, isOperator: Bool, address: String,
        completion: @escaping (Result<[UInt8], ExportError>) -> Void
    ) {
        turn {
            $0.export(
                code: code, session: session, kind: kind, seat: seat, isOperator: isOperator, address: address, completion: completion)
        }
    }

    /// What can be started from now on; running sessions keep their version.
    package func setActivities(_ activities: [ActivityDescription]) { core.setActivities(activities) }

    /// How much is to happen later; what waits must not grow with what has been.
    package var waitingWakes: Int { wakes.count }

    package var statistics: HostStatistics {
        HostStatistics(
            groups: core.groupCount, members: core.memberCount, sessions: core.sessionCount, connections: connections, counters: core.counters)
    }

    /// Ends every group and session, for a host that is taken down for good.
    package func endGroups() { turn { $0.endGroups() } }

    /// Closes everybody with 1012 and ends the engine; `completion` runs when nothing is left to write.
    package func shutDown(completion: @escaping () -> Void) {
        guard !isStopping else { return }
        isStopping = true
        settle()
        core.forEachPeer { peer in
            flush(peer)
            peer.transport?.close(.restart, reason: "the host restarts")
        }
        gate.open()
        engine.shutDown()
        completion()
    }

    // MARK: Turns

    /// A part of a turn: tell the time and let the core work. What it wants is carried out at the turn's end, for all parts together.
    @discardableResult
    private func turn<Result>(_ work: (HostCore) -> Result) -> Result {
        core.effects.now = clock.now
        core.effects.uptime = clock.uptime
        let result = work(core)
        if !isTurnOpen {
            isTurnOpen = true
            loop.atEndOfTurn { [weak self] in self?.settle() }
        }
        return result
    }

    /// Ends a turn: carries out its effects. The log comes first: nothing is sent that it does not hold.
    private func settle() {
        isTurnOpen = true
        // Writing and closing make more to do: snapshots for slow readers, presence, grace times.
        repeat { carryOut(core.effects) } while !core.effects.isEmpty
        isTurnOpen = false
        armWake()
    }

    private func carryOut(_ effects: Effects) {
        if !effects.log.isEmpty {
            do {
                try log.append(effects.log)
            } catch {
                observe(.logFailed(String(describing: error)))
            }
            effects.log.removeAll(keepingCapacity: true)
        }
        if !effects.engine.isEmpty {
            let requests = effects.engine
            effects.engine.removeAll(keepingCapacity: true)
            if !isStopping { engine.submit(requests) }
        }
        for wake in effects.wakes { wakes.insert(wake) }
        effects.wakes.removeAll(keepingCapacity: true)
        for peer in effects.takeWritable() { write(peer) }
        for peer in effects.reading {
            guard let transport = peer.transport else { continue }
            if peer.isReadingPaused { transport.pauseReading() } else { transport.resumeReading() }
        }
        effects.reading.removeAll(keepingCapacity: true)
        let closing = effects.closing
        effects.closing.removeAll(keepingCapacity: true)
        for item in closing {
            flush(item.peer)
            item.peer.transport?.close(item.code, reason: item.reason)
            core.closed(item.peer)
        }
        let events = effects.events
        effects.events.removeAll(keepingCapacity: true)
        for event in events { observe(event) }
    }

    // MARK: Writing

    /// An idle connection is written to at once; one that was written to within the window gathers.
    private func write(_ peer: Peer) {
        let isIdle = peer.lastWrite == .min || core.effects.uptime - peer.lastWrite >= gather
        if isIdle || peer.isUrgent || peer.outbox.bytes >= Self.gatherBytes { return flush(peer) }
        guard !peer.isGathering else { return }
        peer.isGathering = true
        gathering.append(peer)
        guard !isGatherArmed else { return }
        isGatherArmed = true
        loop.schedule(afterMilliseconds: Int(gather - (core.effects.uptime - peer.lastWrite))) { [weak self] in
            guard let self else { return }
            isGatherArmed = false
            turn { _ in
                let due = gathering
                gathering.removeAll(keepingCapacity: true)
                for peer in due {
                    peer.isGathering = false
                    core.effects.touch(peer)
                }
            }
        }
    }

    /// Writes what waits as far as the transport takes it; what does not fit stays, within its bound.
    private func flush(_ peer: Peer) {
        guard let transport = peer.transport, peer.isOpen else { return }
        peer.isUrgent = false
        while transport.isReady, let frame = peer.takeFrame(size: Self.frameSize) {
            peer.lastWrite = core.effects.uptime
            transport.send(frame)
        }
        if peer.outbox.bytes > core.settings.limits[.backlogBytes] { core.relieve(peer) }
        if peer.isReadingPaused || peer.outbox.bytes > core.settings.limits[.backlogBytes] { core.reviewReading(peer) }
    }

    // MARK: Time

    private func armWake() {
        guard let next = wakes.nextUptime, armedWake.map({ next < $0 }) ?? true else { return }
        armedWake = next
        loop.schedule(afterMilliseconds: Int(clamping: max(0, next - core.effects.uptime))) { [weak self] in
            guard let self, armedWake == next else { return }
            armedWake = nil
            turn { core in
                while let wake = wakes.popDue(at: core.effects.uptime) {
                    core.beginInput()
                    wake.action()
                }
            }
        }
    }
}

/// What a host counts, for its metrics.
package struct HostStatistics: Sendable {
    package var groups: Int
    package var members: Int
    package var sessions: Int
    package var connections: Int
    package var counters: HostCore.Counters
}
