import Gateway
import Glibc
import LuaRuntime

/// Looks at the activities' folders again and again, on a thread of its own.
enum CatalogueWatcher {
    private static let microsecondsBetween: UInt32 = 1_000_000

    /// Calls `changed` with each state that differs from the one before; `first` is known already.
    static func watch(_ catalogue: Catalogue, after first: CatalogueState, changed: @escaping @Sendable (CatalogueState) -> Void) {
        BackgroundThread.start {
            var known = first
            while true {
                usleep(microsecondsBetween)
                let state = catalogue.scan()
                guard state.rows != known.rows else { continue }
                known = state
                changed(state)
            }
        }
    }
}

extension CatalogueState {
    /// What the gateway shows of the activities.
    var cards: [ActivityCard] {
        rows.map { row in
            ActivityCard(
                name: row.name, publicRow: row.error == nil ? row.json(for: .anyone) : nil, operatorRow: row.json(for: .operator),
                folder: row.hasPage ? row.path : nil)
        }
    }
}

extension CatalogueRow {
    func json(for reader: Reader) -> [UInt8] {
        var out: [UInt8] = []
        write(into: &out, for: reader)
        return out
    }
}
