import Glibc

/// A thread of its own for work that waits: files, signals, a slow terminal. It ends with the process.
enum BackgroundThread {
    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    static func start(_ run: @escaping @Sendable () -> Void) {
        let body = Unmanaged.passRetained(Body(run))
        var thread = pthread_t()
        let failure = pthread_create(
            &thread, nil,
            { context in
                Unmanaged<Body>.fromOpaque(context!).takeRetainedValue().run()
                return nil
            }, body.toOpaque())
        guard failure == 0 else { fatalError("no thread: \(String(cString: strerror(failure)))") }
        pthread_detach(thread)
    }
}
