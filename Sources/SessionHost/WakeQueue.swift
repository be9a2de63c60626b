import SessionCore

/// What is to happen later, earliest first: a binary heap; equal times keep their order.
struct WakeQueue {
    private struct Item {
        var wake: Effects.Wake
        var order: UInt64
        func isBefore(_ other: Item) -> Bool {
            wake.uptime != other.wake.uptime ? wake.uptime < other.wake.uptime : order < other.order
        }
    }

    private var heap: [Item] = []
    private var nextOrder: UInt64 = 0

    var count: Int { heap.count }
    var nextUptime: Int64? { heap.first?.wake.uptime }

    mutating func insert(_ wake: Effects.Wake) {
        heap.append(Item(wake: wake, order: nextOrder))
        nextOrder += 1
        var child = heap.count - 1
        while child > 0, heap[child].isBefore(heap[(child - 1) / 2]) {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// Takes the earliest that is due at `uptime`.
    mutating func popDue(at uptime: Int64) -> Effects.Wake? {
        guard let first = heap.first, first.wake.uptime <= uptime else { return nil }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in [parent * 2 + 1, parent * 2 + 2] where child < heap.count && heap[child].isBefore(heap[least]) { least = child }
            if least == parent { return first.wake }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
