internal import ActivityModel
internal import SessionCore
internal import WebSockets

/// One WebSocket connection, as the host writes to it.
final class SocketTransport: PeerTransport {
    private let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    var isReady: Bool { !connection.isPending }

    func send(_ frame: [UInt8]) {
        connection.send(frame)
    }

    func close(_ code: CloseCode, reason: String) {
        connection.close(code: code.rawValue, reason: reason)
    }

    func pauseReading() {
        connection.pauseReading()
    }

    func resumeReading() {
        connection.resumeReading()
    }
}
