import MigrationTesting
import MigrationTools

extension RandomNumbers {
    /// True if something happens that does so that often in a hundred times.
    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }

    /// One of several.
    mutating func pick<Element>(_ elements: some Collection<Element>) -> Element {
        guard let element = elements.randomElement(using: &self) else {
            preconditionFailure("Nothing to pick")
        }
        return element
    }
}
