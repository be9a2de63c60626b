import Foundation
import Testing

@testable import activityhost

@Suite("Data directory")
struct DataDirectoryTests {
    /// A data directory that is gone when the test is.
    private final class Scratch {
        let data: DataDirectory

        init() throws {
            let path = NSTemporaryDirectory() + "data-" + UUID().uuidString + "/deep/er"
            data = try DataDirectory(try Arguments(["--data", path], options: [.data], environment: [:]))
        }

        deinit { try? FileManager.default.removeItem(atPath: data.path) }

        func mode(_ name: String) -> mode_t {
            var status = stat()
            return stat(data.path + name, &status) == 0 ? status.st_mode & 0o777 : 0
        }
    }

    @Test("It is made for its owner alone, with a token that stays the same")
    func makesToken() throws {
        let scratch = try Scratch()
        try scratch.data.make()
        try scratch.data.make()
        #expect(try scratch.data.readOperatorToken() == nil)
        let token = try scratch.data.operatorToken()
        #expect(token.utf8.count == 22)
        #expect(try scratch.data.operatorToken() == token)
        #expect(scratch.mode("") == 0o700 && scratch.mode("/operator-token") == 0o600)
        #expect(!scratch.data.isOpenToOthers)
    }

    @Test("A token that others can read, or that is none, is refused", arguments: [("0123456789abcdef0123", 0o644), ("short", 0o600), ("", 0o600)])
    func refusesTokens(text: String, mode: Int) throws {
        let scratch = try Scratch()
        try scratch.data.make()
        let path = scratch.data.path + "/operator-token"
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        chmod(path, mode_t(mode))
        #expect(throws: Failure.self) { try scratch.data.operatorToken() }
    }

    @Test("A file in place of the folder is refused for what it is")
    func refusesFiles() throws {
        let scratch = try Scratch()
        try scratch.data.make()
        rmdir(scratch.data.path)
        try Data().write(to: URL(fileURLWithPath: scratch.data.path))
        let error = #expect(throws: Failure.self) { try scratch.data.make() }
        #expect(error.map { String(describing: $0).contains("no directory") } == true)
    }

    @Test("A link in place of the token is refused")
    func refusesLinks() throws {
        let scratch = try Scratch()
        try scratch.data.make()
        try FileManager.default.createSymbolicLink(atPath: scratch.data.path + "/operator-token", withDestinationPath: "elsewhere")
        #expect(throws: Failure.self) { try scratch.data.operatorToken() }
    }

    @Test("One host has the folder at a time")
    func isTakenOnce() throws {
        let scratch = try Scratch()
        try scratch.data.make()
        #expect(try scratch.data.takeForHost())
        #expect(try !scratch.data.takeForHost())
    }

    @Test("What is told of the running host can be read back")
    func recordsHosts() throws {
        let scratch = try Scratch()
        try scratch.data.make()
        #expect(scratch.data.readRecord() == nil)
        let record = HostRecord(process: 42, address: "::1", port: 4750)
        try scratch.data.writeRecord(record)
        #expect(scratch.data.readRecord() == record)
        #expect(scratch.mode("/host.json") == 0o600)
        scratch.data.removeRecord()
        #expect(scratch.data.readRecord() == nil)
    }

    @Test(
        "A record that is none is no record",
        arguments: ["", "{}", "[1]", #"{"pid":1,"address":"a","port":70000}"#, #"{"pid":"1","address":"a","port":7}"#])
    func refusesRecords(text: String) {
        #expect(HostRecord(json: Array(text.utf8)) == nil)
    }
}
