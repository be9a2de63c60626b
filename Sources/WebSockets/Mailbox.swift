internal import Glibc

/// Work handed from any thread to the service thread: kept in order, taken a batch at a time, one wake for each batch.
final class Mailbox: @unchecked Sendable {
    typealias Work = @Sendable () -> Void

    // Unchecked: both are touched with the lock held only. A POSIX lock, because the thread sanitizer sees those and no others.
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private var work: [Work] = []
    /// Wakes the service thread; nil once it takes no more.
    private var wake: (@Sendable () -> Void)?

    init(wake: @escaping @Sendable () -> Void) {
        self.wake = wake
        pthread_mutex_init(lock, nil)
    }

    deinit {
        pthread_mutex_destroy(lock)
        lock.deallocate()
    }

    private func locked<Result>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        return body()
    }

    /// Adds work; after `close` it is dropped.
    func post(_ item: @escaping Work) {
        locked {
            guard let wake else { return }
            work.append(item)
            // Under the lock, so that the loop can't be freed between the look and the call.
            if work.count == 1 { wake() }
        }
    }

    /// Runs what is there; what that posts comes with the next batch.
    func drain() {
        let batch = locked {
            let batch = work
            work = []
            return batch
        }
        for item in batch { item() }
    }

    func close() {
        locked {
            wake = nil
            work = []
        }
    }
}
