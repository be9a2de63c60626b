import Glibc

/// A thread with the stack that scripts need: recursion through the C library must end in a Lua error, never in a crash.
struct ScriptThread: Sendable {
    private static let stackBytes = 16 << 20
    private let thread: pthread_t

    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Starts a thread.
    init(_ run: @escaping @Sendable () -> Void) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setstacksize(&attributes, Self.stackBytes)
        var thread = pthread_t()
        let body = Unmanaged.passRetained(Body(run))
        let failure = pthread_create(
            &thread, &attributes,
            { context in
                Unmanaged<Body>.fromOpaque(context!).takeRetainedValue().run()
                return nil
            }, body.toOpaque())
        guard failure == 0 else { fatalError("no thread for scripts: \(String(cString: strerror(failure)))") }
        self.thread = thread
    }

    /// Waits for the thread's end. Called once.
    func join() { pthread_join(thread, nil) }

    /// Runs `body` on such a thread and waits for its result.
    static func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) -> Result {
        let slot = Slot<Result>()
        ScriptThread {
            let result = body()
            slot.value.withLock { $0 = result }
        }.join()
        return slot.value.withLock { $0! }
    }
}

private final class Slot<Value: Sendable>: Sendable {
    let value = Guarded<Value?>(nil)
}
