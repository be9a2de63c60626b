internal import ActivityModel
internal import SessionCore
internal import SessionHost
internal import WebSockets

extension Gateway {
    /// Opening groups, looking at one before joining it, and taking results along.
    var groupRoutes: [Router.Route] {
        [
            .init(.post, "/v1/groups") { [unowned self] in createGroup($0) },
            .init(.get, "/v1/groups/{}") { [unowned self] in previewGroup($0) },
            .init(.get, "/v1/groups/{}/sessions/{}/export/{}") { [unowned self] in export($0) },
        ]
    }

    private func createGroup(_ visit: Visit) {
        if let refusal = mayCreate(visit) { return visit.answer(refusal) }
        let wish: GroupWish
        switch GroupWish.read(visit.request) {
        case .success(let read): wish = read
        case .failure(let refusal): return visit.answer(refusal)
        }
        let origin = linkOrigin(visit.caller)
        host.createGroup(activity: wish.activity, parameters: wish.parameters) { result in
            switch result {
            case .failure(let rejection): visit.answer(Refusal(rejection))
            case .success(let group):
                let body = JSONValue.object([
                    .init(key: "code", value: .string(group.code.description)),
                    .init(key: "url", value: .string(Invitation.code(group.code).url(at: origin))),
                    .init(key: "token", value: .string(group.seat.description)),
                    .init(key: "session", value: group.session.map { .string($0.description) } ?? .null),
                ])
                visit.answer(.json(body.text, status: 201))
            }
        }
    }

    private func mayCreate(_ visit: Visit) -> Refusal? {
        if visit.caller.isOperator { return nil }
        guard configuration.isOpenToAll else {
            return Refusal(
                visit.caller.bearer == nil ? 401 : 403, "forbidden",
                "only the operator opens groups here: send the token of the data directory's operator-token, or start the host with --open-to-all")
        }
        let now = MonotonicClock.milliseconds
        return groupBudget.take(visit.caller.address, at: now).map {
            Refusal(429, "rate_limited", "too many new groups from this address", retryMs: $0)
        }
    }

    private func previewGroup(_ visit: Visit) {
        switch host.preview(visit.captures[0], address: visit.caller.address) {
        case .failure(.malformed), .failure(.noSuchGroup): visit.answer(Refusal.noSuchGroup)
        case .failure(.ended): visit.answer(Refusal(410, "group_ended", "this group has ended"))
        case .failure(.tooManyTries(let retry)): visit.answer(Refusal.tooManyTries(retry))
        case .success(let preview): visit.answer(.json(Self.json(preview, url: Invitation.code(preview.code).url(at: linkOrigin(visit.caller)))))
        }
    }

    /// The card that is shown before somebody joins: what goes on, and how many are in. No names, no secrets.
    private static func json(_ preview: GroupPreview, url: String) -> [UInt8] {
        var out = Array("{\"code\":\"\(preview.code)\",\"url\":".utf8)
        out.appendJSON(url)
        out += Array(",\"locked\":\(preview.locked),\"members\":\(preview.members),\"sessions\":".utf8)
        HostEnvelope.list(preview.sessions, into: &out) { session, out in
            out += Array("{\"id\":\"\(session.id)\",\"activity\":".utf8)
            out.appendJSON(session.activity)
            out.append(text: ",\"title\":")
            out.appendJSON(session.title)
            out.append(text: ",\"metadata\":")
            out += session.metadata
            out += Array(",\"participants\":\(session.participants)}".utf8)
        }
        out.append(text: "}\n")
        return out
    }

    private func export(_ visit: Visit) {
        let (code, session, kind) = (visit.captures[0], visit.captures[1], visit.captures[2])
        // On the host's own machine everybody is the operator, but who shows a seat is that member.
        let seat = visit.caller.bearer
        host.export(
            code: code, session: session, kind: kind, seat: seat, isOperator: visit.caller.isOperator, address: visit.caller.address
        ) { result in
            switch result {
            case .success(let content):
                visit.answer(Self.attachment(content, name: "\(GroupCode(code)?.description ?? "group")-\(session)", kind: kind))
            case .failure(.noSuchGroup): visit.answer(Refusal.noSuchGroup)
            case .failure(.noSuchSession): visit.answer(Refusal(404, "no_such_session", "the group has no session of this id"))
            case .failure(.noSuchKind): visit.answer(Refusal(404, "not_found", "the activity has no export of this kind"))
            case .failure(.forbidden):
                visit.answer(
                    Refusal(
                        visit.caller.bearer == nil ? 401 : 403, "forbidden", "send the seat of one of the group's members: Authorization: Bearer SEAT"
                    ))
            case .failure(.failed): visit.answer(Refusal(500, "activity_failed", "the activity's export failed; its author was told"))
            case .failure(.tooManyTries(let retry)): visit.answer(Refusal.tooManyTries(retry))
            case .failure(.rateLimited(let rejection)): visit.answer(Refusal(rejection))
            }
        }
    }

    private static func attachment(_ content: [UInt8], name: String, kind: String) -> HTTPResponse {
        HTTPResponse(
            status: 200,
            headers: [
                .init(name: "content-type", value: ContentType.of(".\(kind)")),
                .init(name: "content-disposition", value: "attachment; filename=\"\(name).\(kind)\""),
                .init(name: "cache-control", value: "no-store"),
            ],
            body: .bytes(content))
    }
}

/// What the body of `POST /v1/groups` asks for.
private struct GroupWish {
    var activity: String?
    var parameters = Array("{}".utf8)

    static func read(_ request: HTTPRequest) -> Result<GroupWish, Refusal> {
        let type = request.headers["content-type"]?.split(separator: ";", omittingEmptySubsequences: false).first ?? ""
        guard type.filter({ $0 != " " && $0 != "\t" }).lowercased() == "application/json" else {
            return .failure(Refusal(415, "unsupported_media_type", "send application/json"))
        }
        let body: JSONValue
        do throws(JSONError) {
            body = try JSONValue.parse(request.body)
        } catch {
            return .failure(Refusal(400, "invalid_message", "the body is no JSON: \(error.message) at \(error.offset)"))
        }
        guard body.fields != nil else { return .failure(Refusal(400, "invalid_message", "an object is expected")) }
        var wish = GroupWish()
        switch body["activity"] {
        case nil, .null: break
        case .string(let name): wish.activity = name
        default: return .failure(Refusal(400, "invalid_message", "activity: string expected"))
        }
        switch body["parameters"] {
        case nil, .null: break
        case .object(let fields): wish.parameters = JSONValue.object(fields).text
        default: return .failure(Refusal(400, "invalid_message", "parameters: object expected"))
        }
        return .success(wish)
    }
}
