import CLuaBridge
import Foundation

/// What is wrong with a script or a snapshot, as the bridge reports it.
struct ValuesReport: Error, Equatable {
    var code: String
    var message: String
}

/// What an input did, copied out of the bridge's memory.
struct ValuesOutcome {
    var status: ah_status
    var code: String
    var message: String
    var path: String
    var body: String
    var view: String
    var report: String
    var reportCode: String
    var limit: String
    var allowed: UInt64
    var found: UInt64
}

/// Bytes that live as long as one call of the bridge.
private final class LentBytes {
    private var blocks: [UnsafeMutablePointer<UInt8>] = []

    func lend(_ bytes: some Collection<UInt8>) -> ah_bytes {
        let block = UnsafeMutablePointer<UInt8>.allocate(capacity: max(bytes.count, 1))
        _ = UnsafeMutableBufferPointer(start: block, count: bytes.count).initialize(from: bytes)
        blocks.append(block)
        return ah_bytes(base: block, count: bytes.count)
    }

    func lend(_ text: String) -> ah_bytes { lend(Array(text.utf8)) }

    deinit { blocks.forEach { $0.deallocate() } }
}

private func text(_ bytes: ah_bytes) -> String {
    String(decoding: UnsafeBufferPointer(start: bytes.base, count: bytes.count), as: UTF8.self)
}

/// One script, one VM and one session, driven by hand.
final class ValuesSession {
    private let script: OpaquePointer
    private let vm: OpaquePointer
    private var session: OpaquePointer

    /// Loads the source of an activity's table, without `identifier` and `metadata`, and makes a session with participants 1 and 2.
    init(_ table: String, stateBytes: UInt64 = 4 << 20) throws {
        let lent = LentBytes()
        let source = """
            local activity = { identifier = "org.activityhost.values", metadata = { title = "Values" }, on = {}, export = {} }
            \(table)
            return activity
            """
        var sources = [ah_source(name: lent.lend("activity.lua"), text: lent.lend(source))]
        var limits = ah_limits_default()
        limits.state_bytes = stateBytes
        limits.handler_ms = 10_000  // a shared machine stalls; time is not what these tests are about
        var report = ah_report()
        defer { ah_report_free(&report) }
        guard let script = ah_script_load(&sources, sources.count, &limits, &report), let vm = ah_vm_new(script, &limits, &report) else {
            throw ValuesReport(code: text(report.code), message: text(report.message))
        }
        self.script = script
        self.vm = vm
        session = ah_session_new(lent.lend("s1"), 1, 42)
        apply(AH_START)
        apply(AH_JOIN, participant: 1)
        apply(AH_JOIN, participant: 2)
    }

    deinit {
        ah_session_free(session)
        ah_vm_free(vm)
        ah_script_free(script)
    }

    @discardableResult
    func apply(_ kind: ah_input_kind, participant: UInt32 = 1, name: String = "", body: [UInt8] = []) -> ValuesOutcome {
        let lent = LentBytes()
        var input = ah_input()
        input.kind = kind
        input.time = 1_790_000_000_000
        input.participant = participant
        input.member = participant
        input.member_name = lent.lend("Ada")
        input.color = lent.lend("#2563eb")
        input.role = lent.lend("participant")
        input.name = lent.lend(name)
        input.body = lent.lend(body)
        let outcome = ah_apply(vm, session, &input)
        return ValuesOutcome(
            status: outcome.status, code: text(outcome.code), message: text(outcome.message), path: text(outcome.path), body: text(outcome.body),
            view: text(outcome.view), report: outcome.has_report ? text(outcome.report.message) : "",
            reportCode: outcome.has_report ? text(outcome.report.code) : "", limit: text(outcome.limit), allowed: outcome.allowed,
            found: outcome.found)
    }

    @discardableResult
    func send(_ name: String, _ body: String) -> ValuesOutcome { apply(AH_MESSAGE, name: name, body: Array(body.utf8)) }

    /// The snapshot; with `stateOnly` the state alone.
    func written(stateOnly: Bool = false) -> String {
        var buffer = ah_buffer()
        defer { ah_buffer_free(&buffer) }
        if stateOnly {
            ah_session_write_state(session, &buffer)
        } else {
            ah_session_write(session, &buffer)
        }
        return text(ah_bytes(base: buffer.base, count: buffer.count))
    }

    var state: String { written(stateOnly: true) }
    var stateBytes: Int { ah_session_state_bytes(session) }

    /// Puts a session read from `snapshot` in the place of this one.
    func recover(from snapshot: some Collection<UInt8>) throws(ValuesReport) {
        let lent = LentBytes()
        var report = ah_report()
        defer { ah_report_free(&report) }
        guard let read = ah_session_read(lent.lend(snapshot), &report) else {
            throw ValuesReport(code: text(report.code), message: text(report.message))
        }
        ah_session_free(session)
        session = read
    }

    func recover() throws(ValuesReport) { try recover(from: Array(written().utf8)) }
}

/// Runs a test's body on a thread with the stack that VMs are promised.
func onVMThread(_ body: @escaping @Sendable () throws -> Void) async throws {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        let thread = Thread { continuation.resume(with: Result { try body() }) }
        thread.stackSize = 16 << 20
        thread.start()
    }
}
