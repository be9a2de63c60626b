internal import CLibWebSockets

/// The answer to a request for a WebSocket, decided by the request alone.
enum Handshake {
    /// The bytes of the response 101.
    case accepted([UInt8])
    case refused(HTTPResponse)

    /// The request is for the WebSocket path, whether it asks properly or not.
    static func isFor(_ configuration: ServerConfiguration, _ request: HTTPRequest) -> Bool {
        request.path == configuration.path
    }

    init(_ request: HTTPRequest, configuration: ServerConfiguration) {
        let headers = request.headers
        guard request.method == "GET" else {
            self = .refused(.withHeader(.text(405, "use GET"), "allow", "GET"))
            return
        }
        guard request.isVersion11, headers.contains(token: "websocket", in: "upgrade"), headers.contains(token: "upgrade", in: "connection") else {
            self = .refused(.withHeader(.text(426, "this is a WebSocket; speak \(configuration.subprotocol)"), "upgrade", "websocket"))
            return
        }
        guard headers["sec-websocket-version"] == "13" else {
            self = .refused(.withHeader(.text(426, "WebSocket version 13 is spoken here"), "sec-websocket-version", "13"))
            return
        }
        guard let key = headers["sec-websocket-key"], Handshake.isNonce(key) else {
            self = .refused(.text(400, "Sec-WebSocket-Key is not 16 bytes in base64"))
            return
        }
        let offered = headers.tokens("sec-websocket-protocol")
        // Who offers nothing leaves the choice to the host; who offers others only would not understand it.
        guard offered.isEmpty || offered.contains(configuration.subprotocol) else {
            self = .refused(.text(400, "the subprotocol is \(configuration.subprotocol)"))
            return
        }
        var text = "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\n"
        text += "sec-websocket-accept: \(Handshake.accept(key))\r\n"
        if !offered.isEmpty { text += "sec-websocket-protocol: \(configuration.subprotocol)\r\n" }
        text += "\r\n"
        self = .accepted(Array(text.utf8))
    }

    private static func isNonce(_ key: String) -> Bool {
        var decoded = [CChar](repeating: 0, count: 24)
        return key.utf8.count == 24 && key.hasSuffix("==") && lws_b64_decode_string(key, &decoded, 24) == 16
    }

    static func accept(_ key: String) -> String {
        let joined = Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)
        var digest = [UInt8](repeating: 0, count: 20)
        lws_SHA1(joined, joined.count, &digest)
        var encoded = [CChar](repeating: 0, count: 32)
        let length = digest.withUnsafeBytes { lws_b64_encode_string($0.bindMemory(to: CChar.self).baseAddress, 20, &encoded, 32) }
        return String(decoding: encoded.prefix(Int(length)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension HTTPResponse {
    fileprivate static func withHeader(_ response: HTTPResponse, _ name: String, _ value: String) -> HTTPResponse {
        var response = response
        response.headers.append(.init(name: name, value: value))
        return response
    }
}
