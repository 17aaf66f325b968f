// These sort places: the standard library's algorithm is compiled anew for each type of element, and is large.

extension Sequence {
    /// Returns the elements in an order, equal ones as they are.
    ///
    /// - Parameter precedes: returns true if the first element belongs before the second.
    package func inOrder(by precedes: (Element, Element) -> Bool) -> [Element] {
        let elements = Array(self)
        return sortedPlaces(elements.count) { precedes(elements[$0], elements[$1]) }.map { elements[$0] }
    }
}

extension Sequence where Element: Comparable {
    /// Returns the elements, the lowest first.
    package func inOrder() -> [Element] { inOrder(by: <) }
}

@inline(never)
private func sortedPlaces(_ count: Int, by precedes: (Int, Int) -> Bool) -> [Int] {
    Array(0..<count).sorted(by: precedes)
}
