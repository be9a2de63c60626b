internal import CLibWebSockets
internal import Glibc

/// Where a connection comes from, in numbers.
package struct RemoteAddress: Sendable, Hashable {
    /// IPv4 or IPv6, without port, zone or brackets.
    package let text: String
    /// The peer is on this machine.
    package let isLoopback: Bool

    init(_ storage: inout sockaddr_storage) {
        var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let family = Int32(storage.ss_family)
        var text = ""
        var isLoopback = false
        withUnsafePointer(to: &storage) { pointer in
            let raw = UnsafeRawPointer(pointer)
            if family == AF_INET6 {
                var address = raw.assumingMemoryBound(to: sockaddr_in6.self).pointee.sin6_addr
                inet_ntop(AF_INET6, &address, &buffer, socklen_t(buffer.count))
                text = string(buffer)
                isLoopback = text == "::1"
            } else if family == AF_INET {
                var address = raw.assumingMemoryBound(to: sockaddr_in.self).pointee.sin_addr
                isLoopback = UInt32(bigEndian: address.s_addr) >> 24 == 127
                inet_ntop(AF_INET, &address, &buffer, socklen_t(buffer.count))
                text = string(buffer)
            }
        }
        self.text = text
        self.isLoopback = isLoopback
    }
}

private func string(_ buffer: [CChar]) -> String {
    String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
