/// The runs of four letters or digits of a text, which its noise may not repeat.
struct ScalarRuns {
    /// The last scalars before a place, at most four.
    struct Run: Hashable {
        private var scalars = SIMD4<UInt32>()

        /// True if there are four; no replaceable scalar is a NUL.
        var isWhole: Bool { scalars[0] != 0 }

        /// Returns the run at the next place.
        func followed(by scalar: Unicode.Scalar) -> Run {
            var next = self
            next.scalars = SIMD4(scalars[1], scalars[2], scalars[3], scalar.value)
            return next
        }
    }

    /// The length of a run.
    static let length = 4

    private var runs: Set<Run> = []

    /// True if the text is so short that it has no run.
    var isEmpty: Bool { runs.isEmpty }

    init(of shape: NoiseShape) {
        var run = Run()
        for element in shape.elements {
            run = element.replacements == nil ? Run() : run.followed(by: element.scalar)
            if run.isWhole { runs.insert(run) }
        }
    }

    /// Returns whether a run is one of the text's.
    func contains(_ run: Run) -> Bool { run.isWhole && runs.contains(run) }
}
