package import ActivityModel
package import SessionCore
package import SessionHost

/// A host without sockets: simulated connections on a manual loop, with a relay for an engine unless a test brings another.
package final class TestWorld {
    package let loop = ManualLoop()
    package let log = MemoryEventLog()
    package private(set) var host: Host!
    /// The relay, when the world was made without another engine.
    package private(set) var relay: RelayEngine!
    package private(set) var events: [HostEvent] = []

    /// An activity `relay` with durable `say`, targeted `whisper`, `latest` `point`, `transient` `wave`, moderators' `rule`,
    /// initiators' `lead` and the script's own `result`.
    package static let activity = ActivityDescription(
        name: "relay", identifier: "org.activityhost.test.relay", version: 1, metadata: Array(#"{"title":"Relay"}"#.utf8), title: "Relay",
        messages: [
            "say": MessageType(delivery: .durable, right: .participant, targeted: false),
            "whisper": MessageType(delivery: .durable, right: .participant, targeted: true),
            "point": MessageType(delivery: .latest, right: .participant, targeted: false),
            "wave": MessageType(delivery: .transient, right: .participant, targeted: false),
            "rule": MessageType(delivery: .durable, right: .moderator, targeted: false),
            "lead": MessageType(delivery: .durable, right: .initiator, targeted: false),
            "result": MessageType(delivery: .durable, right: .script, targeted: false),
        ],
        endsWhenInitiatorLeaves: false, exports: ["text"], schemas: Array("{}".utf8), hasPage: false,
        script: ScriptSource(activity: "relay", files: [], hash: "0"))

    package init(limits: Limits = Limits(), open: Bool = false, activities: [ActivityDescription] = [TestWorld.activity], seed: UInt64 = 1) {
        let settings = CoreSettings(limits: limits, open: open, hostVersion: "activityhost/test")
        host = Host(
            configuration: HostConfiguration(core: settings), activities: activities, loop: loop, log: log, clock: loop,
            random: SeededRandom(seed: seed),
            makeEngine: { deliver in
                let relay = RelayEngine(deliver: deliver)
                relay.deliveries = ["point": .latest, "wave": .transient]
                self.relay = relay
                return relay
            },
            observe: { [weak self] in self?.events.append($0) })
    }

    fileprivate var peers: [Peer] = []

    deinit {
        // A host is one web of references that its process takes with it; many of them in one process must be taken apart.
        relay?.isHeld = false
        for peer in peers where peer.transport != nil { host.closed(peer) }
        host.endGroups()
        loop.run()
    }

    /// A group with a running session of the first activity; its host's seat is in the answer.
    package func makeGroup(activity: String? = "relay") -> HostCore.CreatedGroup {
        var created: HostCore.CreatedGroup?
        host.createGroup(activity: activity, parameters: Array("{}".utf8)) { created = try? $0.get() }
        loop.run()
        return created!
    }

    /// A new connection that has said nothing yet.
    package func connect(address: String = "192.0.2.1") -> TestClient { TestClient(world: self, address: address) }

    /// A connection that has said hello.
    package func member(_ name: String, of group: HostCore.CreatedGroup, seat: String? = nil, client: String? = nil) -> TestClient {
        let connection = connect()
        connection.hello(group: group.code.description, name: name, seat: seat, client: client ?? name)
        return connection
    }

    /// A member that has joined session s1, its hello and join envelopes taken.
    package func participant(_ name: String, of group: HostCore.CreatedGroup, seat: String? = nil) -> TestClient {
        let connection = member(name, of: group, seat: seat)
        connection.send(#"[{"type":"join","ref":1,"session":"s1"}]"#)
        connection.participant = connection.take("joined")?["participant"]?.string
        settle()
        return connection
    }

    /// Lets announcements and gathering windows pass.
    package func settle() { loop.advance(milliseconds: 300) }
}

/// One simulated connection: what it was sent, as JSON, in order.
package final class TestClient: PeerTransport {
    package private(set) var closeCode: CloseCode?
    package private(set) var isReading = true
    /// Envelopes received and not taken yet.
    package private(set) var inbox: [JSONValue] = []
    /// Frames received, as text.
    package private(set) var frames: [String] = []
    package private(set) var seat: String?
    package var participant: String?
    /// False: the connection reads nothing, and what is sent stays with the host.
    package var isReady = true {
        didSet {
            guard isReady, !oldValue else { return }
            world.host.drained(peer)
            world.loop.run()
        }
    }

    private unowned let world: TestWorld
    private var peer: Peer!

    init(world: TestWorld, address: String) {
        self.world = world
        peer = world.host.opened(self, address: address)
        world.peers.append(peer)
    }

    package func send(_ frame: [UInt8]) {
        frames.append(String(decoding: frame, as: UTF8.self))
        inbox += (try? JSONValue.parse(frame))?.array ?? []
    }

    package func close(_ code: CloseCode, reason: String) { closeCode = code }
    package func pauseReading() { isReading = false }
    package func resumeReading() { isReading = true }

    package func send(_ frame: String) {
        var frame = frame
        frame.withUTF8 { text in world.host.received(peer, frame: UnsafeRawBufferPointer(text)) }
        world.loop.run()
        // Whoever waits for an answer waits longer than the gathering window.
        world.loop.advance(milliseconds: 9)
    }

    package func hello(group: String, name: String, seat: String?, client: String) {
        let token = seat.map { #""\#($0)""# } ?? "null"
        send(#"[{"type":"hello","protocol":1,"group":"\#(group)","name":"\#(name)","token":\#(token),"client":"\#(client)"}]"#)
        self.seat = inbox.last { $0["type"]?.string == "welcome" }?["token"]?.string
    }

    package func say(_ ref: Int, _ body: String, name: String = "say") {
        send(#"[{"type":"send","ref":\#(ref),"session":"s1","name":"\#(name)","body":\#(body)}]"#)
    }

    /// The connection is gone, without a goodbye.
    package func drop() {
        world.host.closed(peer)
        world.loop.run()
    }

    /// The first envelope of this type, taken out of the inbox with all before it.
    package func take(_ type: String) -> JSONValue? {
        guard let index = inbox.firstIndex(where: { $0["type"]?.string == type }) else { return nil }
        defer { inbox.removeFirst(index + 1) }
        return inbox[index]
    }

    /// All envelopes in the inbox, which is emptied.
    package func takeEverything() -> [JSONValue] {
        defer { inbox = [] }
        return inbox
    }

    /// All envelopes of this type in the inbox, which is emptied.
    package func takeAll(_ type: String) -> [JSONValue] {
        defer { inbox = [] }
        return inbox.filter { $0["type"]?.string == type }
    }
}
