import Glibc

/// Hands batches from any thread to one that waits. The lock is held for a swap of arrays only.
final class Mailbox<Element: Sendable>: @unchecked Sendable {
    // Unchecked: `waiting` and `isClosed` are touched with the lock held only.
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let arrival = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var waiting: [Element] = []
    private var isClosed = false
    /// Whether somebody sleeps in `wait`: nobody else needs to be woken.
    private var isAwaited = false

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
        }
        wakeAndUnlock()
    }

    /// The one who is woken wants the lock at once, so it is free by then.
    private func wakeAndUnlock() {
        let wakes = isAwaited
        isAwaited = false
        pthread_mutex_unlock(lock)
        if wakes { pthread_cond_signal(arrival) }
    }

    /// Lets `wait` return nil once everything posted was taken.
    func close() {
        pthread_mutex_lock(lock)
        isClosed = true
        wakeAndUnlock()
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
            isAwaited = true
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
