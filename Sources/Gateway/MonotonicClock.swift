internal import Glibc

/// A clock for durations that never goes back.
enum MonotonicClock {
    /// Since some moment in the past.
    static var milliseconds: Int64 {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000
    }
}
