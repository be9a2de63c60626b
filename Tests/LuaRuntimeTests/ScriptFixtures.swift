import ActivityModel
import SessionCore

@testable import LuaRuntime

/// A script whose table has these fields, beside identifier and title.
func script(_ fields: String, before: String = "", name: String = "sample") -> ScriptSource {
    let text = """
        \(before)
        return {
          identifier = "org.example.\(name)",
          metadata = { title = "Sample" },
          \(fields)
        }
        """
    return source(name: name, ["activity.lua": text])
}

/// Sources with a hash of their own; the main file is `activity.lua`.
func source(name: String, _ files: [String: String]) -> ScriptSource {
    let sorted = files.sorted { ($0.key == "activity.lua" ? "" : $0.key) < ($1.key == "activity.lua" ? "" : $1.key) }
    let list = sorted.map { ScriptSource.File(name: $0.key, text: Array($0.value.utf8)) }
    return ScriptSource(activity: name, files: list, hash: SHA256.hexadecimal(list.flatMap { Array($0.name.utf8) + [0] + $0.text }))
}

/// A member of the number given, with a connection of the same number.
func person(_ number: UInt32, role: Role = .participant) -> Participant {
    let member = Member(id: MemberID(number: number), name: "Name \(number)", color: "#2563eb", role: role)
    return Participant(id: ParticipantID(number: number), member: member)
}

func participant(_ number: UInt32) -> ParticipantID { ParticipantID(number: number) }

/// One session of a script as a list of requests: opened, started and joined by p1 and p2, then what a test adds.
struct SessionRun {
    private(set) var requests: [EngineRequest] = []
    let key: SessionKey
    private var time: Int64 = 1_790_000_000_000

    init(_ source: ScriptSource, key number: UInt64 = 1, people: ClosedRange<UInt32> = 1...2) {
        key = SessionKey(number: number)
        add(.open(source, id: SessionID(number: 1), initiator: MemberID(number: 1), seed: number))
        add(.input(.start(parameters: [])))
        for number in people { add(.input(.join(person(number)))) }
    }

    mutating func add(_ work: EngineRequest.Work) {
        requests.append(EngineRequest(session: key, time: time, work: work))
        time += 1
    }

    mutating func send(_ name: String, _ body: String = "{}", from sender: UInt32 = 1, to receivers: [UInt32]? = nil) {
        add(.input(.message(from: participant(sender), name: name, body: Array(body.utf8), to: receivers?.map(participant))))
    }

    mutating func wait(milliseconds: Int64) { time += milliseconds }

    /// The outcomes of everything, run by one worker on a thread of its own.
    func outcomes(limits: Limits = Limits()) -> [SessionOutcome] {
        let requests = requests
        return ScriptThread.run {
            let worker = LuaWorker(limits: limits, shelf: ScriptShelf(limits: limits))
            return requests.map(worker.run)
        }
    }

    /// The outcomes of what a test added to the beginning.
    func addedOutcomes(people: Int = 2, limits: Limits = Limits()) -> [SessionOutcome] {
        Array(outcomes(limits: limits).dropFirst(2 + people))
    }
}

/// Collects what an engine delivers.
final class Deliveries: Sendable {
    private let batches = Guarded<[[SessionOutcome]]>([])

    func add(_ outcomes: [SessionOutcome]) { batches.withLock { $0.append(outcomes) } }

    var all: [[SessionOutcome]] { batches.withLock { $0 } }
}

extension SessionOutcome {
    var seq: UInt64? {
        switch result {
        case .committed(let seq), .stands(let seq): seq
        default: nil
        }
    }

    var rejection: Rejection? {
        guard case .rejected(let rejection) = result else { return nil }
        return rejection
    }

    var viewText: String? { view.map { String(decoding: $0, as: UTF8.self) } }

    var relayText: String {
        switch relay {
        case .none: "none"
        case .received: "received"
        case .replaced(let body): String(decoding: body, as: UTF8.self)
        }
    }
}
