/// Waits for something that people left to stay empty, and tells when it has been for the whole time.
///
/// However often people come and go, one wake waits at most.
final class Vacancy {
    private let effects: Effects
    private let milliseconds: Int
    private let lapsed: () -> Void
    /// Since when nobody has been here, in ms of uptime.
    private var since: Int64?
    private var isWatching = false

    init(effects: Effects, milliseconds: Int, lapsed: @escaping () -> Void) {
        self.effects = effects
        self.milliseconds = milliseconds
        self.lapsed = lapsed
    }

    func begin() {
        guard since == nil else { return }
        since = effects.uptime
        if !isWatching { watch(after: milliseconds) }
    }

    func end() { since = nil }

    private func watch(after milliseconds: Int) {
        isWatching = true
        effects.schedule(after: milliseconds) { [weak self] in
            guard let self else { return }
            isWatching = false
            guard let since else { return }
            let rest = self.milliseconds - Int(effects.uptime - since)
            if rest > 0 { watch(after: rest) } else { lapsed() }
        }
    }
}
