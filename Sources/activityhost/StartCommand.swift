import ActivityModel
import Gateway
import LuaRuntime
import SessionCore
import SessionHost

extension Command {
    static let start = Command(
        name: "start", operands: "NAME [--KEY VALUE …]", summary: "start an activity: prints link, code and QR",
        details: """
            Runs the host, or asks the one that runs already with the same data directory, and opens a group with a session of the activity
            NAME. Prints the link, the code and a QR code, then what happens, until Ctrl-C. --KEY VALUE are the activity's own parameters.
            """,
        options: Option.hosting, takesParameters: true,
        run: { arguments in
            guard let name = arguments.operands.first else { throw UsageError("start needs the name of an activity; activityhost list shows them") }
            guard arguments.operands.count == 1 else {
                throw UsageError("start takes one activity, and \"\(arguments.operands[1])\" is another word; parameters are written --KEY VALUE")
            }
            let settings = try HostSettings(arguments)
            let folders = try ResourceFolders(arguments)
            let data = try DataDirectory(arguments)
            let signals = Signals()
            Machine.raiseDescriptorLimit()
            try data.make()
            if try data.takeForHost() {
                return try StartedHost(name, arguments, settings, folders, data, signals).run()
            }
            return try askRunningHost(name, arguments, settings, folders, data)
        })

    private static func askRunningHost(
        _ name: String, _ arguments: Arguments, _ settings: HostSettings, _ folders: ResourceFolders, _ data: DataDirectory
    ) throws -> Int32 {
        guard let record = data.readRecord() else {
            throw Failure("another host is just starting with the data directory \(data.path); try again in a moment")
        }
        let state = Catalogue(directories: folders.activities, limits: settings.limits).scan()
        let activity = try state.activity(name)
        let parameters = try ParameterValues.json(arguments.parameters, schemas: activity.schemas, options: start.options)
        let host = RunningHost(record: record, operatorToken: try data.operatorToken())
        let group = try host.createGroup(name, parameters: parameters)
        let origin = WebOrigin(group.url.split(separator: "/").prefix(2).joined(separator: "//"))
        let announcement = Announcement(
            title: activity.title, url: group.url, code: group.code, token: group.token, session: group.session,
            listen: HostName.text(record.address, port: record.port), isReachable: origin.map { !$0.host.isLoopback } ?? false)
        let journal = EventJournal(arguments)
        journal.announce(json: announcement.json, text: announcement.text(hasColors: journal.hasColors, isOwn: false))
        journal.finish()
        return ExitCode.done
    }
}

/// A host that runs for an activity which somebody started.
private final class StartedHost {
    private let service: HostService
    private let journal: EventJournal
    private let signals: Signals
    private let activity: ActivityDescription
    private let parameters: [UInt8]
    private var rejection: Rejection?

    init(
        _ name: String, _ arguments: Arguments, _ settings: HostSettings, _ folders: ResourceFolders, _ data: DataDirectory, _ signals: Signals
    ) throws {
        self.signals = signals
        let journal = EventJournal(arguments)
        self.journal = journal
        service = try HostService(
            settings: settings, folders: folders, data: data, observe: { journal.observe($0) }, notice: { journal.notice($0, $1) })
        activity = try service.activities.activity(name)
        parameters = try ParameterValues.json(arguments.parameters, schemas: activity.schemas, options: Command.start.options)
    }

    func run() throws -> Int32 {
        try service.run(signals: signals) { [self] service in
            service.createGroup(activity.name, parameters: parameters) { result in
                switch result {
                case .success(let group): self.announce(group)
                case .failure(let rejection):
                    self.rejection = rejection
                    service.stop()
                }
            }
        }
        journal.finish()
        guard let rejection else { return ExitCode.done }
        let text = "\(activity.name) was not started: \(rejection.message)\(rejection.path.map { " (\($0))" } ?? "")"
        if rejection.code == .invalidMessage { throw UsageError(text) }
        throw Failure(text)
    }

    private func announce(_ group: Host.CreatedGroup) {
        let path = "/j/\(group.code)"
        let announcement = Announcement(
            title: activity.title, url: service.origin.text + path, code: group.code.description, token: group.seat.description,
            session: group.session?.description, listen: service.listen, isReachable: service.settings.isReachable,
            alternatives: service.otherOrigins.map { $0.text + path })
        journal.announce(json: announcement.json, text: announcement.text(hasColors: journal.hasColors, isOwn: true))
    }
}

extension CatalogueState {
    /// The activity of a name; tells what is wrong with it, or what there is instead.
    func activity(_ name: String) throws(Failure) -> ActivityDescription {
        if let activity = activities.first(where: { $0.name == name }) { return activity }
        if let row = rows.first(where: { $0.name == name }), let error = row.error {
            throw Failure("\(name) is broken: \(error.position): \(error.message)")
        }
        if let near = Suggestion.nearest(to: name, among: activities.map(\.name)) {
            throw Failure("there is no activity \"\(name)\"; did you mean \(near)?")
        }
        let names = activities.map(\.name).joined(separator: ", ")
        throw Failure("there is no activity \"\(name)\"; there is \(names.isEmpty ? "none at all: name their folder with --activities DIR" : names)")
    }
}
