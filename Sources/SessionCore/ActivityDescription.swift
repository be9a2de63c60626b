import ActivityModel

/// How a message travels; the words of message schemas.
package enum Delivery: String, Sendable {
    case durable, transient, latest
}

/// Who may send a message; the words of message schemas.
package enum SendRight: String, Sendable {
    case participant, moderator, host, initiator, script
}

/// What the core needs to know of one message type.
package struct MessageType: Sendable, Equatable {
    package var delivery: Delivery
    package var right: SendRight
    package var targeted: Bool

    package init(delivery: Delivery, right: SendRight, targeted: Bool) {
        self.delivery = delivery
        self.right = right
        self.targeted = targeted
    }
}

/// One loaded version of an activity: what its manifest says, and the sources a session of it is made from.
package struct ActivityDescription: Sendable {
    package var name: String
    package var identifier: String
    package var version: Int
    /// `metadata` as JSON, the way the script wrote it.
    package var metadata: [UInt8]
    package var title: String
    package var messages: [String: MessageType]
    package var endsWhenInitiatorLeaves: Bool
    package var exports: [String]
    /// JSON Schemas of the parameters and of every message: `{"parameters":…,"messages":{…}}`.
    package var schemas: [UInt8]
    package var hasPage: Bool
    package var script: ScriptSource

    package init(
        name: String, identifier: String, version: Int, metadata: [UInt8], title: String, messages: [String: MessageType],
        endsWhenInitiatorLeaves: Bool, exports: [String], schemas: [UInt8], hasPage: Bool, script: ScriptSource
    ) {
        self.name = name
        self.identifier = identifier
        self.version = version
        self.metadata = metadata
        self.title = title
        self.messages = messages
        self.endsWhenInitiatorLeaves = endsWhenInitiatorLeaves
        self.exports = exports
        self.schemas = schemas
        self.hasPage = hasPage
        self.script = script
    }

    /// The type of a message name; the relay's `*` takes every name.
    package func messageType(_ name: String) -> MessageType? { messages[name] ?? messages["*"] }
}

/// The source files of one version of an activity, the main one first, with the hash of all of them.
package struct ScriptSource: Sendable, Hashable {
    package struct File: Sendable, Hashable {
        package var name: String
        package var text: [UInt8]
        package init(name: String, text: [UInt8]) {
            self.name = name
            self.text = text
        }
    }
    package var activity: String
    package var files: [File]
    /// A hash over names and texts, in hexadecimal; two sources are the same script if it is equal.
    package var hash: String

    package init(activity: String, files: [File], hash: String) {
        self.activity = activity
        self.files = files
        self.hash = hash
    }

    package static func == (a: Self, b: Self) -> Bool { a.hash == b.hash && a.activity == b.activity }
    package func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}
