/// Why a command line cannot be followed; ends the program with exit code 2.
struct UsageError: Error, Equatable {
    let message: String
    init(_ message: String) { self.message = message }
}

/// Why a command failed, and what to do next; ends the program with exit code 1.
struct Failure: Error, Equatable {
    let message: String
    init(_ message: String) { self.message = message }
}

/// The words of a command line, sorted into options and the rest; the environment fills in what no flag says.
struct Arguments: Equatable {
    /// `--KEY VALUE` that is no option of the command: a parameter of the activity. Without a value it stands last or before another.
    struct Parameter: Equatable {
        var key: String
        var value: String?
    }

    private(set) var operands: [String] = []
    private(set) var parameters: [Parameter] = []
    private var values: [String: [String]] = [:]

    /// Sorts `words`. `takesParameters` keeps options it doesn't know as parameters instead of refusing them.
    init(_ words: [String], options: [Option], environment: [String: String], takesParameters: Bool = false) throws(UsageError) {
        var rest = words[...]
        while let word = rest.popFirst() {
            guard word.hasPrefix("--"), word != "--" else {
                if word == "--" {
                    operands += rest
                    break
                }
                guard !word.hasPrefix("-") || word == "-" else { throw Self.unknown(word, options) }
                operands.append(word)
                continue
            }
            let halves = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard let option = options.first(where: { $0.name == halves[0] }) else {
                guard takesParameters else { throw Self.unknown(word, options) }
                parameters.append(Parameter(key: halves[0], value: halves.count == 2 ? halves[1] : Self.takeValue(&rest)))
                continue
            }
            try read(option, inline: halves.count == 2 ? halves[1] : nil, &rest)
        }
        for option in options where values[option.name] == nil {
            guard let text = environment[option.environmentName], !text.isEmpty else { continue }
            try read(option, environment: text)
        }
    }

    private mutating func read(_ option: Option, inline: String?, _ rest: inout ArraySlice<String>) throws(UsageError) {
        switch option.shape {
        case .flag:
            guard let inline else {
                values[option.name] = ["true"]
                return
            }
            values[option.name] = try Self.truth(inline, of: "--\(option.name)") ? ["true"] : []
        case .value(let place):
            guard let value = inline ?? Self.takeValue(&rest) else { throw UsageError("--\(option.name) needs a value: \(option.name) \(place)") }
            values[option.name] = [value]
        case .repeated(let place):
            guard let value = inline ?? Self.takeValue(&rest) else { throw UsageError("--\(option.name) needs a value: \(option.name) \(place)") }
            values[option.name, default: []].append(value)
        }
    }

    private mutating func read(_ option: Option, environment text: String) throws(UsageError) {
        switch option.shape {
        case .flag: values[option.name] = try Self.truth(text, of: option.environmentName) ? ["true"] : []
        case .value: values[option.name] = [text]
        case .repeated: values[option.name] = text.split(separator: ",").map(String.init)
        }
    }

    private static func takeValue(_ rest: inout ArraySlice<String>) -> String? {
        guard let next = rest.first, !next.hasPrefix("--") else { return nil }
        rest.removeFirst()
        return next
    }

    private static func truth(_ text: String, of name: String) throws(UsageError) -> Bool {
        switch text.lowercased() {
        case "1", "true", "yes", "on": return true
        case "0", "false", "no", "off": return false
        default: throw UsageError("\(name) is \"\(text)\"; it can be true or false")
        }
    }

    private static func unknown(_ word: String, _ options: [Option]) -> UsageError {
        let name = word.prefix { $0 != "=" }
        // The dashes, which are always right, must not make a far name near.
        let hint = Suggestion.nearest(to: String(name.drop { $0 == "-" }), among: options.map(\.name)).map { "; did you mean --\($0)?" } ?? ""
        return UsageError("there is no option \(name)\(hint)")
    }

    // MARK: Reading

    func has(_ option: Option) -> Bool { values[option.name]?.isEmpty == false }
    func value(_ option: Option) -> String? { values[option.name]?.last }
    func values(_ option: Option) -> [String] { values[option.name] ?? [] }
}
