import ActivityModel
import Gateway

/// What `start` tells of the group that it opened.
struct Announcement {
    var title: String
    var url: String
    var code: String
    /// The host's seat.
    var token: String
    var session: String?
    /// Where the host listens; nil if another process does.
    var listen: String?
    /// Whether people on other machines can use the link.
    var isReachable: Bool
    /// More links to the same group, if the first does not work.
    var alternatives: [String] = []

    /// The host's own link. The fragment stays in the browser: no server and no log sees the seat.
    var hostURL: String { "\(url)#seat=\(token)" }

    var json: [UInt8] {
        JSONValue.object([
            .init(key: "event", value: .string("started")), .init(key: "url", value: .string(url)), .init(key: "host_url", value: .string(hostURL)),
            .init(key: "code", value: .string(code)), .init(key: "token", value: .string(token)),
            .init(key: "session", value: session.map { .string($0) } ?? .null), .init(key: "listen", value: listen.map { .string($0) } ?? .null),
        ]).text
    }

    /// For people: the links, the code and a QR code that phones read from the screen.
    /// `isOwn`: this process is the host, and ends it.
    func text(hasColors: Bool, isOwn: Bool) -> String {
        let spelled = GroupCode(code)?.spelled ?? code
        var lines = ["", "  \(Terminal.plain(title))", "", "  Join    \(url)", "  Code    \(spelled)"]
        lines += ["  Host    \(hostURL)", "          (your own link: whoever has it is the host)"]
        if !alternatives.isEmpty {
            lines += ["", "  Not working? Try another address:"] + alternatives.map { "          \($0)" }
        }
        if let code = QRCode(url) {
            lines.append("")
            // Black on white is right on every ground; without colours a dark ground is the likelier one.
            lines += code.halfBlocks(inverted: hasColors).map { hasColors ? "  \u{1B}[30;107m\($0)\u{1B}[0m" : "  \($0)" }
        }
        if !isReachable {
            let way = isOwn ? "With --lan, others in your network can." : "For others, end the host that runs and start it with --lan."
            lines += ["", "  Only this machine can join. \(way)"]
        }
        lines += ["", isOwn ? "  Ctrl-C ends it." : "  The host that runs already has it, and tells what happens.", ""]
        return lines.joined(separator: "\n")
    }
}
