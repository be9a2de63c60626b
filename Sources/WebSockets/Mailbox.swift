internal import Glibc

/// Work handed from any thread to the service thread: kept in order, taken a batch at a time, one wake for each batch.
final class Mailbox: @unchecked Sendable {
    typealias Work = @Sendable () -> Void

    // Unchecked: all of it is touched with the lock held only. A POSIX lock, because the thread sanitizer sees those and no others.
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let idle = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var work: [Work] = []
    /// Wakes the service thread; nil once it takes no more.
    private var wake: (@Sendable () -> Void)?
    /// How many threads are calling `wake` now.
    private var waking = 0

    init(wake: @escaping @Sendable () -> Void) {
        self.wake = wake
        pthread_mutex_init(lock, nil)
        pthread_cond_init(idle, nil)
    }

    deinit {
        pthread_cond_destroy(idle)
        pthread_mutex_destroy(lock)
        idle.deallocate()
        lock.deallocate()
    }

    private func locked<Result>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        return body()
    }

    /// Adds work; after `close` it is dropped.
    func post(_ item: @escaping Work) {
        guard let call = add(item) else { return }
        // The thread that is woken wants the lock at once, so it is free by then.
        call()
        locked {
            waking -= 1
            if waking == 0 { pthread_cond_signal(idle) }
        }
    }

    /// What to call if the service thread is to be woken.
    private func add(_ item: @escaping Work) -> (@Sendable () -> Void)? {
        locked {
            guard wake != nil else { return nil }
            work.append(item)
            guard work.count == 1 else { return nil }
            waking += 1
            return wake
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

    /// Nobody calls `wake` any more when this returns, so that what it wakes may go.
    func close() {
        locked {
            wake = nil
            work = []
            while waking > 0 { pthread_cond_wait(idle, lock) }
        }
    }
}
