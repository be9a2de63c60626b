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
        let outcome = withRawInput(input, time: time) { apply($0, handler: input.handler) }
        if outcome.finished != nil { isFinished = true }
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
