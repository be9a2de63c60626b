internal import WebSockets

/// Finds the route of a path in a table of patterns.
struct Router {
    /// Answers a visit, at once or later, exactly once.
    typealias Handler = (Visit) -> Void

    struct Route {
        var method: Method
        var handler: Handler
        fileprivate var steps: [Step]

        /// A pattern such as `/v1/groups/{}`: `{}` stands for one component, `{*}` at the end for all that follow.
        init(_ method: Method, _ pattern: String, _ handler: @escaping Handler) {
            self.method = method
            self.handler = handler
            steps = Router.components(pattern).map { $0 == "{}" ? .one : $0 == "{*}" ? .rest : .word(String($0)) }
        }

        fileprivate func captures(of components: [Substring]) -> [String]? {
            var captures: [String] = []
            for (index, step) in steps.enumerated() {
                guard index < components.count else { return nil }
                switch step {
                case .word(let word): if components[index] != word { return nil }
                case .one:
                    if components[index].isEmpty { return nil }
                    captures.append(String(components[index]))
                case .rest: return captures + components[index...].map(String.init)
                }
            }
            return components.count == steps.count ? captures : nil
        }
    }

    /// GET answers HEAD as well.
    enum Method: String {
        case get = "GET"
        case post = "POST"

        fileprivate var allows: String { self == .get ? "GET, HEAD" : rawValue }
        fileprivate func matches(_ method: String) -> Bool { method == rawValue || self == .get && method == "HEAD" }
    }

    fileprivate enum Step {
        case word(String), one, rest
    }

    enum Match {
        case found(Route, captures: [String])
        case otherMethods(allow: String)
        case nothing
    }

    let routes: [Route]

    func match(method: String, path: String) -> Match {
        var components = Self.components(path)
        // Codes are read aloud and typed: `/J/BCDFGH` is the same page.
        if components.first == "J" { components[0] = "j" }
        var allowed: [String] = []
        for route in routes {
            guard let captures = route.captures(of: components) else { continue }
            if route.method.matches(method) { return .found(route, captures: captures) }
            allowed.append(route.method.allows)
        }
        return allowed.isEmpty ? .nothing : .otherMethods(allow: allowed.joined(separator: ", "))
    }

    static func components(_ path: String) -> [Substring] {
        path.hasPrefix("/") ? path.dropFirst().split(separator: "/", omittingEmptySubsequences: false) : []
    }
}
