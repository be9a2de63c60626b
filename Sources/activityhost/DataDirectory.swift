import ActivityModel
import Glibc

/// The folder of what lasts: the operator's token, and word of the host that runs with it. Only its owner can look inside.
struct DataDirectory {
    let path: String

    init(_ arguments: Arguments) throws {
        if let path = arguments.value(.data) {
            self.path = path
        } else if let base = Environment["XDG_DATA_HOME"], base.hasPrefix("/") {
            path = base + "/activityhost"
        } else if let home = Environment["HOME"], home.hasPrefix("/") {
            path = home + "/.local/share/activityhost"
        } else {
            throw UsageError("neither HOME nor XDG_DATA_HOME is set; name a data directory with --data DIR")
        }
    }

    /// Makes the folder, and those above it, if it is missing.
    func make() throws(Failure) {
        var made = path.hasPrefix("/") ? "" : "."
        for step in path.split(separator: "/") {
            made += "/" + step
            guard mkdir(made, 0o700) != 0, errno != EEXIST else { continue }
            // Folders on the way may be closed to us and be there all the same.
            guard access(made, F_OK) != 0 else { continue }
            throw Failure("the data directory \(path) cannot be made: \(reason()); name another one with --data DIR")
        }
        var status = stat()
        guard stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFDIR else {
            throw Failure("\(path) is no directory; name another one with --data DIR")
        }
        guard access(path, W_OK | X_OK) == 0 else {
            throw Failure("the data directory \(path) cannot be written: \(reason()); name another one with --data DIR")
        }
    }

    /// Whether others on this machine may look inside.
    var isOpenToOthers: Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & 0o077 != 0
    }

    private var tokenPath: String { path + "/operator-token" }

    /// The operator's token, if there is one already.
    func readOperatorToken() throws(Failure) -> String? {
        let descriptor = open(tokenPath, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw Failure("\(tokenPath) cannot be read: \(reason())")
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { throw Failure("\(tokenPath) is no file; remove it") }
        guard status.st_mode & 0o077 == 0 else { throw Failure("others can read \(tokenPath); run: chmod 600 \(tokenPath)") }
        let text = String(decoding: Self.read(descriptor, atMost: 4096), as: UTF8.self)
        guard let token = text.split(whereSeparator: \.isWhitespace).first, token.utf8.count >= 16 else {
            throw Failure("\(tokenPath) holds no token of 16 characters or more; remove it, and a new one is made")
        }
        return String(token)
    }

    /// The operator's token; made if it is missing.
    func operatorToken() throws(Failure) -> String {
        if let token = try readOperatorToken() { return token }
        var random = SystemRandomNumberGenerator()
        let token = SecretToken(using: &random).description
        let descriptor = open(tokenPath, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Failure("\(tokenPath) cannot be made: \(reason())") }
        defer { close(descriptor) }
        Terminal.write(Array((token + "\n").utf8), to: descriptor)
        return token
    }

    // MARK: The host that runs

    private var recordPath: String { path + "/host.json" }

    /// Takes the folder for this process as long as it lives; false if another host has it.
    func takeForHost() throws(Failure) -> Bool {
        let descriptor = open(path + "/host.lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Failure("\(path)/host.lock cannot be made: \(reason())") }
        // The descriptor stays open on purpose: the lock goes when the process does, however it ends.
        guard flock(descriptor, LOCK_EX | LOCK_NB) != 0 else { return true }
        close(descriptor)
        return false
    }

    /// Tells other commands where this process listens.
    func writeRecord(_ record: HostRecord) throws(Failure) {
        let temporary = recordPath + ".new"
        unlink(temporary)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Failure("\(temporary) cannot be made: \(reason())") }
        Terminal.write(record.json, to: descriptor)
        close(descriptor)
        guard rename(temporary, recordPath) == 0 else { throw Failure("\(recordPath) cannot be written: \(reason())") }
    }

    func readRecord() -> HostRecord? {
        let descriptor = open(recordPath, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return HostRecord(json: Self.read(descriptor, atMost: 4096))
    }

    func removeRecord() {
        unlink(recordPath)
    }

    private static func read(_ descriptor: Int32, atMost limit: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            count = max(0, Glibc.read(descriptor, buffer.baseAddress, limit))
        }
    }

    private func reason() -> String { String(cString: strerror(errno)) }
}

/// Word of the host that runs with a data directory.
struct HostRecord: Equatable {
    var process: Int32
    /// Where commands on this machine reach it.
    var address: String
    var port: UInt16

    init(process: Int32, address: String, port: UInt16) {
        self.process = process
        self.address = address
        self.port = port
    }

    init?(json text: [UInt8]) {
        guard let value = try? JSONValue.parse(text), let process = value["pid"]?.integer, let address = value["address"]?.string,
            let port = value["port"]?.integer.flatMap({ UInt16(exactly: $0) })
        else { return nil }
        self.init(process: Int32(clamping: process), address: address, port: port)
    }

    var json: [UInt8] {
        let value = JSONValue.object([
            .init(key: "pid", value: .integer(Int64(process))), .init(key: "address", value: .string(address)),
            .init(key: "port", value: .integer(Int64(port))),
        ])
        return value.text + [UInt8(ascii: "\n")]
    }
}
