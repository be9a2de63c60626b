package import ActivityModel

/// Names a session inside the host, over all groups; never reused while the host lives.
package struct SessionKey: Hashable, Sendable {
    package let number: UInt64
    package init(number: UInt64) { self.number = number }
}

/// Runs scripts: batches of requests in, batches of outcomes out, in order for each session, nothing shared but bytes.
///
/// Every request has exactly one outcome. `submit` may be called from one thread at a time and never waits; outcomes come
/// back through the closure the engine was made with, on a thread of the engine's own.
package protocol ScriptEngine: AnyObject, Sendable {
    func submit(_ requests: [EngineRequest])
    /// Ends the engine's threads after what was submitted is done; no outcome comes after it returns.
    func shutDown()
}

package struct EngineRequest: Sendable {
    package var session: SessionKey
    /// Wall clock in ms since 1970.
    package var time: Int64
    package var work: Work

    package enum Work: Sendable {
        /// Makes the session; an input `start` follows it in the same batch. Its outcome is `.done` or `.rejected`.
        case open(ScriptSource, id: SessionID, initiator: MemberID, seed: UInt64)
        case input(SessionInput)
        case query(SessionQuery)
        /// Ends the session and frees all it holds. Its outcome is `.done`.
        case close
    }

    package init(session: SessionKey, time: Int64, work: Work) {
        self.session = session
        self.time = time
        self.work = work
    }
}

/// Whatever may change a session. Those that commit are the event log.
package enum SessionInput: Sendable, Equatable {
    case start(parameters: [UInt8])
    case join(Participant)
    case leave(ParticipantID, LeaveReason)
    /// `body` is the JSON text as it was received; `to` is nil for everyone.
    case message(from: ParticipantID, name: String, body: [UInt8], to: [ParticipantID]?)
    case timer(UInt64, late: Bool)
    case change(parameters: [UInt8], by: MemberID)
    /// A member's new name or role.
    case member(Member)
}

package enum SessionQuery: Sendable, Equatable {
    /// What a participant may know: the outcome's `view`.
    case view(ParticipantID)
    /// The outcome's `view` holds the bytes; `member` is nil for the operator.
    case export(kind: String, member: MemberID?)
    /// The whole session as a snapshot, in the outcome's `view`.
    case snapshot
}

/// What one request did.
package struct SessionOutcome: Sendable {
    package enum Result: Sendable, Equatable {
        /// An input that is now part of the session, at this seq.
        case committed(seq: UInt64)
        /// A leave or a timer that is part of the session, whose handler failed and left no effects.
        case stands(seq: UInt64)
        /// Handled without a trace in the session: transient and latest messages, queries, open, close.
        case done
        case rejected(Rejection)
    }

    package enum Relay: Sendable, Equatable {
        case none
        /// The body goes on as it was received, to the others.
        case received
        /// This body goes instead, to the receivers and the sender.
        case replaced([UInt8])
    }

    package struct Send: Sendable, Equatable {
        package var name: String
        package var body: [UInt8]
        package var delivery: Delivery
        /// nil: everyone (in `join`, everyone but the newcomer).
        package var to: [ParticipantID]?
        package init(name: String, body: [UInt8], delivery: Delivery, to: [ParticipantID]?) {
            self.name = name
            self.body = body
            self.delivery = delivery
            self.to = to
        }
    }

    package struct Timer: Sendable, Equatable {
        package var id: UInt64
        /// ms since 1970.
        package var due: Int64
        package init(id: UInt64, due: Int64) {
            self.id = id
            self.due = due
        }
    }

    package var session: SessionKey
    package var result: Result
    package var relay: Relay = .none
    package var sends: [Send] = []
    /// Participants whose view changed (`session:refresh`).
    package var refresh: [ParticipantID] = []
    /// The reason given to `session:finish`, if it was called.
    package var finished: String?
    package var view: [UInt8]?
    /// The session's earliest timer after this request.
    package var nextTimer: Timer?
    package var report: AuthorReport?
    package var logs: [LogLine] = []

    package init(session: SessionKey, result: Result) {
        self.session = session
        self.result = result
    }
}

/// What went wrong in a script, for its author.
package struct AuthorReport: Sendable, Equatable {
    package var activity: String
    package var code: String
    package var file: String
    package var line: Int
    package var message: String
    package var trace: String
    /// Which handler, as "on.add_points"; empty while loading.
    package var handler: String

    package init(activity: String, code: String, file: String, line: Int, message: String, trace: String, handler: String) {
        self.activity = activity
        self.code = code
        self.file = file
        self.line = line
        self.message = message
        self.trace = trace
        self.handler = handler
    }

    /// `draw/activity.lua:42`, or `quiz.lua:42` where the activity is a single file.
    package var position: String {
        guard !file.isEmpty else { return activity }
        let place = file == "\(activity).lua" ? file : "\(activity)/\(file)"
        return line > 0 ? "\(place):\(line)" : place
    }
}

/// A line that a script printed.
package struct LogLine: Sendable, Equatable {
    package var level: Level
    package var text: String
    package enum Level: String, Sendable { case info, warn, error }
    package init(level: Level, text: String) {
        self.level = level
        self.text = text
    }
}
