// These sort places: the standard library's algorithm is compiled anew for each type of element, and is large.

extension Sequence {
    /// Returns the elements in an order, equal ones as they are.
    ///
    /// - Parameter precedes: returns true if the first element belongs before the second.
    @inlinable
    package func inOrder(by precedes: (Element, Element) -> Bool) -> [Element] {
        let elements = Array(self)
        // Nearly all lists are in order already.
        var index = 1
        while index < elements.count, !precedes(elements[index], elements[index - 1]) { index += 1 }
        guard index < elements.count else { return elements }
        return sortedPlaces(elements.count) { precedes(elements[$0], elements[$1]) }.map { elements[$0] }
    }
}

extension Sequence where Element: Comparable {
    /// Returns the elements, the lowest first.
    package func inOrder() -> [Element] { inOrder(by: <) }
}

@inline(never) @usableFromInline
package func sortedPlaces(_ count: Int, by precedes: (Int, Int) -> Bool) -> [Int] {
    Array(0..<count).sorted(by: precedes)
}
