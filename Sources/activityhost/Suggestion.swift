/// Finds what somebody probably meant.
enum Suggestion {
    /// The candidate that takes the fewest edits to get to, if they are few for its length.
    static func nearest(to word: String, among candidates: [String]) -> String? {
        let rated = candidates.map { (candidate: $0, edits: edits(Array(word.utf8), Array($0.utf8))) }
        guard let best = rated.min(by: { $0.edits < $1.edits }), best.edits <= max(1, best.candidate.utf8.count / 3) else { return nil }
        return best.candidate
    }

    /// Insertions, deletions, replacements and swaps of neighbours that make one text of the other.
    private static func edits(_ a: [UInt8], _ b: [UInt8]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...b.count)
        for i in a.indices {
            var row = [i + 1]
            for j in b.indices {
                var least = min(last[j + 1] + 1, row[j] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { least = min(least, beforeLast[j - 1] + 1) }
                row.append(least)
            }
            beforeLast = last
            last = row
        }
        return last[b.count]
    }
}
