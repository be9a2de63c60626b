import ActivityModel
import SessionCore

/// An activity as `list --json` and `/v1/activities` show it.
package struct CatalogueRow: Sendable, Equatable {
    /// What is wrong with a broken activity.
    package struct Problem: Sendable, Equatable {
        /// Relative to the watched directory.
        package var file: String
        /// 0 if unknown.
        package var line: Int
        package var code: String
        package var message: String

        /// `draw/activity.lua:42`, as terminals and editors like it.
        package var position: String { line > 0 ? "\(file):\(line)" : file }
    }

    /// Who reads a row: paths and errors are for the operator alone.
    package enum Reader: Sendable {
        case anyone
        case `operator`
    }

    package var name: String
    package var identifier: String?
    package var version: Int?
    package var title: String?
    /// As JSON.
    package var metadata: [UInt8]?
    /// `{"parameters":…,"messages":{…}}`.
    package var schemas: [UInt8]?
    /// The activity's folder, or its file; its page is in `page/` below.
    package var path: String
    package var hasPage = false
    /// The hash of its sources.
    package var hash: String?
    package var error: Problem?

    init(_ activity: ActivityDescription, path: String) {
        name = activity.name
        identifier = activity.identifier
        version = activity.version
        title = activity.title
        metadata = activity.metadata
        schemas = activity.schemas
        self.path = path
        hasPage = activity.hasPage
        hash = activity.script.hash
    }

    init(name: String, path: String, error: Problem) {
        self.name = name
        self.path = path
        self.error = error
    }

    /// Appends the row as a JSON object.
    package func write(into out: inout [UInt8], for reader: Reader) {
        out.append(text: "{\"name\":")
        out.appendJSON(name)
        if let identifier, let version, let metadata, let schemas {
            out.append(text: ",\"identifier\":")
            out.appendJSON(identifier)
            out.append(text: ",\"version\":")
            out.append(decimal: version)
            out.append(text: ",\"metadata\":")
            out += metadata
            out.append(text: ",\"page\":")
            out.append(text: hasPage ? "true" : "false")
            // The fields of `schemas` are fields of the row.
            out.append(UInt8(ascii: ","))
            out += schemas.dropFirst().dropLast()
        }
        if reader == .operator {
            out.append(text: ",\"path\":")
            out.appendJSON(path)
            if let error { write(error, into: &out) }
        }
        out.append(UInt8(ascii: "}"))
    }

    private func write(_ error: Problem, into out: inout [UInt8]) {
        out.append(text: ",\"error\":{\"file\":")
        out.appendJSON(error.file)
        out.append(text: ",\"line\":")
        out.append(decimal: error.line)
        out.append(text: ",\"position\":")
        out.appendJSON(error.position)
        out.append(text: ",\"code\":")
        out.appendJSON(error.code)
        out.append(text: ",\"message\":")
        out.appendJSON(error.message)
        out.append(text: "}")
    }
}
