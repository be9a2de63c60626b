import Foundation

/// A temporary directory of activities, removed with its owner.
final class ActivitiesFolder: Sendable {
    let path: String

    init() {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("activities-\(UUID().uuidString)").path
        try! FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    static func text(_ identifier: String, title: String = "Sample") -> String {
        "return { identifier = \"org.example.\(identifier)\", metadata = { title = \"\(title)\" } }\n"
    }

    /// Writes a file, and the folders above it.
    func write(_ file: String, _ content: some Collection<UInt8>) {
        let url = URL(fileURLWithPath: path).appendingPathComponent(file)
        try! FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try! Data(content).write(to: url)
    }

    func write(_ file: String, _ content: String) { write(file, Array(content.utf8)) }

    /// Writes a script that loads, named by its identifier.
    func writeScript(_ file: String, identifier: String) { write(file, Self.text(identifier)) }

    func makeFolder(_ name: String) { try! FileManager.default.createDirectory(atPath: "\(path)/\(name)", withIntermediateDirectories: true) }

    func link(_ name: String, to target: String) {
        try! FileManager.default.createSymbolicLink(atPath: "\(path)/\(name)", withDestinationPath: target)
    }

    func makeFIFO(_ name: String) { precondition(mkfifo("\(path)/\(name)", 0o644) == 0) }

    /// A file of this many bytes that takes no room.
    func makeSparse(_ name: String, bytes: Int) {
        write(name, "")
        precondition(truncate("\(path)/\(name)", bytes) == 0)
    }

    /// A file whose name is these bytes.
    func writeRaw(_ name: [UInt8], _ content: String) {
        let full = (Array("\(path)/".utf8) + name + [0]).map(CChar.init(bitPattern:))
        let file = fopen(full, "w")!
        fputs(content, file)
        fclose(file)
    }

    func rename(_ from: String, to: String) { precondition(Foundation.rename("\(path)/\(from)", "\(path)/\(to)") == 0) }

    func remove(_ name: String) { try! FileManager.default.removeItem(atPath: "\(path)/\(name)") }
}
