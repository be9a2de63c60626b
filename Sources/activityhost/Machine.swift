import Glibc

/// What this machine offers.
enum Machine {
    static var cores: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

    /// Raises the limit of open files as far as the system lets us; the limit then.
    @discardableResult
    static func raiseDescriptorLimit() -> Int {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        if limit.rlim_cur < limit.rlim_max {
            limit.rlim_cur = limit.rlim_max
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        }
        return Int(clamping: limit.rlim_cur)
    }

    /// The numeric addresses by which other machines may reach this one, the likeliest first.
    static func addresses() -> [String] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return [] }
        defer { freeifaddrs(list) }
        var found: [(address: String, rank: Int)] = []
        let preferred = defaultRouteAddress()
        var next = list
        while let entry = next?.pointee {
            next = entry.ifa_next
            let flags = Int32(bitPattern: entry.ifa_flags)
            guard flags & Int32(IFF_UP) != 0, flags & Int32(IFF_LOOPBACK) == 0, let socket = entry.ifa_addr,
                let address = numeric(socket), !address.hasPrefix("fe80:"), !address.hasPrefix("169.254."),
                !found.contains(where: { $0.address == address })
            else { continue }
            found.append((address, rank(address, interface: String(cString: entry.ifa_name), isPreferred: address == preferred)))
        }
        return found.sorted { ($0.rank, $0.address) < ($1.rank, $1.address) }.map(\.address)
    }

    private static func rank(_ address: String, interface: String, isPreferred: Bool) -> Int {
        let virtual = ["docker", "br-", "veth", "virbr", "vmnet", "tun", "tap", "wg", "zt", "tailscale"]
        if virtual.contains(where: interface.hasPrefix) { return 6 }
        if isPreferred { return 0 }
        if address.contains(":") { return 5 }
        if address.hasPrefix("192.168.") { return 1 }
        return address.hasPrefix("10.") ? 2 : AddressBlock.isPrivate172(address) ? 3 : 4
    }

    /// The address that packets to elsewhere would leave from; nothing is sent to find out.
    private static func defaultRouteAddress() -> String? {
        let probe = socket(AF_INET, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard probe >= 0 else { return nil }
        defer { close(probe) }
        var target = sockaddr_in()
        target.sin_family = sa_family_t(AF_INET)
        target.sin_port = in_port_t(9).bigEndian
        // An address of the block for documentation (RFC 5737): nobody has it.
        inet_pton(AF_INET, "192.0.2.1", &target.sin_addr)
        var own = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let isRouted = withUnsafePointer(to: &target) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(probe, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0 }
        }
        guard isRouted else { return nil }
        return withUnsafeMutablePointer(to: &own) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(probe, $0, &length) == 0 ? numeric($0) : nil }
        }
    }

    private static func numeric(_ address: UnsafeMutablePointer<sockaddr>) -> String? {
        let family = Int32(address.pointee.sa_family)
        guard family == AF_INET || family == AF_INET6 else { return nil }
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let length = family == AF_INET ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size
        guard getnameinfo(address, socklen_t(length), &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0 else { return nil }
        let name = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return name.contains("%") ? nil : name
    }
}

/// Blocks of addresses that networks use inside.
private enum AddressBlock {
    static func isPrivate172(_ address: String) -> Bool {
        let parts = address.split(separator: ".")
        return parts.count == 4 && parts[0] == "172" && (16...31).contains(Int(parts[1]) ?? 0)
    }
}
