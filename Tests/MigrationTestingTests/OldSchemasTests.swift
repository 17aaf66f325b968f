import AppMigrations
import Foundation
import GRDB
import MigrationTesting
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("OldSchemas", .timed)
struct OldSchemasTests {
    private static func migrator(title: String = "TEXT NOT NULL") -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1") {
            try $0.execute(sql: "CREATE TABLE book(id INTEGER PRIMARY KEY, title \(title))")
        }
        migrator.registerMigration("create shelves") {
            try $0.execute(sql: "CREATE TABLE shelf(name TEXT PRIMARY KEY)")
        }
        return migrator
    }

    @Test("writes the types for GRDB's migrations, keeps their versions, and verifies them")
    func grdb() throws {
        let folder = try TemporaryFolder()
        let oldSchemas = OldSchemas(
            at: folder.file("OldSchemas.swift"), name: "Old", mapping: ["book.title": "Title"])
        #expect(throws: MigrationError.self) { try oldSchemas.verify(for: Self.migrator()) }
        try oldSchemas.write(for: Self.migrator(), at: ["v1"])
        try oldSchemas.write(for: Self.migrator())
        try oldSchemas.verify(for: Self.migrator())
        let text = try String(contentsOf: oldSchemas.url, encoding: .utf8)
        for part in [
            "\nnonisolated enum Old {\n", "\n    enum v1 {\n",
            "\n    enum createShelves {\n        typealias Book = v1.Book\n",
            "var title: Title\n",
        ] {
            #expect(text.contains(part))
        }
        #expect(!text.contains("grdb_migrations"))
    }

    @Test("says if the file is not what the migrations make")
    func stale() throws {
        let folder = try TemporaryFolder()
        let oldSchemas = OldSchemas(at: folder.file("OldSchemas.swift"))
        try oldSchemas.write(for: Self.migrator())
        let error = try #require(throws: MigrationError.self) {
            try oldSchemas.verify(for: Self.migrator(title: "TEXT"))
        }
        #expect(
            error.description == """
                OldSchemas.swift: is not what the migrations make. Write it with OldSchemas.write(for:), and commit it.
                """)
    }

    @Test("says which versions of the file have no migration any more")
    func merged() throws {
        let folder = try TemporaryFolder()
        let oldSchemas = OldSchemas(at: folder.file("OldSchemas.swift"))
        try oldSchemas.write(for: Self.migrator(), at: ["v1"])
        var merged = DatabaseMigrator()
        merged.registerMigration("all") { try $0.execute(sql: "CREATE TABLE book(id INTEGER PRIMARY KEY)") }
        let error = try #require(throws: MigrationError.self) { try oldSchemas.verify(for: merged) }
        #expect(
            error.description == """
                OldSchemas.swift: has types at v1, which no migration has any more. Write it with \
                OldSchemas.write(for:), which leaves them out, and commit it.
                """)
        try oldSchemas.write(for: merged)
        try oldSchemas.verify(for: merged)
    }

    @Test("knows migrations in Swift, and reports the rows that no type can read in a rehearsal")
    func code() throws {
        let folder = try TemporaryFolder()
        let schema = try SchemaMigrator(migrations: [
            CodeMigration(1, "first") { db in
                try db.create(table: "book") { table in
                    table.autoIncrementedPrimaryKey("id")
                    table.column("added", .datetime)
                }
            },
            CodeMigration(2, "second") {
                try $0.execute(sql: "DELETE FROM book WHERE typeof(added) = 'integer'")
            },
        ])
        let oldSchemas = OldSchemas(at: folder.file("OldSchemas.swift"))
        try oldSchemas.write(for: schema, at: [1, 2])
        let queue = try DatabaseQueue(path: folder.file("app.sqlite").path)
        try schema.migrate(queue, upTo: 1)
        try queue.write { db in
            try db.execute(
                sql: "INSERT INTO book(added) VALUES (17), (NULL), ('2024-01-10 09:00:00'), ('2024-01-10')")
        }
        let rehearsal = try schema.rehearse(queue, showing: .examples, reading: oldSchemas)
        #expect(
            rehearsal.unreadableRows.map { "\($0.version) \($0.column) \($0.rows) \($0.firstKey ?? "")" }
                == ["1 added 2 id = 1", "2 added 1 id = 4"])
        #expect(rehearsal.steps.map(\.version) == [2])
        #expect(try schema.rehearse(queue, reading: oldSchemas).unreadableRows.first?.firstKey == nil)
        #expect(try schema.rehearse(queue).unreadableRows == [])
    }
}
