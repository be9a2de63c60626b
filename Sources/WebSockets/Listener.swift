internal import CLibWebSockets
internal import Glibc

/// A listening socket. When descriptors run out it rests and looks again by itself, instead of spinning in accept.
final class Listener {
    let port: UInt16
    private unowned let server: Server
    private let descriptor: Int32
    private let poll: UnsafeMutablePointer<uv_poll_t>
    private var rest: ScheduledWork?
    private let restMilliseconds: UInt64 = 250
    private let acceptsPerTurn = 64

    init(server: Server, address: ListenAddress) throws {
        self.server = server
        let bound = try Listener.bind(address)
        descriptor = bound.descriptor
        port = bound.port
        poll = .allocate(capacity: 1)
        uv_poll_init_socket(server.loop.uv, poll, descriptor)
        poll.pointee.data = Unmanaged.passUnretained(self).toOpaque()
        listen()
    }

    /// True while it has stopped accepting for want of descriptors.
    var isResting: Bool { rest != nil }

    func close() {
        rest?.cancel()
        rest = nil
        poll.pointee.data = nil
        uv_poll_stop(poll)
        uv_close(ah_uv_handle(poll)) { handle in
            UnsafeMutableRawPointer(handle)?.deallocate()
        }
        Glibc.close(descriptor)
    }

    private func listen() {
        uv_poll_start(poll, Int32(UV_READABLE.rawValue)) { handle, _, _ in
            guard let data = handle?.pointee.data else { return }
            Unmanaged<Listener>.fromOpaque(data).takeUnretainedValue().acceptWaiting()
        }
    }

    private func acceptWaiting() {
        for _ in 0..<acceptsPerTurn {
            var storage = sockaddr_storage()
            var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            let accepted = withUnsafeMutablePointer(to: &storage) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    ah_accept(descriptor, $0, &length)
                }
            }
            guard accepted >= 0 else {
                switch errno {
                case EAGAIN, EWOULDBLOCK: return
                case EMFILE, ENFILE, ENOBUFS, ENOMEM: return takeRest()
                default: continue  // that one connection was gone before it was taken
                }
            }
            server.welcome(accepted, from: RemoteAddress(&storage))
            // The kernel gives the lowest free number: a high one means that few are left, and the log needs some too.
            if accepted >= server.highestDescriptor { return takeRest() }
        }
    }

    private func takeRest() {
        guard rest == nil else { return }
        uv_poll_stop(poll)
        server.reportDescriptorShortage()
        rest = server.loop.schedule(afterMilliseconds: restMilliseconds, repeating: true) { [weak self] in
            self?.lookAgain()
        }
    }

    private func lookAgain() {
        let probe = open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard probe >= 0 else { return }
        Glibc.close(probe)
        guard probe < server.highestDescriptor else { return }
        rest?.cancel()
        rest = nil
        listen()
    }

    private static func bind(_ address: ListenAddress) throws -> (descriptor: Int32, port: UInt16) {
        let isIPv6 = address.host.contains(":")
        let place = isIPv6 ? "[\(address.host)]:\(address.port)" : "\(address.host):\(address.port)"
        var storage = sockaddr_storage()
        let length = isIPv6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size
        let isNumeric = withUnsafeMutablePointer(to: &storage) { pointer in
            let raw = UnsafeMutableRawPointer(pointer)
            if isIPv6 {
                let inet6 = raw.assumingMemoryBound(to: sockaddr_in6.self)
                inet6.pointee.sin6_family = sa_family_t(AF_INET6)
                inet6.pointee.sin6_port = address.port.bigEndian
                return inet_pton(AF_INET6, address.host, &inet6.pointee.sin6_addr) == 1
            }
            let inet = raw.assumingMemoryBound(to: sockaddr_in.self)
            inet.pointee.sin_family = sa_family_t(AF_INET)
            inet.pointee.sin_port = address.port.bigEndian
            return inet_pton(AF_INET, address.host, &inet.pointee.sin_addr) == 1
        }
        guard isNumeric else {
            throw ServerError(description: "\(address.host) is not a numeric address; listen on one like 127.0.0.1 or ::1")
        }
        let descriptor = socket(
            isIPv6 ? AF_INET6 : AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw failure("cannot listen on \(place)") }
        var on: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        if isIPv6 {
            // Each family is listened on by its own socket, so that both can have the same port.
            setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &on, socklen_t(MemoryLayout<Int32>.size))
        }
        var boundLength = socklen_t(length)
        let isBound = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.bind(descriptor, $0, boundLength) == 0 && Glibc.listen(descriptor, 4096) == 0
                    && getsockname(descriptor, $0, &boundLength) == 0
            }
        }
        guard isBound else {
            let error = failure("cannot listen on \(place)")
            Glibc.close(descriptor)
            throw error
        }
        let port = withUnsafePointer(to: &storage) { pointer in
            // The port stands at the same place in both families.
            UnsafeRawPointer(pointer).assumingMemoryBound(to: sockaddr_in.self).pointee.sin_port
        }
        return (descriptor, UInt16(bigEndian: port))
    }

    private static func failure(_ what: String) -> ServerError {
        let code = errno
        let hint =
            switch code {
            case EADDRINUSE: "another program uses this port; choose another one, or port 0"
            case EACCES: "this port needs more rights; choose one above 1023"
            case EADDRNOTAVAIL: "this machine does not have that address"
            default: String(cString: strerror(code))
            }
        return ServerError(description: "\(what): \(hint)")
    }
}
