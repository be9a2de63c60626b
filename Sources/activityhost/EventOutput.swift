import Glibc
import Synchronization

/// Lines for standard output, written by a thread of their own: a terminal that stands still does not hold up the host.
final class EventOutput: Sendable {
    private struct Waiting {
        var bytes: [UInt8] = []
        var dropped = 0
        var isWriting = false
    }

    private let waiting = Mutex(Waiting())
    private let arrivals: Semaphore
    private let written: Semaphore
    private static let mostBytes = 1 << 20

    init() {
        let arrivals = Semaphore()
        self.arrivals = arrivals
        written = Semaphore()
        BackgroundThread.start { [self] in
            while true {
                arrivals.wait()
                let batch = waiting.withLock { waiting in
                    defer { waiting = Waiting(isWriting: true) }
                    return waiting
                }
                Terminal.write(batch.bytes, to: STDOUT_FILENO)
                if batch.dropped > 0 { Terminal.note("\(batch.dropped) lines were left out: standard output takes them too slowly") }
                waiting.withLock { $0.isWriting = false }
                written.signal()
            }
        }
    }

    /// Adds a line; it is dropped, and counted, when a mebibyte waits already. Any thread.
    func write(line: [UInt8]) {
        let isFirst = waiting.withLock { waiting in
            guard waiting.bytes.count + line.count < Self.mostBytes else {
                waiting.dropped += 1
                return false
            }
            let isFirst = waiting.bytes.isEmpty
            waiting.bytes += line
            waiting.bytes.append(UInt8(ascii: "\n"))
            return isFirst
        }
        if isFirst { arrivals.signal() }
    }

    func write(line: String) {
        write(line: Array(line.utf8))
    }

    /// Waits until what was added is written, for a second at most.
    func finish() {
        while waiting.withLock({ !$0.bytes.isEmpty || $0.isWriting }) {
            guard written.wait(seconds: 1) else { return }
        }
    }
}

/// A counting semaphore of the system.
final class Semaphore: @unchecked Sendable {
    private let semaphore: UnsafeMutablePointer<sem_t>

    init() {
        semaphore = .allocate(capacity: 1)
        sem_init(semaphore, 0, 0)
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    func signal() { sem_post(semaphore) }

    func wait() {
        while sem_wait(semaphore) != 0, errno == EINTR {}
    }

    /// False when the time passed first.
    func wait(seconds: Int) -> Bool {
        var end = timespec()
        clock_gettime(CLOCK_REALTIME, &end)
        end.tv_sec += seconds
        while sem_timedwait(semaphore, &end) != 0 {
            if errno != EINTR { return false }
        }
        return true
    }
}
