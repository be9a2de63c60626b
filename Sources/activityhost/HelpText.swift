import ActivityModel

/// What `help` says, made from the tables of commands, options and limits.
enum HelpText {
    static var overview: String {
        var lines = ["activityhost \(Program.version): activities that people do together, in the browser and in apps.", "", "Commands:"]
        lines += table(Command.all.map { ("  \($0.name) \($0.operands)", $0.summary) })
        lines += ["", "activityhost help COMMAND explains one; help limits lists the limits.", "Try: activityhost start draw --lan"]
        return lines.joined(separator: "\n")
    }

    static func text(of command: Command) -> String {
        var lines = ["activityhost \(command.name) \(command.operands)", "", command.details, "", "Options:"]
        lines += table((command.options + Option.common).map { ("  \($0.usage)", $0.help) })
        lines += ["", "Each option can also be set by an environment variable, such as \(Option.listen.environmentName); the option wins."]
        return lines.joined(separator: "\n")
    }

    static var limits: String {
        let intro = ["Limits, set with --limit NAME=VALUE, and their defaults:", ""]
        return (intro + table(Limits.Name.allCases.map { ("  \($0.rawValue)", "\($0.defaultValue)") })).joined(separator: "\n")
    }

    private static func table(_ rows: [(String, String)]) -> [String] {
        let width = rows.map(\.0.count).max() ?? 0
        return rows.map { left, right in left + String(repeating: " ", count: width - left.count + 2) + right }
    }
}
