import ActivityModel
import CLuaBridge

/// Which Lua is linked, and what is wrong with it; for who diagnoses a machine.
package enum LuaSelfTest {
    /// Such as `Lua 5.4.4`.
    package static var version: String { String(cString: ah_lua_version()) }

    /// The faults that were looked for and whether they are there, as a JSON object.
    package static var report: [UInt8] { collectBytes { ah_self_test($0) } }

    /// The names of the faults that are there.
    package static var faults: [String] {
        let fields = (try? JSONValue.parse(report))?.fields ?? []
        return fields.filter { $0.value == .bool(true) }.map(\.key)
    }
}
