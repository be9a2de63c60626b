/// The limits of the contract; told in `welcome.limits`, set by `--limit NAME=VALUE`.
package struct Limits: Sendable, Equatable {
    package private(set) var values: [Name: Int]

    /// Each limit's name on the wire; the order is that of the contract.
    package enum Name: String, CaseIterable, Sendable {
        case messageBytes = "message_bytes"
        case frameBytes = "frame_bytes"
        case messagesPerSecond = "messages_per_second"
        case messageBurst = "message_burst"
        case requestsPerSecond = "requests_per_second"
        case participants, sessions, members, connections
        case seatConnections = "seat_connections"
        case backlogBytes = "backlog_bytes"
        case graceMs = "grace_ms"
        case emptySessionMs = "empty_session_ms"
        case handlerMs = "handler_ms"
        case handlerInstructions = "handler_instructions"
        case handlerSends = "handler_sends"
        case timers
        case logLinesPerSecond = "log_lines_per_second"
        case vmBytes = "vm_bytes"
        case stateBytes = "state_bytes"

        package var defaultValue: Int {
            switch self {
            case .messageBytes: 262_144
            case .frameBytes: 1_048_576
            case .messagesPerSecond: 200
            case .messageBurst: 400
            case .requestsPerSecond: 20
            case .participants: 100
            case .sessions: 16
            case .members: 200
            case .connections: 64
            case .seatConnections: 8
            case .backlogBytes: 1_048_576
            case .graceMs: 30_000
            case .emptySessionMs: 43_200_000
            case .handlerMs: 50
            case .handlerInstructions: 10_000_000
            case .handlerSends: 1000
            case .timers: 100
            case .logLinesPerSecond: 50
            case .vmBytes: 67_108_864
            case .stateBytes: 4_194_304
            }
        }

        /// The smallest and largest value that an operator may set.
        package var range: ClosedRange<Int> {
            switch self {
            case .participants: 1...10_000
            case .messageBytes, .frameBytes: 64...(256 << 20)
            case .backlogBytes: 4096...(1 << 30)
            case .vmBytes: (1 << 20)...(4 << 30)
            case .stateBytes: 1024...(1 << 30)
            case .graceMs: 0...86_400_000
            case .emptySessionMs: 0...(366 * 86_400_000)
            case .handlerMs: 1...60_000
            case .handlerInstructions: 1000...(1 << 50)
            default: 1...10_000_000
            }
        }
    }

    package init() {
        values = Dictionary(uniqueKeysWithValues: Name.allCases.map { ($0, $0.defaultValue) })
    }

    package subscript(name: Name) -> Int {
        get { values[name] ?? name.defaultValue }
        set { values[name] = newValue }
    }
}
