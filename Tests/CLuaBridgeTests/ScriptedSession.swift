import CLuaBridge
import Foundation

/// Runs `body` on a thread with the stack that VMs are promised, and waits for it.
func onLargeStack<Result>(_ body: @escaping () -> Result) -> Result {
    let job = LargeStackJob(body)
    let thread = Thread { job.run() }
    thread.stackSize = 16 << 20
    thread.start()
    job.finished.wait()
    return job.result!
}

private final class LargeStackJob<Result>: @unchecked Sendable {
    let body: () -> Result
    let finished = DispatchSemaphore(value: 0)
    var result: Result?

    init(_ body: @escaping () -> Result) { self.body = body }

    func run() {
        result = body()
        finished.signal()
    }
}

/// A report for the author, copied out of the bridge's memory.
struct ScriptReport: Error, Equatable, CustomStringConvertible {
    var code = ""
    var file = ""
    var line = 0
    var message = ""
    var trace = ""

    init(_ report: ah_report) {
        code = String(report.code)
        file = String(report.file)
        line = Int(report.line)
        message = String(report.message)
        trace = String(report.trace)
    }

    var description: String { "\(code) \(file):\(line) \(message)" }
}

extension String {
    init(_ bytes: ah_bytes) { self.init(decoding: UnsafeBufferPointer(start: bytes.base, count: bytes.count), as: UTF8.self) }
}

/// What an input did, copied out of the bridge's memory.
struct ScriptOutcome {
    enum Status { case committed, stands, done, rejected }
    enum Relay { case none, received, replaced }
    struct Send: Equatable {
        var name: String
        var body: String
        var to: [UInt32]?  // nil: everyone
    }

    var status: Status
    var seq: UInt64
    var code: String
    var message: String
    var path: String
    var reason: String
    var data: String
    var limit: String
    var relay: Relay
    var body: String
    var sends: [Send]
    var refresh: [UInt32]
    var finished: String?
    var view: String
    var report: ScriptReport?
    var logs: [String]
    var milliseconds = 0.0  // CPU time of the thread

    init(_ o: ah_outcome) {
        status = o.status == AH_COMMITTED ? .committed : o.status == AH_STANDS ? .stands : o.status == AH_DONE ? .done : .rejected
        seq = o.seq
        code = String(o.code)
        message = String(o.message)
        path = String(o.path)
        reason = String(o.reason)
        data = String(o.data)
        limit = String(o.limit)
        relay = o.relay == AH_RELAY_NONE ? .none : o.relay == AH_RELAY_RECEIVED ? .received : .replaced
        body = String(o.body)
        sends = UnsafeBufferPointer(start: o.sends, count: o.send_count).map { send in
            let to = send.to_all ? nil : Array(UnsafeBufferPointer(start: send.to, count: send.to_count))
            return Send(name: String(send.name), body: String(send.body), to: to)
        }
        refresh = Array(UnsafeBufferPointer(start: o.refresh, count: o.refresh_count))
        finished = o.finished ? String(o.finish_reason) : nil
        view = String(o.view)
        report = o.has_report ? ScriptReport(o.report) : nil
        logs = UnsafeBufferPointer(start: o.logs, count: o.log_count).map { "\(String(cString: $0.level)): \(String($0.text))" }
    }

    /// The texts printed, without their level.
    var printed: [String] { logs.map { String($0.drop { $0 != ":" }.dropFirst(2)) } }
}

/// Bytes lent to one call of the bridge: keep it alive until the call is over.
final class LentMemory {
    private var blocks: [UnsafeMutableRawPointer] = []

    func lend<Element>(_ elements: [Element]) -> UnsafePointer<Element> {
        let block = UnsafeMutablePointer<Element>.allocate(capacity: max(elements.count, 1))
        block.initialize(from: elements, count: elements.count)
        blocks.append(block)
        return UnsafePointer(block)
    }

    func lend(_ bytes: [UInt8]) -> ah_bytes { ah_bytes(base: lend(bytes), count: bytes.count) }
    func lend(_ text: String) -> ah_bytes { lend(Array(text.utf8)) }

    deinit { blocks.forEach { $0.deallocate() } }
}

/// A source file by name; the text is bytes, since hostile ones are not text.
struct ScriptSource {
    var name: String
    var bytes: [UInt8]

    init(_ name: String, _ text: String) {
        self.name = name
        bytes = Array(text.utf8)
    }

    init(_ name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }
}

/// Loads a script; the caller frees it.
func loadScript(_ sources: [ScriptSource], limits: ah_limits = ah_limits_default()) throws -> OpaquePointer {
    let loaded: Result<OpaquePointer, ScriptReport> = onLargeStack {
        let lent = LentMemory()
        defer { withExtendedLifetime(lent) {} }
        let list = sources.map { ah_source(name: lent.lend($0.name), text: lent.lend($0.bytes)) }
        var limits = limits
        var report = ah_report()
        defer { ah_report_free(&report) }
        guard let script = ah_script_load(lent.lend(list), list.count, &limits, &report) else { return .failure(ScriptReport(report)) }
        return .success(script)
    }
    return try loaded.get()
}

