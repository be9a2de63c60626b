/// Header fields in the order they came; names in lower case.
package struct HTTPHeaders: Sendable {
    package struct Field: Sendable, Equatable {
        package var name: String
        package var value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    package private(set) var fields: [Field] = []

    package init() {}

    /// The first value of a field; the name in lower case.
    package subscript(name: String) -> String? {
        fields.first { $0.name == name }?.value
    }

    /// All values of a field, split at commas, without white space around them and without empty ones.
    package func tokens(_ name: String) -> [String] {
        fields.filter { $0.name == name }.flatMap { field in
            field.value.split(separator: ",").map { $0.trimmingBlanks() }.filter { !$0.isEmpty }
        }
    }

    package func count(of name: String) -> Int {
        fields.reduce(0) { $0 + ($1.name == name ? 1 : 0) }
    }

    package mutating func append(name: String, value: String) {
        fields.append(Field(name: name, value: value))
    }

    /// A list field holds this token, in any case.
    func contains(token: String, in name: String) -> Bool {
        tokens(name).contains { $0.lowercased() == token }
    }
}

extension Substring {
    /// The text without the spaces and tabs around it.
    func trimmingBlanks() -> String {
        var text = self
        while let first = text.utf8.first, first == 0x20 || first == 0x09 { text = text.dropFirst() }
        while let last = text.utf8.last, last == 0x20 || last == 0x09 { text = text.dropLast() }
        return String(text)
    }
}
