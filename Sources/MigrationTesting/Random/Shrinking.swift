extension Array {
    /// Returns a shorter array that still fails, in which no single element can be left out or made simpler.
    ///
    /// It leaves out large parts first, so that a long history takes few trials. The idea is that of delta
    /// debugging (Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input", 2002).
    ///
    /// - Parameters:
    ///   - simpler: returns the replacements of an element, the simplest first.
    ///   - fails: returns whether an array fails. The whole array must fail.
    package func shrunk(
        simpler: (Element) -> [Element] = { _ in [] }, whileFailing fails: ([Element]) -> Bool
    ) -> [Element] {
        var best = self
        var size = Swift.max(1, count / 2)
        while true {
            var hasShrunk = false
            var start = 0
            while start < best.count {
                var candidate = best
                candidate.removeSubrange(start..<Swift.min(start + size, best.count))
                if fails(candidate) {
                    best = candidate
                    hasShrunk = true
                } else {
                    start += size
                }
            }
            if size > 1 {
                size /= 2
                continue
            }
            for index in best.indices {
                for element in simpler(best[index]) {
                    var candidate = best
                    candidate[index] = element
                    guard fails(candidate) else { continue }
                    best = candidate
                    hasShrunk = true
                    break
                }
            }
            if !hasShrunk { return best }
        }
    }
}
