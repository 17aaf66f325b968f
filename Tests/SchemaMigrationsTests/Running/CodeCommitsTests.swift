import AppMigrations
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("The commit of a migration in Swift", .timed)
struct CodeCommitsTests {
    let folder: TemporaryFolder
    let queue: DatabaseQueue
    let file: URL

    init() throws {
        folder = try TemporaryFolder()
        queue = try folder.queue()
        file = folder.url.appendingPathComponent("messages.txt")
        try Data("hello".utf8).write(to: file)
    }

    /// Reads a message from the file, if that is still there.
    private func importing(_ version: SchemaVersion) -> CodeMigration {
        CodeMigration(version, "Import") { [file] db in
            guard let text = try? String(contentsOf: file, encoding: .utf8) else { return }
            try db.execute(sql: "INSERT INTO message VALUES (NULL, 1, ?)", arguments: [text])
        }
    }

    @Test("comes before the next migration, which may delete what it has read", arguments: [false, true])
    func alone(isWAL: Bool) throws {
        if isWAL { try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = WAL") } }
        let other = try folder.queue()
        let seen = Locked([""])
        let schema = try SchemaMigrator(migrations: [
            CodeMigration(1, sql: "CREATE TABLE message(id INTEGER PRIMARY KEY, sender, text)"),
            importing(2),
            CodeMigration(3, "Delete") { [file] _ in
                // What another connection sees is what would be left if the process died now.
                let texts = try other.strings("SELECT text FROM message")
                seen.withLock { $0 = texts }
                try FileManager.default.removeItem(at: file)
            },
        ])
        #expect(try schema.migrate(queue).applied == [1, 2, 3])
        #expect(seen.withLock { $0 } == ["hello"])
    }

    @Test("is not undone by a file after it that breaks a foreign key")
    func afterwards() throws {
        let files = try folder.folder([
            "1_a.sql": """
            CREATE TABLE sender(id INTEGER PRIMARY KEY); INSERT INTO sender VALUES (1);
            CREATE TABLE message(id INTEGER PRIMARY KEY, sender REFERENCES sender, text);
            """,
            "4_d.sql": "DELETE FROM sender",
        ])
        let schema = try SchemaMigrator(
            directories: [files],
            migrations: [
                importing(2),
                CodeMigration(3, "Delete") { [file] _ in try FileManager.default.removeItem(at: file) },
            ])
        let error = try failure { try schema.migrate(queue) }
        #expect(error.schemaVersion == 4)
        #expect(error.committed == [1, 2, 3])
        #expect(try queue.strings("SELECT text FROM message") == ["hello"])
    }

    @Test(
        "follows one run, also in a database with orphans of old",
        arguments: [SchemaOptions.Commits.grouped(), .allOrNothing])
    func once(commits: SchemaOptions.Commits) throws {
        try queue.writeWithoutTransaction { db in
            try db.execute(
                sql: """
                    PRAGMA foreign_keys = OFF;
                    CREATE TABLE sender(id INTEGER PRIMARY KEY);
                    CREATE TABLE message(id INTEGER PRIMARY KEY, sender REFERENCES sender, text);
                    INSERT INTO message VALUES (1, 7, 'orphan');
                    INSERT INTO sender VALUES (1);
                    """)
        }
        let moving = CodeMigration(3, "Move") { [file] db in
            guard let text = try? String(contentsOf: file, encoding: .utf8) else { return }
            try db.execute(sql: "INSERT INTO message VALUES (NULL, 1, ?)", arguments: [text])
            try FileManager.default.removeItem(at: file)
        }
        var schema = try SchemaMigrator(
            migrations: [CodeMigration(1, sql: "SELECT 1"), CodeMigration(2, sql: "SELECT 2"), moving],
            adopting: SchemaAdoption { _ in 1 })
        schema.options.commits = commits
        let report = try schema.migrate(queue)
        #expect(report.applied == [2, 3])
        #expect(
            Set(report.warnings) == ["1 row of table message whose sender refers to no row of sender."])
        #expect(try queue.strings("SELECT text FROM message") == ["orphan", "hello"])
    }

    @Test("follows one run, also if another process has just applied the file before it")
    func raced() throws {
        let tables = SQLMigration(
            version: 1, name: "tables",
            sql: """
                CREATE TABLE sender(id INTEGER PRIMARY KEY);
                CREATE TABLE message(id INTEGER PRIMARY KEY, sender REFERENCES sender, text);
                """)
        let sender = SQLMigration(version: 2, name: "sender", sql: "INSERT INTO sender VALUES (1)")
        try SchemaMigrator(migrations: [tables]).migrate(queue)
        try queue.execute("PRAGMA foreign_keys = OFF; INSERT INTO message VALUES (1, 7, 'orphan')")
        let other = try folder.queue()
        let others = try SchemaMigrator(migrations: [tables, sender])
        let hasRaced = Locked(false)
        let count = Locked(0)
        queue.writeWithoutTransaction { db in
            db.trace { event in
                // The run has its plan by now, and no lock.
                guard event.description.hasPrefix("PRAGMA foreign_keys = "), !hasRaced.withLock({ $0 })
                else { return }
                hasRaced.withLock { $0 = true }
                _ = try? others.migrate(other)
            }
        }
        let importing = CodeMigration(3, "Import") { db in
            count.withLock { $0 += 1 }
            try db.execute(sql: "INSERT INTO message VALUES (NULL, 1, 'hello')")
        }
        let report = try SchemaMigrator(migrations: [tables, sender, importing]).migrate(queue)
        #expect(report.applied == [3])
        #expect(report.warnings == ["1 row of table message whose sender refers to no row of sender."])
        #expect(count.withLock { $0 } == 1)
    }

    @Test("does not come if it leaves an orphan of its own")
    func orphan() throws {
        let count = Locked(0)
        let schema = try SchemaMigrator(migrations: [
            CodeMigration(
                1,
                sql: """
                    CREATE TABLE sender(id INTEGER PRIMARY KEY);
                    CREATE TABLE message(id INTEGER PRIMARY KEY, sender REFERENCES sender)
                    """),
            CodeMigration(2, "Insert") { db in
                count.withLock { $0 += 1 }
                try db.execute(sql: "INSERT INTO message VALUES (1, 7)")
            },
        ])
        let error = try failure { try schema.migrate(queue) }
        #expect(
            error.description == """
                Insert: leaves 1 row of table message whose sender refers to no row of sender. Keep the rows that others \
                refer to, or delete the rows that refer to them. It was rolled back. Fix it \
                and migrate again.
                """)
        #expect(count.withLock { $0 } == 1)
        #expect(try queue.ledger() == [1])
    }
}
