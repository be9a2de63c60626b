internal import ActivityModel
internal import WebSockets

extension Gateway {
    /// The pages that people see, and what they load.
    var pageRoutes: [Router.Route] {
        let pages = self.pages
        return [
            .init(.get, "/") { pages.serveWeb($0, ["index.html"]) },
            .init(.get, "/favicon.ico") { pages.serveWeb($0, ["favicon.svg"]) },
            .init(.get, "/favicon.svg") { pages.serveWeb($0, ["favicon.svg"]) },
            .init(.get, "/j/{}") { [unowned self] in serveGroupPage($0) },
            .init(.get, "/j/{}/qr.svg") { [unowned self] in serveQRCode($0) },
            .init(.get, "/web/{*}") { pages.serveWeb($0, $0.captures) },
            .init(.get, "/sdk/{*}") { pages.serveWeb($0, ["sdk"] + $0.captures) },
            .init(.get, "/media/{*}") { pages.serveMedia($0) },
            .init(.get, "/activities/{}") { [unowned self] in redirectToFolder($0) },
            .init(.get, "/activities/{}/{*}") { [unowned self] visit in
                pages.serveActivity(visit, activities.page(of: visit.captures[0]), Array(visit.captures.dropFirst()))
            },
        ]
    }

    /// The page is the same for every code: it asks for the group itself, and shows a refusal better than a status code does.
    private func serveGroupPage(_ visit: Visit) {
        pages.serveWeb(visit, ["group.html"], status: Invitation(visit.captures[0]) == nil ? 404 : 200)
    }

    private func serveQRCode(_ visit: Visit) {
        guard let invitation = Invitation(visit.captures[0]), let code = QRCode(invitation.url(at: linkOrigin(visit.caller))) else {
            return visit.answer(Refusal.notFound)
        }
        let headers: [HTTPHeaders.Field] = [
            .init(name: "content-type", value: ContentType.of("qr.svg")), .init(name: "cache-control", value: "no-cache"),
        ]
        visit.answer(HTTPResponse(status: 200, headers: headers + PagePolicy(caller: visit.caller).headers, body: .bytes(code.svg)))
    }

    /// Without the slash, the page's relative links would lead elsewhere.
    private func redirectToFolder(_ visit: Visit) {
        let name = visit.captures[0]
        guard activities.page(of: name) != nil else { return visit.answer(Refusal.notFound) }
        let target = "/activities/\(name)/" + (visit.request.query.map { "?\($0)" } ?? "")
        visit.answer(HTTPResponse(status: 308, headers: [.init(name: "location", value: target)]))
    }

    /// The origin that links for others begin with.
    func linkOrigin(_ caller: Caller) -> WebOrigin {
        configuration.publicURLs.first ?? (caller.host.isLoopback ? configuration.advertisedOrigin : caller.origin)
    }
}

/// What brings somebody into a group: its code, or the token of an invitation link.
enum Invitation {
    case code(GroupCode)
    case link(SecretToken)

    init?(_ text: String) {
        if let code = GroupCode(text) {
            self = .code(code)
        } else if let token = SecretToken(text) {
            self = .link(token)
        } else {
            return nil
        }
    }

    func url(at origin: WebOrigin) -> String {
        switch self {
        case .code(let code): "\(origin.text)/j/\(code)"
        case .link(let token): "\(origin.text)/j/\(token)"
        }
    }
}
