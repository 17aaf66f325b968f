import Foundation
import GRDB
import SchemaMigrations

extension Benchmark {
    /// Measures what a launch costs on which a database is up to date, on a queue that is open.
    static let nothingPendingInSchemas = [
        Benchmark(what: "nothing pending: schema") { effort, scratch in
            try effort.sizes([10, 100, 1000]).flatMap { count in
                let samples = SchemaSamples.schema(count: count)
                let folder = try scratch.newFolder()
                try samples.write(to: folder)
                let ours = scratch.new("ours.sqlite")
                let queue = try DatabaseQueue(path: ours.path)
                try samples.migrator().migrate(queue)
                let grdbQueue = try DatabaseQueue(path: scratch.new("grdb.sqlite").path)
                try samples.grdbMigrator().migrate(grdbQueue)
                let raw = try RawSQLite(ours)
                let migrator = try samples.migrator()

                let grdb = Contest.Work { try samples.grdbMigrator().migrate(grdbQueue) }
                let faster: [Int: Double] = [10: 1.5, 100: 2, 1000: 4]
                let fasterFromFolder: [Int: Double] = [10: 1.2, 100: 2, 1000: 8]
                let within: [Int: Double] = [10: 4, 100: 3, 1000: 2]
                let size = "\(count.grouped) applied"
                return try Contest(
                    what: "nothing pending: schema, embedded, building the migrator included", size: size,
                    ours: .init { try samples.migrator().migrate(queue) },
                    others: [
                        .init(
                            name: "GRDB's migrator, building it included",
                            goal: faster[count].map(Goal.faster), work: grdb)
                    ]
                ).rows(effort)
                    + Contest(
                        what: "nothing pending: schema, from a folder, building the migrator included",
                        size: size,
                        ours: .init { try SchemaMigrator(directory: folder).migrate(queue) },
                        others: [
                            .init(
                                name: "GRDB's migrator, building it included",
                                goal: fasterFromFolder[count].map(Goal.faster), work: grdb),
                            .init(
                                name: "listing the folder alone", goal: .within(2.5),
                                work: .init {
                                    _ = try FileManager.default.contentsOfDirectory(atPath: folder.path)
                                }),
                        ]
                    ).rows(effort)
                    + Contest(
                        what: "nothing pending: schema, without building", size: size,
                        ours: .init { try migrator.migrate(queue) },
                        others: [
                            .init(
                                name: "raw SELECT of the ledger", goal: within[count].map(Goal.within),
                                work: .init { try raw.sum("SELECT version FROM schema_migrations") }),
                            .init(
                                name: "the same SELECT by GRDB", goal: nil,
                                work: .init {
                                    _ = try queue.read {
                                        try Int64.fetchAll($0, sql: "SELECT version FROM schema_migrations")
                                    }
                                }),
                        ]
                    ).rows(effort)
            }
        }
    ]
}
