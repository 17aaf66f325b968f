import AppMigrations
import Foundation
import GRDB
import MigrationTesting
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("The format of a new database file", .timed)
struct FileFormatTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private static let first = """
        PRAGMA page_size = 8192; PRAGMA main.auto_vacuum(incremental);
        PRAGMA encoding = "UTF-16le";
        CREATE TABLE a(x); INSERT INTO a VALUES ('é');
        """

    private func format(_ queue: DatabaseQueue) throws -> [String] {
        try ["page_size", "auto_vacuum", "encoding"].flatMap { try queue.strings("PRAGMA \($0)") }
    }

    @Test("is what the first file asks for")
    func first() throws {
        let schema = try SchemaMigrator(
            directory: folder.folder(["1_a.sql": Self.first, "2_b.sql": "CREATE TABLE b(x)"]))
        for queue in [try folder.queue(), try DatabaseQueue()] {
            let report = try schema.migrate(queue)
            #expect(report.warnings == [])
            #expect(try format(queue) == ["8192", "2", "UTF-16le"])
            #expect(try queue.strings("SELECT x FROM a") == ["é"])
        }
    }

    @Test("is kept by a snapshot")
    func snapshot() throws {
        let url = folder.url.appendingPathComponent("schema.sql")
        let schema = try SchemaMigrator(directory: folder.folder(["1_a.sql": Self.first]), snapshot: url)
        try schema.writeSnapshot(to: url)
        let queue = try folder.queue()
        try schema.migrate(queue)
        #expect(try format(queue) == ["8192", "2", "UTF-16le"])
        #expect(try queue.strings("SELECT hex(CAST(x AS BLOB)) FROM a") == ["E900"])
    }

    @Test(
        "does not change later, which is a warning",
        // SQLCipher misreads its pages after PRAGMA page_size.
        .needs(.clearText))
    func later() throws {
        let queue = try folder.queue()
        let schema = try SchemaMigrator(
            directory: folder.folder([
                "1_a.sql": "CREATE TABLE a(x);\nPRAGMA page_size = 8192;",
                "2_b.sql": "-- A comment.\nPRAGMA auto_vacuum = FULL; CREATE TABLE b(x);",
                "3_c.sql":
                    "PRAGMA encoding = 'UTF-8'; PRAGMA page_size = 4096; PRAGMA auto_vacuum = none; PRAGMA page_size;",
            ]))
        let report = try schema.migrate(queue)
        #expect(report.applied == [1, 2, 3])
        let rest =
            "since the database is not empty. Set it where the app opens a new database"
        #expect(
            report.warnings == [
                "1_a.sql:2: PRAGMA page_size has no effect, \(rest)",
                "2_b.sql:2: PRAGMA auto_vacuum has no effect, \(rest)",
            ])
        #expect(try format(queue) == ["4096", "0", "UTF-8"])
    }

    @Test("is that of a database pool where the app has opened one, which is a warning")
    func pool() throws {
        let pool = try DatabasePool(path: folder.path("app.sqlite"))
        let report = try SchemaMigrator(
            directory: folder.folder(["1_a.sql": "PRAGMA page_size = 8192; CREATE TABLE a(x)"])
        )
        .migrate(pool)
        #expect(report.applied == [1])
        #expect(report.warnings.count == 1)
        #expect(try pool.read { try String.fetchOne($0, sql: "PRAGMA page_size") } == "4096")
    }

    @Test(
        "is that of prepareDatabase where a manager has written its record before, which is a warning without it",
        arguments: [false, true])
    func manager(isPool: Bool) throws {
        func launch(_ name: String, _ configuration: Configuration) throws -> (
            format: [String], warnings: Int
        ) {
            let path = folder.path(name)
            let database: any DatabaseWriter =
                try isPool
                ? DatabasePool(path: path, configuration: configuration)
                : DatabaseQueue(path: path, configuration: configuration)
            let manager = try MigrationManager(
                name: "Library", currentVersion: "1.0", adopting: .newApp, store: .database(database))
            manager.whenMigratingToVersion(
                migrate: try SchemaMigrator(directory: folder.folder(["1_a.sql": Self.first])), in: database)
            let report = try manager.migrate()
            #expect(report.schemaSteps.map(\.schemaVersions) == [["1"]])
            return (
                try database.read { db in
                    try ["page_size", "auto_vacuum", "encoding"].compactMap {
                        try String.fetchOne(db, sql: "PRAGMA \($0)")
                    }
                }, report.schemaSteps.flatMap(\.warnings).count
            )
        }
        var configuration = Configuration()
        let without = try launch("without.sqlite", configuration)
        #expect(without.format == ["4096", "0", "UTF-8"])
        #expect(without.warnings == 3)
        configuration.prepareDatabase { db in
            guard !db.configuration.readonly else { return }
            try db.execute(
                sql: "PRAGMA page_size = 8192; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA encoding = 'UTF-16le'"
            )
        }
        let with = try launch("with.sqlite", configuration)
        #expect(with.format == ["8192", "2", "UTF-16le"])
        #expect(with.warnings == 0)
    }

    @Test("says nothing of a database that the app attaches")
    func attached() throws {
        var configuration = Configuration()
        configuration.prepareDatabase { [folder] in
            try $0.execute(sql: "ATTACH ? AS cache", arguments: [folder.path("cache.sqlite")])
        }
        let queue = try folder.queue("app.sqlite", configuration)
        let report = try SchemaMigrator(
            directory: folder.folder(["1_a.sql": "PRAGMA cache.page_size = 8192; CREATE TABLE cache.a(x)"])
        ).migrate(queue)
        #expect(report.applied == [1])
        #expect(report.warnings == [])
    }
}
