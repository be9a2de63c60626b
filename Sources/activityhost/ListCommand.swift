import LuaRuntime

extension Command {
    static let list = Command(
        name: "list", operands: "", summary: "show the activities that were found",
        details: "Lists the activities with title, version and place, and what is wrong with the broken ones.",
        options: Option.finding,
        run: { arguments in
            guard arguments.operands.isEmpty else { throw UsageError("list takes no \"\(arguments.operands[0])\"") }
            let folders = try ResourceFolders(arguments)
            let state = Catalogue(directories: folders.activities, limits: try HostSettings.limits(arguments)).scan()
            if arguments.has(.json) {
                for row in state.rows { Terminal.write(line: row.json(for: .operator)) }
                return ExitCode.done
            }
            if state.rows.isEmpty {
                let places = folders.activities.isEmpty ? "./Activities" : folders.activities.joined(separator: ", ")
                Terminal.write(line: "There are no activities in \(places).")
            }
            let width = state.rows.map(\.name.count).max() ?? 0
            for row in state.rows {
                let name = row.name + String(repeating: " ", count: max(0, width - row.name.count))
                if let error = row.error {
                    Terminal.write(line: Terminal.plain("\(name)  broken: \(error.position): \(error.message)"))
                } else {
                    let page = row.hasPage ? "" : ", generic page"
                    Terminal.write(line: Terminal.plain("\(name)  \(row.title ?? row.name) (version \(row.version ?? 1)\(page))  \(row.path)"))
                }
            }
            return ExitCode.done
        })
}
