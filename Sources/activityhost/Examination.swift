import ActivityModel
import Glibc
import LuaRuntime
import WebSockets

/// What `doctor` looks at, from the libraries to the network.
struct Examination {
    private let arguments: Arguments
    private let settings: HostSettings
    private static let fewDescriptors = 4096

    init(_ arguments: Arguments, _ settings: HostSettings) {
        self.arguments = arguments
        self.settings = settings
    }

    var findings: [Finding] {
        [Finding("activityhost", .good, Program.version)] + [lua, sockets, pages] + activities + [
            dataDirectory, port, addresses, descriptors, limits,
        ]
    }

    private var lua: Finding {
        let faults = LuaSelfTest.faults
        let known = faults.isEmpty ? "no known fault found" : "\(faults.count) known faults, kept from scripts (doctor --json names them)"
        return Finding("lua", .good, "\(LuaSelfTest.version); \(known)", details: LuaSelfTest.report)
    }

    private var sockets: Finding {
        Finding("sockets", .good, "libwebsockets \(SocketLibraries.webSocketsVersion) on libuv \(SocketLibraries.eventLoopVersion)")
    }

    private var pages: Finding {
        do throws(Failure) {
            return Finding("pages", .good, try ResourceFolders.web())
        } catch {
            return Finding("pages", .bad, error.message)
        }
    }

    private var activities: [Finding] {
        let folders: ResourceFolders
        do throws(UsageError) {
            folders = try ResourceFolders(arguments)
        } catch {
            return [Finding("activities", .bad, error.message)]
        }
        guard !folders.activities.isEmpty else {
            return [Finding("activities", .fair, "there is no folder of activities; name one with --activities DIR")]
        }
        let state = Catalogue(directories: folders.activities, limits: settings.limits).scan()
        let summary = "\(state.activities.count) in \(folders.activities.joined(separator: ", "))"
        return [Finding("activities", state.activities.isEmpty ? .fair : .good, summary)]
            + state.rows.compactMap { row in
                row.error.map { Finding("activities", .fair, "\(row.name) is broken: \($0.position): \($0.message)") }
            }
    }

    private var dataDirectory: Finding {
        do {
            let data = try DataDirectory(arguments)
            try data.make()
            _ = try data.readOperatorToken()
            if data.isOpenToOthers { return Finding("data", .fair, "others can look into \(data.path); run: chmod 700 \(data.path)") }
            return Finding("data", .good, data.path)
        } catch let error as Failure {
            return Finding("data", .bad, error.message)
        } catch {
            return Finding("data", .bad, (error as? UsageError)?.message ?? "\(error)")
        }
    }

    /// Binds the address for a moment, with the very server that a host would use.
    private var port: Finding {
        final class Nobody: ServerDelegate {
            func server(_ server: Server, request: HTTPRequest, exchange: HTTPExchange) {}
            func server(_ server: Server, upgrade request: HTTPRequest) -> HTTPResponse? { nil }
            func server(_ server: Server, opened connection: Connection) {}
            func server(_ server: Server, connection: Connection, received text: UnsafeRawBufferPointer) {}
            func server(_ server: Server, drained connection: Connection) {}
            func server(_ server: Server, closed connection: Connection) {}
        }
        let place = "\(settings.listen.host), port \(settings.listen.port)"
        do {
            let server = try Server(configuration: ServerConfiguration(listen: [settings.listen]), delegate: Nobody())
            server.stop()
            server.run()
            return Finding("port", .good, "\(place) is free")
        } catch {
            if let record = try? DataDirectory(arguments).readRecord(), record.port == settings.listen.port, kill(record.process, 0) == 0 {
                return Finding("port", .good, "\(place): a host runs here already (process \(record.process))")
            }
            return Finding("port", .bad, "\(error)")
        }
    }

    private var addresses: Finding {
        let addresses = Machine.addresses()
        guard let first = addresses.first else {
            return Finding("addresses", .fair, "this machine is in no network; only its own browser can join")
        }
        let others = addresses.count > 1 ? " (also \(addresses.dropFirst().joined(separator: ", ")))" : ""
        return Finding("addresses", .good, "with --lan, others reach this machine at \(first)\(others)")
    }

    private var descriptors: Finding {
        let limit = Machine.raiseDescriptorLimit()
        if limit < Self.fewDescriptors {
            return Finding("files", .fair, "\(limit) files may be open, about as many connections; raise it with ulimit -n")
        }
        return Finding("files", .good, "\(limit) files may be open")
    }

    private var limits: Finding {
        let changed = Limits.Name.allCases.filter { settings.limits[$0] != $0.defaultValue }.map { "\($0.rawValue)=\(settings.limits[$0])" }
        return Finding("limits", .good, changed.isEmpty ? "as they come" : changed.joined(separator: ", "))
    }
}
