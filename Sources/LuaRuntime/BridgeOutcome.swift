import ActivityModel
import CLuaBridge
import SessionCore

extension SessionOutcome {
    /// Copies what the bridge did out of the VM's memory; report and timer are the caller's to add.
    init(_ raw: ah_outcome, session: SessionKey) {
        let result: Result =
            switch raw.status {
            case AH_COMMITTED: .committed(seq: raw.seq)
            case AH_STANDS: .stands(seq: raw.seq)
            case AH_DONE: .done
            default: .rejected(Rejection(raw))
            }
        self.init(session: session, result: result)
        switch raw.relay {
        case AH_RELAY_RECEIVED: relay = .received
        case AH_RELAY_REPLACED: relay = .replaced(raw.body.array)
        default: break
        }
        if raw.send_count > 0 { sends = UnsafeBufferPointer(start: raw.sends, count: raw.send_count).map(Send.init) }
        if raw.refresh_count > 0 { refresh = participants(raw.refresh, raw.refresh_count) }
        if raw.finished { finished = raw.finish_reason.text }
        view = raw.view.optionalArray
        if raw.log_count > 0 { logs = UnsafeBufferPointer(start: raw.logs, count: raw.log_count).map(LogLine.init) }
    }
}

extension SessionOutcome.Send {
    init(_ raw: ah_send) {
        let delivery: Delivery =
            switch raw.delivery {
            case AH_TRANSIENT: .transient
            case AH_LATEST: .latest
            default: .durable
            }
        self.init(
            name: raw.name.text, body: raw.body.array, delivery: delivery, to: raw.to_all ? nil : participants(raw.to, raw.to_count))
    }
}

extension LogLine {
    init(_ raw: ah_log_line) {
        self.init(level: Level(rawValue: String(cString: raw.level)) ?? .info, text: raw.text.text)
    }
}

extension Rejection {
    init(_ raw: ah_outcome) {
        let known = RejectionCode(rawValue: raw.code.text)
        assert(known != nil, "the bridge rejects with a code that is not of the wire: \(raw.code.text)")
        self.init(known ?? .activityFailed, raw.message.text, path: raw.path.optionalText)
        reason = raw.reason.optionalText
        data = raw.data.optionalArray
        if let limit = raw.limit.optionalText {
            exceeded = ExceededLimit(limit, allowed: Int(clamping: raw.allowed), found: Int(clamping: raw.found))
        }
    }
}

private func participants(_ numbers: UnsafePointer<UInt32>?, _ count: Int) -> [ParticipantID] {
    UnsafeBufferPointer(start: numbers, count: count).map(ParticipantID.init(number:))
}
