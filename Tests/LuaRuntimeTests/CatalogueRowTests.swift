import ActivityModel
import SessionCore
import Testing

@testable import LuaRuntime

@Suite("A row of the catalogue")
struct CatalogueRowTests {
    private let row = CatalogueRow(
        ActivityDescription(
            name: "sample", identifier: "org.example.sample", version: 2, metadata: Array(#"{"title":"A \"b\""}"#.utf8), title: "A \"b\"",
            messages: [:], endsWhenInitiatorLeaves: false, exports: [], schemas: Array(#"{"parameters":{},"messages":{}}"#.utf8),
            hasPage: true, script: ScriptSource(activity: "sample", files: [], hash: "0")), path: "/srv/sample")
    private let broken = CatalogueRow(
        name: "bad", path: "/srv/bad", error: .init(file: "bad/activity.lua", line: 3, code: "load_failed", message: "no"))

    private func text(_ row: CatalogueRow, _ reader: CatalogueRow.Reader) -> String {
        var out: [UInt8] = []
        row.write(into: &out, for: reader)
        return String(decoding: out, as: UTF8.self)
    }

    @Test("tells the operator where an activity is, and nobody else")
    func readers() {
        let shared =
            #"{"name":"sample","identifier":"org.example.sample","version":2,"metadata":{"title":"A \"b\""},"page":true,"#
            + #""parameters":{},"messages":{}"#
        #expect(text(row, .anyone) == shared + "}")
        #expect(text(row, .operator) == shared + #","path":"/srv/sample"}"#)
    }

    @Test("tells the operator what is wrong with a broken activity")
    func brokenRow() {
        let problem = #""error":{"file":"bad/activity.lua","line":3,"position":"bad/activity.lua:3","code":"load_failed","message":"no"}"#
        #expect(text(broken, .operator) == #"{"name":"bad","path":"/srv/bad","# + problem + "}")
        #expect(text(broken, .anyone) == #"{"name":"bad"}"#)
        #expect(broken.error?.position == "bad/activity.lua:3")
    }
}

@Suite("SHA-256")
struct SHA256Tests {
    @Test(
        "matches the published examples",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
        ])
    func examples(text: String, hash: String) {
        #expect(SHA256.hexadecimal(Array(text.utf8)) == hash)
    }

    @Test("pads every length")
    func million() {
        let letters = [UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000)
        #expect(SHA256.hexadecimal(letters) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
        #expect(Set((50..<130).map { SHA256.hexadecimal(Array(letters.prefix($0))) }).count == 80)
    }
}
