/// Counts wrong codes per address and over all, so that guessing one takes months.
///
/// Ten a minute for an address, a hundred a minute for everybody together; the research behind it: 20^6 codes, 50 groups.
struct TryCounter {
    private static let perAddress = 10
    private static let overall = 100
    private static let windowMilliseconds: Int64 = 60_000
    private static let maximumAddresses = 10_000

    private struct Window {
        var start: Int64
        var count: Int
    }

    private var addresses: [String: Window] = [:]
    private var all = Window(start: .min, count: 0)

    /// In how many ms this address may try again; nil if it may now.
    func refusal(for address: String, at uptime: Int64) -> Int? {
        if let window = addresses[address], let wait = Self.wait(window, Self.perAddress, uptime) { return wait }
        // Those who never guessed wrong are let through while others storm.
        return addresses[address] == nil ? nil : Self.wait(all, Self.overall, uptime)
    }

    private static func wait(_ window: Window, _ allowed: Int, _ uptime: Int64) -> Int? {
        guard window.count >= allowed, uptime - window.start < windowMilliseconds else { return nil }
        return Int(windowMilliseconds - (uptime - window.start))
    }

    mutating func noteWrong(_ address: String, at uptime: Int64) {
        Self.count(&all, uptime)
        if addresses.count >= Self.maximumAddresses {
            addresses = addresses.filter { uptime - $0.value.start < Self.windowMilliseconds }
            if addresses.count >= Self.maximumAddresses { addresses.removeAll() }
        }
        Self.count(&addresses[address, default: Window(start: uptime, count: 0)], uptime)
    }

    private static func count(_ window: inout Window, _ uptime: Int64) {
        if window.start == .min || uptime - window.start >= windowMilliseconds { window = Window(start: uptime, count: 0) }
        window.count += 1
    }
}
