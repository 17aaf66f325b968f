import AppMigrations
import Foundation
import GRDB
import SchemaMigrations

extension Benchmark {
    /// Measures what a launch costs on which all managers are up to date, opening the store included.
    static let nothingPendingInScheduler = [
        Benchmark(what: "nothing pending: scheduler") { effort, scratch in
            try effort.sizes([1, 10, 50]).flatMap { count in
                let size = "\(count) \(count == 1 ? "manager" : "managers") of 20 steps"
                let rivals = [
                    Contest.Other(
                        name: "MFMigrationManager's way", goal: count == 10 ? .faster(10) : nil,
                        work: try mfLaunch(managers: count, .each))
                ]
                func compiledOnce(_ goal: Goal?) throws -> Contest.Other {
                    .init(
                        name: "the same, its expression compiled once", goal: goal,
                        work: try mfLaunch(managers: count, .once))
                }
                let file = scratch.new("store.json")
                let database = scratch.new("store.sqlite")
                let json = Contest.Work { try launch(managers: count, try MigrationStore.jsonFile(at: file)) }
                let sqlite = Contest.Work {
                    try launch(
                        managers: count, try MigrationStore.database(DatabaseQueue(path: database.path)))
                }
                try json.run()
                try sqlite.run()
                // A store that was written just now is read with more care than one of a launch before.
                Thread.sleep(forTimeInterval: 2.1)
                return try Contest(
                    what: "nothing pending: scheduler, JSON", size: size, ours: json,
                    others: rivals + [
                        compiledOnce(nil),
                        .init(
                            name: "reading the file, and JSONSerialization", goal: .within(2.5),
                            work: .init {
                                _ = try JSONSerialization.jsonObject(with: try Data(contentsOf: file))
                            }),
                    ]
                ).rows(effort)
                    + Contest(
                        what: "nothing pending: scheduler, SQLite", size: size, ours: sqlite,
                        others: rivals + [
                            compiledOnce(count == 10 ? .faster(1.5) : nil),
                            .init(
                                name: "opening SQLite, and one SELECT",
                                goal: [10: 4, 50: 12][count].map(Goal.within),
                                work: .init { try RawSQLite(database).sum("SELECT name FROM app_migrations") }
                            ),
                            .init(
                                name: "opening SQLite by GRDB, and one SELECT", goal: nil,
                                work: .init {
                                    let queue = try DatabaseQueue(path: database.path)
                                    _ = try queue.read {
                                        try Row.fetchAll(
                                            $0, sql: "SELECT part, name, value FROM app_migrations")
                                    }
                                }),
                        ]
                    ).rows(effort)
            }
        }
    ]

    private static let steps = (1...20).map { "1.\($0)" }

    private static func launch(managers count: Int, _ store: MigrationStore) throws {
        for index in 0..<count {
            let manager = try MigrationManager(
                name: "Manager \(index)", currentVersion: "2.0", adopting: Adoption { "1.0" }, store: store)
            for step in steps {
                manager.whenMigratingToVersion(try AppVersion(parsing: step)) {}
            }
            try manager.migrate()
        }
    }

    private static func mfLaunch(
        managers count: Int, _ expression: MFMigrationManager.Expression
    ) throws -> Contest.Work {
        guard let defaults = UserDefaults(suiteName: "bench.\(count)") else {
            throw CocoaError(.fileNoSuchFile)
        }
        let work = Contest.Work {
            for index in 0..<count {
                let manager = MFMigrationManager(
                    name: "Manager \(index)", current: "2.0", defaults: defaults, expression: expression)
                for step in steps { try manager.whenMigrating(to: step) {} }
            }
        }
        try work.run()
        return work
    }
}
