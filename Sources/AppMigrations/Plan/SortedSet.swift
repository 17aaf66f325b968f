/// A set that keeps its elements in ascending order.
///
/// A launch compares a sorted list of steps with a sorted record of them: that takes one pass, and no hashes.
package struct SortedSet<Element: Comparable & Hashable & Sendable>: Sendable, Hashable {
    private var elements: [Element]

    /// Creates a set of elements in any order.
    ///
    /// Of equal elements, the first one is kept.
    package init(_ elements: some Sequence<Element>) {
        self.elements = Array(elements)
        guard !self.elements.isStrictlyAscending else { return }
        // Sorting is stable.
        self.elements = self.elements.sorted().reduce(into: []) { kept, element in
            if kept.last != element { kept.append(element) }
        }
    }

    /// Inserts an element, unless an equal one is there.
    package mutating func insert(_ element: Element) {
        let index = index(of: element)
        if index == endIndex || elements[index] != element { elements.insert(element, at: index) }
    }

    package mutating func remove(_ element: Element) {
        let index = index(of: element)
        if index < endIndex, elements[index] == element { elements.remove(at: index) }
    }

    package mutating func formUnion(_ others: some Sequence<Element>) {
        let new = others.filter { !contains($0) }
        if !new.isEmpty { self = SortedSet(elements + new) }
    }

    package mutating func subtract(_ others: SortedSet<Element>) {
        if !isEmpty, !others.isEmpty { elements.removeAll(where: others.contains) }
    }

    package func subtracting(_ others: SortedSet<Element>) -> SortedSet<Element> {
        var rest = self
        rest.subtract(others)
        return rest
    }

    package func contains(_ element: Element) -> Bool {
        let index = index(of: element)
        return index < endIndex && elements[index] == element
    }

    /// The index of the first element that is not below another.
    private func index(of element: Element) -> Int {
        var (low, high) = (0, elements.count)
        while low < high {
            let middle = (low + high) / 2
            if elements[middle] < element { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension SortedSet: RandomAccessCollection {
    package var startIndex: Int { 0 }
    package var endIndex: Int { elements.endIndex }
    package subscript(index: Int) -> Element { elements[index] }
}

extension SortedSet: ExpressibleByArrayLiteral {
    package init(arrayLiteral elements: Element...) {
        self.init(elements)
    }
}

extension Array where Element: Comparable {
    /// Whether each element is above the one before it.
    fileprivate var isStrictlyAscending: Bool {
        indices.dropFirst().allSatisfy { self[$0 - 1] < self[$0] }
    }
}
