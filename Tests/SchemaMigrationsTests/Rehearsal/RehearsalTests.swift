import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import Testing

@Suite("A rehearsal")
struct RehearsalTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test("tells what migrating would do, and changes nothing")
    func report() throws {
        let schema = try SchemaMigrator(migrations: [
            SQLMigration(version: 1, name: "a", sql: "CREATE TABLE a(x); INSERT INTO a VALUES (1), (2);"),
            SQLMigration(version: 2, name: "b", sql: "DELETE FROM a WHERE x = 1; ALTER TABLE a ADD y;"),
        ])
        let queue = try folder.queue()
        try schema.migrate(queue, upTo: 1)
        let rehearsal = try schema.rehearse(queue)
        #expect(rehearsal.steps.map(\.version) == [2])
        #expect(rehearsal.rows.map { [$0.before, $0.after] } == [[2, 1]])
        #expect(
            rehearsal.schema.changes.map(\.sentence) == ["table `a`: column `y` was added: without a type"])
        #expect(rehearsal.violations == [])
        #expect(try queue.ledger() == [1])
        #expect(try queue.read { db in try schema.pending(db) } == [2])
    }

    @Test("fails as migrating would, and leaves no copy behind")
    func failure() throws {
        let schema = try SchemaMigrator(migrations: [
            SQLMigration(version: 1, name: "a", sql: "DROP TABLE a;")
        ])
        let copies = folder.url.appendingPathComponent("copies")
        let error = try #require(throws: SchemaMigrationError.self) {
            try schema.rehearse(folder.queue(), in: copies)
        }
        #expect(error.code == .migrationFailed)
        #expect(try FileManager.default.contentsOfDirectory(atPath: copies.path) == [])
    }

    @Test("counts the rows that refer to nothing, by table and by what they refer to")
    func violations() throws {
        let schema = try SchemaMigrator(migrations: [
            SQLMigration(
                version: 1, name: "a",
                sql: """
                    CREATE TABLE p(id INTEGER PRIMARY KEY);
                    CREATE TABLE b(p REFERENCES p(id), q REFERENCES q(id));
                    CREATE TABLE a(p REFERENCES p(id));
                    CREATE TABLE q(id INTEGER PRIMARY KEY);
                    """),
            SQLMigration(
                version: 2, name: "b",
                sql: """
                    -- migrations: foreign-keys=unchecked
                    DELETE FROM b; CREATE TABLE c(p REFERENCES p(id)); INSERT INTO c VALUES (1);
                    """),
        ])
        let queue = try folder.queue()
        try schema.migrate(queue, upTo: 1)
        try queue.execute(
            "PRAGMA foreign_keys = OFF; INSERT INTO a VALUES (1), (2); INSERT INTO b VALUES (1, 1)")
        let violations = try schema.rehearse(queue).violations
        #expect(
            violations.map { [$0.table, $0.parent] } == [["a", "p"], ["b", "p"], ["b", "q"], ["c", "p"]])
        #expect(violations.map { [$0.before, $0.after] } == [[2, 2], [1, 0], [1, 0], [0, 1]])
    }
}
