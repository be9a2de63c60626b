package import ActivityModel

/// What is written of a session: how it began, the inputs that committed, and its end.
package struct LogRecord: Sendable, Equatable {
    package enum Event: Sendable, Equatable {
        case opened(group: GroupCode, id: SessionID, activity: String, scriptHash: String, initiator: MemberID, seed: UInt64, epoch: String)
        /// `stands`: the handler of a leave or a timer failed; replay skips it.
        case input(seq: UInt64, SessionInput, stands: Bool)
        case closed(InvalidationReason)
    }

    package var session: SessionKey
    /// ms since 1970: what `session:now()` said.
    package var time: Int64
    package var event: Event

    package init(session: SessionKey, time: Int64, event: Event) {
        self.session = session
        self.time = time
        self.event = event
    }
}

/// Keeps the records of sessions, in order; replaying them rebuilds the state.
///
/// One turn of the host's loop is one `append`; nothing it records is sent before it returns. Called from one thread.
package protocol EventLog: AnyObject {
    /// Writes all records or none.
    func append(_ records: [LogRecord]) throws
    /// The records of a session from `seq` on, or nil when older ones are gone and the answer would have a gap.
    func records(of session: SessionKey, from seq: UInt64) throws -> [LogRecord]?
}

/// An event log in memory: for tests, and for hosts without a data directory. Bounded per session; a closed session is forgotten.
package final class MemoryEventLog: EventLog {
    private struct Tail {
        var opened: LogRecord?
        var inputs = Queue<(seq: UInt64, record: LogRecord)>()
        var isWhole = true
    }

    private var tails: [SessionKey: Tail] = [:]
    private let maximumRecords: Int

    /// Keeps the last `maximumRecords` inputs of each session.
    package init(maximumRecords: Int = 1024) { self.maximumRecords = maximumRecords }

    package func append(_ records: [LogRecord]) {
        for record in records {
            switch record.event {
            case .opened: tails[record.session, default: Tail()].opened = record
            case .closed: tails[record.session] = nil
            case .input(let seq, _, _):
                tails[record.session, default: Tail()].inputs.append((seq, record))
                if tails[record.session]!.inputs.count > maximumRecords {
                    _ = tails[record.session]!.inputs.popFirst()
                    tails[record.session]!.isWhole = false
                }
            }
        }
    }

    package func records(of session: SessionKey, from seq: UInt64) -> [LogRecord]? {
        guard let tail = tails[session] else { return nil }
        var found: [LogRecord] = []
        if seq <= 1, let opened = tail.opened { found.append(opened) }
        guard tail.isWhole || tail.inputs.first.map({ $0.seq <= seq }) ?? false else { return nil }
        tail.inputs.forEach { if $0.seq >= seq { found.append($0.record) } }
        return found
    }
}
