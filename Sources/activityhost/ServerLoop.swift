import SessionHost
import WebSockets

/// The server's thread, as the host knows it.
final class ServerLoop: EventLoop {
    private let server: Server

    init(_ server: Server) {
        self.server = server
    }

    func post(_ work: @escaping @Sendable () -> Void) {
        server.post(work)
    }

    func schedule(afterMilliseconds delay: Int, _ work: @escaping () -> Void) {
        server.schedule(afterMilliseconds: delay, work)
    }

    func atEndOfTurn(_ work: @escaping () -> Void) {
        server.atEndOfTurn(work)
    }
}
