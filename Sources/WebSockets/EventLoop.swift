internal import CLibWebSockets
internal import Glibc

/// One libuv loop with the libwebsockets context that runs on it.
///
/// The loop is ours and lent to libwebsockets: a loop of its own would take over the process's signals.
/// Used on the service thread only; what `waker` returns is the exception.
final class EventLoop {
    let uv: UnsafeMutablePointer<uv_loop_t>
    private let context: OpaquePointer
    private let vhost: OpaquePointer
    private let protocols: UnsafeMutablePointer<lws_protocols>
    private let async: UnsafeMutablePointer<uv_async_t>
    // A turn ends before the loop waits (what timers did) and after it has (what sockets brought).
    private let prepare: UnsafeMutablePointer<uv_prepare_t>
    private let check: UnsafeMutablePointer<uv_check_t>
    private var endOfTurn: [() -> Void] = []
    private let protocolName = strdup("activityhost")
    private let readBufferBytes: UInt32 = 65_536
    private var onWake: () -> Void = {}
    private var isEnding = false
    /// Work whose time has not come; a loop with timers left would not end.
    private var waiting: [ScheduledWork] = []
    /// Files that the process may have open, as far as this loop can watch them.
    let descriptorLimit: Int

    init() throws {
        // A write to a peer that has gone is an error code here, not a signal.
        signal(SIGPIPE, SIG_IGN)
        uv = .allocate(capacity: 1)
        guard uv_loop_init(uv) == 0 else {
            uv.deallocate()
            throw ServerError(description: "the event loop could not be made; is the limit of open files reached?")
        }
        let protocols = UnsafeMutablePointer<lws_protocols>.allocate(capacity: 2)
        self.protocols = protocols
        protocols.initialize(repeating: lws_protocols(), count: 2)
        protocols[0].name = UnsafePointer(protocolName)
        protocols[0].callback = socketCallback

        var loops: [UnsafeMutableRawPointer?] = [UnsafeMutableRawPointer(uv)]
        let limit = DescriptorLimit.lowered(to: 65_536)
        defer { limit.restore() }
        descriptorLimit = limit.effective
        let readBufferBytes = readBufferBytes
        let made = loops.withUnsafeMutableBufferPointer { loops in
            var info = lws_context_creation_info()
            info.port = -1  // no listening socket of its own: accepting is the Listener's
            info.protocols = UnsafePointer(protocols)
            info.options = ah_lws_option_libuv()
            info.foreign_loops = loops.baseAddress
            info.pt_serv_buf_size = readBufferBytes
            lws_set_log_level(0, nil)
            return lws_create_context(&info)
        }
        guard let made, let host = lws_get_vhost_by_name(made, "default") else {
            uv_loop_close(uv)
            uv.deallocate()
            protocols.deallocate()
            throw ServerError(
                description: "libwebsockets could not start on libuv; install the package libwebsockets-evlib-uv (and see that files can be opened)")
        }
        context = made
        vhost = host
        async = .allocate(capacity: 1)
        uv_async_init(uv, async) { handle in
            guard let data = handle?.pointee.data else { return }
            Unmanaged<EventLoop>.fromOpaque(data).takeUnretainedValue().onWake()
        }
        prepare = .allocate(capacity: 1)
        check = .allocate(capacity: 1)
        let me = Unmanaged.passUnretained(self).toOpaque()
        async.pointee.data = me
        uv_prepare_init(uv, prepare)
        prepare.pointee.data = me
        uv_prepare_start(prepare) { endTurn($0?.pointee.data) }
        uv_check_init(uv, check)
        check.pointee.data = me
        uv_check_start(check) { endTurn($0?.pointee.data) }
    }

    /// Milliseconds of a clock that never goes back, read once a turn of the loop.
    var milliseconds: UInt64 { uv_now(uv) }

    /// Runs until `stop`, and calls `onWake` at least once after each `wake`.
    func run(onWake: @escaping () -> Void) {
        self.onWake = onWake
        onWake()
        uv_run(uv, UV_RUN_DEFAULT)
        isEnding = true
        self.onWake = {}
    }

    /// Runs `work` once, before the loop waits again.
    func atEndOfTurn(_ work: @escaping () -> Void) { endOfTurn.append(work) }

