import Glibc

/// The signals that end a host, taken by a thread of their own.
struct Signals {
    private let awaited: sigset_t
    private static let secondsToEnd = 4

    /// Holds the signals back in this thread and in those it starts; call it before there are any.
    init() {
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, SIGTERM)
        sigaddset(&set, SIGINT)
        // A closed terminal ends the host that was started in it; without a terminal a hang-up means nothing.
        if isatty(STDIN_FILENO) == 0 { signal(SIGHUP, SIG_IGN) }
        if !Self.isIgnored(SIGHUP) { sigaddset(&set, SIGHUP) }
        pthread_sigmask(SIG_BLOCK, &set, nil)
        awaited = set
    }

    /// Calls `stop` at the first signal. A second one, or four seconds, end the process at once.
    func whenAsked(_ stop: @escaping @Sendable () -> Void) {
        let awaited = self.awaited
        BackgroundThread.start {
            var set = awaited
            var signal: Int32 = 0
            while sigwait(&set, &signal) != 0 {}
            stop()
            var patience = timespec(tv_sec: Self.secondsToEnd, tv_nsec: 0)
            while sigtimedwait(&set, nil, &patience) < 0, errno == EINTR {}
            _exit(ExitCode.done)
        }
    }

    /// `nohup` and the like ignore a hang-up on purpose.
    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        sigaction(number, nil, &action)
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
    }
}
