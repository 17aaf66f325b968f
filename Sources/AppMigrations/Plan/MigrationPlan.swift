/// The pending migrations, oldest first.
///
/// This is the one rule of the package, for the steps of an app and for schema migrations alike:
///
///     pending = everything known that is above the floor, not yet settled,
///               and at most the target — ascending
///
/// A step that is *owed* is pending whatever the floor, until it is settled. The plan is computed from what
/// it is given and touches nothing else, so that a step that was added late is found by the same comparison
/// as any other: there is no high-water mark to hide it.
package struct MigrationPlan<Migration> {
    /// The migrations to run, ascending.
    package private(set) var pending: [Migration] = []

    /// The migrations that are left out because they are at or below the floor and were never settled, ascending.
    package private(set) var belowFloor: [Migration] = []

    /// Computes what is pending.
    ///
    /// - Parameters:
    ///   - known: every migration there is, ascending.
    ///   - version: the version of a migration.
    ///   - floor: nothing at or below it is pending; nil where there is no floor.
    ///   - settled: what has run, or was found not to be needed.
    ///   - owed: what must run even at or below the floor.
    ///   - target: nothing above it is pending; nil for everything.
    package init<Version>(
        known: [Migration], by version: (Migration) -> Version, floor: Version?, settled: SortedSet<Version>,
        owed: SortedSet<Version> = [], target: Version?
    ) {
        // Both lists ascend, so one pass over each of them is enough.
        var next = settled.startIndex
        for migration in known {
            let version = version(migration)
            while next < settled.endIndex, settled[next] < version { next += 1 }
            if next < settled.endIndex, settled[next] == version { continue }
            if let floor, version <= floor, !owed.contains(version) {
                belowFloor.append(migration)
            } else if target.map({ version <= $0 }) ?? true {
                pending.append(migration)
            }
        }
    }
}

extension MigrationPlan where Migration: Comparable & Sendable {
    /// Computes which versions are pending.
    package init(
        known: [Migration], floor: Migration?, settled: SortedSet<Migration>,
        owed: SortedSet<Migration> = [], target: Migration?
    ) {
        self.init(known: known, by: { $0 }, floor: floor, settled: settled, owed: owed, target: target)
    }
}

/// A set that keeps its elements in ascending order.
///
/// A launch compares a sorted list of steps with a sorted record of them: that takes one pass, and no hashes.
package struct SortedSet<Element: Comparable & Sendable>: Sendable, Equatable {
    private var elements: [Element]

    /// Creates a set of elements in any order.
    ///
    /// Of equal elements, the first one is kept.
    package init(_ elements: some Sequence<Element>) {
        self.elements = Array(elements)
        guard !self.elements.isStrictlyAscending else { return }
        let unordered = self.elements
        self.elements = []
        for element in unordered { insert(element) }
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
    /// True if each element is above the one before it.
    fileprivate var isStrictlyAscending: Bool {
        indices.dropFirst().allSatisfy { self[$0 - 1] < self[$0] }
    }
}
