/// A request that a client sent, as contract section 5 lists them; the raw JSON of bodies and parameters is kept as it came.
package enum ClientEnvelope: Sendable, Equatable {
    case hello(Hello)
    case start(ref: Int64?, activity: String, parameters: [UInt8], replaces: String?)
    case join(ref: Int64?, session: String, participant: String?, since: Position?)
    case send(ref: Int64?, session: String, name: String, body: [UInt8], to: [String]?)
    case change(ref: Int64?, session: String, parameters: [UInt8])
    case leave(ref: Int64?, session: String)
    case end(ref: Int64?, session: String)
    case rename(ref: Int64?, name: String)
    case role(ref: Int64?, member: String, role: String)
    case remove(ref: Int64?, member: String)
    case lock(ref: Int64?, locked: Bool)
    case newCode(ref: Int64?)
    case ping(time: Int64)
    /// Not a request: answered with `rejected`.
    case invalid(ref: Int64?, Rejection)

    package struct Hello: Sendable, Equatable {
        package var ref: Int64?
        package var version: Int64
        package var group: String
        package var name: String
        package var token: String?
        package var client: String?
    }

    package var ref: Int64? {
        switch self {
        case .hello(let hello): hello.ref
        case .start(let ref, _, _, _), .join(let ref, _, _, _), .send(let ref, _, _, _, _), .change(let ref, _, _), .leave(let ref, _),
            .end(let ref, _), .rename(let ref, _), .role(let ref, _, _), .remove(let ref, _), .lock(let ref, _), .newCode(let ref),
            .invalid(let ref, _):
            ref
        case .ping: nil
        }
    }

    /// Reads a frame: a JSON array of envelopes. Throws when it is not that; an element that is no proper envelope becomes `.invalid`.
    package static func parse(frame: UnsafeRawBufferPointer) throws(JSONError) -> [ClientEnvelope] {
        var scanner = JSONScanner(frame)
        try scanner.expect(UInt8(ascii: "["))
        var envelopes: [ClientEnvelope] = []
        if scanner.take(UInt8(ascii: "]")) {
            try scanner.expectEnd()
            return []
        }
        repeat {
            guard scanner.peek() == UInt8(ascii: "{") else {
                _ = try scanner.skipValue()
                envelopes.append(.invalid(ref: nil, Rejection(.invalidFrame, "an envelope is an object with a type")))
                continue
            }
            envelopes.append(try Fields(&scanner).envelope())
        } while scanner.take(UInt8(ascii: ","))
        try scanner.expect(UInt8(ascii: "]"))
        try scanner.expectEnd()
        return envelopes
    }
}

/// Where a participant stands: a session's log and a place in it.
package struct Position: Sendable, Equatable {
    package var epoch: String
    package var seq: UInt64
    package init(epoch: String, seq: UInt64) {
        self.epoch = epoch
        self.seq = seq
    }
}

/// The known fields of one envelope; a field of the wrong type is remembered and refused.
private struct Fields {
    private var type: String?
    private var ref: Int64?
    private var strings: [(key: String, value: String)] = []
    private var body: [UInt8]?
    private var parameters: [UInt8]?
    private var to: [String]?
    private var since: Position?
    private var integers: [(key: String, value: Int64)] = []
    private var locked: Bool?
    private var wrong: String?

    init(_ scanner: inout JSONScanner) throws(JSONError) {
        try scanner.expect(UInt8(ascii: "{"))
        if scanner.take(UInt8(ascii: "}")) { return }
        strings.reserveCapacity(4)
        repeat {
            let key = try scanner.string()
            try scanner.expect(UInt8(ascii: ":"))
            try read(key, &scanner)
        } while scanner.take(UInt8(ascii: ","))
        try scanner.expect(UInt8(ascii: "}"))
    }

    private mutating func read(_ key: String, _ scanner: inout JSONScanner) throws(JSONError) {
        let next = scanner.peek()
        switch key {
        case "body": body = scanner.bytes(try scanner.skipValue())
        case "parameters":
            let isObject = next == UInt8(ascii: "{")
            let text = scanner.bytes(try scanner.skipValue())
            if isObject { parameters = text } else if text != Array("null".utf8) { wrong = "parameters: object expected" }
        case "type":
            guard let text = try string(key, &scanner) else { return }
            type = text
        case "session", "name", "group", "token", "client", "activity", "replaces", "participant", "member", "role":
            guard let text = try string(key, &scanner) else { return }
            strings.append((key, text))
        case "ref":
            guard let value = try integer(key, &scanner) else { return }
            if value > 0 { ref = value } else { wrong = "ref: positive integer expected" }
        case "protocol", "time":
            guard let value = try integer(key, &scanner) else { return }
            integers.append((key, value))
        case "locked":
            let value = scanner.bytes(try scanner.skipValue())
            locked = value == Array("true".utf8) ? true : value == Array("false".utf8) ? false : nil
        case "to": try readTo(&scanner)
        case "since": try readSince(&scanner)
        default: _ = try scanner.skipValue()
        }
    }

