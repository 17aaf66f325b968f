import AppMigrations
import DatabaseBatches
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("A launch is complete only when nothing is pending any more:", .timed)
struct ReplannedTests {
    let app: App

    init() throws { app = try App() }

    private func manager(
        _ version: String, _ database: DatabaseQueue, inDatabase: Bool, erasing: Bool
    ) throws -> MigrationManager {
        let manager = try app.manager(version, store: inDatabase ? .database(database) : nil)
        manager.whenMigratingToVersion("1.0", migrate: try app.schema(), in: database)
        if version == "2.0" {
            manager.whenMigratingToVersion("2.0") { [log = app.log] in
                log.add("2.0")
                if erasing { try database.erase() }
            }
        }
        return manager
    }

    @Test("a closure that erases a database leaves it with the tables that its schema step makes")
    func erased() throws {
        let database = try app.open()
        try manager("1.0", database, inDatabase: false, erasing: false).migrate()
        let report = try manager("2.0", database, inDatabase: false, erasing: true).migrate()
        #expect(report.launch == .upgrade(from: "1.0"))
        #expect(report.completed.map(\.version) == ["2.0"])
        #expect(report.schemaSteps.map(\.schemaVersions) == [["10", "12", "20"]])
        #expect(try database.read { try $0.tableExists("book") })
        #expect(app.log.lines == ["2.0"])
        let again = try manager("2.0", database, inDatabase: false, erasing: true).migrate()
        #expect(again.launch == .relaunch)
        #expect(again.completed == [] && again.schemaSteps == [])
        #expect(app.log.lines == ["2.0"])
    }

