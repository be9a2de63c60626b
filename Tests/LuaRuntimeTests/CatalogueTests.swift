import ActivityModel
import SessionCore
import Testing

@testable import LuaRuntime

@Suite("The catalogue")
struct CatalogueTests {
    private let folder = ActivitiesFolder()

    private func scan() -> CatalogueState { Catalogue(directories: [folder.path], limits: Limits()).scan() }

    @Test("finds files and folders, their pages, modules and metadata, by name")
    func finds() throws {
        folder.write(
            "zeta/activity.lua",
            """
            local cards = require "cards"
            return {
              identifier = "org.example.zeta", version = 3,
              metadata = { title = { de = "Zett", en = "Zeta" }, lifetime = "ends_when_initiator_leaves" },
              parameters = { size = "integer?" },
              messages = { move_card = { "moderator", "targeted", card = cards.schema }, pointer = { "latest", x = "number" } },
              export = { csv = function() return "" end },
            }
            """)
        folder.write("zeta/cards.lua", "return { schema = \"id\" }")
        folder.write("zeta/tests/first.lua", "this is no module")
        folder.write("zeta/page/index.html", "<!doctype html>")
        folder.writeScript("alpha.lua", identifier: "alpha")
        folder.write("README.md", "# Activities")
        folder.write(".hidden.lua", "(")
        folder.makeFolder("notes")
        let state = scan()
        #expect(state.broken == [])
        #expect(state.activities.map(\.name) == ["alpha", "zeta"])
        let zeta = try #require(state.activities.last)
        #expect(zeta.identifier == "org.example.zeta")
        #expect(zeta.version == 3)
        #expect(zeta.title == "Zeta")
        #expect(zeta.hasPage)
        #expect(zeta.endsWhenInitiatorLeaves)
        #expect(zeta.exports == ["csv"])
        #expect(zeta.messages["move_card"] == MessageType(delivery: .durable, right: .moderator, targeted: true))
        #expect(zeta.messages["pointer"] == MessageType(delivery: .latest, right: .participant, targeted: false))
        #expect(zeta.script.files.map(\.name) == ["activity.lua", "cards.lua"])
        #expect(zeta.script.hash.count == 64)
        let schemas = try JSONValue.parse(zeta.schemas)
        #expect(schemas["messages"]?["pointer"]?["delivery"] == .string("latest"))
        #expect(schemas["messages"]?["pointer"]?["properties"]?["x"] != nil)
        #expect(schemas["parameters"]?["properties"]?["size"] != nil)
        #expect(!state.activities[0].hasPage)
        #expect(state.rows.map(\.path) == ["\(folder.path)/alpha.lua", "\(folder.path)/zeta"])
    }

    /// A hostile thing in the folder, the code it is listed with (its beginning, where budgets race), and the file shown.
    struct Hostile: Sendable, CustomTestStringConvertible {
        var what: String
        var code: String
        var shown: String
        var make: @Sendable (ActivitiesFolder) -> Void
        var testDescription: String { what }

        init(_ what: String, code: String, shown: String = "bad.lua", _ make: @escaping @Sendable (ActivitiesFolder) -> Void) {
            self.what = what
            self.code = code
            self.shown = shown
            self.make = make
        }
    }

