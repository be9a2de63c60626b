import ActivityModel
import LuaRuntime
import SessionCore
import SessionHost

/// What a running host says on standard output: first what it was asked for, then event after event.
struct EventJournal: @unchecked Sendable {
    // Unchecked for the closure of `lines`, which only reads the clock.
    private let lines: EventLines
    private let output = EventOutput()
    private let isQuiet: Bool
    private let isJSON: Bool
    let hasColors: Bool

    init(_ arguments: Arguments) {
        isQuiet = arguments.has(.quiet)
        isJSON = arguments.has(.json)
        hasColors = Terminal.hasColors(arguments)
        lines = EventLines(form: isJSON ? .json : .text, hasColors: hasColors) { SystemClock().now }
    }

    func announce(json: [UInt8], text: String) {
        output.write(line: isJSON ? json : Array(text.utf8))
    }

    var observe: (HostEvent) -> Void {
        { event in
            if !isQuiet { output.write(line: lines.line(event)) }
        }
    }

    var notice: @Sendable (String, String) -> Void {
        { event, text in
            if !isQuiet { output.write(line: lines.line(notice: event, text, [("message", .string(text))])) }
        }
    }

    /// Names the activities that cannot be used, so that their author needs no other command to see it.
    func tellBroken(_ state: CatalogueState) {
        for row in state.rows {
            if let error = row.error { notice("activity_broken", "\(row.name) is broken: \(error.position): \(error.message)") }
        }
    }

    /// Waits until everything is written, for a moment at most.
    func finish() {
        output.finish()
    }
}
