package import ActivityModel
package import SessionCore

/// Why a manifest cannot be used, as half a sentence.
struct ManifestError: Error {
    var message: String
}

/// What a loaded script says about itself: the bridge's manifest, read.
package struct ScriptManifest: Sendable {
    package var identifier: String
    package var version: Int
    /// As the script wrote it, in its order.
    package var metadata: JSONValue
    package var messages: [String: MessageType]
    package var handlers: [String]
    package var exports: [String]
    /// `{"parameters":<schema>,"messages":{"<name>":<schema>}}`; a message's schema also tells its `delivery`, `right` and
    /// `targeted`, as annotations, which JSON Schema allows.
    package var schemas: JSONValue

    /// Reads the manifest's JSON. Throws where the text is not what the bridge writes.
    init(json: [UInt8]) throws(ManifestError) {
        let manifest: JSONValue
        do throws(JSONError) { manifest = try JSONValue.parse(json) } catch { throw ManifestError(message: error.message) }
        guard let identifier = manifest["identifier"]?.string, let version = manifest["version"]?.integer,
            let metadata = manifest["metadata"], metadata.fields != nil, let declared = manifest["messages"]?.fields
        else { throw ManifestError(message: "identifier, version, metadata or messages are missing") }
        var messages: [String: MessageType] = [:]
        var schemas: [JSONValue.Field] = []
        for field in declared {
            guard let delivery = field.value["delivery"]?.string.flatMap(Delivery.init(rawValue:)),
                let right = field.value["right"]?.string.flatMap(SendRight.init(rawValue:)),
                let targeted = field.value["targeted"]?.bool
            else { throw ManifestError(message: "messages.\(field.key) is incomplete") }
            messages[field.key] = MessageType(delivery: delivery, right: right, targeted: targeted)
            let annotations: [JSONValue.Field] = [
                .init(key: "delivery", value: .string(delivery.rawValue)), .init(key: "right", value: .string(right.rawValue)),
                .init(key: "targeted", value: .bool(targeted)),
            ]
            schemas.append(.init(key: field.key, value: .object((field.value["schema"]?.fields ?? []) + annotations)))
        }
        self.identifier = identifier
        self.version = Int(version)
        self.metadata = metadata
        self.messages = messages
        handlers = manifest["handlers"]?.array?.compactMap(\.string) ?? []
        exports = manifest["exports"]?.array?.compactMap(\.string) ?? []
        self.schemas = .object([
            .init(key: "parameters", value: manifest["parameters"] ?? .object([])), .init(key: "messages", value: .object(schemas)),
        ])
    }

    /// The title in one language: the plain text, else the English one, else the first.
    package var title: String {
        switch metadata["title"] {
        case .string(let title): title
        case .object(let languages): (languages.first { $0.key == "en" } ?? languages.first)?.value.string ?? identifier
        default: identifier
        }
    }

    package var endsWhenInitiatorLeaves: Bool { metadata["lifetime"]?.string == "ends_when_initiator_leaves" }
}
