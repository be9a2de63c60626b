import Glibc

/// The environment variables of this process.
enum Environment {
    static var variables: [String: String] {
        var variables: [String: String] = [:]
        var entry = environ
        while let text = entry.pointee {
            let halves = String(cString: text).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if halves.count == 2 { variables[String(halves[0])] = String(halves[1]) }
            entry += 1
        }
        return variables
    }

    static subscript(name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}