    fileprivate func finishTurn() {
        while !endOfTurn.isEmpty {
            let work = endOfTurn
            endOfTurn.removeAll(keepingCapacity: true)
            for item in work { item() }
        }
    }

    /// Makes the loop call `onWake` soon.
    func wake() {
        uv_async_send(async)
    }

    /// `wake` for any thread, good until `destroy`.
    var waker: @Sendable () -> Void {
        nonisolated(unsafe) let async = async
        return { uv_async_send(async) }
    }

    /// Ends `run`. Later calls do nothing: they would end the closing of the handles too.
    func stop() {
        if !isEnding { uv_stop(uv) }
    }

    /// Ends every handle and frees the context. The loop must not be running.
    func destroy() {
        isEnding = true
        for scheduled in waiting { scheduled.cancel() }
        uv_close(ah_uv_handle(async), nil)
        uv_close(ah_uv_handle(prepare), nil)
        uv_close(ah_uv_handle(check), nil)
        lws_context_destroy(context)
        uv_run(uv, UV_RUN_DEFAULT)
        // A context on a lent loop is destroyed in two steps: the second frees what the closing handles still needed.
        lws_context_destroy(context)
        uv_run(uv, UV_RUN_DEFAULT)
        uv_loop_close(uv)
        async.deallocate()
        prepare.deallocate()
        check.deallocate()
        uv.deallocate()
        protocols.deallocate()
        free(protocolName)
    }

    /// Has work done later, once or again and again.
    func schedule(afterMilliseconds delay: UInt64, repeating: Bool = false, _ work: @escaping () -> Void) -> ScheduledWork {
        let scheduled = ScheduledWork(on: self, afterMilliseconds: delay, repeating: repeating, work)
        scheduled.index = waiting.count
        waiting.append(scheduled)
        return scheduled
    }

    func forget(_ scheduled: ScheduledWork) {
        let last = waiting.removeLast()
        if last === scheduled { return }
        waiting[scheduled.index] = last
        last.index = scheduled.index
    }

    /// Hands a connected descriptor over to libwebsockets, which owns it from here, also when nil comes back.
    func adopt(_ descriptor: Int32) -> OpaquePointer? {
        var file = lws_sock_file_fd_type()
        file.sockfd = descriptor
        return lws_adopt_descriptor_vhost(vhost, LWS_ADOPT_SOCKET, file, protocols[0].name, nil)
    }
}

/// The limit of open files while libwebsockets sizes its tables after it: a container's "unlimited" would cost gigabytes.
private struct DescriptorLimit {
    private let saved: rlimit
    let effective: Int

    static func lowered(to most: rlim_t) -> DescriptorLimit {
        var current = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &current)
        if current.rlim_cur > most {
            var lowered = current
            lowered.rlim_cur = most
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &lowered)
        }
        return DescriptorLimit(saved: current, effective: Int(min(current.rlim_cur, most)))
    }

    func restore() {
        var saved = saved
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &saved)
    }
}

private func endTurn(_ loop: UnsafeMutableRawPointer?) {
    guard let loop else { return }
    Unmanaged<EventLoop>.fromOpaque(loop).takeUnretainedValue().finishTurn()
}

/// Where libwebsockets tells of its sockets. It returns -1 to have the socket closed.
private func socketCallback(
    _ wsi: OpaquePointer?, _ reason: lws_callback_reasons, _ user: UnsafeMutableRawPointer?, _ input: UnsafeMutableRawPointer?, _ length: Int
) -> Int32 {
    switch reason {
    case LWS_CALLBACK_RAW_RX, LWS_CALLBACK_RAW_WRITEABLE, LWS_CALLBACK_RAW_CLOSE:
        guard let data = lws_get_opaque_user_data(wsi) else { return 0 }
        let socket = Unmanaged<Socket>.fromOpaque(data).takeUnretainedValue()
        if reason == LWS_CALLBACK_RAW_RX {
            return socket.handleReadable(UnsafeMutableRawBufferPointer(start: input, count: length)) ? 0 : -1
        }
        if reason == LWS_CALLBACK_RAW_WRITEABLE {
            return socket.handleWritable() ? 0 : -1
        }
        socket.handleClosed()
        return 0
    default:
        return 0
    }
}
