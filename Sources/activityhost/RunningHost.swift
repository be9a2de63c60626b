import ActivityModel
import Glibc

/// The host that runs already with a data directory, as another command speaks to it.
struct RunningHost {
    let record: HostRecord
    let operatorToken: String
    private static let secondsToAnswer = 15

    /// What a group that was opened is told as.
    struct CreatedGroup {
        var code: String
        var url: String
        var token: String
        var session: String?
    }

    /// Opens a group with a session of an activity.
    func createGroup(_ activity: String, parameters: [UInt8]) throws(Failure) -> CreatedGroup {
        var body = Array("{\"activity\":".utf8)
        body.appendJSON(activity)
        body.append(text: ",\"parameters\":")
        body += parameters
        body.append(text: "}")
        let answer = try post("/v1/groups", body)
        guard let value = try? JSONValue.parse(answer.body) else { throw unreachable("its answer is no JSON") }
        guard answer.status == 201, let code = value["code"]?.string, let url = value["url"]?.string, let token = value["token"]?.string else {
            throw Failure("the host that runs (process \(record.process)) says: \(value["error"]?["message"]?.string ?? "status \(answer.status)")")
        }
        return CreatedGroup(code: code, url: url, token: token, session: value["session"]?.string)
    }

    private func post(_ path: String, _ body: [UInt8]) throws(Failure) -> (status: Int, body: [UInt8]) {
        let socket = try connected()
        defer { close(socket) }
        let head = """
            POST \(path) HTTP/1.1\r\nHost: localhost:\(record.port)\r\nAuthorization: Bearer \(operatorToken)\r\n\
            Content-Type: application/json\r\nContent-Length: \(body.count)\r\nConnection: close\r\n\r\n
            """
        Terminal.write(Array(head.utf8) + body, to: socket)
        var answer: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 16_384)
        while answer.count < 1 << 20 {
            let count = read(socket, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            answer += piece[..<count]
        }
        let text = String(decoding: answer, as: UTF8.self)
        guard let end = text.firstRange(of: "\r\n\r\n"), let status = text.split(separator: " ", maxSplits: 2).dropFirst().first.flatMap({ Int($0) })
        else {
            throw unreachable("it does not answer")
        }
        return (status, Array(text[end.upperBound...].utf8))
    }

    private func connected() throws(Failure) -> Int32 {
        let family = record.address.contains(":") ? AF_INET6 : AF_INET
        let descriptor = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw unreachable(String(cString: strerror(errno))) }
        var patience = timeval(tv_sec: Self.secondsToAnswer, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        let isConnected: Bool
        if family == AF_INET6 {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = record.port.bigEndian
            inet_pton(AF_INET6, record.address, &address.sin6_addr)
            isConnected = Self.connect(descriptor, &address)
        } else {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = record.port.bigEndian
            inet_pton(AF_INET, record.address, &address.sin_addr)
            isConnected = Self.connect(descriptor, &address)
        }
        guard isConnected else {
            let reason = String(cString: strerror(errno))
            close(descriptor)
            throw unreachable(reason)
        }
        return descriptor
    }

    private static func connect<Address>(_ descriptor: Int32, _ address: inout Address) -> Bool {
        withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<Address>.size)) == 0 }
        }
    }

    private func unreachable(_ reason: String) -> Failure {
        Failure("process \(record.process) uses this data directory, but cannot be asked: \(reason); stop it, or name another one with --data DIR")
    }
}