    static let hostile: [Hostile] = [
        Hostile("a syntax error", code: "load_failed") { $0.write("bad.lua", "return {\n\n  = }") },
        Hostile("an empty file", code: "load_failed") { $0.write("bad.lua", "") },
        Hostile("a script that never ends", code: "budget_") { $0.write("bad.lua", "while true do end") },
        Hostile("a script that eats memory", code: "budget_") {
            $0.write("bad.lua", "local t = {} while true do t[#t + 1] = ('x'):rep(1000000) .. #t end")
        },
        Hostile("a script that raises", code: "load_failed") { $0.write("bad.lua", "error('no')") },
        Hostile("bytecode", code: "load_failed") { $0.write("bad.lua", [0x1B, 0x4C, 0x75, 0x61, 0x54, 0, 0x19, 0x93]) },
        Hostile("text that is not UTF-8", code: "load_failed") { $0.write("bad.lua", [0x72, 0xFF, 0xFE]) },
        Hostile("a file of 1 GB", code: "too_large") { $0.makeSparse("bad.lua", bytes: 1 << 30) },
        Hostile("a source of 256 KiB and a byte", code: "too_large") { $0.makeSparse("bad.lua", bytes: (256 << 10) + 1) },
        Hostile("a FIFO", code: "not_a_regular_file") { $0.makeFIFO("bad.lua") },
        Hostile("a FIFO in a folder", code: "not_a_regular_file", shown: "bad/activity.lua") {
            $0.makeFolder("bad")
            $0.makeFIFO("bad/activity.lua")
        },
        Hostile("a folder named like a file", code: "not_a_regular_file") { $0.writeScript("bad.lua/activity.lua", identifier: "bad") },
        Hostile("a folder in place of the script", code: "not_a_regular_file", shown: "bad/activity.lua") { $0.makeFolder("bad/activity.lua") },
        Hostile("a symbolic link to a file", code: "not_a_regular_file") {
            $0.writeScript("elsewhere/script.txt", identifier: "bad")
            $0.link("bad.lua", to: "elsewhere/script.txt")
        },
        Hostile("a symbolic link to nothing", code: "not_a_regular_file") { $0.link("bad.lua", to: "nowhere") },
        Hostile("a symbolic link to a device", code: "not_a_regular_file") { $0.link("bad.lua", to: "/dev/zero") },
        Hostile("a symbolic link to a folder", code: "not_a_regular_file", shown: "bad") {
            $0.writeScript(".elsewhere/activity.lua", identifier: "bad")
            $0.link("bad", to: ".elsewhere")
        },
        Hostile("a module that is a symbolic link", code: "not_a_regular_file", shown: "bad/secret.lua") {
            $0.writeScript("bad/activity.lua", identifier: "bad")
            $0.link("bad/secret.lua", to: "/etc/hostname")
        },
        Hostile("65 modules", code: "too_large", shown: "bad") { folder in
            folder.writeScript("bad/activity.lua", identifier: "bad")
            for number in 1...64 { folder.write("bad/m\(number).lua", "return \(number)") }
        },
        Hostile("modules of more than 1 MiB together", code: "too_large", shown: "bad") { folder in
            folder.writeScript("bad/activity.lua", identifier: "bad")
            for number in 1...5 { folder.makeSparse("bad/m\(number).lua", bytes: 250 << 10) }
        },
        Hostile("a name with spaces", code: "invalid_name", shown: "bad name.lua") { $0.writeScript("bad name.lua", identifier: "bad") },
        Hostile("a name of dots", code: "invalid_name", shown: "a..b.lua") { $0.writeScript("a..b.lua", identifier: "bad") },
        Hostile("a name of 65 letters", code: "invalid_name", shown: String(repeating: "b", count: 65)) {
            $0.writeScript("\(String(repeating: "b", count: 65))/activity.lua", identifier: "bad")
        },
        Hostile("a name that is not UTF-8", code: "invalid_name", shown: "b\u{FFFD}d.lua") {
            $0.writeRaw([0x62, 0xFF, 0x64] + Array(".lua".utf8), ActivitiesFolder.text("bad"))
        },
        Hostile("a name that differs in case only", code: "invalid_name", shown: "Good.lua") { $0.writeScript("Good.lua", identifier: "bad") },
        Hostile("a name that is taken", code: "name_taken", shown: "good.lua") { $0.writeScript("good.lua", identifier: "bad") },
        Hostile("an identifier that is taken", code: "identifier_taken", shown: "other.lua") { $0.writeScript("other.lua", identifier: "good") },
    ]

    @Test("lists what cannot be used with its reason, and the rest is not disturbed", arguments: hostile)
    func refuses(_ hostile: Hostile) throws {
        folder.writeScript("good/activity.lua", identifier: "good")
        hostile.make(folder)
        let state = scan()
        #expect(state.activities.map(\.name) == ["good"])
        try #require(state.broken.count == 1)
        #expect(state.broken[0].report.code.hasPrefix(hostile.code))
        #expect(!state.broken[0].report.message.isEmpty)
        let row = try #require(state.rows.first { $0.error != nil })
        #expect(row.error?.file == hostile.shown)
        #expect(state.rows.count == 2)
    }

    @Test("shows the line of an error")
    func line() {
        folder.write("bad.lua", "return {\n\n  = }")
        folder.write("worse/activity.lua", "local x = require 'helper'\nreturn x")
        folder.write("worse/helper.lua", "\n\n\nerror('no help')")
        #expect(scan().rows.map(\.error?.position) == ["bad.lua:3", "worse/helper.lua:4"])
    }

    @Test("does not take a page that is a link, or leads through one, for a page", arguments: ["page", "page/index.html"])
    func linkedPage(name: String) {
        folder.writeScript("good/activity.lua", identifier: "good")
        folder.write(".outside/index.html", "secret")
        if name == "page" {
            folder.link("good/page", to: "../.outside")
        } else {
            folder.makeFolder("good/page")
            folder.link("good/page/index.html", to: "../../.outside/index.html")
        }
        #expect(scan().activities.map(\.hasPage) == [false])
    }

    @Test("lets the first directory win a name")
    func directories() {
        let second = ActivitiesFolder()
        folder.write("same.lua", ActivitiesFolder.text("same", title: "First"))
        second.write("same/activity.lua", ActivitiesFolder.text("same", title: "Second"))
        second.writeScript("more.lua", identifier: "more")
        let state = Catalogue(directories: ["\(folder.path)//", "\(folder.path)-missing", second.path], limits: Limits()).scan()
        #expect(state.activities.map(\.title) == ["Sample", "First"])
        #expect(state.broken.map(\.path) == ["\(second.path)/same"])
        #expect(state.broken.first?.report.message == "\(folder.path)/same.lua has this name and is used instead.")
    }

    @Test("reports a directory that is none")
    func noDirectory() {
        folder.write("plain", "text")
        let state = Catalogue(directories: ["\(folder.path)/plain"], limits: Limits()).scan()
        #expect(state.broken.map(\.report.code) == ["not_a_regular_file"])
    }
}
