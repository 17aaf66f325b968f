import GRDB
import Testing

@testable import MigrationTools

@Suite("The difference between two schemas", .timed)
struct SchemaDifferenceTests {
    private func difference(_ first: String, _ second: String) throws -> SchemaDifference {
        let schemas = try [first, second].map { sql in
            let queue = try DatabaseQueue()
            try queue.write { try $0.execute(sql: sql) }
            return try queue.read(DatabaseSchema.init)
        }
        return schemas[0].difference(to: schemas[1])
    }

    @Test(
        "is none where only the writing differs",
        arguments: [
            ("CREATE TABLE a(x INTEGER)", "create table \"a\" (\n  x integer -- a number\n)"),
            (
                "CREATE TABLE a(x)",
                "CREATE TABLE b(x); ALTER TABLE b RENAME TO a; CREATE TABLE schema_migrations(version)"
            ),
            ("", ""),
            (
                "CREATE TABLE a(x REFERENCES b(id), y REFERENCES c(id))",
                "CREATE TABLE a(x  REFERENCES b(id), y  REFERENCES c(id))"
            ),
        ])
    func none(first: String, second: String) throws {
        #expect(try difference(first, second).isEmpty)
    }

    @Test(
        "is told in a sentence",
        arguments: [
            (
                "CREATE TABLE a(x TEXT)", "CREATE TABLE a(x INTEGER NOT NULL DEFAULT 5)",
                "table `a`: column `x` was TEXT, and is INTEGER NOT NULL DEFAULT 5",
                "table `a`: column `x` is TEXT after one way, INTEGER NOT NULL DEFAULT 5 after the other"
            ),
            (
                "CREATE TABLE a(x, y)", "CREATE TABLE a(x)",
                "table `a`: column `y` was removed: it was without a type",
                "table `a`: column `y` is missing after the other"
            ),
            (
                "CREATE TABLE a(x, y)", "CREATE TABLE a(y, x)",
                "table `a`: order of the columns was x, y, and is y, x",
                "table `a`: order of the columns is x, y after one way, y, x after the other"
            ),
            (
                "CREATE TABLE a(x REFERENCES b(id))", "CREATE TABLE a(x REFERENCES b(id) ON DELETE CASCADE)",
                "table `a`: foreign key (x) was `b`(id), and is `b`(id) ON DELETE CASCADE",
                "table `a`: foreign key (x) is `b`(id) after one way, `b`(id) ON DELETE CASCADE after the other"
            ),
            (
                "CREATE TABLE a(x)", "CREATE TABLE a(x CHECK (x > 0))",
                "table `a`: definition of column `x` was x, and is x CHECK (x > 0)",
                "table `a`: definition of column `x` is x after one way, x CHECK (x > 0) after the other"
            ),
            (
                "", "CREATE VIEW v AS SELECT 1", "view `v` was added", "view `v` is missing after one way"
            ),
            (
                "CREATE TABLE a(x); CREATE INDEX i ON a(x)", "CREATE TABLE a(x)", "index `i` was removed",
                "index `i` is missing after the other"
            ),
            (
                "CREATE TABLE a(x); CREATE INDEX i ON a(x)", "CREATE TABLE a(x); CREATE INDEX i ON a(x DESC)",
                "index `i` was CREATE INDEX i ON a(x), and is CREATE INDEX i ON a(x DESC)",
                "index `i` is CREATE INDEX i ON a(x) after one way, CREATE INDEX i ON a(x DESC) after the other"
            ),
        ])
    func sentences(first: String, second: String, change: String, comparison: String) throws {
        let changes = try difference(first, second).changes
        #expect(changes.map(\.sentence) == [change])
        #expect(changes.map { $0.sentence(after: "one way", "the other") } == [comparison])
    }

    @Test("has AUTOINCREMENT beside the columns that differ")
    func sequence() throws {
        let changes = try difference(
            "CREATE TABLE a(id INTEGER PRIMARY KEY AUTOINCREMENT, x TEXT)",
            "CREATE TABLE a(id INTEGER PRIMARY KEY, x INTEGER)"
        ).changes
        #expect(
            changes.map(\.sentence) == [
                "table `a`: column `x` was TEXT, and is INTEGER", "table `a`: `AUTOINCREMENT` was removed",
            ])
    }
}
