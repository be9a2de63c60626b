extension Command {
    static let help = Command(
        name: "help", operands: "[COMMAND]", summary: "explain a command, or the limits",
        details: "Explains a command, or what can be limited.", options: [],
        run: { arguments in
            switch arguments.operands.first {
            case nil: Terminal.write(line: HelpText.overview)
            case "limits": Terminal.write(line: HelpText.limits)
            case let topic?:
                guard let command = all.first(where: { $0.name == topic }) else {
                    throw UsageError("there is no help on \"\(topic)\"; topics: \((all.map(\.name) + ["limits"]).joined(separator: ", "))")
                }
                Terminal.write(line: HelpText.text(of: command))
            }
            return ExitCode.done
        })
}
