internal import Synchronization

/// Work handed from any thread to the service thread: kept in order, taken a batch at a time, one wake for each batch.
final class Mailbox: Sendable {
    typealias Work = @Sendable () -> Void

    private struct Contents {
        var work: [Work] = []
        /// Wakes the service thread; nil once it takes no more.
        var wake: (@Sendable () -> Void)?
    }

    private let contents: Mutex<Contents>

    init(wake: @escaping @Sendable () -> Void) {
        contents = Mutex(Contents(wake: wake))
    }

    /// Adds work; after `close` it is dropped.
    func post(_ work: @escaping Work) {
        contents.withLock { contents in
            guard let wake = contents.wake else { return }
            contents.work.append(work)
            // Under the lock, so that the loop can't be freed between the look and the call.
            if contents.work.count == 1 { wake() }
        }
    }

    /// Runs what is there; what that posts comes with the next batch.
    func drain() {
        let batch = contents.withLock { contents in
            let batch = contents.work
            contents.work = []
            return batch
        }
        for work in batch { work() }
    }

    func close() {
        contents.withLock { contents in
            contents.wake = nil
            contents.work = []
        }
    }
}
