/// Cuts the bytes of a client into messages and control frames, and refuses what RFC 6455 forbids.
///
/// A message that came in one piece is handed on where it lies; only what is split over reads or fragments is gathered.
struct FrameReader {
    enum Event {
        case message(UnsafeRawBufferPointer)
        case ping(UnsafeRawBufferPointer)
        case pong
        /// The code that the peer gave, if any.
        case close(UInt16?)
    }

    /// What is to happen after an event.
    enum Next {
        case read
        /// Keep what else is there until `resume`.
        case pause
        /// Nothing more is wanted from this peer.
        case stop
    }

    private let mostBytes: Int
    /// Fragments without content that one message may have: they cost nothing to send, and would never end.
    private let mostEmptyFragments = 16
    /// The beginning of a frame, or everything that came during a pause.
    private var kept: [UInt8] = []
    private var message: [UInt8] = []
    private var isFragmented = false
    private var emptyFragments = 0
    private(set) var isPaused = false

    init(mostBytes: Int) {
        self.mostBytes = mostBytes
    }

    /// Goes on with what was kept during a pause.
    mutating func resume(_ handle: (Event) -> Next) throws(FrameFault) {
        guard isPaused else { return }
        isPaused = false
        var held = kept
        kept = []
        try read(&held, handle)
    }

    /// Reads what is there; the bytes are unmasked in place.
    mutating func read(_ input: UnsafeMutableRawBufferPointer, _ handle: (Event) -> Next) throws(FrameFault) {
        var rest = input
        while !isPaused, !rest.isEmpty {
            if kept.isEmpty {
                guard let header = try check(FrameHeader.read(UnsafeRawBufferPointer(rest))), header.frameBytes <= rest.count else { break }
                let next = try readFrame(header, rest, handle)
                rest = UnsafeMutableRawBufferPointer(rebasing: rest[header.frameBytes...])
                if !follow(next) { return }
            } else {
                // A frame began in an earlier read: fill it up, and no further.
                let missing = max(1, try missingBytes())
                let taken = min(missing, rest.count)
                kept.append(contentsOf: rest[..<taken])
                rest = UnsafeMutableRawBufferPointer(rebasing: rest[taken...])
                guard try missingBytes() == 0 else { continue }
                var frame = kept
                kept = []
                if !follow(try readWhole(&frame, handle)) { return }
            }
        }
        kept.append(contentsOf: rest)
    }

    private mutating func follow(_ next: Next) -> Bool {
        isPaused = next == .pause
        return next != .stop
    }

    private mutating func read(_ bytes: inout [UInt8], _ handle: (Event) -> Next) throws(FrameFault) {
        var fault: FrameFault?
        bytes.withUnsafeMutableBytes { bytes in
            do throws(FrameFault) { try read(bytes, handle) } catch { fault = error }
        }
        if let fault { throw fault }
    }

    /// Reads a frame that is complete.
    private mutating func readWhole(_ frame: inout [UInt8], _ handle: (Event) -> Next) throws(FrameFault) -> Next {
        var fault: FrameFault?
        var next = Next.stop
        frame.withUnsafeMutableBytes { bytes in
            do throws(FrameFault) {
                if let header = try FrameHeader.read(UnsafeRawBufferPointer(bytes)) { next = try readFrame(header, bytes, handle) }
            } catch {
                fault = error
            }
        }
        if let fault { throw fault }
        return next
    }

    /// How many bytes the frame that is kept still needs; 1 while its length is not known yet.
    private func missingBytes() throws(FrameFault) -> Int {
        // 14 bytes are the longest header.
        let start = Array(kept.prefix(14))
        var header: FrameHeader?
        var fault: FrameFault?
        start.withUnsafeBytes { bytes in
            do throws(FrameFault) { header = try FrameHeader.read(bytes) } catch { fault = error }
        }
        if let fault { throw fault }
        guard let header = try check(header) else { return 1 }
        return header.frameBytes - kept.count
    }

    /// Looks at a header in the light of what came before it.
    private func check(_ header: FrameHeader?) throws(FrameFault) -> FrameHeader? {
        guard let header else { return nil }
        switch header.opcode {
        case .binary: throw FrameFault(code: 1003, reason: "only text is understood")
        case .text where isFragmented: throw .protocolError("a new message begins inside another")
        case .continuation where !isFragmented: throw .protocolError("a continuation without a beginning")
        case .text, .continuation:
            guard header.payloadBytes <= mostBytes - message.count else { throw FrameFault(code: 1009, reason: "the message is too large") }
        case .close where header.payloadBytes == 1: throw .protocolError("half a close code")
        case .close, .ping, .pong: break
        }
        return header
    }

    private mutating func readFrame(
        _ header: FrameHeader, _ input: UnsafeMutableRawBufferPointer, _ handle: (Event) -> Next
    ) throws(FrameFault) -> Next {
        let bytes = UnsafeMutableRawBufferPointer(rebasing: input[header.headerBytes..<header.frameBytes])
        header.unmask(bytes)
        let payload = UnsafeRawBufferPointer(bytes)
        switch header.opcode {
        case .ping: return handle(.ping(payload))
        case .pong: return handle(.pong)
        case .close: return handle(.close(try closeCode(payload)))
        case .text where header.isFinal:
            try checkText(payload)
            return handle(.message(payload))
        case .text, .continuation, .binary:
            return try gather(payload, isFinal: header.isFinal, handle)
        }
    }

    private mutating func gather(_ fragment: UnsafeRawBufferPointer, isFinal: Bool, _ handle: (Event) -> Next) throws(FrameFault) -> Next {
        if fragment.isEmpty, !isFinal {
            emptyFragments += 1
            guard emptyFragments <= mostEmptyFragments else { throw .protocolError("too many empty fragments") }
        }
        message.append(contentsOf: fragment)
        isFragmented = !isFinal
        guard isFinal else { return .read }
        emptyFragments = 0
        let whole = message
        message = []
        var isText = false
        let next = whole.withUnsafeBytes { bytes in
            isText = isUTF8(bytes)
            return isText ? handle(.message(bytes)) : .stop
        }
        guard isText else { throw .notText }
        return next
    }

    private func checkText(_ payload: UnsafeRawBufferPointer) throws(FrameFault) {
        guard isUTF8(payload) else { throw .notText }
    }

    private func closeCode(_ payload: UnsafeRawBufferPointer) throws(FrameFault) -> UInt16? {
        guard payload.count >= 2 else { return nil }
        let code = UInt16(payload[0]) << 8 | UInt16(payload[1])
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: break
        default: throw .protocolError("a close code that must not be sent")
        }
        try checkText(UnsafeRawBufferPointer(rebasing: payload[2...]))
        return code
    }
}

extension FrameFault {
    fileprivate static let notText = FrameFault(code: 1007, reason: "the text is not valid UTF-8")
}

/// The bytes are valid UTF-8: no lone surrogates, nothing overlong.
func isUTF8(_ bytes: UnsafeRawBufferPointer) -> Bool {
    bytes.withMemoryRebound(to: UInt8.self) { bytes in
        (try? UTF8Span(validating: bytes.span)) != nil
    }
}
