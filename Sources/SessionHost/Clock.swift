import Glibc

/// The two clocks of a host, in ms: wall time for people and scripts, uptime for durations.
package protocol Clock: Sendable {
    /// ms since 1970; may jump when somebody sets the clock.
    var now: Int64 { get }
    /// ms of a clock that never goes back.
    var uptime: Int64 { get }
}

/// The clocks of the system.
package struct SystemClock: Clock {
    package init() {}
    package var now: Int64 { Self.read(CLOCK_REALTIME) }
    package var uptime: Int64 { Self.read(CLOCK_MONOTONIC) }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
