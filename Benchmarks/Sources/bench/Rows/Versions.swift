import AppMigrations

extension Benchmark {
    /// Measures what a version costs.
    static let versions = [
        Benchmark(what: "parse and compare a version") { effort, _ in
            try [("1.12.3", "typical"), ("1.1-2", "sub-migration")].flatMap { text, size in
                let current: AppVersion = "2.0.1"
                let isDue = Flag()
                return try Contest(
                    what: "parse and compare a version", size: size,
                    ours: .init { isDue.value = try AppVersion(parsing: text) <= current },
                    others: [
                        .init(
                            name: "regular expression and numeric comparison", goal: .faster(50),
                            work: .init {
                                isDue.value = try MFMigrationManager.isAtMost(text, "2.0.1", .each)
                            }),
                        .init(
                            name: "the same, the expression compiled once", goal: nil,
                            work: .init {
                                isDue.value = try MFMigrationManager.isAtMost(text, "2.0.1", .once)
                            }),
                    ]
                ).rows(effort, seconds: 2)
            }
        }
    ]

    /// Takes results, so that they are not optimized away.
    private final class Flag {
        var value = false
    }
}
