import Glibc

/// An entry of a folder: its name as bytes, since file names need not be text, and what it is.
struct FolderEntry: Equatable {
    var name: [UInt8]
    var stamp: FileStamp

    /// The name as text; damaged bytes show as replacement characters.
    var text: String { String(decoding: name, as: UTF8.self) }
    var isText: Bool { String(validating: name, as: UTF8.self) != nil }
    /// The name without `.lua`, or nil if it ends otherwise.
    var scriptStem: [UInt8]? {
        name.count > 4 && name.suffix(4).elementsEqual(".lua".utf8) ? Array(name.dropLast(4)) : nil
    }
}

/// What tells one state of a file from another without reading it.
struct FileStamp: Equatable {
    enum Kind { case regular, folder, symbolicLink, other }

    var kind: Kind
    var size: Int
    var device: UInt64
    var inode: UInt64
    var modified: Int64
    /// Unlike `modified`, this time cannot be set by those who copy files. Both in nanoseconds since 1970.
    var changed: Int64

    init(_ info: stat) {
        kind =
            switch info.st_mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .folder
            case S_IFLNK: .symbolicLink
            default: .other
            }
        size = Int(info.st_size)
        device = UInt64(info.st_dev)
        inode = UInt64(info.st_ino)
        modified = Self.nanoseconds(info.st_mtim)
        changed = Self.nanoseconds(info.st_ctim)
    }

    private static func nanoseconds(_ time: timespec) -> Int64 { Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec) }
}

/// Why something in a folder could not be read.
enum FolderError: Error, Equatable {
    case missing
    case notRegular(FileStamp.Kind)
    case tooLarge(Int)
    case system(String)

    init(errno code: Int32) {
        switch code {
        case ENOENT: self = .missing
        case ELOOP: self = .notRegular(.symbolicLink)
        case ENOTDIR: self = .notRegular(.other)
        default: self = .system(String(cString: strerror(code)))
        }
    }
}

/// An open folder. Reads what is in it by name, never through symbolic links, and never waits for what only looks like a file.
struct FolderReader: ~Copyable {
    private let descriptor: Int32

    /// Opens the folder that an operator named, wherever a link leads.
    init(path: String) throws(FolderError) {
        descriptor = try Self.open(AT_FDCWD, Array(path.utf8), O_DIRECTORY)
    }

    /// Opens a folder in a folder.
    init(_ name: [UInt8], in parent: borrowing FolderReader) throws(FolderError) {
        descriptor = try Self.open(parent.descriptor, name, O_DIRECTORY | O_NOFOLLOW)
    }

    deinit { close(descriptor) }

    private static func open(_ folder: Int32, _ name: [UInt8], _ flags: Int32) throws(FolderError) -> Int32 {
        let result = withTerminated(name) { openat(folder, $0, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags) }
        guard result >= 0 else { throw FolderError(errno: errno) }
        return result
    }

    /// What `name` is; a symbolic link stands for itself. Nil if there is nothing.
    func stamp(_ name: [UInt8]) -> FileStamp? {
        var info = stat()
        let result = withTerminated(name) { fstatat(descriptor, $0, &info, AT_SYMLINK_NOFOLLOW) }
        return result == 0 ? FileStamp(info) : nil
    }

    /// Whether a path below this folder leads to something, links followed; what may not be looked at counts too.
    func leadsSomewhere(_ path: [UInt8]) -> Bool {
        withTerminated(path) { faccessat(descriptor, $0, F_OK, 0) } == 0 || errno == EACCES
    }

    /// Everything but hidden files, sorted by the bytes of the names.
    func entries() throws(FolderError) -> [FolderEntry] {
        // A copy, as `closedir` closes what it was given; opened anew, as duplicates share the place up to which they have read.
        guard let stream = fdopendir(try Self.open(descriptor, [UInt8(ascii: ".")], O_DIRECTORY)) else { throw FolderError(errno: errno) }
        defer { closedir(stream) }
        var entries: [FolderEntry] = []
        while let found = readdir(stream) {
            let name = withUnsafeBytes(of: &found.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            guard name.first != UInt8(ascii: "."), let stamp = stamp(name) else { continue }
            entries.append(FolderEntry(name: name, stamp: stamp))
        }
        return entries.sorted { $0.name.lexicographicallyPrecedes($1.name) }
    }

    /// The content of a regular file of at most `limit` bytes.
    func read(_ name: [UInt8], limit: Int) throws(FolderError) -> [UInt8] {
        let file = try Self.open(descriptor, name, O_NOFOLLOW)
        defer { close(file) }
        var info = stat()
        guard fstat(file, &info) == 0 else { throw FolderError(errno: errno) }
        let stamp = FileStamp(info)
        guard stamp.kind == .regular else { throw .notRegular(stamp.kind) }
        guard stamp.size <= limit else { throw .tooLarge(stamp.size) }
        // The file may grow while it is read; one byte more than allowed is enough to know.
        var failure: Int32 = 0
        let content = [UInt8](unsafeUninitializedCapacity: limit + 1) { buffer, count in
            while count < buffer.count {
                let step = Glibc.read(file, buffer.baseAddress! + count, buffer.count - count)
                if step > 0 {
                    count += step
                } else if step == 0 || errno != EINTR {
                    failure = step == 0 ? 0 : errno
                    return
                }
            }
        }
        guard failure == 0 else { throw FolderError(errno: failure) }
        guard content.count <= limit else { throw .tooLarge(content.count) }
        return content
    }
}

private func withTerminated<Result>(_ name: [UInt8], _ body: (UnsafePointer<CChar>) -> Result) -> Result {
    (name + [0]).withUnsafeBufferPointer { bytes in
        bytes.withMemoryRebound(to: CChar.self) { body($0.baseAddress!) }
    }
}
