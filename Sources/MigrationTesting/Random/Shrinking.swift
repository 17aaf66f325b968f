extension Array {
    /// A shorter array that still fails: one from which no single element can be left out or made simpler.
    ///
    /// Large parts are left out first, so that a long history takes few trials. The idea is that of delta debugging
    /// (Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input", 2002).
    ///
    /// - Parameters:
    ///   - simpler: what an element may be replaced by, the simplest first.
    ///   - fails: whether an array fails. The whole one does.
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
