import ActivityModel
import Gateway
import SessionHost

extension Command {
    static let serve = Command(
        name: "serve", operands: "", summary: "run the host",
        details: "Runs the host until Ctrl-C. Groups are opened with POST /v1/groups, or with activityhost start on this machine.",
        options: Option.hosting,
        run: { arguments in
            guard arguments.operands.isEmpty else { throw UsageError("serve takes no \"\(arguments.operands[0])\"; did you mean start?") }
            let settings = try HostSettings(arguments)
            let folders = try ResourceFolders(arguments)
            let data = try DataDirectory(arguments)
            let signals = Signals()
            Machine.raiseDescriptorLimit()
            try data.make()
            guard try data.takeForHost() else {
                let process = data.readRecord().map { " (process \($0.process))" } ?? ""
                throw Failure("a host runs already with the data directory \(data.path)\(process); stop it, or name another one with --data DIR")
            }
            let journal = EventJournal(arguments)
            let service = try HostService(
                settings: settings, folders: folders, data: data, observe: { journal.observe($0) }, notice: { journal.notice($0, $1) })
            try service.run(signals: signals) { service in
                journal.announce(
                    json: listening(service), text: "activityhost \(Program.version) listens on \(service.listen): \(service.origin.text)/")
                journal.tellBroken(service.activities)
            }
            journal.finish()
            return ExitCode.done
        })

    private static func listening(_ service: HostService) -> [UInt8] {
        JSONValue.object([
            .init(key: "event", value: .string("listening")), .init(key: "url", value: .string(service.origin.text)),
            .init(key: "listen", value: .string(service.listen)),
        ]).text
    }
}
