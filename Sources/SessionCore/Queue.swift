/// A first-in first-out queue whose removals cost nothing to speak of.
package struct Queue<Element> {
    private var elements: [Element?] = []
    private var head = 0

    package init() {}

    package var isEmpty: Bool { head == elements.count }
    package var count: Int { elements.count - head }
    package var first: Element? { isEmpty ? nil : elements[head] }
    package var last: Element? { isEmpty ? nil : elements[elements.count - 1] }

    package mutating func append(_ element: Element) { elements.append(element) }

    package mutating func popFirst() -> Element? {
        guard !isEmpty else { return nil }
        let element = elements[head]
        elements[head] = nil
        head += 1
        if head == elements.count {
            elements.removeAll(keepingCapacity: head <= 64)
            head = 0
        } else if head > 64, head * 2 > elements.count {
            elements.removeFirst(head)
            head = 0
        }
        return element
    }

    /// Keeps the elements for which `isKept` is true, in their order.
    package mutating func filter(_ isKept: (Element) -> Bool) {
        elements = elements[head...].filter { isKept($0!) }
        head = 0
    }

    package func forEach(_ body: (Element) -> Void) {
        for index in head..<elements.count { body(elements[index]!) }
    }
}
