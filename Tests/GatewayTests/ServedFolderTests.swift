import Foundation
import Testing

@testable import Gateway

/// A folder with a secret beside what may be served, and every way out that a file system has.
private final class Planted {
    let root: String
    var served: String { root + "/page" }

    init() throws {
        root = NSTemporaryDirectory() + "served-" + UUID().uuidString
        let manager = FileManager.default
        try manager.createDirectory(atPath: root + "/page/sub", withIntermediateDirectories: true)
        try manager.createDirectory(atPath: root + "/page/.git", withIntermediateDirectories: true)
        for (path, text) in [
            ("secret.txt", "SECRET"), ("page/index.html", "index"), ("page/sub/a file.txt", "inner"), ("page/.hidden", "SECRET"),
            ("page/.git/config", "SECRET"), ("page/back\\slash", "SECRET"),
        ] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: root + "/" + path))
        }
        try manager.createSymbolicLink(atPath: root + "/page/link.txt", withDestinationPath: root + "/secret.txt")
        try manager.createSymbolicLink(atPath: root + "/page/inner-link", withDestinationPath: "index.html")
        try manager.createSymbolicLink(atPath: root + "/page/folder-link", withDestinationPath: root)
        try manager.createSymbolicLink(atPath: root + "/linked-page", withDestinationPath: "page")
        mkfifo(root + "/page/pipe", 0o600)
    }

    deinit { try? FileManager.default.removeItem(atPath: root) }
}

@Suite("Served folders")
struct ServedFolderTests {
    @Test("Regular files are served, also below", arguments: [(["index.html"], 5), (["sub", "a file.txt"], 5)])
    func servesFiles(components: [String], size: Int) throws {
        let planted = try Planted()
        let file = try #require(ServedFolder(path: planted.served).open(components))
        defer { file.close() }
        #expect(file.size == size)
        #expect(file.entityTag.hasPrefix("\"") && file.entityTag.hasSuffix("\""))
    }

    @Test(
        "Nothing else is: no way up, no link, no dot file, no folder, no pipe",
        arguments: [
            [], [""], ["."], [".."], ["..", "secret.txt"], ["sub", "..", "index.html"], ["sub"], ["sub", ""], ["", "index.html"], [".hidden"],
            [".git", "config"], ["link.txt"], ["inner-link"], ["folder-link", "secret.txt"], ["pipe"], ["missing"], ["index.html", "x"],
            ["../secret.txt"],
            ["sub/a file.txt"], ["back\\slash"], ["index.html\u{0}"], ["index.html\u{0}.txt"], [String(repeating: "a", count: 300)],
            ["/", "secret.txt"],
        ])
    func servesNothingElse(components: [String]) throws {
        let planted = try Planted()
        #expect(ServedFolder(path: planted.served).open(components) == nil)
    }

    @Test("A folder inside that is a link is no way in")
    func refusesLinkedInside() throws {
        let planted = try Planted()
        #expect(ServedFolder(path: planted.root, inside: ["linked-page"]).open(["index.html"]) == nil)
        let file = try #require(ServedFolder(path: planted.root, inside: ["page"]).open(["index.html"]))
        file.close()
    }

    @Test("The entity tag changes with the file")
    func tagChanges() throws {
        let planted = try Planted()
        let folder = ServedFolder(path: planted.served)
        let before = try #require(folder.open(["index.html"]))
        before.close()
        try Data("other".utf8).write(to: URL(fileURLWithPath: planted.served + "/index.html"), options: .atomic)
        let after = try #require(folder.open(["index.html"]))
        after.close()
        #expect(before.entityTag != after.entityTag)
    }
}
