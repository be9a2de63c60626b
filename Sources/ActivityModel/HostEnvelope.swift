/// Writes the envelopes that a host sends, as contract section 5 lists them; each call appends one JSON object.
package enum HostEnvelope {
    package static func member(_ member: Member, into out: inout [UInt8]) {
        out.append(text: "{\"id\":\"")
        out.append(id: member.id)
        out.append(text: "\",\"name\":")
        out.appendJSON(member.name)
        out.append(text: ",\"color\":\"")
        out.append(contentsOf: member.color.utf8)
        out.append(text: "\",\"role\":\"")
        out.append(contentsOf: member.role.rawValue.utf8)
        out.append(text: "\"}")
    }

    package static func participant(_ participant: Participant, into out: inout [UInt8]) {
        out.append(text: "{\"id\":\"")
        out.append(id: participant.id)
        out.append(text: "\",\"member\":\"")
        out.append(id: participant.member.id)
        out.append(text: "\",\"name\":")
        out.appendJSON(participant.member.name)
        out.append(text: ",\"color\":\"")
        out.append(contentsOf: participant.member.color.utf8)
        out.append(text: "\",\"role\":\"")
        out.append(contentsOf: participant.member.role.rawValue.utf8)
        out.append(text: "\"}")
    }

    package static func list<Items: Collection>(
        _ items: Items, into out: inout [UInt8], _ write: (Items.Element, inout [UInt8]) -> Void
    ) {
        out.append(UInt8(ascii: "["))
        var first = true
        for item in items {
            if !first { out.append(UInt8(ascii: ",")) }
            first = false
            write(item, &out)
        }
        out.append(UInt8(ascii: "]"))
    }

    package static func members(joined: [Member] = [], left: [MemberID] = [], changed: [Member] = []) -> [UInt8] {
        var out: [UInt8] = []
        out.append(text: "{\"type\":\"members\",\"joined\":")
        list(joined, into: &out, member)
        out.append(text: ",\"left\":")
        list(left, into: &out) { $1.appendJSON($0.description) }
        out.append(text: ",\"changed\":")
        list(changed, into: &out, member)
        out.append(text: "}")
        return out
    }

    /// The group's new code or lock.
    package static func group(code: GroupCode, link: SecretToken, locked: Bool) -> [UInt8] {
        var out: [UInt8] = []
        out.append(text: "{\"type\":\"group\",\"group\":{\"code\":\"")
        out.append(contentsOf: code.description.utf8)
        out.append(text: "\",\"link\":\"")
        out.append(contentsOf: link.description.utf8)
        out.append(text: "\",\"locked\":")
        out.append(text: locked ? "true" : "false")
        out.append(text: "}}")
        return out
    }

    package static func participants(
        session: SessionID, seq: UInt64, joined: [Participant] = [], left: (id: ParticipantID, reason: LeaveReason)? = nil,
        changed: [Participant] = []
    ) -> [UInt8] {
        var out: [UInt8] = []
        open("participants", session, seq: seq, into: &out)
        out.append(text: ",\"joined\":")
        list(joined, into: &out, participant)
        out.append(text: ",\"left\":")
        list(left.map { [$0] } ?? [], into: &out) { leaver, out in
            out.append(text: "{\"id\":\"")
            out.append(id: leaver.id)
            out.append(text: "\",\"reason\":\"")
            out.append(contentsOf: leaver.reason.rawValue.utf8)
            out.append(text: "\"}")
        }
        out.append(text: ",\"changed\":")
        list(changed, into: &out, participant)
        out.append(text: "}")
        return out
    }

    private static func open(_ type: StaticString, _ session: SessionID, seq: UInt64?, into out: inout [UInt8]) {
        out.append(text: "{\"type\":\"")
        out.append(text: type)
        out.append(text: "\",\"session\":\"")
        out.append(id: session)
        out.append(text: "\"")
        if let seq {
            out.append(text: ",\"seq\":")
            out.append(decimal: seq)
        }
    }

    /// `seq` is nil for transient and latest messages; `from` is nil for what the script sent.
    package static func message(session: SessionID, seq: UInt64?, from: ParticipantID?, name: String, body: [UInt8]) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(body.count + name.utf8.count + 96)
        open("message", session, seq: seq, into: &out)
        if let from {
            out.append(text: ",\"from\":\"")
            out.append(id: from)
            out.append(text: "\",\"name\":")
        } else {
            out.append(text: ",\"from\":null,\"name\":")
        }
        out.appendJSON(name)
        out.append(text: ",\"body\":")
        out.append(contentsOf: body)
        out.append(text: "}")
        return out
    }

    package static func accepted(ref: Int64, session: SessionID?, seq: UInt64?) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(96)
        out.append(text: "{\"type\":\"accepted\",\"ref\":")
        out.append(decimal: ref)
        if let session {
            out.append(text: ",\"session\":\"")
            out.append(id: session)
            out.append(text: "\"")
        }
        if let seq {
            out.append(text: ",\"seq\":")
            out.append(decimal: seq)
        }
        out.append(text: "}")
        return out
    }

    package static func started(ref: Int64, session: SessionID) -> [UInt8] {
        Array("{\"type\":\"started\",\"ref\":\(ref),\"session\":\"\(session)\"}".utf8)
    }

    package static func rejected(ref: Int64?, _ rejection: Rejection) -> [UInt8] {
        var out: [UInt8] = []
        out.append(text: "{\"type\":\"rejected\"")
        if let ref {
            out.append(text: ",\"ref\":")
            out.append(decimal: ref)
        }
        out.append(text: ",\"code\":\"")
        out.append(contentsOf: rejection.code.rawValue.utf8)
        out.append(text: "\",\"message\":")
        out.appendJSON(rejection.message)
        if let path = rejection.path {
            out.append(text: ",\"path\":")
            out.appendJSON(path)
        }
        if let reason = rejection.reason {
            out.append(text: ",\"reason\":")
            out.appendJSON(reason)
        }
        if let data = rejection.data {
            out.append(text: ",\"data\":")
            out.append(contentsOf: data)
        }
        if let exceeded = rejection.exceeded {
            out.append(text: ",\"limit\":")
            out.appendJSON(exceeded.limit)
            out.append(text: ",\"allowed\":")
            out.append(decimal: exceeded.allowed)
            out.append(text: ",\"found\":")
            out.append(decimal: exceeded.found)
            if let retryMs = exceeded.retryMs {
                out.append(text: ",\"retry_ms\":")
                out.append(decimal: retryMs)
            }
        }
        out.append(text: "}")
        return out
    }

    package static func changed(session: SessionID, seq: UInt64, parameters: [UInt8], by: MemberID) -> [UInt8] {
        var out: [UInt8] = []
        open("changed", session, seq: seq, into: &out)
        out.append(text: ",\"parameters\":")
        out.append(contentsOf: parameters)
        out.append(text: ",\"by\":\"")
        out.append(id: by)
        out.append(text: "\"}")
        return out
    }

    /// `note` is what the script gave to `session:finish`.
    package static func invalidated(
        session: SessionID, reason: InvalidationReason, replacedBy: SessionID? = nil, note: String? = nil
    ) -> [UInt8] {
        var out: [UInt8] = []
        open("invalidated", session, seq: nil, into: &out)
        out.append(text: ",\"reason\":\"")
        out.append(contentsOf: reason.rawValue.utf8)
        out.append(text: "\"")
        if let replacedBy {
            out.append(text: ",\"replaced_by\":\"")
            out.append(id: replacedBy)
            out.append(text: "\"")
        }
        if let note, !note.isEmpty {
            out.append(text: ",\"message\":")
            out.appendJSON(note)
        }
        out.append(text: "}")
        return out
    }

    /// `time` is the client's own, given back; `now` the host's when it read and when it answered.
    package static func pong(time: Int64, now: Int64) -> [UInt8] {
        Array("{\"type\":\"pong\",\"time\":\(time),\"received\":\(now),\"sent\":\(now)}".utf8)
    }
}
