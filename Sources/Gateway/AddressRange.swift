internal import Glibc

/// A numeric address, or all addresses that begin with the same bits: `10.0.0.7`, `10.0.0.0/8`, `fd00::/8`.
package struct AddressRange: Hashable, Sendable {
    private let bytes: [UInt8]
    private let bits: Int

    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let bytes = Self.bytes(of: String(parts[0])) else { return nil }
        self.bytes = bytes
        guard parts.count == 2 else {
            bits = bytes.count * 8
            return
        }
        guard let bits = Int(parts[1]), (0...bytes.count * 8).contains(bits) else { return nil }
        self.bits = bits
    }

    package func contains(_ address: String) -> Bool {
        guard let other = Self.bytes(of: address), other.count == bytes.count else { return false }
        return (0..<bits).allSatisfy { bit in (bytes[bit / 8] ^ other[bit / 8]) & (0x80 >> UInt8(bit % 8)) == 0 }
    }

    /// The bytes of a numeric address; IPv4 in IPv6 clothing counts as IPv4.
    private static func bytes(of text: String) -> [UInt8]? {
        var four = in_addr()
        if inet_pton(AF_INET, text, &four) == 1 { return withUnsafeBytes(of: &four) { Array($0) } }
        var six = in6_addr()
        guard inet_pton(AF_INET6, text, &six) == 1 else { return nil }
        let bytes = withUnsafeBytes(of: &six) { Array($0) }
        let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
        return bytes.starts(with: mapped) ? Array(bytes[12...]) : bytes
    }

    package static func isAddress(_ text: String) -> Bool { bytes(of: text) != nil }
}
