/// One WebSocket connection of a client. Service thread only.
package final class Connection {
    /// Different for every connection of a server.
    package let id: UInt64
    /// The request that opened it.
    package let request: HTTPRequest
    /// For the owner; the server doesn't look at it.
    package var context: AnyObject?

    private unowned let server: Server
    private var socket: Socket?
    private var reader: FrameReader
    private var isReaderBusy = false
    private var isPaused = false
    private var isClosing = false
    private var isGone = false
    private var nextPing: UInt64
    /// The newest ping that could not be answered at once: older ones need no answer.
    private var owedPong: [UInt8]?
    /// When closing is given up and the socket is cut.
    private var closeDeadline = UInt64.max

    init(server: Server, socket: Socket, request: HTTPRequest) {
        self.server = server
        self.socket = socket
        self.request = request
        id = server.nextConnectionID()
        reader = FrameReader(mostBytes: server.configuration.frameBytes)
        nextPing = server.now + server.milliseconds(server.configuration.pingSeconds)
    }

    package var remoteAddress: RemoteAddress { request.remoteAddress }

    /// Messages can be sent: it is neither closed nor closing.
    package var isOpen: Bool { !isClosing && !isGone }

    /// Something that was sent has not left yet. Send no more then: `drained` tells when it has.
    package var isPending: Bool { socket?.isPending ?? false }

    /// Bytes that were sent and have not left yet.
    package var pendingBytes: Int { socket?.pendingBytes ?? 0 }

    // MARK: Sending

    /// Sends one text message, at once as far as the kernel takes it. The bytes must be valid UTF-8.
    package func send(_ text: UnsafeRawBufferPointer) {
        guard isOpen else { return }
        server.assertServiceThread()
        write(.text, text)
    }

    /// Sends one text message, at once as far as the kernel takes it. The bytes must be valid UTF-8.
    package func send(_ text: [UInt8]) {
        text.withUnsafeBytes { send($0) }
    }

    /// Closes with a code and a reason of at most 123 bytes. Nothing is received any more; `closed` follows.
    package func close(code: UInt16, reason: String = "") {
        server.assertServiceThread()
        guard isOpen else { return }
        isClosing = true
        closeDeadline = server.now + server.closeMilliseconds
        // Cut at a character, not within one.
        var reason = reason
        while reason.utf8.count > 123 { reason.removeLast() }
        write(.close, [UInt8(code >> 8), UInt8(code & 0xFF)] + Array(reason.utf8))
        if isPaused { resumeReading() }
    }

    private func write(_ opcode: FrameHeader.Opcode, _ payload: UnsafeRawBufferPointer) {
        guard let socket else { return }
        let space = server.headerSpace
        let length = FrameHeader.write(opcode, payloadBytes: payload.count, to: space)
        socket.write(UnsafeRawBufferPointer(rebasing: space[..<length]), payload)
    }

    private func write(_ opcode: FrameHeader.Opcode, _ payload: [UInt8]) {
        payload.withUnsafeBytes { write(opcode, $0) }
    }

    // MARK: Receiving

    /// Takes no more from the client until `resumeReading`; it is slowed down by its own full buffers.
    package func pauseReading() {
        server.assertServiceThread()
        guard isOpen, !isPaused else { return }
        isPaused = true
        socket?.setReading(false)
    }

    package func resumeReading() {
        server.assertServiceThread()
        guard isPaused else { return }
        isPaused = false
        socket?.setReading(true)
        guard !isReaderBusy else { return }
        read { reader throws(FrameFault) in try reader.resume { self.handle($0) } }
    }

    private func read(_ step: (inout FrameReader) throws(FrameFault) -> Void) {
        guard !isReaderBusy else { return }
        isReaderBusy = true
        defer { isReaderBusy = false }
        do throws(FrameFault) {
            try step(&reader)
            // The owner may have paused and resumed within one message.
            while !isPaused, !isGone, reader.isPaused { try reader.resume { self.handle($0) } }
        } catch {
            fail(error)
        }
    }

    private func handle(_ event: FrameReader.Event) -> FrameReader.Next {
        switch event {
        case .message(let text):
            if isOpen { server.delegate?.server(server, connection: self, received: text) }
        case .ping(let payload):
            answerPing(payload)
        case .pong:
            break
        case .close(let code):
            answerClose(code)
            return .stop
        }
        if isGone { return .stop }
        return isPaused ? .pause : .read
    }

    private func answerPing(_ payload: UnsafeRawBufferPointer) {
        guard isOpen else { return }
        if isPending {
            owedPong = Array(payload)
        } else {
            write(.pong, payload)
        }
    }

    private func answerClose(_ code: UInt16?) {
        if !isClosing {
            isClosing = true
            write(.close, code.map { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } ?? [])
        }
        socket?.finish()
    }

    /// Tells a peer that broke the rules so, and listens no more.
    private func fail(_ fault: FrameFault) {
        if isOpen { close(code: fault.code, reason: fault.reason) }
        socket?.finish()
    }
}

extension Connection: SocketProtocol {
    func received(_ bytes: UnsafeMutableRawBufferPointer) {
        read { reader throws(FrameFault) in try reader.read(bytes) { self.handle($0) } }
    }

    func drained() {
        if let pong = owedPong {
            owedPong = nil
            if isOpen { write(.pong, pong) }
            if isPending { return }
        }
        if isOpen { server.delegate?.server(server, drained: self) }
    }

    func tick(now: UInt64) {
        guard let socket else { return }
        if isClosing {
            // What is still leaving keeps a closing connection alive, as long as it moves.
            if now > max(closeDeadline, socket.isPending ? socket.lastSent + server.closeMilliseconds : 0) { socket.doom() }
            return
        }
        let silence = server.milliseconds(server.configuration.silentSeconds)
        if !isPaused, now > socket.lastReceived + silence {
            server.configuration.report("connection \(id) from \(remoteAddress.text) was silent for too long and is dropped")
            socket.doom()
            return
        }
        guard now >= nextPing else { return }
        nextPing = now + server.milliseconds(server.configuration.pingSeconds)
        // While bytes are waiting to leave, a ping behind them would tell nothing.
        if !isPending { write(.ping, []) }
    }

    func shutDown() {
        close(code: 1012, reason: "the host is restarting")
    }

    func closed() {
        isGone = true
        socket = nil
        server.delegate?.server(server, closed: self)
    }
}
