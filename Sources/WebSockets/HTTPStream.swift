internal import Glibc

/// Where one request is answered, now or later. Service thread only.
package final class HTTPExchange {
    private weak var stream: HTTPStream?
    private let method: String

    init(stream: HTTPStream, method: String) {
        self.stream = stream
        self.method = method
    }

    /// False once it has been answered, or the client has gone.
    package var isOpen: Bool { stream?.exchange === self }

    /// Answers. Only the first call counts; a body is left out by itself for HEAD.
    package func respond(_ response: HTTPResponse) {
        guard let stream, isOpen else { return response.discard() }
        stream.answer(response, isHead: method == "HEAD")
    }
}

extension HTTPResponse {
    /// Closes the file of a response that nobody will get.
    func discard() {
        if case .file(let descriptor, _, _) = body { close(descriptor) }
    }
}

/// HTTP/1.1 on one socket: one request at a time, each with a deadline, the next ones of a pipeline waiting in a bounded buffer.
final class HTTPStream: SocketProtocol {
    private unowned let server: Server
    private unowned let socket: Socket
    private var reader: HTTPHeadReader
    private var step = Step.head
    /// The step must have come to its end by then.
    private var deadline: UInt64
    /// What came while a request was being answered.
    private var waiting: [UInt8] = []
    private let mostWaiting = 65_536
    private var keepsAlive = true
    private let pieceBytes = 131_072
    private var isConsuming = false

    private enum Step {
        /// Between requests, or within the head of one.
        case head
        case body(HTTPRequest, left: Int)
        case answering(HTTPExchange)
        case sending(FilePart)
        /// The response is written; the next request waits until it has left, so that a deep pipeline fills no memory.
        case leaving
        case finished
    }

    /// What is still to be sent of a file.
    private struct FilePart {
        var descriptor: Int32
        var offset: Int
        var left: Int
    }

    init(server: Server, socket: Socket) {
        self.server = server
        self.socket = socket
        reader = HTTPHeadReader(mostBytes: server.configuration.headerBytes)
        deadline = server.now + server.milliseconds(server.configuration.headerSeconds)
    }

    var exchange: HTTPExchange? {
        if case .answering(let exchange) = step { return exchange }
        return nil
    }

    // MARK: Input

    func received(_ bytes: UnsafeMutableRawBufferPointer) {
        if isReadyForInput, waiting.isEmpty {
            let taken = consume(UnsafeRawBufferPointer(bytes))
            guard taken < bytes.count, socket.isUsable else { return }
            if socket.meaning === self {
                waiting.append(contentsOf: bytes[taken...])
            } else {
                socket.meaning?.received(UnsafeMutableRawBufferPointer(rebasing: bytes[taken...]))
            }
        } else {
            waiting.append(contentsOf: bytes)
        }
        if waiting.count > mostWaiting { socket.setReading(false) }
    }

    private var isReadyForInput: Bool {
        switch step {
        case .head, .body: true
        case .answering, .sending, .leaving, .finished: false
        }
    }

    /// Goes on with what waited, once a response is done.
    private func resume() {
        guard !isConsuming, isReadyForInput, socket.isUsable else { return }
        var held = waiting
        waiting = []
        socket.setReading(true)
        guard !held.isEmpty else { return }
        held.withUnsafeMutableBytes { received($0) }
    }

    /// Takes requests from the input until it is used up or one must be waited for. Returns what it took.
    private func consume(_ input: UnsafeRawBufferPointer) -> Int {
        isConsuming = true
        defer { isConsuming = false }
        var taken = 0
        while taken < input.count, isReadyForInput, socket.isUsable, socket.meaning === self {
            let rest = UnsafeRawBufferPointer(rebasing: input[taken...])
            do throws(HTTPFault) {
                switch step {
                case .head: taken += try takeHead(rest)
                case .body(let request, let left): taken += takeBody(rest, request, left: left)
                case .answering, .sending, .leaving, .finished: break
                }
            } catch {
                fail(error)
                return input.count
            }
        }
        return taken
    }

