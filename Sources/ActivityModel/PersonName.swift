@_spi(_Unicode) import Swift

/// Names of people as they may be shown: short, composed (NFC), without control and direction marks; never refused.
package enum PersonName {
    package static let maximumCharacters = 24
    private static let maximumBytes = 256

    /// The name cleaned up; nil when nothing is left of it.
    package static func clean(_ text: String) -> String? {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(1024) {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: scalars.append(" ")
            // Joiners hold emoji and scripts together; other format characters change the direction of what follows.
            case .format where scalar != "\u{200D}" && scalar != "\u{200C}": continue
            default: scalars.append(scalar)
            }
        }
        let words = String(scalars)._nfc.reduce(into: String.UnicodeScalarView()) { $0.append($1) }
        var name = String(words).split(whereSeparator: \.isWhitespace).joined(separator: " ")
        name = String(name.prefix(maximumCharacters))
        // A single character may carry any number of combining marks.
        while name.utf8.count > maximumBytes { name.removeLast() }
        while name.last?.isWhitespace == true { name.removeLast() }
        return name.isEmpty ? nil : name
    }

    /// `name`, or `name (2)`, `name (3)` … so that nobody in `taken` has the same.
    package static func distinct(_ name: String, among taken: Set<String>) -> String {
        guard taken.contains(name) else { return name }
        var number = 2
        while true {
            let suffix = " (\(number))"
            let candidate = name.prefix(maximumCharacters - suffix.count) + suffix
            if !taken.contains(String(candidate)) { return String(candidate) }
            number += 1
        }
    }
}

/// The colours of people, given in this order: distinct for colour-blind people, 4.5:1 against white text.
package enum PersonColor {
    package static let palette = [
        "#2563eb", "#db2777", "#15803d", "#b45309", "#7c3aed", "#0e7490", "#dc2626", "#4d7c0f", "#a21caf", "#1e40af", "#9a3412", "#475569",
    ]

    /// The first colour that the fewest of `used` have.
    package static func next(after used: [String]) -> String {
        let counts = used.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        return palette.min { counts[$0, default: 0] < counts[$1, default: 0] }!
    }
}
