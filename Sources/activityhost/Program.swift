import Glibc

/// Finds the subcommand that a command line names, and tells what went wrong with it.
enum Program {
    static let version = "0.1.0"

    /// Runs a command line without the program's name; the exit code.
    static func run(_ words: [String], environment: [String: String]) -> Int32 {
        do {
            return try dispatch(words, environment)
        } catch let error as UsageError {
            Terminal.complain(error.message)
            return ExitCode.wrongUsage
        } catch let error as Failure {
            Terminal.complain(error.message)
            return ExitCode.failed
        } catch {
            Terminal.complain("\(error)")
            return ExitCode.failed
        }
    }

    private static func dispatch(_ words: [String], _ environment: [String: String]) throws -> Int32 {
        guard let name = words.first else {
            Terminal.write(line: HelpText.overview)
            return ExitCode.wrongUsage
        }
        if name == "--version" || name == "version" {
            Terminal.write(line: "activityhost \(version)")
            return ExitCode.done
        }
        if name == "--help" || name == "-h" {
            Terminal.write(line: HelpText.overview)
            return ExitCode.done
        }
        guard let command = Command.all.first(where: { $0.name == name }) else { throw UsageError(unknown(name)) }
        let arguments = try Arguments(
            Array(words.dropFirst()), options: command.options + Option.common, environment: environment, takesParameters: command.takesParameters)
        if arguments.has(.help) {
            Terminal.write(line: HelpText.text(of: command))
            return ExitCode.done
        }
        return try command.run(arguments)
    }

    private static func unknown(_ name: String) -> String {
        if name.hasPrefix("-") { return "the command comes first: activityhost COMMAND \(name); see activityhost help" }
        let hint = Suggestion.nearest(to: name, among: Command.all.map(\.name)).map { "; did you mean \($0)?" } ?? ""
        return "unknown command \"\(name)\"\(hint.isEmpty ? ": activityhost \(version) has no such command" : hint); see activityhost help"
    }
}