    private func takeHead(_ input: UnsafeRawBufferPointer) throws(HTTPFault) -> Int {
        if !reader.isStarted { deadline = min(deadline, server.now + server.milliseconds(server.configuration.headerSeconds)) }
        let taken = try reader.take(input)
        guard reader.isComplete else { return taken }
        let head = try reader.finish(from: socket.remoteAddress)
        keepsAlive = head.request.allowsKeepAlive && !server.isStopping
        if socket.isSurplus {
            answer(server.surplusResponse(socket.remoteAddress), isHead: head.request.method == "HEAD")
            return taken
        }
        if Handshake.isFor(server.configuration, head.request) {
            try upgrade(head)
            return taken
        }
        guard head.contentLength <= server.configuration.bodyBytes else { throw HTTPFault(status: 413, reason: "the body is too large") }
        if head.contentLength == 0 {
            handOver(head.request)
            return taken
        }
        if head.expectsContinue { socket.write(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)) }
        var request = head.request
        request.body.reserveCapacity(min(head.contentLength, pieceBytes))
        step = .body(request, left: head.contentLength)
        deadline = server.now + server.milliseconds(server.configuration.bodySeconds)
        return taken
    }

    private func takeBody(_ input: UnsafeRawBufferPointer, _ request: HTTPRequest, left: Int) -> Int {
        let taken = min(left, input.count)
        var request = request
        // The step must not keep a second reference to the body, or every piece would copy it.
        step = .finished
        request.body.append(contentsOf: input.prefix(taken))
        if taken == left {
            handOver(request)
        } else {
            step = .body(request, left: left - taken)
        }
        return taken
    }

    private func handOver(_ request: HTTPRequest) {
        let exchange = HTTPExchange(stream: self, method: request.method)
        step = .answering(exchange)
        deadline = server.now + server.milliseconds(server.configuration.answerSeconds)
        server.delegate?.server(server, request: request, exchange: exchange)
    }

    private func upgrade(_ head: HTTPHeadReader.Head) throws(HTTPFault) {
        let handshake = Handshake(head.request, configuration: server.configuration)
        if let refusal = server.delegate?.server(server, upgrade: head.request) {
            keepsAlive = false
            answer(refusal, isHead: false)
            return
        }
        switch handshake {
        case .refused(let response):
            keepsAlive = false
            answer(response, isHead: head.request.method == "HEAD")
        case .accepted(let response):
            guard head.contentLength == 0 else { throw .bad("an upgrade has no body") }
            guard !server.isStopping else { throw HTTPFault(status: 503, reason: "the host is stopping") }
            socket.write(response)
            step = .finished
            server.open(Connection(server: server, socket: socket, request: head.request), on: socket)
        }
    }

    // MARK: Output

    func answer(_ response: HTTPResponse, isHead: Bool) {
        let closing = !keepsAlive || socket.isSurplus || server.isStopping
        keepsAlive = !closing
        let head = response.head(date: server.date, common: server.configuration.responseHeaders, closing: closing)
        deadline = .max
        switch response.body {
        case .bytes(let bytes) where !isHead && !response.isBodyless:
            head.withUnsafeBytes { head in bytes.withUnsafeBytes { socket.write(head, $0) } }
            endOfResponse()
        case .file(let descriptor, let offset, let length) where !isHead && !response.isBodyless:
            socket.write(head)
            step = .sending(FilePart(descriptor: descriptor, offset: offset, left: length))
            sendPiece()
        case .empty, .bytes, .file:
            response.discard()
            socket.write(head)
            endOfResponse()
        }
    }

    private func endOfResponse() {
        guard keepsAlive else {
            step = .finished
            socket.finish()
            return
        }
        guard !socket.isPending else {
            step = .leaving
            return
        }
        step = .head
        deadline = server.now + server.milliseconds(server.configuration.idleSeconds)
        resume()
    }

    /// Sends the next piece of a file if the last one has left.
    private func sendPiece() {
        guard case .sending(var part) = step, !socket.isPending else { return }
        if part.left > 0 {
            let wanted = min(part.left, pieceBytes)
            let read = withUnsafeTemporaryAllocation(byteCount: wanted, alignment: 16) { buffer in
                let read = pread(part.descriptor, buffer.baseAddress, wanted, off_t(part.offset))
                if read > 0 { socket.write(UnsafeRawBufferPointer(rebasing: buffer[..<read])) }
                return read
            }
            guard read > 0 else {
                // Shorter than announced: only cutting the connection tells the client.
                server.configuration.report("a file ended early or could not be read while it was being sent; the connection was cut")
                close(part.descriptor)
                step = .finished
                socket.doom()
                return
            }
            part.offset += read
            part.left -= read
            step = .sending(part)
        }
        if part.left > 0 {
            // The next piece in the next turn of the loop, so that others get theirs in between.
            socket.askForDrained()
        } else {
            close(part.descriptor)
            endOfResponse()
        }
    }

    func drained() {
        switch step {
        case .sending: sendPiece()
        case .leaving: endOfResponse()
        case .head, .body, .answering, .finished: break
        }
    }

    /// Answers a broken request and ends the connection: where the next one would begin is not known.
    private func fail(_ fault: HTTPFault) {
        keepsAlive = false
        answer(.text(fault.status, fault.reason), isHead: false)
    }

    // MARK: Time and end

    func tick(now: UInt64) {
        switch step {
        case .head:
            guard now > deadline else { return }
            if reader.isStarted {
                fail(HTTPFault(status: 408, reason: "the request took too long"))
            } else {
                socket.finish()
            }
        case .body:
            if now > deadline { fail(HTTPFault(status: 408, reason: "the request took too long")) }
        case .answering:
            if now > deadline {
                keepsAlive = false
                answer(.text(503, "the host did not answer in time"), isHead: false)
            }
        case .sending, .leaving:
            if now > socket.lastSent + server.milliseconds(server.configuration.silentSeconds) { socket.doom() }
        case .finished:
            break
        }
    }

    func shutDown() {
        keepsAlive = false
        if case .head = step { socket.finish() }
    }

    func closed() {
        if case .sending(let part) = step { close(part.descriptor) }
        step = .finished
        waiting = []
    }
}
