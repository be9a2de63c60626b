/// What the `Range` header of a request asks for of a file.
enum ByteRange: Equatable {
    /// The whole file: no range, or one that this server does not read.
    case whole
    case part(Range<Int>)
    /// A range of which the file has no byte.
    case unsatisfiable

    /// Reads `bytes=A-B`, `bytes=A-` and `bytes=-N`. Several ranges, other units and nonsense count as no range, as RFC 9110 allows.
    init(header: String?, size: Int) {
        self = .whole
        guard let header else { return }
        let halves = header.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard halves.count == 2, halves[0].lowercased() == "bytes", !halves[1].contains(",") else { return }
        let ends = halves[1].filter { $0 != " " && $0 != "\t" }.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy { $0 &- 0x30 < 10 } }) else { return }
        switch (ends[0].isEmpty, ends[1].isEmpty) {
        case (true, true): return
        case (true, false):
            let length = min(Self.number(ends[1]), size)
            self = length == 0 ? .unsatisfiable : .part(size - length..<size)
        case (false, let isOpen):
            let first = Self.number(ends[0])
            let last = isOpen ? Int.max : Self.number(ends[1])
            guard first <= last else { return }
            self = first >= size ? .unsatisfiable : .part(first..<min(last, size - 1) + 1)
        }
    }

    /// A number of any length; those past 64 bits are past every file's end anyway.
    private static func number(_ digits: some StringProtocol) -> Int {
        Int(digits) ?? Int.max
    }
}
