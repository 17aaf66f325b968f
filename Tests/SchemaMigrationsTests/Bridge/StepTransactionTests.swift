import AppMigrations
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import Testing

@Suite("The transaction of a step")
struct StepTransactionTests {
    let app: App
    let database: DatabaseQueue

    init() throws {
        app = try App()
        try app.launch("1.0")
        database = try app.open()
        try database.write { try $0.execute(sql: "CREATE UNIQUE INDEX title ON book(title)") }
    }

    private static let ended = """
        library.sqlite: the step ended the transaction that it ran in. Remove what commits or rolls back: a step and its \
        record are committed together.
        """

    private func migrate(_ body: @escaping @Sendable (Database) throws -> Void) throws -> MigrationReport {
        let manager = try app.manager("2.0")
        manager.whenMigratingToVersion("1.0", migrate: try app.schema([10]), in: database)
        manager.whenMigratingToVersion("2.0", in: database, run: body)
        return try manager.migrate()
    }

    @Test("that a conflict rolled back is an error, and the step runs again")
    func conflict() throws {
        let error = try #require(throws: MigrationError.self) {
            try migrate { db in
                try db.execute(sql: "INSERT INTO book(title) VALUES ('first')")
                try? db.execute(sql: "INSERT OR ROLLBACK INTO book(title) VALUES ('first')")
                try? db.execute(sql: "INSERT INTO book(title) VALUES ('outside')")
            }
        }
        #expect(error.code == .stepFailed)
        #expect(error.description.contains(Self.ended), "\(error)")
        #expect(try app.titles() == [])
        #expect(
            try migrate { try $0.execute(sql: "INSERT INTO book(title) VALUES ('once')") }.completed == [
                "2.0"
            ])
        #expect(try app.titles() == ["once"])
    }

    @Test(
        "cannot be committed by the step, which leaves nothing behind",
        arguments: ["COMMIT", "ROLLBACK", "END"])
    func commit(statement: String) throws {
        let error = try #require(throws: MigrationError.self) {
            try migrate { db in
                try db.execute(sql: "INSERT INTO book(title) VALUES ('half')")
                try db.execute(sql: statement)
                throw Mishap()
            }
        }
        #expect(error.description.contains(Self.ended), "\(error)")
        #expect(try app.titles() == [])
    }

    @Test(
        "is rolled back if the step removes the manager's record",
        arguments: [
            "DROP TABLE app_migrations", "DELETE FROM app_migrations",
        ])
    func recordRemoved(statement: String) throws {
        let error = try #require(throws: MigrationError.self) {
            try migrate { db in
                try db.execute(sql: "INSERT INTO book(title) VALUES ('half')")
                try db.execute(sql: statement)
            }
        }
        #expect(error.code == .stepFailed)
        #expect(
            error.description.contains(
                """
                library.sqlite: the step removed the record of its manager. Keep the tables whose names begin with \
                app_migrations. The step was rolled back.
                """), "\(error)")
        #expect(try app.titles() == [])
        #expect(
            try migrate { try $0.execute(sql: "INSERT INTO book(title) VALUES ('once')") }.completed == [
                "2.0"
            ])
    }

    private static let rebuild = """
        CREATE TABLE new_author(id INTEGER PRIMARY KEY, name TEXT);
        INSERT INTO new_author SELECT id, name FROM author WHERE id <> 2;
        DROP TABLE author;
        ALTER TABLE new_author RENAME TO author;
        """

    private func rebuild(_ foreignKeys: ForeignKeys?, orphans: Bool) throws -> MigrationReport {
        try database.writeWithoutTransaction { db in
            try db.execute(
                sql: """
                    CREATE TABLE author(id INTEGER PRIMARY KEY);
                    CREATE TABLE work(title TEXT, author INTEGER REFERENCES author(id) ON DELETE CASCADE);
                    ALTER TABLE author ADD COLUMN name TEXT;
                    INSERT INTO author VALUES (1, 'Ada'), (2, 'Bo');
                    INSERT INTO work VALUES ('first', 1);
                    PRAGMA foreign_keys = OFF; INSERT INTO work VALUES ('old orphan', 9); PRAGMA foreign_keys = ON;
                    """)
            if orphans { try db.execute(sql: "INSERT INTO work VALUES ('second', 2)") }
        }
        let manager = try app.manager("2.0")
        manager.whenMigratingToVersion("1.0", migrate: try app.schema([10]), in: database)
        manager.whenMigratingToVersion("2.0", in: database, foreignKeys: foreignKeys) { db in
            try db.execute(sql: Self.rebuild)
        }
        return try manager.migrate()
    }

    private func works() throws -> [String] {
        try database.read { try String.fetchAll($0, sql: "SELECT title FROM work ORDER BY rowid") }
    }

    @Test("defers foreign keys on request, so that rebuilding a table cascades to no row")
    func deferredForeignKeys() throws {
        #expect(try rebuild(.deferred, orphans: false).completed == ["2.0"])
        #expect(try works() == ["first", "old orphan"])
        #expect(try database.read { try Int.fetchOne($0, sql: "PRAGMA foreign_keys") } == 1)
    }

    @Test("enforces foreign keys as the app does by default, which cascades")
    func enforcedForeignKeys() throws {
        #expect(try rebuild(nil, orphans: false).completed == ["2.0"])
        #expect(try works() == ["old orphan"])
    }

    @Test("is not committed if it leaves new orphans")
    func newOrphans() throws {
        let error = try #require(throws: MigrationError.self) { try rebuild(.deferred, orphans: true) }
        #expect(
            error.description.contains(
                """
                library.sqlite: the step leaves 1 row of table work whose author refers to no row of author. Keep the \
                rows that others refer to, or delete the rows that refer to them.
                """), "\(error)")
        #expect(try works() == ["first", "old orphan", "second"])
    }
}
