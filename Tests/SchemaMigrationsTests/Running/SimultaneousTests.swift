import AppMigrations
import DatabaseFiles
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("Eight simultaneous runs", .timed, .serialized)
struct SimultaneousTests {
    let folder: TemporaryFolder
    let migrations: URL

    init() throws {
        folder = try TemporaryFolder()
        var files = ["1_log.sql": "CREATE TABLE log(version INTEGER)"]
        for version in 2...12 {
            // Groups end where the foreign-key mode changes, and other connections write there.
            let header = version.isMultiple(of: 3) ? "-- migrations: foreign-keys=immediate\n" : ""
            files["\(version)_x.sql"] =
                "\(header)CREATE TABLE t\(version)(x); INSERT INTO log VALUES (\(version));"
        }
        files["13_analyze.sql"] = "-- migrations: transaction=none\nANALYZE;"
        migrations = try folder.folder(files)
    }

    private func expectWhole(_ path: String, applied: [SchemaVersion]) throws {
        let queue = try DatabaseQueue(path: path)
        #expect(try queue.ledger() == Array(1...13))
        #expect(try queue.integers("SELECT version FROM log ORDER BY rowid") == Array(2...12))
        #expect(try queue.integer("SELECT count(*) FROM schema_migrations_details") == 13)
        #expect(try queue.strings("PRAGMA integrity_check") == ["ok"])
        // Two connections may run a file without a transaction, and both report it.
        #expect(Set(applied) == Set(1...13))
        #expect(applied.filter { $0 != 13 }.count == 12)
    }

    @Test(
        "on connections of one process succeed, and run each migration once", arguments: ["queue", "pool"])
    func threads(kind: String) throws {
        let schema = try SchemaMigrator(
            directory: migrations, options: SchemaOptions(busyTimeout: .seconds(600)))
        for round in 0..<3 {
            let path = folder.path("\(kind)\(round).sqlite")
            let applied = Locked<[SchemaVersion]>([])
            let failures = Locked<[String]>([])
            DispatchQueue.concurrentPerform(iterations: 8) { _ in
                do {
                    let database: any DatabaseWriter =
                        kind == "pool"
                        ? try DatabaseFile(path: path, waitingFor: .seconds(600)).openPool()
                        : try DatabaseFile(path: path, waitingFor: .seconds(600)).openQueue()
                    let report = try schema.migrate(database)
                    applied.withLock { $0 += report.applied }
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
            #expect(failures.withLock { $0 } == [])
            try expectWhole(path, applied: applied.withLock { $0 })
        }
    }

    @Test("simultaneous migrations on one connection succeed, and run each migration once")
    func oneConnection() throws {
        let schema = try SchemaMigrator(directory: migrations)
        let pool = try folder.pool()
        let applied = Locked<[SchemaVersion]>([])
        let failures = Locked<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            do {
                let report = try schema.migrate(pool)
                applied.withLock { $0 += report.applied }
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
        #expect(failures.withLock { $0 } == [])
        try expectWhole(pool.path, applied: applied.withLock { $0 })
    }
}
