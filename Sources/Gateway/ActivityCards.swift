/// What the gateway tells and serves of one activity in the catalogue.
package struct ActivityCard: Sendable {
    package var name: String
    /// Its row in `/v1/activities` for everybody, a JSON object; nil for a broken activity, which only the operator is told of.
    package var publicRow: [UInt8]?
    /// The row with what the operator alone may know.
    package var operatorRow: [UInt8]
    /// The activity's own folder, if it has a page.
    package var folder: String?

    package init(name: String, publicRow: [UInt8]?, operatorRow: [UInt8], folder: String?) {
        self.name = name
        self.publicRow = publicRow
        self.operatorRow = operatorRow
        self.folder = folder
    }

    /// It can be started; a broken one can't.
    var isUsable: Bool { publicRow != nil }

    func row(isOperator: Bool) -> [UInt8]? {
        isOperator ? operatorRow : publicRow
    }
}

/// The activities that the gateway shows.
struct ActivityCards {
    /// By name, broken ones included.
    private(set) var all: [ActivityCard] = []
    private var named: [String: ActivityCard] = [:]
    private var withPage: [String: ActivityCard] = [:]

    mutating func replace(with cards: [ActivityCard]) {
        all = cards.sorted { $0.name < $1.name }
        // In a second folder there may be another one of the name, which is broken because the name is taken.
        named = Dictionary(all.map { ($0.name, $0) }, uniquingKeysWith: { $0.isUsable ? $0 : $1 })
        withPage = named.compactMapValues { $0.isUsable ? $0 : withPage[$0.name] }
    }

    subscript(name: String) -> ActivityCard? { named[name] }

    /// The activity whose page is served under a name. A script that was broken by an edit keeps its page: sessions of it still run.
    func page(of name: String) -> ActivityCard? { withPage[name] }
}
