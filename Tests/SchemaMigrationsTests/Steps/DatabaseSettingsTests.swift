import AppMigrations
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("Settings of an existing database", .timed)
struct DatabaseSettingsTests {
    @Test("are changed by a plain step, once or twice, also where the database keeps the record")
    func vacuum() throws {
        let app = try App()
        let database = try app.open()
        try database.writeWithoutTransaction { db in
            try db.execute(
                sql: "PRAGMA journal_mode = WAL; CREATE TABLE book(title); INSERT INTO book VALUES ('Emma')")
        }
        for _ in 1...2 {
            let manager = try MigrationManager(
                name: "Library", currentVersion: "2.0",
                adopting: .databaseHasTables(database, means: "1.0"), store: .database(database))
            manager.whenMigratingToVersion("2.0") {
                try database.writeWithoutTransaction { db in
                    try db.execute(
                        sql: """
                            PRAGMA journal_mode = DELETE; PRAGMA page_size = 8192; PRAGMA auto_vacuum = INCREMENTAL; VACUUM;
                            PRAGMA journal_mode = WAL
                            """)
                }
            }
            #expect(try manager.migrate().completed.versions == ["2.0"])
            let found = try database.read { db in
                try ["page_size", "auto_vacuum", "journal_mode"].map {
                    try String.fetchOne(db, sql: "PRAGMA \($0)") ?? ""
                } + String.fetchAll(db, sql: "SELECT title FROM book")
            }
            #expect(found == ["8192", "2", "wal", "Emma"])
            try manager.rerunAllSteps()
        }
    }
}
