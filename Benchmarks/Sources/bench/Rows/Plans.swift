import AppMigrations
import Foundation

extension Benchmark {
    /// Measures planning, as the number of steps grows.
    static let plans = [
        Benchmark(what: "plan") { effort, _ in
            let counts = effort == .full ? [100, 1000, 10_000, 100_000] : [100, 1000]
            let versions = try counts.map { count in
                try (0..<count).map { try AppVersion(parsing: "1.\($0 + 1)") }
            }
            let plans = try versions.map { versions -> Contest.Work in
                let manager = try MigrationManager(
                    name: "Plan", currentVersion: "2.0", adopting: Adoption { "1.0" }, store: .inMemory())
                for version in versions { manager.whenMigratingToVersion(version) {} }
                // A manager that is never asked says so when it is released.
                _ = try manager.pending()
                return .init {
                    guard try manager.pending().count == versions.count else {
                        throw CocoaError(.featureUnsupported)
                    }
                }
            }
            let growth = try effort.sizes([1, 2, 3]).flatMap { index in
                let (small, large) = (Double(versions[0].count), Double(versions[index].count))
                let nLogN = large * log(large) / (small * log(small))
                return try Contest(
                    what: "plan, its growth", size: versions[index].count.grouped + " steps",
                    ours: plans[index],
                    others: [
                        .init(
                            name: "planning \(versions[0].count.grouped) steps", goal: .within(nLogN),
                            work: plans[0])
                    ]
                ).rows(effort, seconds: 2)
            }
            guard effort == .full else { return growth }
            return try growth
                + Contest(
                    what: "plan", size: "10,000 steps", ours: plans[2],
                    others: [
                        .init(
                            name: "10,000 insertions into a dictionary of versions", goal: .within(1),
                            work: .init {
                                var dictionary: [AppVersion: Int] = [:]
                                for version in versions[2] { dictionary[version, default: 0] += 1 }
                                guard dictionary.count == versions[2].count else {
                                    throw CocoaError(.featureUnsupported)
                                }
                            })
                    ]
                ).rows(effort, seconds: 3)
        }
    ]
}
