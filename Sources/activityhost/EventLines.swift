import ActivityModel
import Gateway
import Glibc
import SessionCore

/// Tells what happens in the host, a line for each event: text for people, or JSON.
struct EventLines: Sendable {
    enum Form: Sendable { case text, json }

    let form: Form
    /// Whether text may have colours.
    let hasColors: Bool
    private let now: @Sendable () -> Int64

    init(form: Form, hasColors: Bool, now: @escaping @Sendable () -> Int64) {
        self.form = form
        self.hasColors = hasColors
        self.now = now
    }

    func line(_ event: HostEvent) -> [UInt8] {
        switch event {
        case .memberJoined(let code, let member):
            line("member_joined", code, "\(member.name) came in", [("member", Self.member(member))])
        case .memberLeft(let code, let member):
            line("member_left", code, "\(member.name) left", [("member", Self.member(member))])
        case .sessionStarted(let code, let session, let activity, let member):
            line(
                "session_started", code, "\(member?.name ?? "the host") started \(activity) (\(session))",
                [("session", .string("\(session)")), ("activity", .string(activity)), ("by", member.map(Self.member) ?? .null)])
        case .sessionEnded(let code, let session, let activity, let reason):
            line(
                "session_ended", code, "\(activity) (\(session)) is over: \(reason.rawValue)",
                [("session", .string("\(session)")), ("activity", .string(activity)), ("reason", .string(reason.rawValue))])
        case .participantJoined(let code, let session, let participant):
            line(
                "participant_joined", code, "\(participant.member.name) joined \(session)",
                [("session", .string("\(session)")), ("participant", Self.participant(participant))])
        case .participantLeft(let code, let session, let participant, let reason):
            line(
                "participant_left", code, "\(participant.member.name) left \(session)\(reason == .left ? "" : ": \(reason.rawValue)")",
                [("session", .string("\(session)")), ("participant", Self.participant(participant)), ("reason", .string(reason.rawValue))])
        case .report(let code, let session, let report, let message):
            scriptError(code, session, report, message)
        case .log(let code, let session, let activity, let log):
            line(
                "log", code, "\(activity) (\(session)): \(log.level == .info ? "" : "\(log.level.rawValue): ")\(log.text)",
                [
                    ("session", .string("\(session)")), ("activity", .string(activity)), ("level", .string(log.level.rawValue)),
                    ("text", .string(log.text)),
                ], color: log.level == .info ? nil : 33)
        case .logFailed(let reason):
            line("log_failed", nil, "the event log cannot be written: \(reason)", [("message", .string(reason))], color: 31)
        }
    }

    private func scriptError(_ code: GroupCode, _ session: SessionID, _ report: AuthorReport, _ message: String?) -> [UInt8] {
        let handling = message.map { " while handling \($0)" } ?? ""
        var text = "\(report.position): \(report.message) (\(report.code) in \(report.handler) of \(session)\(handling))"
        // A single step says no more than the position.
        let steps = report.trace.split(separator: "\n")
        if steps.count > 1 { text += "\n" + steps.map { "    \($0)" }.joined(separator: "\n") }
        return line(
            "script_error", code, text,
            [
                ("session", .string("\(session)")), ("activity", .string(report.activity)), ("code", .string(report.code)),
                ("file", .string(report.file)), ("line", .integer(Int64(report.line))), ("message", .string(report.message)),
                ("handler", .string(report.handler)), ("trace", .string(report.trace)), ("while", message.map { .string($0) } ?? .null),
            ], color: 31)
    }

    /// An event that is not the host's: a notice of the program itself.
    func line(notice event: String, _ text: String, _ fields: [(String, JSONValue)] = []) -> [UInt8] {
        line(event, nil, text, fields)
    }

    private func line(_ event: String, _ group: GroupCode?, _ text: String, _ fields: [(String, JSONValue)], color: Int? = nil) -> [UInt8] {
        switch form {
        case .json:
            var all: [JSONValue.Field] = [.init(key: "event", value: .string(event)), .init(key: "time", value: .integer(now()))]
            if let group { all.append(.init(key: "group", value: .string(group.description))) }
            return JSONValue.object(all + fields.map { .init(key: $0.0, value: $0.1) }).text
        case .text:
            let place = group.map { "\($0.spelled)  " } ?? ""
            let line = Terminal.plain("\(Self.clock(now()))  \(place)\(text)")
            guard hasColors, let color else { return Array(line.utf8) }
            return Array("\u{1B}[\(color)m\(line)\u{1B}[0m".utf8)
        }
    }

    private static func member(_ member: Member) -> JSONValue {
        .object([
            .init(key: "id", value: .string("\(member.id)")), .init(key: "name", value: .string(member.name)),
            .init(key: "role", value: .string(member.role.rawValue)),
        ])
    }

    private static func participant(_ participant: Participant) -> JSONValue {
        .object([
            .init(key: "id", value: .string("\(participant.id)")), .init(key: "member", value: .string("\(participant.member.id)")),
            .init(key: "name", value: .string(participant.member.name)),
        ])
    }

    /// The local time of day, as `14:05:09`.
    private static func clock(_ milliseconds: Int64) -> String {
        var seconds = time_t(milliseconds / 1000)
        var parts = tm()
        localtime_r(&seconds, &parts)
        return [parts.tm_hour, parts.tm_min, parts.tm_sec].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
    }
}
