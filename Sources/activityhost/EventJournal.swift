import ActivityModel
import LuaRuntime
import SessionCore
import SessionHost
import Synchronization

/// What a running host says on standard output: first what it was asked for, then event after event.
final class EventJournal: Sendable {
    let hasColors: Bool
    private let lines: EventLines
    private let output = EventOutput()
    private let isQuiet: Bool
    /// Lines that came before the announcement; nil once that is out.
    private let early = Mutex<[[UInt8]]?>([])

    init(_ arguments: Arguments) {
        isQuiet = arguments.has(.quiet)
        hasColors = Terminal.hasColors(arguments)
        lines = EventLines(form: arguments.has(.json) ? .json : .text, hasColors: hasColors) { SystemClock().now }
    }

    /// Writes the line that everything else comes after.
    func announce(json: [UInt8], text: String) {
        output.write(line: lines.form == .json ? json : Array(text.utf8))
        release()
    }

    /// Tells of something that happened in a group.
    func observe(_ event: HostEvent) {
        write(lines.line(event))
    }

    /// Tells of something that happened to the program: the event's name, and a sentence. Any thread.
    func notice(_ event: String, _ text: String) {
        write(lines.line(notice: event, text, [("message", .string(text))]))
    }

    /// Names the activities that cannot be used, so that their author needs no other command to see it.
    func tellBroken(_ state: CatalogueState) {
        for row in state.rows {
            if let error = row.error { notice("activity_broken", "\(row.name) is broken: \(error.position): \(error.message)") }
        }
    }

    /// Waits until everything is written, for a moment at most.
    func finish() {
        release()
        output.finish()
    }

    private func write(_ line: [UInt8]) {
        guard !isQuiet else { return }
        let isEarly = early.withLock { early in
            early?.append(line)
            return early != nil
        }
        if !isEarly { output.write(line: line) }
    }

    private func release() {
        let lines = early.withLock { early in
            defer { early = nil }
            return early ?? []
        }
        for line in lines { output.write(line: line) }
    }
}
