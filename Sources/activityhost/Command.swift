/// One subcommand: what it is called, what it takes, and what it does.
struct Command: Sendable {
    var name: String
    /// What follows the name, as help shows it.
    var operands: String
    var summary: String
    var details: String
    var options: [Option]
    /// Options it doesn't know are parameters of the activity.
    var takesParameters = false
    /// The exit code.
    var run: @Sendable (Arguments) throws -> Int32

    /// In the order that help lists them.
    static let all: [Command] = [.start, .serve, .list, .doctor, .help]
}

/// The exit codes of the program.
enum ExitCode {
    static let done: Int32 = 0
    static let failed: Int32 = 1
    static let wrongUsage: Int32 = 2
}
