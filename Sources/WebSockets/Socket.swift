internal import CLibWebSockets
internal import Glibc

/// What a socket's bytes mean: HTTP first, WebSocket after an upgrade.
protocol SocketProtocol: AnyObject {
    /// Bytes came in. They may be changed in place and are good until the method returns.
    func received(_ bytes: UnsafeMutableRawBufferPointer)
    /// All that was written has left.
    func drained()
    /// Once about every second: deadlines are looked at here. Milliseconds of the loop's clock.
    func tick(now: UInt64)
    /// The server stops: end as politely as the deadline allows.
    func shutDown()
    /// The descriptor is gone.
    func closed()
}

private var nothing: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }

/// One accepted TCP connection: writes at once, keeps what the kernel did not take, and closes without losing the last words.
///
/// Bytes are written to the descriptor directly and only waited for through libwebsockets: its own queue stops
/// reading while something is unsent, and then spins on the input that it does not read.
final class Socket {
    unowned let server: Server
    let remoteAddress: RemoteAddress
    private let descriptor: Int32
    private var wsi: OpaquePointer?
    /// The present meaning of the bytes; replaced at the upgrade.
    var meaning: (any SocketProtocol)?
    /// Position in the server's list of sockets.
    var index = 0
    /// Accepted only to be told that its address has too many connections.
    var isSurplus = false

    private var unsent: [UInt8] = []
    private var unsentStart = 0
    private var isInCallback = false
    private var isReading = true
    private var ending = Ending.none
    /// When the peer last sent something, and when it last took something.
    private(set) var lastReceived: UInt64
    private(set) var lastSent: UInt64

    private enum Ending {
        case none
        /// Closes once everything has left.
        case flushing
        /// Our side is closed; what the peer still sends is thrown away until it closes too.
        case lingering(until: UInt64)
        case doomed
    }

    init(server: Server, descriptor: Int32, remoteAddress: RemoteAddress) {
        self.server = server
        self.descriptor = descriptor
        self.remoteAddress = remoteAddress
        lastReceived = server.now
        lastSent = lastReceived
    }

    /// Binds the socket to libwebsockets. False: the descriptor is closed already.
    func open(on loop: EventLoop) -> Bool {
        guard let wsi = loop.adopt(descriptor) else { return false }
        self.wsi = wsi
        lws_set_opaque_user_data(wsi, Unmanaged.passUnretained(self).toOpaque())
        return true
    }

    // MARK: Writing

    /// Something written has not left yet.
    var isPending: Bool { unsentStart < unsent.count }
    var pendingBytes: Int { unsent.count - unsentStart }

    /// False from the moment that the connection is on its way out.
    var isUsable: Bool {
        if case .none = ending { return true }
        return false
    }

    /// Writes both parts, one after the other, as far as the kernel takes them; the rest follows by itself.
    func write(_ head: UnsafeRawBufferPointer, _ body: UnsafeRawBufferPointer = nothing) {
        guard isUsable else { return }
        var sent = 0
        if !isPending {
            sent = send(head, body)
            if sent < 0 { return }
            if sent == head.count + body.count { return }
            unsent.removeAll(keepingCapacity: false)
            unsentStart = 0
        }
        if sent < head.count { unsent.append(contentsOf: head[sent...]) }
        unsent.append(contentsOf: body[max(0, sent - head.count)...])
        _ = lws_callback_on_writable(wsi)
    }

    func write(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { write($0) }
    }

    /// Bytes taken by the kernel, or -1 after an error that ends the connection.
    private func send(_ head: UnsafeRawBufferPointer, _ body: UnsafeRawBufferPointer) -> Int {
        let parts = server.ioParts
        parts[0] = iovec(iov_base: UnsafeMutableRawPointer(mutating: head.baseAddress), iov_len: head.count)
        parts[1] = iovec(iov_base: UnsafeMutableRawPointer(mutating: body.baseAddress), iov_len: body.count)
        while true {
            let sent = writev(descriptor, parts, body.isEmpty ? 1 : 2)
            if sent >= 0 {
                lastSent = server.now
                return sent
            }
            switch errno {
            case EINTR: continue
            case EAGAIN, EWOULDBLOCK: return 0
            default:
                doom()
                return -1
            }
        }
    }

    /// The descriptor can take more. False: close it.
    func handleWritable() -> Bool {
        isInCallback = true
        defer { isInCallback = false }
        if isPending {
            let sent = unsent.withUnsafeBytes { send(UnsafeRawBufferPointer(rebasing: $0[unsentStart...]), nothing) }
            if sent > 0 { unsentStart += sent }
            if isPending {
                if !isDoomed { _ = lws_callback_on_writable(wsi) }
                return !isDoomed
            }
            unsent = []
            unsentStart = 0
        }
        switch ending {
        case .none: meaning?.drained()
        case .flushing: linger()
        case .lingering, .doomed: break
        }
        return !isDoomed
    }

    /// Has `drained` called soon, though nothing is pending: for work that is done in portions.
    func askForDrained() {
        guard isUsable else { return }
        _ = lws_callback_on_writable(wsi)
    }

    // MARK: Reading

    /// Bytes are there. False: close the descriptor.
    func handleReadable(_ bytes: UnsafeMutableRawBufferPointer) -> Bool {
        isInCallback = true
        defer { isInCallback = false }
        lastReceived = server.now
        if isUsable, !bytes.isEmpty { meaning?.received(bytes) }
        return !isDoomed
    }

    /// Stops or goes on reading. The peer is slowed down by its own full buffers.
    func setReading(_ reading: Bool) {
        guard reading != isReading, wsi != nil, !isDoomed else { return }
        isReading = reading
        lws_rx_flow_control(wsi, reading ? 1 : 0)
        if reading { lastReceived = server.now }
    }

    // MARK: Ending

    private var isDoomed: Bool {
        if case .doomed = ending { return true }
        return false
    }

    /// Sends what is left, closes our side and waits a moment for the peer to close too, so that it can read our last words.
    func finish() {
        guard isUsable else { return }
        ending = .flushing
        setReading(true)
        if !isPending { linger() }
    }

    private func linger() {
        ending = .lingering(until: server.now + server.closeMilliseconds)
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Closes the descriptor as soon as no one is using it; `closed` follows.
    func doom() {
        guard !isDoomed else { return }
        ending = .doomed
        if !isInCallback { server.bury(self) }
    }

    /// Frees a doomed socket. Not from within one of its own callbacks.
    func destroy() {
        guard let wsi, !isInCallback else { return }
        // Closes before it returns: allowed, since nobody is inside this socket.
        lws_set_timeout(wsi, PENDING_TIMEOUT_CLOSE_SEND, LWS_TO_KILL_SYNC)
    }

    /// Tells the owner of the end now; the descriptor is closed with the loop.
    func abandon() {
        lws_set_opaque_user_data(wsi, nil)
        handleClosed()
    }

    func handleClosed() {
        wsi = nil
        ending = .doomed
        let meaning = meaning
        self.meaning = nil
        server.forget(self)
        meaning?.closed()
    }

    func tick(now: UInt64) {
        switch ending {
        case .none:
            meaning?.tick(now: now)
        case .flushing:
            // The end of a long answer may take its time, as long as some of it is taken.
            let patience = server.isStopping ? server.closeMilliseconds : server.milliseconds(server.configuration.silentSeconds)
            if now > lastSent + patience { doom() }
        case .lingering(let deadline):
            if now > deadline { doom() }
        case .doomed:
            server.bury(self)
        }
    }
}
