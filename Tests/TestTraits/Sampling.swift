import Foundation

extension Collection {
    /// One in so many of the cases of a test that takes long; all where `LONG_TESTS` is set, as by `make stress`.
    ///
    /// - Parameter offset: the number of the first case in the sample, so that tests with the same cases take others.
    package func sampled(oneIn count: Int, from offset: Int = 0) -> [Element] {
        guard ProcessInfo.processInfo.environment["LONG_TESTS"] == nil else { return Array(self) }
        return enumerated().filter { $0.offset % count == offset }.map(\.element)
    }
}
