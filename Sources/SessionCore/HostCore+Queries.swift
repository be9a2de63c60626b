package import ActivityModel

/// A group as somebody sees it who has the code, before they join.
package struct GroupPreview: Sendable {
    package struct Session: Sendable {
        package var id: SessionID
        package var activity: String
        package var title: String
        package var metadata: [UInt8]
        package var participants: Int
    }

    package var code: GroupCode
    package var link: SecretToken
    package var locked: Bool
    package var members: Int
    package var sessions: [Session]
}

/// Why there is no export.
package enum ExportError: Error, Equatable {
    case noSuchGroup, noSuchSession, noSuchKind, forbidden, failed
    case tooManyTries(retryMilliseconds: Int)
    case rateLimited(Rejection)
}

extension Group {
    package var preview: GroupPreview {
        let running = sessions.values.filter(\.isRunning).sorted { $0.id < $1.id }
        return GroupPreview(
            code: code, link: link, locked: locked, members: members.count,
            sessions: running.map { session in
                GroupPreview.Session(
                    id: session.id, activity: session.activity.name, title: session.activity.title, metadata: session.activity.metadata,
                    participants: session.places.count { $0.state == .joined })
            })
    }
}

extension HostCore {
    /// Numbers what follows as one input's effects: for wakes, which come from nobody's frame.
    package func beginInput() { effects.beginInput() }

    /// What the script's `export.KIND` returns, for a member with a seat or for the operator.
    package func export(
        code: String, session: String, kind: String, seat: String?, isOperator: Bool, address: String,
        completion: @escaping (Result<[UInt8], ExportError>) -> Void
    ) {
        let group: Group
        switch find(code, address: address, seat: seat) {
        case .success(let found): group = found
        case .failure(.tooManyTries(let retry)): return completion(.failure(.tooManyTries(retryMilliseconds: retry)))
        case .failure: return completion(.failure(.noSuchGroup))
        }
        let member = seat.flatMap { group.seat($0) }
        guard member.map({ !$0.isBanned }) ?? isOperator else { return completion(.failure(.forbidden)) }
        guard let session = SessionID(session).flatMap({ group.sessions[$0] }), session.isRunning else {
            return completion(.failure(.noSuchSession))
        }
        guard session.activity.exports.contains(kind) else { return completion(.failure(.noSuchKind)) }
        if let member, case .retry(let milliseconds) = member.exports.take(at: effects.uptime) {
            let rejection = Rejection.rateLimited(.requestsPerSecond, settings.limits, retryMilliseconds: milliseconds)
            return completion(.failure(.rateLimited(rejection)))
        }
        session.export(kind: kind, member: member?.member) { result in
            completion(result.mapError { _ in .failed })
        }
    }
}
