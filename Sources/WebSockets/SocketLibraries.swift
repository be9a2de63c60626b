internal import CLibWebSockets

/// The libraries that sockets run on, for who diagnoses a machine.
package enum SocketLibraries {
    /// As libwebsockets names its build, such as `4.1.6-…`.
    package static var webSocketsVersion: String { String(cString: lws_get_library_version()) }
    /// The event loop's, such as `1.44.2`.
    package static var eventLoopVersion: String { String(cString: uv_version_string()) }
}
