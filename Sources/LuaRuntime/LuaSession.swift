import ActivityModel
import CLuaBridge
import SessionCore

/// One session of a script: the document that lasts, and the VM, which can be thrown away between any two inputs.
///
/// Confined to its worker's thread.
final class LuaSession {
    private let key: SessionKey
    private let script: LuaScript
    private var limits: ah_limits
    private let document: OpaquePointer
    private var vm: OpaquePointer?
    private var participants: Set<ParticipantID> = []
    private var isFinished = false

    init(key: SessionKey, script: LuaScript, limits: Limits, id: SessionID, initiator: MemberID, seed: UInt64) {
        self.key = key
        self.script = script
        self.limits = ah_limits(limits)
        document = withBytes(id.description) { ah_session_new($0, initiator.number, seed) }
    }

    deinit {
        ah_vm_free(vm)
        ah_session_free(document)
    }

    func run(_ input: SessionInput, time: Int64) -> SessionOutcome {
        if isFinished { return rejected(Rejection(.noSuchSession, "This session has ended.")) }
        if case .message(let sender, let name, let body, let to) = input, isNull(body), messageType(name)?.delivery == .latest {
            return withdraw(from: sender, to: to)
        }
        let outcome = withRawInput(input, time: time) { apply($0, handler: input.handler) }
        follow(input, outcome)
        return outcome
    }

    func run(_ query: SessionQuery, time: Int64) -> SessionOutcome {
        switch query {
        case .view(let participant):
            return apply(ah_input(kind: AH_VIEW, time: time, participant: participant.number), handler: "view")
        case .export(let kind, let member):
            return withBytes(kind) { name in
                var input = ah_input(kind: AH_EXPORT, time: time)
                input.name = name
                input.member = member?.number ?? 0
                return apply(input, handler: "export.\(kind)")
            }
        case .snapshot:
            var outcome = SessionOutcome(session: key, result: .done)
            outcome.view = collectBytes { ah_session_write(document, $0) }
            outcome.nextTimer = nextTimer
            return outcome
        }
    }

    private func messageType(_ name: String) -> MessageType? { script.manifest.messages[name] ?? script.manifest.messages["*"] }

    /// A `latest` message with a null body takes the sender's current one back; no handler sees it.
    private func withdraw(from sender: ParticipantID, to: [ParticipantID]?) -> SessionOutcome {
        guard participants.contains(sender) else { return rejected(Rejection(.notJoined, "You have not joined this session.")) }
        if let missing = to?.first(where: { !participants.contains($0) }) {
            return rejected(Rejection(.noSuchParticipant, "\(missing) is not in this session."))
        }
        var outcome = SessionOutcome(session: key, result: .done)
        outcome.relay = .received
        outcome.nextTimer = nextTimer
        return outcome
    }

    private func apply(_ input: ah_input, handler: @autoclosure () -> String) -> SessionOutcome {
        var report = ah_report()
        defer { ah_report_free(&report) }
        guard let vm = readyVM(&report) else {
            var outcome = rejected(Rejection(.activityFailed, "The activity had a problem. Nothing was changed."))
            outcome.report = AuthorReport(report, activity: script.source.activity, handler: handler())
            return outcome
        }
        var input = input
        let raw = ah_apply(vm, document, &input)
        var outcome = SessionOutcome(raw, session: key)
        if raw.has_report { outcome.report = AuthorReport(raw.report, activity: script.source.activity, handler: handler()) }
        outcome.nextTimer = nextTimer
        // Only now: the raw outcome's memory is the VM's.
        if ah_vm_is_spent(vm) {
            ah_vm_free(vm)
            self.vm = nil
        }
        return outcome
    }

    private func readyVM(_ report: inout ah_report) -> OpaquePointer? {
        if let vm { return vm }
        vm = ah_vm_new(script.handle, &limits, &report)
        if vm == nil {
            // The script loaded before, so what failed is its CPU time on a busy machine: a leave or a timer must not get lost.
            ah_report_free(&report)
            report = ah_report()
            vm = ah_vm_new(script.handle, &limits, &report)
        }
        return vm
    }

    /// Keeps in step with what the document knows of participants and of the end.
    private func follow(_ input: SessionInput, _ outcome: SessionOutcome) {
        if outcome.finished != nil { isFinished = true }
        switch (input, outcome.result) {
        case (.join(let participant), .committed): participants.insert(participant.id)
        case (.leave(let participant, _), .committed), (.leave(let participant, _), .stands): participants.remove(participant)
        default: break
        }
    }

    private var nextTimer: SessionOutcome.Timer? {
        var due: Int64 = 0
        let id = ah_session_next_timer(document, &due)
        return id == 0 ? nil : SessionOutcome.Timer(id: id, due: due)
    }

    private func rejected(_ rejection: Rejection) -> SessionOutcome {
        var outcome = SessionOutcome(session: key, result: .rejected(rejection))
        outcome.nextTimer = nextTimer
        return outcome
    }
}

/// Whether a message body is JSON `null`.
private func isNull(_ body: [UInt8]) -> Bool {
    let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }
    guard let start = body.firstIndex(where: { !isSpace($0) }), body[start] == UInt8(ascii: "n"),
        let end = body.lastIndex(where: { !isSpace($0) })
    else { return false }
    return body[start...end].elementsEqual("null".utf8)
}
