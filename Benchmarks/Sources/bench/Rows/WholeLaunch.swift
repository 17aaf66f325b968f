import AppMigrations
import Foundation
import GRDB
import SchemaMigrations

extension Benchmark {
    /// Measures what everything together adds to a launch on which all is up to date.
    static let wholeLaunch = [
        Benchmark(what: "the whole launch") { effort, scratch in
            let samples = SchemaSamples.schema(count: 30)
            let databases = [scratch.new("library.sqlite"), scratch.new("journal.sqlite")]
            let file = scratch.new("store.json")
            let ours = Contest.Work {
                let queues = try databases.map { try DatabaseQueue(path: $0.path) }
                let store = try MigrationStore.jsonFile(at: file)
                for index in 0..<5 {
                    let manager = try MigrationManager(
                        name: "Manager \(index)", currentVersion: "2.0", adopting: Adoption { "1.0" },
                        store: store)
                    for step in 1...10 {
                        manager.whenMigratingToVersion(try AppVersion(parsing: "1.\(step)")) {}
                    }
                    if index < queues.count {
                        manager.whenMigratingToVersion(
                            "2.0", migrate: try samples.migrator(), in: queues[index])
                    }
                    try manager.migrate()
                }
            }
            try ours.run()
            Thread.sleep(forTimeInterval: 2.1)
            func readingRecord() throws {
                _ = try JSONSerialization.jsonObject(with: try Data(contentsOf: file))
            }
            let query = "SELECT version FROM schema_migrations"
            return try Contest(
                what: "the whole launch", size: "5 managers, 2 databases of 30 tables", ours: ours,
                others: [
                    .init(
                        name: "opening by GRDB and one SELECT each, and JSONSerialization of the record",
                        goal: .within(1.3),
                        work: .init {
                            for database in databases {
                                let queue = try DatabaseQueue(path: database.path)
                                _ = try queue.read { try Int64.fetchAll($0, sql: query) }
                            }
                            try readingRecord()
                        }),
                    .init(
                        name: "the same by raw SQLite", goal: nil,
                        work: .init {
                            for database in databases { try RawSQLite(database).sum(query) }
                            try readingRecord()
                        }),
                ]
            ).rows(effort)
        }
    ]
}
