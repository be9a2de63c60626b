/// Why a text is not JSON.
package struct JSONError: Error, Equatable {
    package var offset: Int
    package var message: String
}

/// Reads strict RFC 8259 text in one pass without building a tree; never recurses, so no nesting exhausts the stack.
///
/// The caller has checked that the text is valid UTF-8 (text frames are). Confined to the scope of the buffer it reads.
package struct JSONScanner {
    private let text: UnsafeRawBufferPointer
    package private(set) var offset = 0

    package init(_ text: UnsafeRawBufferPointer) { self.text = text }

    package func error(_ message: String) -> JSONError { JSONError(offset: offset, message: message) }

    /// The next byte that is not white space, without reading it; nil at the end.
    package mutating func peek() -> UInt8? {
        while offset < text.count {
            switch text[offset] {
            case 0x20, 0x09, 0x0A, 0x0D: offset += 1
            case let byte: return byte
            }
        }
        return nil
    }

    /// Reads `byte` if it comes next.
    package mutating func take(_ byte: UInt8) -> Bool {
        guard peek() == byte else { return false }
        offset += 1
        return true
    }

    package mutating func expect(_ byte: UInt8) throws(JSONError) {
        guard take(byte) else { throw error("'\(Character(Unicode.Scalar(byte)))' expected") }
    }

    package mutating func expectEnd() throws(JSONError) {
        guard peek() == nil else { throw error("text after the end") }
    }

    /// Reads a whole value of any kind and returns where it stands.
    package mutating func skipValue() throws(JSONError) -> Range<Int> {
        guard peek() != nil else { throw error("value expected") }
        let start = offset
        // A byte a level: the closing bracket that is due.
        var closing: [UInt8] = []
        while true {
            switch peek() {
            case UInt8(ascii: "{"):
                offset += 1
                if take(UInt8(ascii: "}")) { break }
                closing.append(UInt8(ascii: "}"))
                try skipKey()
                continue
            case UInt8(ascii: "["):
                offset += 1
                if take(UInt8(ascii: "]")) { break }
                closing.append(UInt8(ascii: "]"))
                continue
            default:
                try skipScalar()
            }
            while let due = closing.last {
                if take(UInt8(ascii: ",")) {
                    if due == UInt8(ascii: "}") { try skipKey() }
                    break
                }
                try expect(due)
                closing.removeLast()
            }
            if closing.isEmpty { return start..<offset }
        }
    }

    private mutating func skipKey() throws(JSONError) {
        guard peek() == UInt8(ascii: "\"") else { throw error("key expected") }
        try skipString()
        try expect(UInt8(ascii: ":"))
    }

    private mutating func skipScalar() throws(JSONError) {
        switch peek() {
        case UInt8(ascii: "\""): try skipString()
        case UInt8(ascii: "t"): try skipWord("true")
        case UInt8(ascii: "f"): try skipWord("false")
        case UInt8(ascii: "n"): try skipWord("null")
        case let byte? where byte == UInt8(ascii: "-") || byte &- 0x30 < 10: try skipNumber()
        default: throw error("value expected")
        }
    }

    private mutating func skipWord(_ word: StaticString) throws(JSONError) {
        let matches = word.withUTF8Buffer { letters in
            offset + letters.count <= text.count && (0..<letters.count).allSatisfy { text[offset + $0] == letters[$0] }
        }
        guard matches else { throw error("value expected") }
        offset += word.utf8CodeUnitCount
    }

    private mutating func skipDigits() throws(JSONError) {
        let start = offset
        while offset < text.count, text[offset] &- 0x30 < 10 { offset += 1 }
        if offset == start { throw error("digit expected") }
    }

    private mutating func skipNumber() throws(JSONError) {
        if text[offset] == UInt8(ascii: "-") { offset += 1 }
        let first = offset
        try skipDigits()
        if text[first] == UInt8(ascii: "0"), offset > first + 1 { throw error("number with a leading zero") }
        if offset < text.count, text[offset] == UInt8(ascii: ".") {
            offset += 1
            try skipDigits()
        }
        if offset < text.count, text[offset] | 0x20 == UInt8(ascii: "e") {
            offset += 1
            if offset < text.count, text[offset] == UInt8(ascii: "+") || text[offset] == UInt8(ascii: "-") { offset += 1 }
            try skipDigits()
        }
    }

    private mutating func skipString() throws(JSONError) {
        _ = try scanString()
    }

    /// Reads a string token and says whether it has escapes; its text is `offset` before, plus one, to `offset` after, less one.
    private mutating func scanString() throws(JSONError) -> Bool {
        try expect(UInt8(ascii: "\""))
        var escaped = false
        while offset < text.count {
            switch text[offset] {
            case UInt8(ascii: "\""):
                offset += 1
                return escaped
            case UInt8(ascii: "\\"):
                escaped = true
                offset += 1
                try skipEscape()
            case 0..<0x20: throw error("control character in a string")
            default: offset += 1
            }
        }
        throw error("string without an end")
    }

    private mutating func skipEscape() throws(JSONError) {
        guard offset < text.count else { throw error("string without an end") }
        switch text[offset] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "n"),
            UInt8(ascii: "r"), UInt8(ascii: "t"):
            offset += 1
        case UInt8(ascii: "u"):
            offset += 1
            try skipHexUnit()
        default: throw error("unknown escape")
        }
    }

    /// Any unit will do: the grammar allows lone surrogates, and who reads the text decides about them.
    private mutating func skipHexUnit() throws(JSONError) {
        guard offset + 4 <= text.count else { throw error("string without an end") }
        for _ in 0..<4 {
            switch text[offset] {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"): offset += 1
            default: throw error("hexadecimal digit expected")
            }
        }
    }

    /// Reads a string and returns its text, escapes resolved; a lone surrogate becomes U+FFFD.
    package mutating func string() throws(JSONError) -> String {
        guard peek() == UInt8(ascii: "\"") else { throw error("string expected") }
        let start = offset + 1
        let escaped = try scanString()
        let content = UnsafeRawBufferPointer(rebasing: text[start..<offset - 1])
        return escaped ? Self.unescape(content) : String(decoding: content, as: UTF8.self)
    }

    /// The bytes of a range of the text.
    package func bytes(_ range: Range<Int>) -> [UInt8] { Array(text[range]) }

    /// Resolves the escapes of a string that `scanString` found valid.
    private static func unescape(_ content: UnsafeRawBufferPointer) -> String {
        var result: [UInt8] = []
        result.reserveCapacity(content.count)
        var units: [UInt16] = []
        var index = 0
        func unit(at index: Int) -> UInt16 {
            UInt16(String(decoding: content[index..<index + 4], as: UTF8.self), radix: 16) ?? 0
        }
        while index < content.count {
            guard content[index] == UInt8(ascii: "\\") else {
                result.append(content[index])
                index += 1
                continue
            }
            switch content[index + 1] {
            case UInt8(ascii: "u"):
                units = [unit(at: index + 2)]
                index += 6
                if units[0] & 0xFC00 == 0xD800, index + 1 < content.count, content[index] == UInt8(ascii: "\\"),
                    content[index + 1] == UInt8(ascii: "u"), unit(at: index + 2) & 0xFC00 == 0xDC00
                {
                    units.append(unit(at: index + 2))
                    index += 6
                }
                result += Array(String(decoding: units, as: UTF16.self).utf8)
                continue
            case UInt8(ascii: "b"): result.append(0x08)
            case UInt8(ascii: "f"): result.append(0x0C)
            case UInt8(ascii: "n"): result.append(0x0A)
            case UInt8(ascii: "r"): result.append(0x0D)
            case UInt8(ascii: "t"): result.append(0x09)
            case let other: result.append(other)
            }
            index += 2
        }
        return String(decoding: result, as: UTF8.self)
    }
}
