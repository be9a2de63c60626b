import Glibc

/// A TCP client that sends what it is told, byte for byte, and gives up waiting after some seconds.
final class RawClient: @unchecked Sendable {
    let descriptor: Int32
    private var unread: [UInt8] = []

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    init(port: UInt16, receiveBuffer: Int32? = nil) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(description: "no socket: \(errno)") }
        var patience = timeval(tv_sec: 8, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        if var size = receiveBuffer { setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size)) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
        guard connected == 0 else {
            let code = errno
            Glibc.close(descriptor)
            throw Failure(description: "not connected: \(code)")
        }
    }

    deinit { Glibc.close(descriptor) }

    /// Sends as far as the other side takes it; false: it has closed.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    @discardableResult
    func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// More bytes, or none at the end of the connection.
    private func receive() throws -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count < 0, errno == EAGAIN { throw Failure(description: "nothing came in time") }
        return count > 0 ? Array(buffer[..<count]) : []
    }

    func read(_ count: Int) throws -> [UInt8] {
        while unread.count < count {
            let more = try receive()
            guard !more.isEmpty else { throw Failure(description: "closed after \(unread.count) of \(count) bytes") }
            unread += more
        }
        defer { unread.removeFirst(count) }
        return Array(unread[..<count])
    }

    /// Everything up to the end of the connection.
    func readToEnd() throws -> [UInt8] {
        while true {
            let more = try receive()
            if more.isEmpty { break }
            unread += more
        }
        defer { unread = [] }
        return unread
    }

    /// The head of a response, with its empty line.
    func readHead() throws -> String {
        let end = Array("\r\n\r\n".utf8)
        var length = 0
        while true {
            while length + 4 <= unread.count {
                if Array(unread[length..<length + 4]) == end { return String(decoding: try read(length + 4), as: UTF8.self) }
                length += 1
            }
            let more = try receive()
            guard !more.isEmpty else { throw Failure(description: "closed within the head: \(String(decoding: unread, as: UTF8.self))") }
            unread += more
        }
    }

    /// A response with Content-Length: its head and its body.
    func readResponse() throws -> (head: String, body: String) {
        let head = try readHead()
        let line = head.split(separator: "\r\n").first { $0.hasPrefix("content-length: ") }
        let length = line.flatMap { Int($0.dropFirst("content-length: ".count)) } ?? 0
        return (head, String(decoding: try read(length), as: UTF8.self))
    }

    static let upgrade =
        "GET /v1/socket HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n"
        + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: activityhost.v1\r\n\r\n"

    /// A client whose WebSocket is open.
    static func upgraded(port: UInt16, receiveBuffer: Int32? = nil) throws -> RawClient {
        let client = try RawClient(port: port, receiveBuffer: receiveBuffer)
        client.send(upgrade)
        let head = try client.readHead()
        guard head.hasPrefix("HTTP/1.1 101 ") else { throw Failure(description: "not upgraded: \(head)") }
        return client
    }

    struct Frame: Equatable, CustomStringConvertible {
        var opcode: UInt8
        var payload: [UInt8]

        var description: String { "frame \(opcode): \(String(decoding: payload.prefix(80), as: UTF8.self)) (\(payload.count) bytes)" }
        var closeCode: Int? { opcode == 8 && payload.count >= 2 ? Int(payload[0]) << 8 | Int(payload[1]) : nil }

        static func text(_ text: String) -> Frame { Frame(opcode: 1, payload: Array(text.utf8)) }
        static func pong(_ text: String) -> Frame { Frame(opcode: 10, payload: Array(text.utf8)) }
    }

    /// The next frame, whatever it is.
    func readFrame() throws -> Frame {
        let start = try read(2)
        var length = Int(start[1] & 0x7F)
        if length >= 126 { length = try read(length == 126 ? 2 : 8).reduce(0) { $0 << 8 | Int($1) } }
        guard start[0] & 0xF0 == 0x80, start[1] & 0x80 == 0 else { throw Failure(description: "a server's frame is final and not masked") }
        return Frame(opcode: start[0] & 0x0F, payload: try read(length))
    }

    /// Frames up to the one that closes; its code.
    func readCloseCode() throws -> Int? {
        while true {
            let frame = try readFrame()
            if frame.opcode == 8 { return frame.closeCode }
        }
    }
}

/// A frame as a client sends it.
func masked(_ first: UInt8, _ payload: [UInt8], mask: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]) -> [UInt8] {
    var frame: [UInt8] = [first]
    switch payload.count {
    case ..<126: frame.append(0x80 | UInt8(payload.count))
    case ..<65_536: frame += [0x80 | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
    default: frame += [0x80 | 127] + (0..<8).map { UInt8(truncatingIfNeeded: payload.count >> (56 - 8 * $0)) }
    }
    return frame + mask + payload.enumerated().map { $1 ^ mask[$0 & 3] }
}

func masked(_ first: UInt8, _ text: String) -> [UInt8] { masked(first, Array(text.utf8)) }
