import AppMigrations
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("Looks for orphans around migrations in Swift", .timed)
struct CodeLooksTests {
    let folder: TemporaryFolder
    /// The statements that the migrated connection has run.
    let trace = Locked([String]())
    let queue: DatabaseQueue

    init() throws {
        folder = try TemporaryFolder()
        var configuration = Configuration()
        configuration.prepareDatabase { [trace] db in
            db.trace { event in trace.withLock { $0.append(event.description) } }
        }
        queue = try folder.queue("app.sqlite", configuration)
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE sender(id INTEGER PRIMARY KEY);
                    CREATE TABLE message(id INTEGER PRIMARY KEY, sender REFERENCES sender);
                    CREATE VIEW senders AS SELECT id FROM sender;
                    """)
        }
    }

    private func migrate(_ migrations: CodeMigration...) throws -> SchemaReport {
        let baseline = CodeMigration(1, sql: "SELECT 1")
        return try SchemaMigrator(migrations: [baseline] + migrations, adopting: SchemaAdoption { _ in 1 })
            .migrate(queue)
    }

    /// Inserts a row that refers to no sender.
    private func insertOrphan(_ id: Int) -> @Sendable (Database) throws -> Void {
        { try $0.execute(sql: "INSERT INTO message VALUES (?, 7)", arguments: [id]) }
    }

    private static let warning = "1 row of table message whose sender refers to no row of sender."

    @Test("serve the next migration, too, if nothing has been written in between")
    func once() throws {
        let report = try migrate(
            CodeMigration(2, sql: "INSERT INTO sender VALUES (1)"),
            CodeMigration(3, sql: "INSERT INTO message VALUES (1, 1)"),
            CodeMigration(4, sql: "CREATE TABLE another(x)"), CodeMigration(5, sql: "DELETE FROM message"))
        #expect(report.applied == [2, 3, 4, 5])
        let looks = trace.withLock { $0.filter { $0.contains("pragma_foreign_key_check") } }
        #expect(looks.count == 5, "one before the first migration, and one after each")
    }

    @Test(
        "are repeated after another connection has written", arguments: ["DELETE", "WAL"])
    func otherConnection(journalMode: String) throws {
        try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = \(journalMode)") }
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let other = try folder.queue("app.sqlite", configuration)
        let insertOrphan = insertOrphan(1)
        let report = try migrate(
            CodeMigration(2, "First") { db in
                db.afterNextTransaction { _ in try? other.write(insertOrphan) }
            },
            CodeMigration(3, sql: "CREATE TABLE another(x)"))
        #expect(report.applied == [2, 3])
        #expect(report.warnings == [Self.warning])
    }

    @Test("are repeated after the migrated connection has written")
    func sameConnection() throws {
        let insertOrphan = insertOrphan(1)
        let report = try migrate(
            CodeMigration(2, "First") { db in
                db.afterNextTransaction { try? insertOrphan($0) }
            },
            CodeMigration(3, sql: "CREATE TABLE another(x)"))
        #expect(report.applied == [2, 3])
        #expect(report.warnings == [Self.warning])
    }

    @Test("are repeated after another connection has changed the schema")
    func otherSchema() throws {
        let other = try folder.queue()
        let report = try migrate(
            CodeMigration(2, "First") { db in
                db.afterNextTransaction { _ in
                    try? other.write {
                        try $0.execute(sql: "DROP VIEW senders; CREATE VIEW senders AS SELECT unknown")
                    }
                }
            },
            CodeMigration(3, sql: "CREATE TABLE another(x)"))
        #expect(report.applied == [2, 3])
        #expect(report.warnings == ["view senders broken: no such column: unknown."])
    }

    @Test("blame the migration that leaves one after others that left none")
    func blame() throws {
        let error = try failure {
            try migrate(
                CodeMigration(2, sql: "CREATE TABLE another(x)"),
                CodeMigration(3, "Orphan", migrate: insertOrphan(1)),
                CodeMigration(4, sql: "CREATE TABLE third(x)"))
        }
        #expect(error.schemaVersion == 3)
        #expect(error.committed == [2])
        #expect(try queue.strings("SELECT id FROM message") == [])
    }

    @Test("blame the migration that adds one to those of another connection")
    func blameAfterwards() throws {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let other = try folder.queue("app.sqlite", configuration)
        let (first, second) = (insertOrphan(1), insertOrphan(2))
        let error = try failure {
            try migrate(
                CodeMigration(2, "First") { db in db.afterNextTransaction { _ in try? other.write(first) } },
                CodeMigration(3, "Same sender", migrate: second),
                CodeMigration(4, "Another sender") {
                    try $0.execute(sql: "INSERT INTO message VALUES (3, 8)")
                })
        }
        #expect(error.schemaVersion == 4, "the sender 7 was missing before the third migration")
        #expect(error.committed == [2, 3])
    }
}
