extension Array {
    /// Returns the elements in an order, equal ones as they are.
    ///
    /// It sorts their places: the standard library's algorithm would be compiled anew for each type of element.
    ///
    /// - Parameter precedes: returns true if the first element belongs before the second.
    package func inOrder(by precedes: (Element, Element) -> Bool) -> [Element] {
        sortedPlaces(count) { precedes(self[$0], self[$1]) }.map { self[$0] }
    }
}

@inline(never)
private func sortedPlaces(_ count: Int, by precedes: (Int, Int) -> Bool) -> [Int] {
    Array(0..<count).sorted(by: precedes)
}
