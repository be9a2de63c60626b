import Glibc

/// Hands batches from any thread to one that waits. The lock is held for a swap of arrays only.
final class Mailbox<Element: Sendable>: @unchecked Sendable {
    // Unchecked: `waiting` and `isClosed` are touched with the lock held only.
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let arrival = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var waiting: [Element] = []
    private var isClosed = false

    init() {
        pthread_mutex_init(lock, nil)
        pthread_cond_init(arrival, nil)
    }

    deinit {
        pthread_cond_destroy(arrival)
        pthread_mutex_destroy(lock)
        arrival.deallocate()
        lock.deallocate()
    }

    /// Adds a batch; what comes after `close` is dropped.
    func post(_ batch: [Element]) {
        pthread_mutex_lock(lock)
        if !isClosed {
            if waiting.isEmpty { waiting = batch } else { waiting += batch }
            pthread_cond_signal(arrival)
        }
        pthread_mutex_unlock(lock)
    }

    /// Lets `wait` return nil once everything posted was taken.
    func close() {
        pthread_mutex_lock(lock)
        isClosed = true
        pthread_cond_signal(arrival)
        pthread_mutex_unlock(lock)
    }

    /// Takes what is there, which may be nothing.
    func take() -> [Element] {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        return swapOut()
    }

    /// Waits until something is there and takes it; nil after `close`.
    func wait() -> [Element]? {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        while waiting.isEmpty {
            if isClosed { return nil }
            pthread_cond_wait(arrival, lock)
        }
        return swapOut()
    }

    private func swapOut() -> [Element] {
        var batch: [Element] = []
        swap(&batch, &waiting)
        return batch
    }
}
