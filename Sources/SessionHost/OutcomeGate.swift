import Glibc
import SessionCore

/// Bounds what a script engine has done and its host has not taken yet: past the bound the engine's thread waits.
///
/// A script may answer one small message with megabytes, faster than they can be handed out. Any thread may call it.
package final class OutcomeGate: @unchecked Sendable {
    // Unchecked: what follows is touched with the lock held only.
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let room = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private let maximumBytes: Int
    private var bytes = 0
    private var waiting = 0
    private var isOpen = false

    package init(maximumBytes: Int) {
        self.maximumBytes = maximumBytes
        pthread_mutex_init(lock, nil)
        pthread_cond_init(room, nil)
    }

    deinit {
        pthread_cond_destroy(room)
        pthread_mutex_destroy(lock)
        room.deallocate()
        lock.deallocate()
    }

    /// How many threads wait for room.
    package var waitingThreads: Int { locked { waiting } }

    /// Waits until there is room for `count` bytes; whatever comes first always has room.
    package func enter(_ count: Int) {
        locked {
            waiting += 1
            while bytes > 0, bytes + count > maximumBytes, !isOpen { pthread_cond_wait(room, lock) }
            waiting -= 1
            bytes += count
        }
    }

    /// The host has taken `count` bytes.
    package func leave(_ count: Int) {
        locked {
            bytes -= count
            pthread_cond_broadcast(room)
        }
    }

    /// Lets everything pass from now on, for a host that stops.
    package func open() {
        locked {
            isOpen = true
            pthread_cond_broadcast(room)
        }
    }

    private func locked<Result>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        return body()
    }
}

extension SessionOutcome {
    /// About how many bytes it holds.
    var size: Int {
        var count = 256 + (view?.count ?? 0)
        if case .replaced(let body) = relay { count += body.count }
        for send in sends { count += 96 + send.body.count + (send.to?.count ?? 0) * 4 }
        for line in logs { count += 32 + line.text.utf8.count }
        return count
    }
}
