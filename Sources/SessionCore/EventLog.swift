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
        var bytes = 0
        var isWhole = true
    }

    private var tails: [SessionKey: Tail] = [:]
    private let maximumBytes: Int

    /// Keeps the last inputs of each session that take about `maximumBytes`.
    package init(maximumBytes: Int = 1 << 20) { self.maximumBytes = maximumBytes }

    package func append(_ records: [LogRecord]) {
        for record in records {
            switch record.event {
            case .opened: tails[record.session, default: Tail()].opened = record
            case .closed: tails[record.session] = nil
            case .input(let seq, _, _):
                keep(record, seq, &tails[record.session, default: Tail()])
            }
        }
    }

    private func keep(_ record: LogRecord, _ seq: UInt64, _ tail: inout Tail) {
        tail.inputs.append((seq, record))
        tail.bytes += record.size
        while tail.bytes > maximumBytes, let oldest = tail.inputs.popFirst() {
            tail.bytes -= oldest.record.size
            tail.isWhole = false
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

extension LogRecord {
    /// About how many bytes the record takes in memory.
    fileprivate var size: Int {
        let overhead = 128
        switch event {
        case .input(_, .message(_, let name, let body, _), _): return overhead + name.utf8.count + body.count
        case .input(_, .start(let parameters), _), .input(_, .change(let parameters, _), _): return overhead + parameters.count
        default: return overhead
        }
    }
}
