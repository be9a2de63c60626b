/// A JSON value as a tree, for what is read seldom: manifests, HTTP bodies, settings. Messages never become one.
package enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case integer(Int64)
    case double(Double)
    case string(String)
    case array([JSONValue])
    /// In the order of the text.
    case object([Field])

    package struct Field: Sendable, Equatable {
        package var key: String
        package var value: JSONValue
        package init(key: String, value: JSONValue) {
            self.key = key
            self.value = value
        }
    }

    private static let maximumDepth = 64

    /// Reads strict JSON, 64 levels deep at most; numbers that fit neither 64 bits nor a finite double are refused.
    package static func parse(_ text: [UInt8]) throws(JSONError) -> JSONValue {
        guard String(validating: text, as: UTF8.self) != nil else { throw JSONError(offset: 0, message: "not UTF-8") }
        var failure: JSONError?
        let value = text.withUnsafeBytes { bytes -> JSONValue? in
            var scanner = JSONScanner(bytes)
            do throws(JSONError) {
                let value = try read(&scanner, depth: 0)
                try scanner.expectEnd()
                return value
            } catch {
                failure = error
                return nil
            }
        }
        if let failure { throw failure }
        return value!
    }

    private static func read(_ scanner: inout JSONScanner, depth: Int) throws(JSONError) -> JSONValue {
        guard depth < maximumDepth else { throw scanner.error("nested more than \(maximumDepth) levels") }
        switch scanner.peek() {
        case UInt8(ascii: "{"):
            try scanner.expect(UInt8(ascii: "{"))
            var fields: [Field] = []
            var keys: Set<String> = []
            if scanner.take(UInt8(ascii: "}")) { return .object([]) }
            repeat {
                let key = try scanner.string()
                guard keys.insert(key).inserted else { throw scanner.error("key \"\(key)\" twice") }
                try scanner.expect(UInt8(ascii: ":"))
                fields.append(Field(key: key, value: try read(&scanner, depth: depth + 1)))
            } while scanner.take(UInt8(ascii: ","))
            try scanner.expect(UInt8(ascii: "}"))
            return .object(fields)
        case UInt8(ascii: "["):
            try scanner.expect(UInt8(ascii: "["))
            var items: [JSONValue] = []
            if scanner.take(UInt8(ascii: "]")) { return .array([]) }
            repeat { items.append(try read(&scanner, depth: depth + 1)) } while scanner.take(UInt8(ascii: ","))
            try scanner.expect(UInt8(ascii: "]"))
            return .array(items)
        case UInt8(ascii: "\""):
            return .string(try scanner.string())
        default:
            let text = scanner.bytes(try scanner.skipValue())
            return try scalar(String(decoding: text, as: UTF8.self), scanner)
        }
    }

    private static func scalar(_ text: String, _ scanner: JSONScanner) throws(JSONError) -> JSONValue {
        switch text {
        case "null": return .null
        case "true": return .bool(true)
        case "false": return .bool(false)
        default: break
        }
        if !text.utf8.contains(where: { $0 == UInt8(ascii: ".") || $0 | 0x20 == UInt8(ascii: "e") }), text != "-0" {
            guard let integer = Int64(text) else { throw scanner.error("\(text) does not fit 64 bits") }
            return .integer(integer)
        }
        guard let double = Double(text), double.isFinite else { throw scanner.error("\(text) is not a finite number") }
        return .double(double)
    }

    /// Appends the value as JSON without spaces.
    package func write(into out: inout [UInt8]) {
        switch self {
        case .null: out.append(contentsOf: "null".utf8)
        case .bool(let value): out.append(contentsOf: (value ? "true" : "false").utf8)
        case .integer(let value): out.append(contentsOf: String(value).utf8)
        case .double(let value): out.append(contentsOf: value.description.utf8)
        case .string(let value): out.appendJSON(value)
        case .array(let items):
            out.append(UInt8(ascii: "["))
            for (index, item) in items.enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                item.write(into: &out)
            }
            out.append(UInt8(ascii: "]"))
        case .object(let fields):
            out.append(UInt8(ascii: "{"))
            for (index, field) in fields.enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                out.appendJSON(field.key)
                out.append(UInt8(ascii: ":"))
                field.value.write(into: &out)
            }
            out.append(UInt8(ascii: "}"))
        }
    }

    /// The value as JSON without spaces.
    package var text: [UInt8] {
        var out: [UInt8] = []
        write(into: &out)
        return out
    }

    package subscript(key: String) -> JSONValue? {
        guard case .object(let fields) = self else { return nil }
        return fields.first { $0.key == key }?.value
    }

    package var string: String? {
        guard case .string(let value) = self else { return nil }
        return value
    }

    package var integer: Int64? {
        guard case .integer(let value) = self else { return nil }
        return value
    }

    package var bool: Bool? {
        guard case .bool(let value) = self else { return nil }
        return value
    }

    package var array: [JSONValue]? {
        guard case .array(let items) = self else { return nil }
        return items
    }

    package var fields: [Field]? {
        guard case .object(let fields) = self else { return nil }
        return fields
    }
}

extension [UInt8] {
    /// Appends `text` as a JSON string, quotes included.
    package mutating func appendJSON(_ text: String) {
        append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                append(UInt8(ascii: "\\"))
                append(byte)
            case 0..<0x20, 0x7F:
                append(contentsOf: "\\u00".utf8)
                append(Self.hexDigits[Int(byte >> 4)])
                append(Self.hexDigits[Int(byte & 15)])
            default: append(byte)
            }
        }
        append(UInt8(ascii: "\""))
    }

    private static let hexDigits = Array("0123456789abcdef".utf8)

    /// Appends plain ASCII or ready-made JSON text.
    package mutating func append(text: StaticString) {
        text.withUTF8Buffer { append(contentsOf: $0) }
    }

    /// Appends a whole number in decimal digits.
    package mutating func append(decimal number: some BinaryInteger) {
        if number < 0 { append(UInt8(ascii: "-")) }
        append(decimal: UInt64(number.magnitude))
    }

    /// Appends a whole number in decimal digits, without a text on the way: every message has some.
    package mutating func append(decimal number: UInt64) {
        var divisor: UInt64 = 1
        while number / divisor >= 10 { divisor *= 10 }
        while divisor > 0 {
            append(UInt8(ascii: "0") + UInt8(number / divisor % 10))
            divisor /= 10
        }
    }

    /// Appends a short id, without quotes.
    package mutating func append(id: some NumberedID) {
        append(UInt8(ascii: type(of: id).prefix))
        append(decimal: UInt64(id.number))
    }
}
