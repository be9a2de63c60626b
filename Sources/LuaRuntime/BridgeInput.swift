import ActivityModel
import CLuaBridge
import SessionCore

extension SessionInput {
    /// The name of the handler that sees this input, as reports show it.
    var handler: String {
        switch self {
        case .start: "start"
        case .join, .member: "join"
        case .leave: "leave"
        case .message(_, let name, _, _): "on.\(name)"
        case .timer: "timer"
        case .change: "change"
        }
    }
}

/// Lends an input to the bridge while `body` runs; all its memory stays Swift's.
func withRawInput<Result>(_ input: SessionInput, time: Int64, _ body: (ah_input) -> Result) -> Result {
    switch input {
    case .start(let parameters):
        return withBytes(parameters) { parameters in
            var raw = ah_input(kind: AH_START, time: time)
            raw.body = parameters
            return body(raw)
        }
    case .join(let participant):
        return withMember(participant.member) { member in
            var raw = member
            raw.kind = AH_JOIN
            raw.time = time
            raw.participant = participant.id.number
            return body(raw)
        }
    case .leave(let participant, let reason):
        return withBytes(reason.rawValue) { reason in
            var raw = ah_input(kind: AH_LEAVE, time: time, participant: participant.number)
            raw.reason = reason
            return body(raw)
        }
    case .message(let sender, let name, let content, let receivers):
        return withBytes(name) { name in
            withBytes(content) { content in
                var raw = ah_input(kind: AH_MESSAGE, time: time, participant: sender.number)
                raw.name = name
                raw.body = content
                return withReceivers(receivers, raw, body)
            }
        }
    case .timer(let id, let late):
        var raw = ah_input(kind: AH_TIMER, time: time)
        raw.timer = id
        raw.late = late
        return body(raw)
    case .change(let parameters, let member):
        return withBytes(parameters) { parameters in
            var raw = ah_input(kind: AH_CHANGE, time: time)
            raw.member = member.number
            raw.body = parameters
            return body(raw)
        }
    case .member(let member):
        return withMember(member) { member in
            var raw = member
            raw.kind = AH_MEMBER
            raw.time = time
            return body(raw)
        }
    }
}

private func withMember<Result>(_ member: Member, _ body: (ah_input) -> Result) -> Result {
    withBytes(member.name) { name in
        withBytes(member.color) { color in
            withBytes(member.role.rawValue) { role in
                var raw = ah_input()
                raw.member = member.id.number
                raw.member_name = name
                raw.color = color
                raw.role = role
                return body(raw)
            }
        }
    }
}

/// Without receivers the pointer stays null, which means everyone; an empty list must not, so it points at a spare element.
private func withReceivers<Result>(_ receivers: [ParticipantID]?, _ raw: ah_input, _ body: (ah_input) -> Result) -> Result {
    guard let receivers else { return body(raw) }
    let numbers = receivers.map(\.number) + [0]
    return numbers.withUnsafeBufferPointer { list in
        var raw = raw
        raw.to = list.baseAddress
        raw.to_count = receivers.count
        return body(raw)
    }
}

extension ah_input {
    /// An input with nothing but its kind, time and participant.
    init(kind: ah_input_kind, time: Int64, participant: UInt32 = 0) {
        self.init()
        self.kind = kind
        self.time = time
        self.participant = participant
    }
}
