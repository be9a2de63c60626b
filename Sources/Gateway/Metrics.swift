internal import SessionHost

/// The host's counters in the text format of Prometheus.
enum Metrics {
    private enum Kind: String { case gauge, counter }

    static func text(of statistics: HostStatistics) -> [UInt8] {
        let rows: [(String, Kind, String, UInt64)] = [
            ("groups", .gauge, "Groups that exist.", UInt64(statistics.groups)),
            ("members", .gauge, "People in all groups.", UInt64(statistics.members)),
            ("connections", .gauge, "Open WebSocket connections.", UInt64(statistics.connections)),
            ("sessions", .gauge, "Sessions that run.", UInt64(statistics.sessions)),
        ]
        var out = ""
        for (name, kind, help, value) in rows {
            let full = "activityhost_\(name)"
            out += "# HELP \(full) \(help)\n# TYPE \(full) \(kind.rawValue)\n\(full) \(value)\n"
        }
        return Array(out.utf8)
    }
}
