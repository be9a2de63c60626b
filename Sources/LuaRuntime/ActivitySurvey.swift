import SessionCore

/// Why a place cannot be an activity, before any script was loaded.
struct PlaceError: Error, Equatable {
    enum Code: String {
        case invalidName = "invalid_name"
        case nameTaken = "name_taken"
        case identifierTaken = "identifier_taken"
        case notRegular = "not_a_regular_file"
        case tooLarge = "too_large"
        case unreadable
    }

    var code: Code
    /// The source file concerned, relative to the activity's folder; empty if it is the place itself.
    var file: String
    var message: String

    init(_ code: Code, file: String = "", _ message: String) {
        self.code = code
        self.file = file
        self.message = message
    }

    init(_ error: FolderError, file: String) {
        switch error {
        case .missing: self.init(.unreadable, file: file, "It is not there any more.")
        case .notRegular(.symbolicLink):
            self.init(.notRegular, file: file, "It is a symbolic link; put the file or folder itself here, or give its parent with --activities.")
        case .notRegular(.folder): self.init(.notRegular, file: file, "It is a folder; a file was expected.")
        case .notRegular: self.init(.notRegular, file: file, "It is not a regular file.")
        case .tooLarge(let size):
            self.init(.tooLarge, file: file, "It has \(size) bytes; a source has \(ActivitySurvey.maximumSourceBytes) at most.")
        case .system(let reason): self.init(.unreadable, file: file, "It cannot be read: \(reason).")
        }
    }

    func report(activity: String) -> AuthorReport {
        AuthorReport(activity: activity, code: code.rawValue, file: file, line: 0, message: message, trace: "", handler: "")
    }
}

/// What stands in an activity's place without having been read: enough to know whether it has changed.
struct ActivitySurvey: Equatable {
    static let maximumSourceBytes = 256 << 10
    private static let maximumSources = 64
    private static let maximumBytes = 1 << 20
    private static let main = "activity.lua"

    /// The main source first, then the others by name.
    private var sources: [FolderEntry]
    private(set) var hasPage = false

    /// Looks at a place of `directory`.
    init(_ place: ActivityPlace, in directory: borrowing FolderReader) throws(PlaceError) {
        switch place.form {
        case .file:
            sources = [place.entry]
        case .folder:
            guard place.entry.stamp.kind == .folder else { throw PlaceError(.notRegular(place.entry.stamp.kind), file: "") }
            do throws(FolderError) {
                let folder = try FolderReader(place.entry.name, in: directory)
                let scripts = try folder.entries().filter { $0.scriptStem != nil }
                sources = scripts.filter { $0.text == Self.main } + scripts.filter { $0.text != Self.main }
                hasPage = Self.hasPage(folder)
            } catch {
                throw PlaceError(error, file: "")
            }
            guard sources.first?.text == Self.main else { throw PlaceError(.missing, file: Self.main) }
        }
        try check()
    }

    /// When something here changed last, in nanoseconds since 1970.
    var changed: Int64 { sources.map(\.stamp.changed).max() ?? .max }

    /// Reads all sources of a place that was found like this.
    func read(_ place: ActivityPlace, in directory: borrowing FolderReader) throws(PlaceError) -> ScriptSource {
        var files: [ScriptSource.File] = []
        switch place.form {
        case .file:
            files.append(try Self.read(place.entry, in: directory))
        case .folder:
            let folder: FolderReader
            do throws(FolderError) { folder = try FolderReader(place.entry.name, in: directory) } catch { throw PlaceError(error, file: "") }
            for source in sources { files.append(try Self.read(source, in: folder)) }
        }
        try Self.checkTotal(files.reduce(0) { $0 + $1.text.count })
        return ScriptSource(activity: place.name, files: files, hash: Self.hash(files))
    }

    private func check() throws(PlaceError) {
        guard sources.count <= Self.maximumSources else {
            throw PlaceError(.tooLarge, "It has \(sources.count) source files; \(Self.maximumSources) are allowed.")
        }
        for source in sources {
            guard source.isText else { throw PlaceError(.invalidName, file: source.text, "The name of this source file is not UTF-8.") }
            guard source.stamp.kind == .regular else { throw PlaceError(.notRegular(source.stamp.kind), file: source.text) }
            guard source.stamp.size <= Self.maximumSourceBytes else { throw PlaceError(.tooLarge(source.stamp.size), file: source.text) }
        }
        try Self.checkTotal(sources.reduce(0) { $0 + $1.stamp.size })
    }

    private static func checkTotal(_ bytes: Int) throws(PlaceError) {
        guard bytes > maximumBytes else { return }
        throw PlaceError(.tooLarge, "Its source files have \(bytes) bytes together; \(maximumBytes) are allowed.")
    }

    private static func read(_ source: FolderEntry, in folder: borrowing FolderReader) throws(PlaceError) -> ScriptSource.File {
        do throws(FolderError) {
            return ScriptSource.File(name: source.text, text: try folder.read(source.name, limit: maximumSourceBytes))
        } catch {
            throw PlaceError(error, file: source.text)
        }
    }

    private static func hasPage(_ folder: borrowing FolderReader) -> Bool {
        guard let page = try? FolderReader(Array("page".utf8), in: folder) else { return false }
        return page.stamp(Array("index.html".utf8))?.kind == .regular
    }

    /// Lengths stand before names and texts, so that no two lists of files run together into the same bytes.
    private static func hash(_ files: [ScriptSource.File]) -> String {
        var bytes: [UInt8] = []
        for file in files {
            for part in [Array(file.name.utf8), file.text] {
                withUnsafeBytes(of: UInt64(part.count).littleEndian) { bytes.append(contentsOf: $0) }
                bytes += part
            }
        }
        return SHA256.hexadecimal(bytes)
    }
}
