import ActivityModel

/// Makes an activity's parameters of `--KEY VALUE`, by the types that its schema names.
enum ParameterValues {
    /// `{"KEY":VALUE,…}` as JSON. `schemas` is the activity's `{"parameters":…}`.
    static func json(_ parameters: [Arguments.Parameter], schemas: [UInt8], options: [Option]) throws(UsageError) -> [UInt8] {
        let properties = (try? JSONValue.parse(schemas))?["parameters"]?["properties"]?.fields ?? []
        var fields: [JSONValue.Field] = []
        for parameter in parameters {
            guard let schema = properties.first(where: { $0.key == parameter.key })?.value else { throw unknown(parameter.key, properties, options) }
            guard !fields.contains(where: { $0.key == parameter.key }) else { throw UsageError("--\(parameter.key) is given twice") }
            fields.append(.init(key: parameter.key, value: try value(of: parameter, schema)))
        }
        return JSONValue.object(fields).text
    }

    private static func value(of parameter: Arguments.Parameter, _ schema: JSONValue) throws(UsageError) -> JSONValue {
        let type = schema["type"]?.string
        guard let text = parameter.value else {
            guard type == "boolean" else { throw UsageError("--\(parameter.key) needs a value") }
            return .bool(true)
        }
        switch type {
        case "integer":
            guard let number = Int64(text) else { throw mismatch(parameter.key, "a whole number", text) }
            return .integer(number)
        case "number":
            if let number = Int64(text) { return .integer(number) }
            guard let number = Double(text), number.isFinite else { throw mismatch(parameter.key, "a number", text) }
            return .double(number)
        case "boolean":
            guard text == "true" || text == "false" else { throw mismatch(parameter.key, "true or false", text) }
            return .bool(text == "true")
        case "array", "object":
            guard let value = try? JSONValue.parse(Array(text.utf8)) else { throw mismatch(parameter.key, "JSON", text) }
            return value
        case "string": return .string(text)
        default:
            // An enum lists strings; without any type, JSON is taken as it is and the rest as text.
            if schema["enum"] != nil { return .string(text) }
            return (try? JSONValue.parse(Array(text.utf8))) ?? .string(text)
        }
    }

    private static func mismatch(_ key: String, _ expected: String, _ found: String) -> UsageError {
        UsageError("--\(key) is \"\(found)\"; \(expected) is expected")
    }

    private static func unknown(_ key: String, _ properties: [JSONValue.Field], _ options: [Option]) -> UsageError {
        let known = properties.map(\.key)
        let hint = Suggestion.nearest(to: key, among: known + options.map(\.name)).map { "; did you mean --\($0)?" } ?? ""
        let list = known.isEmpty ? "it takes none" : "it takes " + known.map { "--\($0)" }.joined(separator: ", ")
        return UsageError("--\(key) is neither an option nor a parameter of the activity (\(list))\(hint)")
    }
}
