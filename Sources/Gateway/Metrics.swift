internal import SessionCore
internal import SessionHost
internal import WebSockets

/// The host's counters in the text format of Prometheus.
enum Metrics {
    private enum Kind: String { case gauge, counter }

    private struct Row {
        var name: String
        var kind: Kind
        var help: String
        var value: UInt64

        init(_ name: String, _ kind: Kind, _ help: String, _ value: some BinaryInteger) {
            self.name = "activityhost_\(name)"
            self.kind = kind
            self.help = help
            self.value = UInt64(clamping: value)
        }
    }

    static func text(_ statistics: HostStatistics, _ server: Server) -> [UInt8] {
        let counters = statistics.counters
        let rows = [
            Row("groups", .gauge, "Groups that exist.", statistics.groups),
            Row("members", .gauge, "People in all groups.", statistics.members),
            Row("sessions", .gauge, "Sessions that run.", statistics.sessions),
            Row("connections", .gauge, "Open WebSocket connections.", statistics.connections),
            Row("sockets", .gauge, "Open sockets, HTTP and WebSocket.", server.socketCount),
            Row("accepting_paused", .gauge, "1 while no connection is accepted for want of descriptors.", server.isAcceptingPaused ? 1 : 0),
            Row("messages_received_total", .counter, "Messages that clients sent.", counters.messagesReceived),
            Row("messages_delivered_total", .counter, "Messages put into participants' queues.", counters.messagesDelivered),
            Row("rejected_total", .counter, "Requests that were refused.", counters.rejected),
            Row("snapshots_total", .counter, "Snapshots sent in place of a backlog.", counters.snapshots),
            Row("script_errors_total", .counter, "Handlers that failed.", counters.scriptErrors),
        ]
        var out = ""
        for row in rows { out += "# HELP \(row.name) \(row.help)\n# TYPE \(row.name) \(row.kind.rawValue)\n\(row.name) \(row.value)\n" }
        return Array(out.utf8)
    }
}
