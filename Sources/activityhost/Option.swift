/// One option of the command line, with the environment variable of the same name.
struct Option: Sendable {
    enum Shape: Sendable {
        /// Given or not.
        case flag
        /// Has a value; the last one counts.
        case value(String)
        /// Has a value and may be given several times; in the environment, commas separate the values.
        case repeated(String)
    }

    /// Without the dashes.
    let name: String
    let shape: Shape
    let help: String

    init(_ name: String, _ shape: Shape, _ help: String) {
        self.name = name
        self.shape = shape
        self.help = help
    }

    /// `ACTIVITYHOST_PUBLIC_URL` for `public-url`.
    var environmentName: String {
        "ACTIVITYHOST_" + name.uppercased().map { $0 == "-" ? "_" : String($0) }.joined()
    }

    /// As help shows it: `--listen ADDR:PORT`.
    var usage: String {
        switch shape {
        case .flag: "--\(name)"
        case .value(let place), .repeated(let place): "--\(name) \(place)"
        }
    }

    static let activities = Option("activities", .repeated("DIR"), "look for activities here (default: ./Activities, then those that came along)")
    static let data = Option("data", .value("DIR"), "keep the operator's token and what lasts here (default: ~/.local/share/activityhost)")
    static let listen = Option("listen", .value("ADDR:PORT"), "listen here (default: 127.0.0.1:4750; port 0 picks one)")
    static let lan = Option("lan", .flag, "listen on all addresses of this machine")
    static let publicURL = Option("public-url", .repeated("URL"), "where people reach this host from outside; links are made with the first")
    static let allowOrigin = Option("allow-origin", .repeated("ORIGIN"), "let pages of this origin connect too")
    static let trustProxy = Option("trust-proxy", .repeated("ADDR"), "believe the forwarding headers of this address or range")
    static let media = Option("media", .value("DIR"), "serve the files in this folder at /media/")
    static let limit = Option("limit", .repeated("NAME=VALUE"), "set a limit (help limits lists them)")
    static let gather = Option("gather", .value("MS"), "gather what comes for a busy connection for this long (default: 8)")
    static let workers = Option("workers", .value("N"), "threads that run scripts (default: one for each core, 8 at most)")
    static let open = Option("open", .flag, "participants may end, change and replace sessions too")
    static let openToAll = Option("open-to-all", .flag, "everybody may open groups, not the operator alone")
    static let json = Option("json", .flag, "one JSON object a line on standard output")
    static let quiet = Option("quiet", .flag, "say only what was asked for")
    static let noColor = Option("no-color", .flag, "no colours in the terminal (as with NO_COLOR)")
    static let help = Option("help", .flag, "explain the command")

    /// What every command takes.
    static let common = [json, quiet, noColor, help]
    /// What commands that look at activities take.
    static let finding = [activities, data, limit]
    /// What commands that run a host take.
    static let hosting = [
        activities, data, listen, lan, publicURL, allowOrigin, trustProxy, media, limit, gather, workers, open, openToAll,
    ]
}