    private mutating func string(_ key: String, _ scanner: inout JSONScanner) throws(JSONError) -> String? {
        if scanner.peek() == UInt8(ascii: "\"") { return try scanner.string() }
        if scanner.bytes(try scanner.skipValue()) != Array("null".utf8) { wrong = "\(key): string expected" }
        return nil
    }

    private mutating func integer(_ key: String, _ scanner: inout JSONScanner) throws(JSONError) -> Int64? {
        let text = String(decoding: scanner.bytes(try scanner.skipValue()), as: UTF8.self)
        if let value = Int64(text) { return value }
        // A clock may be written with a fraction.
        if let value = Double(text), value.magnitude < 9e15, key == "time" { return Int64(value) }
        if text != "null" { wrong = "\(key): integer expected" }
        return nil
    }

    private mutating func readTo(_ scanner: inout JSONScanner) throws(JSONError) {
        guard scanner.take(UInt8(ascii: "[")) else {
            if scanner.bytes(try scanner.skipValue()) != Array("null".utf8) { wrong = "to: list of participant ids expected" }
            return
        }
        var ids: [String] = []
        if !scanner.take(UInt8(ascii: "]")) {
            repeat {
                if scanner.peek() == UInt8(ascii: "\"") {
                    ids.append(try scanner.string())
                } else {
                    _ = try scanner.skipValue()
                    wrong = "to: list of participant ids expected"
                }
            } while scanner.take(UInt8(ascii: ","))
            try scanner.expect(UInt8(ascii: "]"))
        }
        to = ids
    }

    private mutating func readSince(_ scanner: inout JSONScanner) throws(JSONError) {
        let text = scanner.bytes(try scanner.skipValue())
        guard let value = try? JSONValue.parse(text) else { return }
        if case .null = value { return }
        guard let epoch = value["epoch"]?.string, let seq = value["seq"]?.integer, seq >= 0 else {
            wrong = "since: {epoch, seq} expected"
            return
        }
        since = Position(epoch: epoch, seq: UInt64(seq))
    }

    private func text(_ key: String) -> String? { strings.last { $0.key == key }?.value }

    private func required(_ key: String) throws(Rejection) -> String {
        guard let value = text(key) else { throw Rejection(.invalidFrame, "\(key) is missing", path: key) }
        return value
    }

    func envelope() -> ClientEnvelope {
        guard let type else { return .invalid(ref: ref, Rejection(.invalidFrame, "an envelope is an object with a type", path: "type")) }
        if let wrong {
            return .invalid(ref: ref, Rejection(.invalidFrame, wrong, path: wrong.split(separator: ":").first.map(String.init)))
        }
        do throws(Rejection) {
            return try envelope(type)
        } catch {
            return .invalid(ref: ref, error)
        }
    }

    private func envelope(_ type: String) throws(Rejection) -> ClientEnvelope {
        switch type {
        case "hello":
            return .hello(
                .init(
                    ref: ref, version: integers.last { $0.key == "protocol" }?.value ?? 0, group: text("group") ?? "", name: text("name") ?? "",
                    token: text("token"), client: text("client")))
        case "start":
            return .start(ref: ref, activity: try required("activity"), parameters: parameters ?? Array("{}".utf8), replaces: text("replaces"))
        case "join": return .join(ref: ref, session: try required("session"), participant: text("participant"), since: since)
        case "send":
            guard let body else { throw Rejection(.invalidFrame, "body is missing", path: "body") }
            return .send(ref: ref, session: try required("session"), name: try required("name"), body: body, to: to)
        case "change":
            guard let parameters else { throw Rejection(.invalidFrame, "parameters is missing", path: "parameters") }
            return .change(ref: ref, session: try required("session"), parameters: parameters)
        case "leave": return .leave(ref: ref, session: try required("session"))
        case "end": return .end(ref: ref, session: try required("session"))
        case "rename": return .rename(ref: ref, name: try required("name"))
        case "role": return .role(ref: ref, member: try required("member"), role: try required("role"))
        case "remove": return .remove(ref: ref, member: try required("member"))
        case "lock":
            guard let locked else { throw Rejection(.invalidFrame, "locked: boolean expected", path: "locked") }
            return .lock(ref: ref, locked: locked)
        case "new_code": return .newCode(ref: ref)
        case "ping": return .ping(time: integers.last { $0.key == "time" }?.value ?? 0)
        default: throw Rejection(.unknownType, "unknown type \"\(type.prefix(64))\"")
        }
    }
}
