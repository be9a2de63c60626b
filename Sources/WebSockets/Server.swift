internal import CLibWebSockets
internal import Glibc

/// An HTTP/1.1 and WebSocket server on one thread: the one that calls `run`.
///
/// Everything but `post` and `stop` is called on that thread, which is also where the delegate hears from it. Both go through
/// a locked mailbox, and nothing else is touched from other threads: hence the unchecked conformance.
package final class Server: @unchecked Sendable {
    package let configuration: ServerConfiguration
    /// The ports that are listened on, in the order of the configuration.
    package private(set) var boundPorts: [UInt16] = []

    let loop: EventLoop
    private(set) var delegate: (any ServerDelegate)?
    private let mailbox: Mailbox
    private var listeners: [Listener] = []
    private var serviceThread: pthread_t?
    private var sockets: [Socket] = []
    private var addresses: [String: AddressUse] = [:]
    private var doomed: [Socket] = []
    private var ticker: ScheduledWork?
    private var lastConnectionID: UInt64 = 0
    private var dateCache = (second: 0, text: "")
    private var lastShortageReport: UInt64?
    private(set) var isStopping = false
    /// Space for the parts of one write and for one frame's header, kept instead of made for each message.
    let ioParts: UnsafeMutablePointer<iovec>
    let headerSpace: UnsafeMutableRawBufferPointer
    /// Accepting rests above this descriptor, so that logs and files can still be opened.
    let highestDescriptor: Int32

    /// Binds the addresses; connections are accepted once `run` is called.
    package init(configuration: ServerConfiguration, delegate: any ServerDelegate) throws {
        self.configuration = configuration
        self.delegate = delegate
        let loop = try EventLoop()
        self.loop = loop
        mailbox = Mailbox(wake: loop.waker)
        ioParts = .allocate(capacity: 2)
        headerSpace = .allocate(byteCount: 16, alignment: 16)
        let most = loop.descriptorLimit - min(32, loop.descriptorLimit / 4)
        highestDescriptor = Int32(min(configuration.highestDescriptor ?? most, most))
        do {
            try listen()
        } catch {
            for listener in listeners { listener.close() }
            loop.destroy()
            throw error
        }
    }

    deinit {
        ioParts.deallocate()
        headerSpace.deallocate()
    }

    private func listen() throws {
        var picked: UInt16?
        for address in configuration.listen {
            var address = address
            let wantsAny = address.port == 0
            if wantsAny, let picked { address.port = picked }
            var listener = try? Listener(server: self, address: address)
            if listener == nil, wantsAny { address.port = 0 }
            if listener == nil { listener = try Listener(server: self, address: address) }
            guard let listener else { continue }
            if wantsAny { picked = picked ?? listener.port }
            listeners.append(listener)
            boundPorts.append(listener.port)
        }
    }

    // MARK: Running

    /// Serves until `stop`, on the calling thread. Once only.
    package func run() {
        precondition(serviceThread == nil, "a server runs once")
        serviceThread = pthread_self()
        ticker = loop.schedule(afterMilliseconds: tickMilliseconds, repeating: true) { [unowned self] in tick() }
        loop.run { [unowned self] in
            mailbox.drain()
            destroyDoomed()
        }
        mailbox.close()
        for socket in sockets { socket.abandon() }
        delegate = nil
        for listener in listeners { listener.close() }
        listeners = []
        loop.destroy()
    }

    /// Has work done on the service thread, in the order of the calls. Any thread.
    package func post(_ work: @escaping @Sendable () -> Void) {
        mailbox.post(work)
    }

    /// Stops accepting, closes connections with 1012 and ends `run` when they are gone, or the time for that is over. Any thread.
    package func stop() {
        post { [self] in beginStop() }
    }

    /// Has work done on the service thread once `delay` milliseconds have passed.
    @discardableResult
    package func schedule(afterMilliseconds delay: Int, _ work: @escaping () -> Void) -> ScheduledWork {
        assertServiceThread()
        return loop.schedule(afterMilliseconds: UInt64(max(0, delay)), work)
    }

    /// Has work done once, after all that this turn of the loop has brought and before the loop waits again. Service thread.
    package func atEndOfTurn(_ work: @escaping () -> Void) {
        assertServiceThread()
        loop.atEndOfTurn(work)
    }

    private func beginStop() {
        guard !isStopping else { return }
        isStopping = true
        for listener in listeners { listener.close() }
        listeners = []
        for socket in sockets where socket.isUsable { socket.meaning?.shutDown() }
        endIfEmpty()
        _ = loop.schedule(afterMilliseconds: closeMilliseconds + 500) { [unowned self] in loop.stop() }
    }

    private func endIfEmpty() {
        if isStopping, sockets.isEmpty { loop.stop() }
    }

    private var tickMilliseconds: UInt64 {
        // Short times, as tests set them, want a finer look.
        let shortest = min(
            configuration.headerSeconds, configuration.bodySeconds, configuration.idleSeconds, configuration.answerSeconds,
            configuration.pingSeconds, configuration.silentSeconds, configuration.closeSeconds)
        return max(20, min(1000, milliseconds(shortest) / 4))
    }

    private func tick() {
        let now = now
        for socket in sockets { socket.tick(now: now) }
        destroyDoomed()
    }

    func assertServiceThread() {
        assert(serviceThread == nil || pthread_equal(serviceThread ?? 0, pthread_self()) != 0, "not on the service thread")
    }

    // MARK: Time

    /// Milliseconds of a clock that never goes back, the same throughout a turn of the loop.
    package var now: UInt64 { loop.milliseconds }
    var closeMilliseconds: UInt64 { milliseconds(configuration.closeSeconds) }

    func milliseconds(_ seconds: Double) -> UInt64 { UInt64(seconds * 1000) }

    /// The Date of responses.
    var date: String {
        let second = time(nil)
        if dateCache.second != second { dateCache = (second, httpDate(second)) }
        return dateCache.text
    }

    // MARK: Sockets

    /// Open sockets, HTTP and WebSocket.
    package var socketCount: Int { sockets.count }

    /// Accepting rests because files can't be opened any more.
    package var isAcceptingPaused: Bool { listeners.contains { $0.isResting } }

    /// Takes a connection that was just accepted.
    func welcome(_ descriptor: Int32, from address: RemoteAddress) {
        var use = addresses[address.text] ?? AddressUse()
        let most = configuration.isUncapped(address.text) ? Int.max : configuration.connectionsPerAddress
        // As many again as are allowed are let in to be told why; beyond that an answer costs too much.
        let isSurplus = use.regular >= most
        guard !isSurplus || use.surplus < most else {
            close(descriptor)
            return
        }
        var on: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        let socket = Socket(server: self, descriptor: descriptor, remoteAddress: address)
        socket.meaning = HTTPStream(server: self, socket: socket)
        socket.isSurplus = isSurplus
        guard socket.open(on: loop) else { return }
        socket.index = sockets.count
        sockets.append(socket)
        use.change(isSurplus: isSurplus, by: 1)
        addresses[address.text] = use
    }

    func surplusResponse(_ address: RemoteAddress) -> HTTPResponse {
        let allowed = configuration.connectionsPerAddress
        let found = allowed + (addresses[address.text]?.surplus ?? 0)
        let text =
            #"{"code":"limit_reached","message":"too many connections from one address","#
            + #""limit":"connections","allowed":\#(allowed),"found":\#(found)}"# + "\n"
        return HTTPResponse(
            status: 429,
            headers: [.init(name: "content-type", value: "application/json"), .init(name: "retry-after", value: "10")],
            body: .bytes(Array(text.utf8)))
    }

    func open(_ connection: Connection, on socket: Socket) {
        socket.meaning = connection
        delegate?.server(self, opened: connection)
    }

    func nextConnectionID() -> UInt64 {
        lastConnectionID += 1
        return lastConnectionID
    }

    /// Has a doomed socket destroyed after what is running now.
    func bury(_ socket: Socket) {
        doomed.append(socket)
        if doomed.count == 1 { loop.wake() }
    }

    private func destroyDoomed() {
        let batch = doomed
        doomed = []
        for socket in batch { socket.destroy() }
    }

    func forget(_ socket: Socket) {
        guard socket.index < sockets.count, sockets[socket.index] === socket else { return }
        let last = sockets.removeLast()
        if last !== socket {
            sockets[socket.index] = last
            last.index = socket.index
        }
        if var use = addresses[socket.remoteAddress.text] {
            use.change(isSurplus: socket.isSurplus, by: -1)
            addresses[socket.remoteAddress.text] = use.isNone ? nil : use
        }
        endIfEmpty()
    }

    func reportDescriptorShortage() {
        if let last = lastShortageReport, now < last + 10_000 { return }
        lastShortageReport = now
        configuration.report("the limit of open files is nearly reached (\(sockets.count) connections): accepting pauses; raise it with ulimit -n")
    }
}

/// How many sockets one remote address has open: those it may have, and those that are only told that it has too many.
private struct AddressUse {
    private(set) var regular = 0
    private(set) var surplus = 0

    var isNone: Bool { regular == 0 && surplus == 0 }

    mutating func change(isSurplus: Bool, by difference: Int) {
        if isSurplus { surplus += difference } else { regular += difference }
    }
}
