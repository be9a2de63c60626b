/// Why a connection is closed: a code of RFC 6455 and a sentence for whoever debugs the client.
struct FrameFault: Error, Equatable {
    let code: UInt16
    let reason: String

    static func protocolError(_ reason: String) -> FrameFault { FrameFault(code: 1002, reason: reason) }
}

/// The header of one frame from a client.
struct FrameHeader: Equatable {
    enum Opcode: UInt8 {
        case continuation = 0
        case text = 1
        case binary = 2
        case close = 8
        case ping = 9
        case pong = 10

        var isControl: Bool { rawValue >= 8 }
    }

    var isFinal: Bool
    var opcode: Opcode
    var payloadBytes: Int
    var mask: UInt32
    /// Length of the header itself.
    var headerBytes: Int

    var frameBytes: Int { headerBytes + payloadBytes }

    /// Reads a header from the start of `bytes`; nil: more bytes are needed. Refuses as early as a byte is wrong.
    static func read(_ bytes: UnsafeRawBufferPointer) throws(FrameFault) -> FrameHeader? {
        guard bytes.count >= 1 else { return nil }
        guard bytes[0] & 0x70 == 0 else { throw .protocolError("reserved bits are set") }
        guard let opcode = Opcode(rawValue: bytes[0] & 0x0F) else { throw .protocolError("unknown opcode") }
        let isFinal = bytes[0] & 0x80 != 0
        guard isFinal || !opcode.isControl else { throw .protocolError("a control frame is fragmented") }
        guard bytes.count >= 2 else { return nil }
        guard bytes[1] & 0x80 != 0 else { throw .protocolError("a frame from a client is not masked") }
        let short = Int(bytes[1] & 0x7F)
        guard short <= 125 || !opcode.isControl else { throw .protocolError("a control frame is too long") }
        let extended = short == 126 ? 2 : short == 127 ? 8 : 0
        guard bytes.count >= 2 + extended else { return nil }
        var length: UInt64 = extended == 0 ? UInt64(short) : 0
        for index in 2..<(2 + extended) { length = length << 8 | UInt64(bytes[index]) }
        guard length >> 63 == 0 else { throw .protocolError("a length has its highest bit set") }
        guard extended == 0 || length > (extended == 2 ? 125 : 65_535) else { throw .protocolError("a length is not written the short way") }
        // The mask is waited for last: what can be refused without it has been, by the reader too.
        let headerBytes = 2 + extended + 4
        let mask: UInt32? = bytes.count >= headerBytes ? bytes.loadUnaligned(fromByteOffset: 2 + extended, as: UInt32.self) : nil
        return FrameHeader(isFinal: isFinal, opcode: opcode, payloadBytes: Int(length), mask: mask ?? 0, headerBytes: headerBytes)
    }

    /// Takes the mask off a payload, in place.
    func unmask(_ payload: UnsafeMutableRawBufferPointer) {
        guard mask != 0, let start = payload.baseAddress else { return }
        let wide = UInt64(mask) << 32 | UInt64(mask)
        var offset = 0
        while offset + 8 <= payload.count {
            (start + offset).storeBytes(of: (start + offset).loadUnaligned(as: UInt64.self) ^ wide, as: UInt64.self)
            offset += 8
        }
        while offset < payload.count {
            payload[offset] ^= UInt8(truncatingIfNeeded: mask >> (UInt32(offset & 3) * 8))
            offset += 1
        }
    }

    /// The header of a frame that a server sends: final and without a mask. Returns its length; the space holds 10 bytes.
    static func write(_ opcode: Opcode, payloadBytes: Int, to space: UnsafeMutableRawBufferPointer) -> Int {
        space[0] = 0x80 | opcode.rawValue
        if payloadBytes < 126 {
            space[1] = UInt8(payloadBytes)
            return 2
        }
        if payloadBytes < 65_536 {
            space[1] = 126
            space[2] = UInt8(payloadBytes >> 8)
            space[3] = UInt8(payloadBytes & 0xFF)
            return 4
        }
        space[1] = 127
        for index in 0..<8 { space[2 + index] = UInt8(truncatingIfNeeded: payloadBytes >> (56 - 8 * index)) }
        return 10
    }
}
