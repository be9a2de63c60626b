import ActivityModel

extension Command {
    static let doctor = Command(
        name: "doctor", operands: "", summary: "look for what would keep a host from working well here",
        details:
            "Checks the libraries, the folders, the port, the addresses and the limits of this machine. Exits with 1 if something must be mended.",
        options: Option.hosting,
        run: { arguments in
            guard arguments.operands.isEmpty else { throw UsageError("doctor takes no \"\(arguments.operands[0])\"") }
            let findings = Examination(arguments, try HostSettings(arguments)).findings
            let hasColors = Terminal.hasColors(arguments)
            for finding in findings {
                if arguments.has(.json) {
                    Terminal.write(line: finding.json)
                } else if !arguments.has(.quiet) || finding.verdict != .good {
                    Terminal.write(line: finding.text(hasColors: hasColors))
                }
            }
            return findings.contains { $0.verdict == .bad } ? ExitCode.failed : ExitCode.done
        })
}

/// One thing that `doctor` looked at.
struct Finding {
    enum Verdict: String {
        case good = "ok"
        /// It works, with less than there could be.
        case fair = "warning"
        case bad = "failed"

        fileprivate var color: Int {
            switch self {
            case .good: 32
            case .fair: 33
            case .bad: 31
            }
        }
    }

    var subject: String
    var verdict: Verdict
    var text: String
    /// More for programs, as JSON.
    var details: [UInt8]?

    init(_ subject: String, _ verdict: Verdict, _ text: String, details: [UInt8]? = nil) {
        self.subject = subject
        self.verdict = verdict
        self.text = text
        self.details = details
    }

    var json: [UInt8] {
        var out = JSONValue.object([
            .init(key: "check", value: .string(subject)), .init(key: "status", value: .string(verdict.rawValue)),
            .init(key: "message", value: .string(text)),
        ]).text
        guard let details else { return out }
        out[out.count - 1] = UInt8(ascii: ",")
        out += Array("\"details\":".utf8) + details + [UInt8(ascii: "}")]
        return out
    }

    func text(hasColors: Bool) -> String {
        let mark = verdict.rawValue + String(repeating: " ", count: 8 - verdict.rawValue.count)
        return (hasColors ? "\u{1B}[\(verdict.color)m\(mark)\u{1B}[0m" : mark) + Terminal.plain("\(subject): \(text)")
    }
}
