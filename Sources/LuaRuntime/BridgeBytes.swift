import ActivityModel
import CLuaBridge
import SessionCore

extension ah_bytes {
    /// A copy of the bytes.
    var array: [UInt8] { count == 0 ? [] : Array(UnsafeBufferPointer(start: base, count: count)) }

    /// A copy as text; the bridge promises valid UTF-8.
    var text: String { count == 0 ? "" : String(decoding: UnsafeBufferPointer(start: base, count: count), as: UTF8.self) }

    /// `text`, or nil for what the bridge left out.
    var optionalText: String? { count == 0 ? nil : text }

    /// `array`, or nil for what the bridge left out.
    var optionalArray: [UInt8]? { count == 0 ? nil : array }
}

/// Lends the bytes of an array to the bridge while `body` runs.
func withBytes<Result>(_ array: [UInt8], _ body: (ah_bytes) -> Result) -> Result {
    array.withUnsafeBufferPointer { body(ah_bytes(base: $0.baseAddress, count: $0.count)) }
}

/// Lends the UTF-8 of a text to the bridge while `body` runs.
func withBytes<Result>(_ text: String, _ body: (ah_bytes) -> Result) -> Result {
    var text = text
    return text.withUTF8 { body(ah_bytes(base: $0.baseAddress, count: $0.count)) }
}

/// Collects what a bridge function appends and frees the bridge's buffer.
func collectBytes(_ append: (UnsafeMutablePointer<ah_buffer>) -> Void) -> [UInt8] {
    var buffer = ah_buffer()
    defer { ah_buffer_free(&buffer) }
    append(&buffer)
    return ah_bytes(base: buffer.base, count: buffer.count).array
}

extension ah_limits {
    init(_ limits: Limits) {
        self.init(
            handler_ms: UInt64(limits[.handlerMs]), handler_instructions: UInt64(limits[.handlerInstructions]),
            vm_bytes: UInt64(limits[.vmBytes]), state_bytes: UInt64(limits[.stateBytes]),
            handler_sends: UInt32(clamping: limits[.handlerSends]), timers: UInt32(clamping: limits[.timers]),
            message_bytes: UInt32(clamping: limits[.messageBytes]))
    }
}

extension AuthorReport {
    /// Copies a report; the bridge's stays whose it was.
    init(_ report: ah_report, activity: String, handler: String) {
        self.init(
            activity: activity, code: report.code.text, file: report.file.text, line: Int(report.line),
            message: report.message.text, trace: report.trace.text, handler: handler)
    }
}
