import Foundation
import GRDB
import MigrationTesting
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("A review of migrations in code", .timed)
struct MigrationReviewTests {
    typealias Body = @Sendable (Database) throws -> Void

    private static func migrator(_ bodies: Body...) -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("first") { db in
            try db.execute(
                sql: """
                    CREATE TABLE author(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
                    CREATE TABLE book(
                        id INTEGER PRIMARY KEY, title TEXT, authorId INTEGER REFERENCES author(id));
                    CREATE INDEX book_author ON book(authorId);
                    """)
        }
        for (number, body) in bodies.enumerated() {
            migrator.registerMigration("edit \(number + 1)", migrate: body)
        }
        return migrator
    }

    private func findings(_ bodies: Body...) throws -> [String] {
        var migrator = Self.migrator()
        for (number, body) in bodies.enumerated() {
            migrator.registerMigration("edit \(number + 1)", migrate: body)
        }
        return try MigrationReview(of: migrator).findings.map(\.description)
    }

    @Test("finds nothing in migrations that lose nothing")
    func nothing() throws {
        let migrator = Self.migrator(
            { db in
                try db.alter(table: "book") { $0.add(column: "year", .integer) }
                try db.create(table: "shelf") { $0.autoIncrementedPrimaryKey("id") }
                for row in try Row.fetchAll(db, sql: "SELECT id, title FROM book") {
                    try db.execute(
                        sql: "UPDATE book SET year = ? WHERE id = ?", arguments: [1900, row["id"] as Int])
                }
            })
        let review = try MigrationReview(of: migrator)
        #expect(review.findings == [])
        #expect(review.description == "nothing found")
    }

    @Test(
        "ends a migration that never ends, with rows or without any",
        arguments: ["WHERE i < (SELECT max(id) FROM book) * 1e9", ""])
    func endless(condition: String) throws {
        let findings = try findings({ db in
            try db.execute(
                sql: """
                    CREATE TABLE number(n INTEGER);
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n \(condition)) INSERT INTO number SELECT i FROM n;
                    """)
        })
        #expect(findings.count == 1, "\(findings)")
        let rule = condition.isEmpty ? "does-not-apply" : "step-limit"
        #expect(findings.first?.contains("[\(rule)]") == true, "\(findings)")
    }

    @Test("runs with the functions and collations of the app's configuration, and says so without it")
    func configuration() throws {
        let migrator = Self.migrator(
            { db in
                try db.execute(
                    sql: """
                        ALTER TABLE book ADD COLUMN slug TEXT COLLATE backwards;
                        UPDATE book SET slug = slug(title);
                        """)
            })
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            db.add(collation: DatabaseCollation("backwards") { $1.compare($0) })
            db.add(function: DatabaseFunction("slug", argumentCount: 1, pure: true) { $0[0] })
        }
        #expect(try MigrationReview(of: migrator, configuration: configuration).findings == [])
        let folder = try TemporaryFolder()
        let lock = MigrationLock(at: folder.file("a.lock"), configuration: configuration)
        #expect(throws: Never.self) { try lock.record(migrator) }
        #expect(throws: Never.self) { try lock.verify(migrator) }
        let found = try MigrationReview(of: migrator).findings
        #expect(found.map(\.rule) == ["does-not-apply"])
        #expect(
            found.first?.reason.hasSuffix(
                " If the app adds collation `backwards`, pass the configuration in which it does.") == true,
            "\(found)")
    }

    @Test("judges a redefinition by its rows: NULL where the new definition takes none")
    func redefinition() throws {
        let definition = """
            CREATE TABLE book(
                id INTEGER PRIMARY KEY, title TEXT NOT NULL, authorId INTEGER REFERENCES author(id))
            """
        let found = try findings({ try $0.redefine(table: "book", as: definition) })
        #expect(found.count == 1)
        #expect(
            found.first?.hasPrefix(
                """
                edit 1: warning: Over generated rows: The rows of table book break its new definition: column title is NULL in
                """) == true, "\(found)")
        #expect(
            found.first?.contains("Correct such rows first, in the same migration. [new-not-null]") == true,
            "\(found)")
        let filled = try findings({ db in
            try db.execute(sql: "UPDATE book SET title = '' WHERE title IS NULL")
            try db.redefine(table: "book", as: definition)
        })
        #expect(filled == [])
    }

    @Test("finds rows that a conflict clause loses where others refer to them")
    func conflictClause() throws {
        let tables = """
            CREATE TABLE author(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
            CREATE TABLE book(id INTEGER PRIMARY KEY, authorId INTEGER REFERENCES author(id));
            CREATE INDEX book_author ON book(authorId);
            """
        let trim: Body = { try $0.execute(sql: "UPDATE OR REPLACE author SET name = trim(name)") }
        var migrator = DatabaseMigrator()
        migrator.registerMigration("first") { try $0.execute(sql: tables) }
        migrator.registerMigration("trim", migrate: trim)
        let schema = try SchemaMigrator(migrations: [
            SQLMigration(version: 1, name: "first", sql: tables), CodeMigration(2, "trim", migrate: trim),
        ])
        #expect(try MigrationReview(of: migrator).findings.map(\.rule) == ["lost-rows"])
        #expect(try MigrationReview(of: schema).findings.map(\.rule) == ["lost-rows"])
    }

    @Test("names a table that is dropped with its rows, by the statement of the schema builder")
    func dropTable() throws {
        #expect(
            try findings({ try $0.drop(table: "book") }) == [
                """
                edit 1: error: Table `book` is dropped: its rows are lost. [drop-table]
                    DROP TABLE "book"
                """
            ])
    }

    /// Recreates table `book` with the rows that a loop in Swift writes.
    private static func recreate(
        _ db: Database, keeping isKept: (Int) -> Bool = { _ in true }
    ) throws {
        let rows = try Row.fetchAll(db, sql: "SELECT * FROM book ORDER BY id")
        try db.drop(table: "book")
        try db.create(table: "book") {
            $0.primaryKey("id", .integer)
            $0.column("title", .text)
            $0.column("authorId", .integer).indexed().references("author")
        }
        for (number, row) in rows.enumerated() where isKept(number) {
            try db.execute(
                sql: "INSERT INTO book(id, title, authorId) VALUES (?, ?, ?)",
                arguments: [row["id"] as Int64, row["title"] as String?, row["authorId"] as Int64?])
        }
    }

    @Test("finds nothing in a loop in Swift that brings every row back")
    func loopThatKeeps() throws {
        #expect(try findings({ try Self.recreate($0) }) == [])
    }

    @Test("counts the rows that a loop in Swift does not bring back, or deletes")
    func loopThatLoses() throws {
        #expect(
            try findings({ db in try Self.recreate(db) { $0 < 5 } }) == [
                """
                edit 1: error: Rebuilding table `book` loses rows: of 8 generated rows, it keeps 5. Copy every row, or delete rows \
                with a DELETE that says which. [lost-rows]
                    DROP TABLE "book"
                """
            ])
        let deleting = try findings({ db in
            for id in try Int.fetchAll(db, sql: "SELECT id FROM book") {
                try db.execute(sql: "DELETE FROM book WHERE id = ?", arguments: [id])
            }
        })
        try #require(deleting.count == 1)
        #expect(
            deleting[0].hasPrefix(
                """
                edit 1: error: Every row of table `book` is deleted: its WHERE holds for every generated row. \
                [delete-without-where]
                    DELETE FROM book WHERE id =
                """))
    }

    @Test("says that a closure fails over generated rows")
    func didNotRun() throws {
        struct Unreadable: Error {}
        let found = try findings({ db in
            if try Row.fetchOne(db, sql: "SELECT * FROM author") != nil { throw Unreadable() }
            try db.execute(sql: "UPDATE author SET name = ''")
        })
        #expect(
            found == [
                """
                edit 1: error: It did not run over generated rows: Unreadable(). Let it run over any rows that the schema accepts, \
                or test it with an app's rows. [did-not-run]
                """
            ])
    }

    @Test("names rows and values that a rebuild loses")
    func rebuild() throws {
        let found = try findings({ db in
            try db.create(table: "new_book") {
                $0.primaryKey("id", .integer)
                $0.column("title", .text)
                $0.column("authorId", .integer).references("author")
            }
            try db.execute(
                sql: "INSERT INTO new_book(id, title) SELECT id, title FROM book WHERE title IS NOT NULL")
            try db.drop(table: "book")
            try db.rename(table: "new_book", to: "book")
        })
        #expect(found.count == 4, "\(found.joined(separator: "\n"))")
        #expect(found[0].hasPrefix("edit 1: note: No index serves foreign key (authorId) of table `book`"))
        #expect(found.contains { $0.contains("loses rows: of 8 generated rows, it keeps") })
        #expect(found.contains { $0.contains("loses index `book_author`") })
        #expect(found.contains { $0.contains("leaves out the values of column `authorId`") })
    }

    @Test("finds what a loop in Swift overwrites, at the statement that it runs for each row")
    func loop() throws {
        let found = try findings({ db in
            for id in try Int.fetchAll(db, sql: "SELECT id FROM author") {
                try db.execute(sql: "UPDATE author SET name = ? WHERE id = ?", arguments: ["nobody", id])
            }
        })
        try #require(found.count == 1)
        #expect(
            found[0].hasPrefix("edit 1: warning: Column `name` of table `author` loses values:"), "\(found)")
        #expect(found[0].contains("[changed-values]\n    UPDATE author SET name = 'nobody' WHERE id = "))
    }

    @Test("finds nulls for which a new NOT NULL has no value")
    func newNotNull() throws {
        let found = try findings({ db in
            try db.execute(
                sql: """
                    CREATE TABLE new_book(
                        id INTEGER PRIMARY KEY, title TEXT NOT NULL, authorId INTEGER REFERENCES author(id));
                    INSERT INTO new_book SELECT * FROM book;
                    DROP TABLE book;
                    ALTER TABLE new_book RENAME TO book;
                    CREATE INDEX book_author ON book(authorId);
                    """)
        })
        #expect(
            found == [
                """
                edit 1: warning: Over generated rows: NOT NULL constraint failed: new_book.title (SQLite 1299). Give the column a \
                value in every row first: coalesce(column, …), or a DEFAULT. [new-not-null]
                    INSERT INTO new_book SELECT * FROM book
                """
            ])
    }

    @Test("finds rows that are left without their parent, and gives a remedy for code")
    func orphans() throws {
        let found = try findings({ try $0.execute(sql: "DELETE FROM author WHERE id > 2") })
        #expect(
            found == [
                """
                edit 1: warning: Over generated rows, it leaves a row that refers to no row, from book(authorId) to author(id). \
                Delete these rows, or let them refer to a row that exists. Where a DELETE leaves them, a migration that enforces foreign keys immediately runs its ON DELETE. [orphans]
                    DELETE FROM author WHERE id > 2
                """
            ])
    }

    @Test("finds foreign keys without an index, and what an older build cannot use")
    func notes() throws {
        let found = try findings(
            { db in
                try db.create(table: "loan") {
                    $0.primaryKey("id", .integer)
                    $0.column("bookId", .integer).references("book")
                }
            },
            { db in
                try db.rename(table: "author", to: "person")
                try db.alter(table: "book") { $0.rename(column: "title", to: "name") }
            })
        #expect(found.count == 3)
        #expect(
            found[0].hasPrefix(
                """
                edit 1: note: No index serves foreign key (bookId) of table `loan`: deleting a row of `book` reads the whole \
                table. Add CREATE INDEX loan_bookId ON loan(bookId). [unindexed-foreign-key]
                """))
        #expect(
            found[1] == """
                edit 2: note: Table `author` is `person` now: an older build that opens the database fails. Keep the old name as a \
                view for as long as an older build or an extension may open the database. [renamed-table]
                    ALTER TABLE "author" RENAME TO "person"
                """)
        #expect(found[2].contains("Column `title` of table `book` is `name` now"))
    }

    @Test("leaves out what triggers run")
    func triggers() throws {
        let found = try findings(
            { db in
                try db.execute(
                    sql: """
                        CREATE TRIGGER clear AFTER UPDATE OF name ON author BEGIN
                            DELETE FROM book;
                        END
                        """)
            },
            { try $0.execute(sql: "UPDATE author SET name = name || '' WHERE id = 0") })
        #expect(found == [])
    }

    @Test("leaves out what has shipped, and what is allowed by name or by a comment")
    func allowances() throws {
        let migrator = Self.migrator(
            { try $0.drop(table: "book") },
            { try $0.execute(sql: "-- allow: drop-table\nDROP TABLE author") })
        #expect(try MigrationReview(of: migrator).findings.map(\.rule) == ["drop-table"])
        #expect(try MigrationReview(of: migrator, after: "edit 1").findings == [])
        #expect(try MigrationReview(of: migrator, allowing: ["edit 1": ["drop-table"]]).findings == [])
        let wrong = try MigrationReview(
            of: migrator, after: "edit 2", allowing: ["edit 9": ["drop-tables"]])
        #expect(
            wrong.findings.map(\.description) == [
                "edit 9: error: The review names edit 9, which is no migration. [unknown-rule]",
                """
                edit 9: error: There is no rule drop-tables. Name a rule that `app-migrations help check` lists. [unknown-rule]
                """,
            ])
    }

    @Test("says that a migration fails, and at which statement")
    func failure() throws {
        let found = try findings(
            { try $0.execute(sql: "UPDATE book SET title = ''; ALTER TABLE books ADD COLUMN year") },
            { try $0.drop(table: "book") })
        #expect(found == ["edit 1: error: No such table: books (SQLite 1). [does-not-apply]"])
    }

    @Test("does not erase the database of a migrator in development")
    func erasing() throws {
        var migrator = Self.migrator({ try $0.drop(table: "book") })
        migrator.eraseDatabaseOnSchemaChange = true
        #expect(try MigrationReview(of: migrator).findings.map(\.rule) == ["drop-table"])
    }

    @Test("does the same for files, and for migrations in Swift among them")
    func schemaMigrator() throws {
        let schema = try SchemaMigrator(migrations: [
            SQLMigration(version: 1, name: "a", sql: "CREATE TABLE a(x NOT NULL);\nCREATE TABLE b(y);"),
            SQLMigration(version: 2, name: "b", sql: "-- No more.\nDROP TABLE b;"),
            CodeMigration(3, "c") { try $0.execute(sql: "DELETE FROM a") },
        ])
        #expect(
            try MigrationReview(of: schema).findings.map(\.description) == [
                "2_b.sql: error: Table `b` is dropped: its rows are lost. [drop-table]\n    DROP TABLE b",
                """
                c: error: Every row of table `a` is deleted: DELETE has no WHERE. [delete-without-where]
                    DELETE FROM a
                """,
            ])
        #expect(try MigrationReview(of: schema, after: 3).findings == [])
    }
}
