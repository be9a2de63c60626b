internal import CLibWebSockets

/// The libraries that sockets run on, for who diagnoses a machine.
package enum SocketLibraries {
    /// Such as `4.1.6`; what the library adds about its build is left out.
    package static var webSocketsVersion: String { String(String(cString: lws_get_library_version()).prefix { $0 != "-" }) }
    /// The event loop's, such as `1.44.2`.
    package static var eventLoopVersion: String { String(cString: uv_version_string()) }
}
