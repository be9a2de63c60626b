import Glibc

/// Standard output and standard error, for commands that say something and end.
enum Terminal {
    static func write(line: String) {
        write(Array((line + "\n").utf8), to: STDOUT_FILENO)
    }

    static func write(line: [UInt8]) {
        write(line + [UInt8(ascii: "\n")], to: STDOUT_FILENO)
    }

    /// Says on standard error what went wrong.
    static func complain(_ message: String) {
        write(Array(("activityhost: " + plain(message) + "\n").utf8), to: STDERR_FILENO)
    }

    /// Says something on standard error that is no error.
    static func note(_ message: String) {
        write(Array((plain(message) + "\n").utf8), to: STDERR_FILENO)
    }

    /// Writes everything, or gives up when nobody reads.
    static func write(_ bytes: [UInt8], to descriptor: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { return }
            rest = rest.dropFirst(written)
        }
    }

    /// Text from elsewhere without what a terminal would obey: control characters become visible.
    static func plain(_ text: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x09, 0x0A: scalars.append(scalar)
            case 0..<0x20: scalars.append(Unicode.Scalar(0x2400 + scalar.value) ?? " ")
            case 0x7F..<0xA0, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: scalars.append("\u{FFFD}")
            default: scalars.append(scalar)
            }
        }
        return String(scalars)
    }

    /// Whether somebody looks at standard output and wants colours there.
    static func hasColors(_ arguments: Arguments) -> Bool {
        !arguments.has(.noColor) && Environment["NO_COLOR"]?.isEmpty != false && Environment["TERM"] != "dumb" && isatty(STDOUT_FILENO) != 0
    }
}
