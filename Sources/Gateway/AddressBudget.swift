/// Counts what strangers may do only now and then, per address: ten times a minute.
struct AddressBudget {
    private static let allowed = 10
    private static let windowMilliseconds: Int64 = 60_000
    private static let mostAddresses = 10_000

    private struct Window {
        var start: Int64
        var count = 0
    }

    private var windows: [String: Window] = [:]

    /// Takes one from the address's budget; the time in ms after which there is more, if nothing is left. `uptime` in ms.
    mutating func take(_ address: String, at uptime: Int64) -> Int? {
        if windows.count >= Self.mostAddresses {
            windows = windows.filter { uptime - $0.value.start < Self.windowMilliseconds }
            if windows.count >= Self.mostAddresses { windows.removeAll() }
        }
        var window = windows[address] ?? Window(start: uptime)
        if uptime - window.start >= Self.windowMilliseconds { window = Window(start: uptime) }
        guard window.count < Self.allowed else { return Int(Self.windowMilliseconds - (uptime - window.start)) }
        window.count += 1
        windows[address] = window
        return nil
    }
}
