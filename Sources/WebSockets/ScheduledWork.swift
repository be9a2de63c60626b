internal import CLibWebSockets

/// Work that waits for its time on a server's service thread.
package final class ScheduledWork {
    private let timer: UnsafeMutablePointer<uv_timer_t>
    private let loop: EventLoop
    private var work: (() -> Void)?
    /// Position in the loop's list.
    var index = 0

    init(on loop: EventLoop, afterMilliseconds delay: UInt64, repeating: Bool = false, _ work: @escaping () -> Void) {
        self.loop = loop
        self.work = work
        timer = .allocate(capacity: 1)
        uv_timer_init(loop.uv, timer)
        // libuv counts from the time it read at the start of this turn, which a long handler has left behind.
        uv_update_time(loop.uv)
        timer.pointee.data = Unmanaged.passRetained(self).toOpaque()
        uv_timer_start(
            timer,
            { handle in
                guard let data = handle?.pointee.data else { return }
                Unmanaged<ScheduledWork>.fromOpaque(data).takeUnretainedValue().fire()
            }, delay, repeating ? delay : 0)
    }

    /// True until the work has run or was cancelled.
    package var isPending: Bool { work != nil }

    /// Drops the work, if it has not run yet. Service thread; may be called at any time, also twice.
    package func cancel() {
        guard work != nil else { return }
        work = nil
        loop.forget(self)
        uv_timer_stop(timer)
        uv_close(ah_uv_handle(timer)) { handle in
            guard let handle, let data = handle.pointee.data else { return }
            Unmanaged<ScheduledWork>.fromOpaque(data).release()
            UnsafeMutableRawPointer(handle).deallocate()
        }
    }

    private func fire() {
        let due = work
        if uv_timer_get_repeat(timer) == 0 { cancel() }
        due?()
    }
}
