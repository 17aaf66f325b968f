import AppMigrations
import Foundation
import GRDB
import GRDBMigrations
import MigrationTesting
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("An export of GRDB's migrations", .timed)
struct MigrationExportTests {
    private static func migrator(
        _ body: @escaping @Sendable (Database) throws -> Void
    ) -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("create book") { db in
            try db.execute(sql: "CREATE TABLE book(id INTEGER PRIMARY KEY, title TEXT, price REAL)")
        }
        migrator.registerMigration("edit", migrate: body)
        return migrator
    }

    /// Returns why the second migration stays in Swift.
    private func reason(_ body: @escaping @Sendable (Database) throws -> Void) throws -> String? {
        try MigrationExport(of: Self.migrator(body), startingAt: 1).code["edit"]
    }

    @Test("writes a file for each migration, with its statements and their arguments")
    func files() throws {
        var migrator = Self.migrator { db in
            try db.alter(table: "book") { $0.add(column: "year", .integer) }
            try db.execute(
                sql: "INSERT INTO book(title, price) VALUES (?, ?) -- the first",
                arguments: ["it's; new\n", 0.1])
        }
        migrator.registerMigration("_strict/keys.", foreignKeyChecks: .immediate) { db in
            try db.execute(sql: "DELETE FROM book WHERE id = ?", arguments: [7])
        }
        let export = try MigrationExport(of: migrator, startingAt: 20240601000000000)
        let folder = try TemporaryFolder()
        try export.write(to: folder.file("Migrations"))
        func text(_ name: String) throws -> String {
            try String(contentsOf: folder.file("Migrations").appendingPathComponent(name), encoding: .utf8)
        }
        #expect(
            export.fileNames == [
                "20240601000000000_create-book.sql", "20240601000000001_edit.sql",
                "20240601000000002_strict-keys.sql",
            ])
        #expect(
            try text(export.fileNames[1]) == """
                ALTER TABLE "book" ADD COLUMN "year" INTEGER;
                INSERT INTO book(title, price) VALUES ('it''s; new
                ', 0.1) -- the first
                ;

                """)
        #expect(
            try text(export.fileNames[2]) == """
                -- migrations: foreign-keys=immediate
                DELETE FROM book WHERE id = 7;

                """)
        #expect(throws: (any Error).self) { try export.write(to: folder.file("Migrations")) }
        #expect(
            export.description == """
                import GRDBMigrations
                import SchemaMigrations

                let schema = try SchemaMigrator(
                    directory: folder,
                    adopting: .grdbMigrations(
                        means: [
                            "create book": 20240601000000000,
                            "edit": 20240601000000001,
                            "_strict/keys.": 20240601000000002,
                        ]))
                """)
    }

    @Test("names no folder, and makes none, if every migration stays in Swift")
    func onlyCode() throws {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("count") { db in
            try db.execute(sql: "CREATE TABLE a(x)")
            if try Int.fetchOne(db, sql: "SELECT count(*) FROM a") == 1 {
                try db.execute(sql: "DELETE FROM a")
            }
        }
        let export = try MigrationExport(of: migrator, startingAt: 1)
        #expect(export.fileNames == [])
        #expect(export.description.contains("SchemaMigrator(\n    migrations: ["))
        let folder = try TemporaryFolder()
        try export.write(to: folder.file("Migrations"))
        #expect(!FileManager.default.fileExists(atPath: folder.file("Migrations").path))
    }

    @Test("prints what stays in Swift with the reason, and maps merged and removed identifiers")
    func code() throws {
        var migrator = Self.migrator { db in
            for id in try Int.fetchAll(db, sql: "SELECT id FROM book") {
                try db.execute(sql: "UPDATE book SET title = trim(title) WHERE id = ?", arguments: [id])
            }
        }
        migrator.registerMigration("shelf", merging: ["shelf1", "shelf2"]) { db, _ in
            try db.create(table: "shelf") { $0.column("id", .integer) }
        }
        let export = try MigrationExport(of: migrator, startingAt: 10, ignoring: ["draft"])
        #expect(
            export.description == """
                import GRDBMigrations
                import SchemaMigrations

                let schema = try SchemaMigrator(
                    directory: folder,
                    migrations: [
                        // It reads rows between its statements: SELECT id FROM book.
                        CodeMigration(11, "edit") { db in
                            <#the closure of edit#>
                        },
                    ],
                    adopting: .grdbMigrations(
                        means: [
                            "create book": 10,
                            "edit": 11,
                            "shelf": 12,
                        ],
                        merging: [
                            "shelf": ["shelf1", "shelf2"],
                        ],
                        ignoring: ["draft"]))
                """)
    }

    private struct Case: Sendable {
        let reason: String
        let body: @Sendable (Database) throws -> Void

        init(_ reason: String, _ body: @escaping @Sendable (Database) throws -> Void) {
            self.reason = reason
            self.body = body
        }
    }

    private static let uuid = Case("writes other values each time: UPDATE book SET title = ?") { db in
        try db.execute(sql: "UPDATE book SET title = ?", arguments: [UUID().uuidString])
    }
    private static let seconds = Case("writes the time at which it runs: UPDATE book SET price = ?") { db in
        let now = Int(Date().timeIntervalSince1970)
        try db.execute(sql: "UPDATE book SET price = ?", arguments: [now])
    }
    private static let date = Case("writes the time at which it runs: UPDATE book SET title = ?") { db in
        try db.execute(sql: "UPDATE book SET title = ?", arguments: [Date()])
    }
    private static let branch = Case(
        "runs other statements over other rows: DELETE FROM book WHERE id = 8"
    ) { db in
        try db.execute(sql: "UPDATE book SET price = price + 1")
        if db.changesCount > 0 { try db.execute(sql: "DELETE FROM book WHERE id = 8") }
    }
    private static let savepoint = Case("takes statements back: ") { db in
        try db.inSavepoint {
            try db.execute(sql: "DELETE FROM book")
            return .rollback
        }
        try db.execute(sql: "UPDATE book SET price = 2")
    }
    /// SQLite writes a number with 15 digits where it shows the arguments of a statement.
    private static let digits = Case("does something else than its statements: ") { db in
        let price: Double = 0.1
        try db.execute(sql: "INSERT INTO book(price) VALUES (?)", arguments: [price.nextUp])
    }
    private static let nothing = Case("runs no statement: what it does, it does in Swift") { _ in }
    private static let setting = Case("does what a file cannot: ") { db in
        try db.execute(sql: "PRAGMA case_sensitive_like = ON; DELETE FROM book WHERE title LIKE 'A%'")
    }
    private static let number = Case("reads rows between its statements: PRAGMA user_version") { db in
        let isOld = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0 > 3
        try db.execute(sql: isOld ? "DELETE FROM book" : "CREATE TABLE shelf(id INTEGER PRIMARY KEY)")
    }
    private static let cases = [uuid, seconds, date, branch, savepoint, digits, nothing, setting, number]

    @Test("leaves in Swift what a file cannot do, and says why", arguments: 0..<9)
    func reasons(number: Int) throws {
        let expected = Self.cases[number]
        let found = try reason(expected.body)
        #expect(found?.hasPrefix(expected.reason) == true, "\(found ?? "a file")")
    }

    @Test("takes what SQL computes anew each time for the same")
    func computed() throws {
        let found = try reason { db in
            try db.execute(sql: "PRAGMA user_version = 5")
            try db.execute(sql: "INSERT INTO book(title) VALUES (hex(randomblob(9)))")
            try db.execute(sql: "UPDATE book SET title = date('now') WHERE id = 1")
        }
        #expect(found == nil)
    }

    @Test("takes what a virtual table's module reads for no read of the migration")
    func module() throws {
        var migrator = Self.migrator { db in
            try db.create(virtualTable: "search", using: FTS5()) {
                $0.synchronize(withTable: "book")
                $0.column("title")
            }
            try db.execute(sql: "CREATE VIEW v AS SELECT title FROM book")
        }
        migrator.registerMigration("update") { db in
            try db.execute(sql: "UPDATE book SET title = 'z' WHERE id < 3")
        }
        #expect(try MigrationExport(of: migrator, startingAt: 1).code == [:])
    }

    @Test("fails as the migrations do on a new database, and refuses a version below 1")
    func failures() throws {
        let error = try #require(throws: MigrationError.self) {
            try MigrationExport(of: Self.migrator { try $0.drop(table: "nothing") })
        }
        #expect(error.description == "edit: no such table: nothing (SQLite 1). Fix the migration.")
        let other = try #require(throws: MigrationError.self) {
            try MigrationExport(of: Self.migrator { _ in }, startingAt: 0)
        }
        #expect(
            other.description
                == "The first file cannot have version 0. Pass a date as startingAt:, such as 20240601000000000."
        )
    }

    @Test("names the files after the day, so that new files come after them")
    func versions() throws {
        let name = try #require(try MigrationExport(of: Self.migrator { _ in }).fileNames.first)
        let day = Date().formatted(.iso8601.year().month().day().dateSeparator(.omitted))
        #expect(name.hasPrefix(day.prefix(6)))
        #expect(name.hasSuffix("000000000_create-book.sql"))
    }
}