/// One script, one VM and one session, driven by hand.
final class ScriptedSession {
    private let script: OpaquePointer
    private let limits: ah_limits
    private var vm: OpaquePointer
    let session: OpaquePointer
    var time: Int64 = 1_790_000_000_000

    /// Loads the sources and runs `start`; `limits` is changed by `adjust`.
    init(sources: [ScriptSource], parameters: String = "{}", adjust: (inout ah_limits) -> Void = { _ in }) throws {
        var limits = ah_limits_default()
        adjust(&limits)
        self.limits = limits
        script = try loadScript(sources, limits: limits)
        vm = try ScriptedSession.makeVM(script, limits)
        let lent = LentMemory()
        defer { withExtendedLifetime(lent) {} }
        session = ah_session_new(lent.lend("s1"), 1, 42)
        apply(AH_START, body: parameters)
    }

    /// The statements between the head and the end of an activity that takes every message `go`; members 1 and 2 have joined.
    convenience init(_ statements: String, joined: [UInt32] = [1, 2], adjust: (inout ah_limits) -> Void = { _ in }) throws {
        try self.init(sources: [ScriptSource("activity.lua", ScriptedSession.activity(statements))], adjust: adjust)
        joined.forEach { apply(AH_JOIN, participant: $0) }
    }

    static func activity(_ statements: String) -> String {
        """
        local activity = { identifier = "org.activityhost.test", metadata = { title = "Test" }, messages = { go = "any" }, on = {}, export = {} }
        \(statements)
        return activity
        """
    }

    private static func makeVM(_ script: OpaquePointer, _ limits: ah_limits) throws -> OpaquePointer {
        let made: Result<OpaquePointer, ScriptReport> = onLargeStack {
            var limits = limits
            var report = ah_report()
            defer { ah_report_free(&report) }
            guard let vm = ah_vm_new(script, &limits, &report) else { return .failure(ScriptReport(report)) }
            return .success(vm)
        }
        return try made.get()
    }

    deinit {
        ah_session_free(session)
        ah_vm_free(vm)
        ah_script_free(script)
    }

    var vmBytes: Int { ah_vm_bytes(vm) }
    var isSpent: Bool { ah_vm_is_spent(vm) }

    func renewVM() throws {
        ah_vm_free(vm)
        vm = try ScriptedSession.makeVM(script, limits)
    }

    @discardableResult
    func apply(
        _ kind: ah_input_kind, participant: UInt32 = 1, member: UInt32? = nil, name: String = "", body: String = "", to: [UInt32]? = nil,
        reason: String = "", timer: UInt64 = 0, late: Bool = false, replay: Bool = false, failed: Bool = false, fromVersion: Int64 = 0
    ) -> ScriptOutcome {
        onLargeStack { [self] in
            let lent = LentMemory()
            defer { withExtendedLifetime(lent) {} }
            var input = ah_input()
            input.kind = kind
            input.time = time
            input.participant = participant
            input.member = member ?? participant
            input.member_name = lent.lend("Member \(participant)")
            input.color = lent.lend("#2563eb")
            input.role = lent.lend("participant")
            input.reason = lent.lend(reason)
            input.name = lent.lend(name)
            input.body = lent.lend(body)
            input.to = to.map { lent.lend($0) }
            input.to_count = to?.count ?? 0
            input.timer = timer
            input.late = late
            input.replay = replay
            input.failed = failed
            input.from_version = fromVersion
            let before = threadNanoseconds()
            let outcome = ah_apply(vm, session, &input)
            let after = threadNanoseconds()
            var copied = ScriptOutcome(outcome)
            copied.milliseconds = Double(after - before) / 1e6
            return copied
        }
    }

    @discardableResult
    func send(_ name: String = "go", _ body: String = "{}", from participant: UInt32 = 1, to: [UInt32]? = nil, replay: Bool = false) -> ScriptOutcome
    {
        apply(AH_MESSAGE, participant: participant, name: name, body: body, to: to, replay: replay)
    }

    /// The whole session as its snapshot.
    var snapshot: String {
        var buffer = ah_buffer()
        defer { ah_buffer_free(&buffer) }
        ah_session_write(session, &buffer)
        return String(ah_bytes(base: buffer.base, count: buffer.count))
    }

    var state: String {
        var buffer = ah_buffer()
        defer { ah_buffer_free(&buffer) }
        ah_session_write_state(session, &buffer)
        return String(ah_bytes(base: buffer.base, count: buffer.count))
    }
}

/// CPU nanoseconds of this thread.
private func threadNanoseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// Runs statements as the handler of `go` and returns the outcome.
func handle(_ statements: String, before: String = "") throws -> ScriptOutcome {
    try ScriptedSession("\(before)\nfunction activity.on.go(session, message, context)\n\(statements)\nend").send()
}
