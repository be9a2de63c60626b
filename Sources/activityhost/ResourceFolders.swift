import Glibc

/// Finds the folders that come with the program: its pages and its activities.
struct ResourceFolders {
    /// Where activities are looked for.
    var activities: [String]

    init(_ arguments: Arguments) throws(UsageError) {
        activities = arguments.values(.activities)
        for folder in activities where !Self.isFolder(folder) {
            throw UsageError("--activities \(folder): there is no such folder")
        }
        guard activities.isEmpty else { return }
        if Self.isFolder("Activities") { activities.append("Activities") }
        // The same folder under two paths would list every activity twice.
        if let own = Self.own("Activities"), !activities.contains(where: { Self.isSame($0, own) }) { activities.append(own) }
    }

    /// The folder of the pages.
    static func web() throws(Failure) -> String {
        if let own = own("Web") { return own }
        if isFolder("Web/sdk") { return "Web" }
        throw Failure("the pages are missing: there is no folder share/activityhost/Web beside the program's; run make install again")
    }

    /// A folder beside the program: in `share/activityhost` of where it was installed, or in the package that it was built from.
    private static func own(_ name: String) -> String? {
        guard let program = programPath else { return nil }
        var folder = parent(program)
        let installed = parent(folder) + "/share/activityhost/" + name
        if isFolder(installed) { return installed }
        while folder.count > 1 {
            if isFolder(folder + "/" + name), access(folder + "/Package.swift", F_OK) == 0 { return folder + "/" + name }
            folder = parent(folder)
        }
        return nil
    }

    private static var programPath: String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink("/proc/self/exe", &buffer, buffer.count)
        guard length > 0, length < buffer.count else { return nil }
        return String(decoding: buffer.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func parent(_ path: String) -> String {
        guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private static func isSame(_ a: String, _ b: String) -> Bool {
        var (first, second) = (stat(), stat())
        return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev && first.st_ino == second.st_ino
    }
}
