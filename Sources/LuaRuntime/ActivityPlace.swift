/// A place in a watched directory that looks like an activity: `<name>.lua` or `<name>/` with an `activity.lua`.
struct ActivityPlace {
    enum Form: Equatable {
        case file
        case folder
    }

    /// What the name would be; it need not be a good one.
    var name: String
    var form: Form
    /// The entry's name in the directory.
    var entry: FolderEntry
    /// Where it is, for people and for the page's files.
    var path: String

    /// Whether a name is one of the contract's: `[a-z][a-z0-9-]{0,63}`.
    static func isName(_ name: some StringProtocol) -> Bool {
        let letters = name.utf8
        guard let first = letters.first, letters.count <= 64, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first) else { return false }
        return letters.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
            default: false
            }
        }
    }

    /// All places of a directory, by name, a folder before a file of its name.
    static func all(in directory: borrowing FolderReader, path: String) throws(FolderError) -> [ActivityPlace] {
        var places: [ActivityPlace] = []
        for entry in try directory.entries() {
            if let stem = entry.scriptStem {
                places.append(
                    ActivityPlace(name: String(decoding: stem, as: UTF8.self), form: .file, entry: entry, path: "\(path)/\(entry.text)"))
            } else if entry.stamp.kind == .folder || entry.stamp.kind == .symbolicLink,
                directory.leadsSomewhere(entry.name + Array("/activity.lua".utf8))
            {
                places.append(ActivityPlace(name: entry.text, form: .folder, entry: entry, path: "\(path)/\(entry.text)"))
            }
        }
        return places.sorted { ($0.name, $0.form == .file ? 1 : 0) < ($1.name, $1.form == .file ? 1 : 0) }
    }

    /// The file that shows in reports, relative to the watched directory.
    func shown(_ file: String) -> String {
        switch form {
        case .file: entry.text
        case .folder: file.isEmpty ? entry.text : "\(entry.text)/\(file)"
        }
    }
}
