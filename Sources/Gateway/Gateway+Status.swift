internal import ActivityModel
internal import SessionHost
internal import WebSockets

extension Gateway {
    /// The activities that can be started, with the JSON Schemas of what they take.
    var activityRoutes: [Router.Route] {
        [
            .init(.get, "/v1/activities") { [unowned self] in listActivities($0) },
            .init(.get, "/v1/activities/{}") { [unowned self] in describeActivity($0) },
        ]
    }

    /// What watches over the host.
    var statusRoutes: [Router.Route] {
        [
            .init(.get, "/healthz") { $0.answer(.json(Array("{\"status\":\"ok\"}\n".utf8))) },
            .init(.get, "/readyz") { [unowned self] visit in
                guard isReady else { return visit.answer(Refusal(503, "unavailable", "the host is starting or stopping", retryMs: 1000)) }
                visit.answer(.json(Array("{\"status\":\"ready\"}\n".utf8)))
            },
            .init(.get, "/metrics") { [unowned self] visit in
                guard visit.caller.isOperator else {
                    return visit.answer(
                        Refusal(visit.caller.bearer == nil ? 401 : 403, "forbidden", "metrics are for the operator: send the operator's token"))
                }
                let type = HTTPHeaders.Field(name: "content-type", value: "text/plain; version=0.0.4; charset=utf-8")
                visit.answer(HTTPResponse(status: 200, headers: [type], body: .bytes(Metrics.text(host.statistics, visit.server))))
            },
        ]
    }

    private func listActivities(_ visit: Visit) {
        let isOperator = visit.caller.isOperator
        var body = Array("{\"activities\":[".utf8)
        for (index, row) in activities.all.compactMap({ $0.row(isOperator: isOperator) }).enumerated() {
            if index > 0 { body.append(UInt8(ascii: ",")) }
            body += row
        }
        body += Array("],\"may_start\":\(isOperator || configuration.isOpenToAll)}\n".utf8)
        visit.answer(.json(body))
    }

    private func describeActivity(_ visit: Visit) {
        guard let row = activities[visit.captures[0]]?.row(isOperator: visit.caller.isOperator) else {
            return visit.answer(Refusal(404, "no_such_activity", "there is no activity of this name"))
        }
        visit.answer(.json(row))
    }
}
