import ActivityModel
import CLuaBridge

/// Which Lua is linked, and what is wrong with it; for who diagnoses a machine.
package enum LuaSelfTest {
    /// Such as `Lua 5.4.4`.
    package static var version: String { String(cString: ah_lua_version()) }

    /// The faults that were looked for, whether they are there and what is done about them, as a JSON object.
    package static var report: [UInt8] { collectBytes { ah_self_test($0) } }

    /// The names of the faults that are there.
    package static var faults: [String] {
        let faults = (try? JSONValue.parse(report))?["faults"]?.array ?? []
        return faults.filter { $0["present"] == .bool(true) }.compactMap { $0["name"]?.string }
    }
}
