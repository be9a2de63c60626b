internal import Glibc

/// A folder whose files may be served. Nothing outside it can be reached through it: every step is opened from the one before,
/// symbolic links, dot files and anything but regular files are refused.
struct ServedFolder {
    /// The folder itself may be reached by links: the operator named it.
    let path: String
    /// Folders below it in which all paths begin.
    var inside: [String] = []

    /// Opens the file that `components` lead to; nil when there is none that may be served.
    func open(_ components: [String]) -> ServedFile? {
        guard let name = components.last, components.allSatisfy(Self.isServed) else { return nil }
        var folder = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return nil }
        defer { close(folder) }
        for step in inside + components.dropLast() {
            let next = openat(folder, step, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard next >= 0 else { return nil }
            close(folder)
            folder = next
        }
        // Without O_NONBLOCK a FIFO would stop the service thread.
        let file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        return ServedFile(descriptor: file, name: name)
    }

    private static func isServed(_ component: String) -> Bool {
        !component.isEmpty && !component.hasPrefix(".") && component.utf8.count <= 255
            && component.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "\\") }
    }
}

/// An open regular file. Whoever holds it closes its descriptor, or hands it on to a response.
struct ServedFile {
    let descriptor: Int32
    let name: String
    /// Bytes.
    let size: Int
    /// Changes whenever the file is another one or was written to.
    let entityTag: String

    /// Takes the descriptor over; closes it and gives nil when it is no regular file.
    init?(descriptor: Int32, name: String) {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            Glibc.close(descriptor)
            return nil
        }
        self.descriptor = descriptor
        self.name = name
        size = Int(status.st_size)
        let parts = [Int64(status.st_size), Int64(status.st_mtim.tv_sec), Int64(status.st_mtim.tv_nsec), Int64(bitPattern: UInt64(status.st_ino))]
        entityTag = "\"" + parts.map { String($0, radix: 36) }.joined(separator: "-") + "\""
    }

    func close() {
        Glibc.close(descriptor)
    }
}
