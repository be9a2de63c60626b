import ActivityModel
import SessionCore
import Testing

@testable import LuaRuntime

@Suite("A further scan of the catalogue")
struct CatalogueRescanTests {
    private let folder = ActivitiesFolder()
    private let catalogue: Catalogue

    init() { catalogue = Catalogue(directories: [folder.path], limits: Limits()) }

    @Test("says the same where nothing changed")
    func unchanged() {
        folder.writeScript("good.lua", identifier: "good")
        folder.write("bad.lua", "return (")
        let first = catalogue.scan().rows
        #expect(first.count == 2)
        #expect(catalogue.scan().rows == first)
    }

    @Test("sees a change at once, even of the same size in the same moment")
    func sameSize() {
        var hashes: Set<String> = []
        for number in 10..<60 {
            folder.write("good.lua", ActivitiesFolder.text("good", title: "No. \(number)"))
            let activity = catalogue.scan().activities.first
            #expect(activity?.title == "No. \(number)")
            hashes.insert(activity?.script.hash ?? "")
        }
        #expect(hashes.count == 50)
    }

    @Test("picks up what was broken and is repaired, renamed over, given a page, or removed")
    func changes() {
        folder.write("good/activity.lua", "return {")
        #expect(catalogue.scan().broken.map(\.name) == ["good"])
        folder.writeScript("good/activity.lua", identifier: "good")
        #expect(catalogue.scan().activities.map(\.identifier) == ["org.example.good"])
        folder.writeScript("next", identifier: "next")
        folder.rename("next", to: "good/activity.lua")
        #expect(catalogue.scan().activities.map(\.identifier) == ["org.example.next"])
        folder.write("good/page/index.html", "")
        #expect(catalogue.scan().activities.map(\.hasPage) == [true])
        folder.write("good/module.lua", "return 1")
        #expect(catalogue.scan().activities.first?.script.files.count == 2)
        folder.remove("good")
        #expect(catalogue.scan().rows.isEmpty)
    }

    @Test("bears a script that arrives byte by byte")
    func slowCopy() {
        let text = Array((ActivitiesFolder.text("slow") + "-- " + String(repeating: "x", count: 40)).utf8)
        for count in 0...text.count {
            folder.write("slow.lua", text.prefix(count))
            let state = catalogue.scan()
            #expect(state.activities.count + state.broken.count == 1)
        }
        #expect(catalogue.scan().activities.map(\.name) == ["slow"])
    }

    @Test("bears a thousand changes that run while it scans")
    func concurrentChanges() {
        let changing = folder
        let changes = ScriptThread {
            for number in 0..<1000 {
                changing.write("busy/activity.lua", number % 3 == 0 ? "return {" : ActivitiesFolder.text("busy"))
                if number % 7 == 0 { changing.remove("busy") }
            }
        }
        for _ in 0..<50 { #expect(catalogue.scan().rows.count <= 2) }
        changes.join()
        folder.writeScript("good.lua", identifier: "good")
        #expect(catalogue.scan().activities.contains { $0.name == "good" })
    }
}