    @Test("a closure that fills a database from an older one has the steps run that its rows need")
    func filled() throws {
        let legacy = try DatabaseQueue(path: app.folder.url.appendingPathComponent("legacy.sqlite").path)
        let database = try app.open()
        try legacy.write {
            try $0.execute(
                sql:
                    "CREATE TABLE book(id INTEGER PRIMARY KEY, title, year); INSERT INTO book(title) VALUES ('a')"
            )
        }
        try app.manager("1.0").migrate()
        for _ in 0..<2 {
            let manager = try app.manager("2.0", adopting: .databaseHasTables(database, means: "1.0"))
            manager.whenMigratingToVersion("2.0") { try legacy.backup(to: database) }
            manager.whenMigratingToVersion("2.0-1", in: database) { [log = app.log] db in
                log.add("2.0-1")
                try db.execute(sql: "UPDATE book SET year = 1900 WHERE year IS NULL")
            }
            manager.afterMigratingToVersion("2.0-2", in: database, overRowsOf: "book") {
                [log = app.log] db, rows in
                log.add("2.0-2")
                try db.execute(literal: "UPDATE book SET title = upper(title) WHERE \(rows.condition)")
            }
            try manager.migrate()
            try manager.runDeferred()
        }
        #expect(app.log.lines == ["2.0-1", "2.0-2"])
        #expect(
            try database.read { try String.fetchAll($0, sql: "SELECT title || year FROM book") } == ["A1900"])
    }

    @Test("a closure that makes another step needed again has it run in the same launch")
    func neededAgain() throws {
        let database = try app.open()
        let old = app.folder.url.appendingPathComponent("old")
        func launch(_ version: String) throws -> MigrationReport {
            let manager = try app.manager(version)
            let isOld = { FileManager.default.fileExists(atPath: old.path) }
            manager.whenMigratingToVersion("1.0", again: isOld) { [log = app.log] in
                log.add("1.0")
                try FileManager.default.removeItem(at: old)
            }
            manager.whenMigratingToVersion("1.0", migrate: try app.schema(), in: database)
            if version == "2.0" {
                manager.whenMigratingToVersion("2.0") { [log = app.log] in
                    log.add("2.0")
                    try database.erase()
                    try Data().write(to: old)
                }
            }
            return try manager.migrate()
        }
        _ = try launch("1.0")
        #expect(try launch("2.0").completed.map(\.version) == ["2.0", "1.0"])
        #expect(app.log.lines == ["2.0", "1.0"])
        #expect(try launch("2.0").completed.isEmpty)
    }

    @Test("a step runs again for what a later one brings", arguments: [false, true])
    func broughtLater(inDatabase: Bool) throws {
        let database = try app.open()
        func launch(_ version: String) throws -> [AppVersion] {
            let manager = try app.manager(version, adopting: Adoption { "1.0" })
            let isOld: @Sendable (Database) throws -> Bool = {
                try Bool.fetchOne($0, sql: "SELECT EXISTS (SELECT 1 FROM note WHERE hash IS NULL)") ?? false
            }
            manager.whenMigratingToVersion("1.1", in: database, again: isOld) {
                try $0.execute(
                    sql: "CREATE TABLE IF NOT EXISTS note(hash); UPDATE note SET hash = 1 WHERE hash IS NULL")
            }
            if inDatabase {
                manager.whenMigratingToVersion("1.2", in: database) {
                    try $0.execute(sql: "INSERT INTO note VALUES (NULL)")
                }
            } else {
                manager.whenMigratingToVersion("1.2") {
                    try database.execute("INSERT INTO note VALUES (NULL)")
                }
            }
            return try manager.migrate().completed.map(\.version)
        }
        #expect(try launch("2.0") == ["1.1", "1.2", "1.1"])
        #expect(try launch("2.0") == [])
        #expect(try database.integers("SELECT count(*) FROM note WHERE hash IS NULL") == [0])
    }

    @Test("also where the manager's record was in that database, and no step runs twice")
    func erasedRecord() throws {
        let database = try app.open()
        try manager("1.0", database, inDatabase: true, erasing: false).migrate()
        let report = try manager("2.0", database, inDatabase: true, erasing: true).migrate()
        #expect(report.completed.map(\.version) == ["2.0"])
        #expect(try database.read { try $0.tableExists("book") })
        #expect(app.log.lines == ["2.0"])
        #expect(try manager("2.0", database, inDatabase: true, erasing: true).migrate().launch == .relaunch)
        #expect(app.log.lines == ["2.0"])
    }

    @Test("a step in a database that another one has erased runs in the tables of its version")
    func laterStep() throws {
        let database = try app.open()
        try manager("1.0", database, inDatabase: false, erasing: false).migrate()
        let manager = try manager("2.0", database, inDatabase: false, erasing: true)
        manager.whenMigratingToVersion("2.0-1", in: database, onFreshInstall: .run) { db in
            try db.execute(sql: "INSERT INTO book(title) VALUES ('by 2.0-1')")
        }
        #expect(try manager.migrate().completed.map(\.version) == ["2.0", "2.0-1"])
        #expect(try app.titles() == ["by 2.0-1"])
    }

    @Test("a closure behind which the launch finds what it cannot use has run, and does not run again")
    func unusable() throws {
        let database = try app.open()
        try manager("1.0", database, inDatabase: false, erasing: false).migrate()
        let manager = try manager("2.0", database, inDatabase: false, erasing: false)
        manager.whenMigratingToVersion("2.0-1") { [log = app.log] in
            log.add("2.0-1")
            try database.write { try $0.execute(sql: "INSERT INTO schema_migrations VALUES (99)") }
        }
        let error = try #require(throws: MigrationError.self) { try manager.migrate() }
        #expect(error.code == .newerThanThisProcess)
        try database.write { try $0.execute(sql: "DELETE FROM schema_migrations WHERE version = 99") }
        #expect(try manager.migrate().completed == [])
        #expect(app.log.lines == ["2.0", "2.0-1"])
    }

    @Test("a closure for a version change that erases a database leaves it with its tables")
    func erasedByVersionChange() throws {
        let database = try app.open()
        try manager("1.0", database, inDatabase: false, erasing: false).migrate()
        let manager = try manager("2.0", database, inDatabase: false, erasing: false)
        manager.whenVersionChanges { [log = app.log] from, to in
            log.add("\(from) to \(to)")
            try database.erase()
        }
        let report = try manager.migrate()
        #expect(report.schemaSteps.map(\.schemaVersions) == [["10", "12", "20"]])
        #expect(try database.read { try $0.tableExists("book") })
        #expect(app.log.lines == ["2.0", "1.0 to 2.0"])
    }

    @Test("the report lists the deferred steps that wait in what a closure has brought back")
    func reportedDeferred() throws {
        let database = try app.open()
        let backup = try app.folder.queue("backup.sqlite")
        func manager(_ version: String) throws -> MigrationManager {
            let manager = try app.manager(version, options: MigrationOptions(ignoresStepsAboveCurrent: true))
            manager.whenMigratingToVersion("1.0", migrate: try app.schema(), in: database)
            manager.afterMigratingToVersion("2.0", in: database, overRowsOf: "book") { db, rows in
                try db.execute(literal: "UPDATE book SET title = upper(title) WHERE \(rows.condition)")
            }
            manager.whenMigratingToVersion("3.0") { try backup.backup(to: database) }
            return manager
        }
        try manager("1.0").migrate()
        try database.write { try $0.execute(sql: "INSERT INTO book(title) VALUES ('a')") }
        try database.backup(to: backup)
        try manager("2.0").migrate()
        try manager("2.0").runDeferred()
        let last = try manager("3.0")
        let report = try last.migrate()
        #expect(try last.pendingDeferred().map(\.work.version) == ["2.0"])
        #expect(report.deferred.map(\.work.version) == ["2.0"])
    }
}

@Suite("A file that can never run", .timed)
struct RefusedFileTests {
    @Test(
        "keeps every step of the launch from running, with the migrator's own advice",
        arguments: ["BEGIN; CREATE TABLE t(x); COMMIT", "-- migrations: transaction=none\nVACUUM; ANALYZE"])
    func refused(sql: String) throws {
        let app = try App()
        let database = try app.open()
        let schema = try SchemaMigrator(
            migrations: [SQLMigration(version: 10, name: "first", sql: sql)])
        let own = try #require(throws: MigrationError.self) { try schema.migrate(database) }
        let manager = try app.manager("2.0", adopting: Adoption { "1.0" })
        manager.whenMigratingToVersion("1.5") { app.log.add("1.5") }
        manager.whenMigratingToVersion("2.0", migrate: schema, in: database)
        let error = try #require(throws: MigrationError.self) { try manager.migrate() }
        #expect(app.log.lines == [])
        #expect(error.code == .invalidMigration && error.code == own.code)
        #expect(error.remedy == own.remedy)
        #expect(error.message.contains("10_first"))
        #expect(!FileManager.default.fileExists(atPath: app.storeURL.path), "nothing is written")
    }
}
