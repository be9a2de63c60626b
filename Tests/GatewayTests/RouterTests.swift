import Testing

@testable import Gateway

@Suite("Router")
struct RouterTests {
    private let router = Router(
        routes: [
            .init(.get, "/") { _ in }, .init(.get, "/j/{}") { _ in }, .init(.get, "/web/{*}") { _ in }, .init(.post, "/v1/groups") { _ in },
            .init(.get, "/v1/groups/{}/sessions/{}/export/{}") { _ in },
        ])

    @Test(
        "A path finds its route and what the placeholders stand for",
        arguments: [
            ("/", []), ("/j/BCDFGH", ["BCDFGH"]), ("/J/bcd-fgh", ["bcd-fgh"]), ("/web/a/b.js", ["a", "b.js"]), ("/web/", [""]),
            ("/web/a//b", ["a", "", "b"]), ("/web/../x", ["..", "x"]), ("/v1/groups/BCDFGH/sessions/s1/export/csv", ["BCDFGH", "s1", "csv"]),
        ])
    func finds(path: String, captures: [String]) {
        guard case .found(_, let found) = router.match(method: "GET", path: path) else {
            Issue.record("\(path) has no route")
            return
        }
        #expect(found == captures)
    }

    @Test(
        "Other paths have no route", arguments: ["", "//", "/j", "/j/", "/j/a/b", "/x", "/web", "/v1/groups/BCDFGH/sessions/s1/export/", "j/BCDFGH"])
    func findsNothing(path: String) {
        guard case .nothing = router.match(method: "GET", path: path) else {
            Issue.record("\(path) has a route")
            return
        }
    }

    @Test(
        "Other methods are told which there are",
        arguments: [("DELETE", "/v1/groups", "POST"), ("GET", "/v1/groups", "POST"), ("POST", "/", "GET, HEAD"), ("get", "/", "GET, HEAD")])
    func tellsMethods(method: String, path: String, allow: String) {
        guard case .otherMethods(let found) = router.match(method: method, path: path) else {
            Issue.record("\(method) \(path) is not refused")
            return
        }
        #expect(found == allow)
    }

    @Test("HEAD is answered like GET")
    func headIsGet() {
        guard case .found = router.match(method: "HEAD", path: "/") else {
            Issue.record("HEAD / has no route")
            return
        }
    }
}
