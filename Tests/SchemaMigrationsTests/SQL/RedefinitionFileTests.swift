import AppMigrations
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("A file that redefines tables", .timed)
struct RedefinitionFileTests {
    let folder: TemporaryFolder
    let queue: DatabaseQueue

    init() throws {
        folder = try TemporaryFolder()
        queue = try folder.queue()
    }

    private static let create = """
        CREATE TABLE album(id INTEGER PRIMARY KEY);
        CREATE TABLE photo(id INTEGER PRIMARY KEY, title TEXT, album INTEGER);
        CREATE INDEX photo_by_title ON photo(title);
        INSERT INTO album VALUES (1);
        INSERT INTO photo VALUES (1, 'a', 1), (2, 'b', NULL);
        """

    private static let redefine = """
        -- Photos have titles.
        -- migrations: redefine

        CREATE TABLE album(id INTEGER PRIMARY KEY CHECK (id > 0));
        create table if not exists main.photo(
            id INTEGER PRIMARY KEY, title TEXT NOT NULL, -- never empty
            album INTEGER REFERENCES album(id) ON DELETE CASCADE
        );
        """

    private func migrator(_ second: String, _ others: [String: String] = [:]) throws -> SchemaMigrator {
        try folder.migrator(
            ["1_a.sql": Self.create, "2_b.sql": second].merging(others, uniquingKeysWith: { $1 }))
    }

    private func definitions() throws -> [String] {
        try queue.strings("SELECT sql FROM sqlite_master WHERE name IN ('album', 'photo') ORDER BY name")
    }

    @Test("gives the tables their definitions, and is recorded like every other")
    func redefine() throws {
        let migrator = try migrator(Self.redefine)
        try #expect(migrator.migrate(queue).applied == [1, 2])
        #expect(
            try definitions() == [
                "CREATE TABLE album(id INTEGER PRIMARY KEY CHECK (id > 0))",
                """
                CREATE TABLE photo(
                    id INTEGER PRIMARY KEY, title TEXT NOT NULL, -- never empty
                    album INTEGER REFERENCES album(id) ON DELETE CASCADE
                )
                """,
            ])
        #expect(try queue.strings("SELECT title FROM photo ORDER BY id") == ["a", "b"])
        #expect(
            try queue.strings("SELECT name FROM sqlite_master WHERE type = 'index' AND sql <> ''") == [
                "photo_by_title"
            ])
        #expect(try queue.strings("PRAGMA integrity_check") == ["ok"])
        #expect(throws: DatabaseError.self) { try queue.execute("INSERT INTO photo(title) VALUES (NULL)") }
        try #expect(migrator.migrate(queue).applied == [])
        let edited = try self.migrator(Self.redefine.replacingOccurrences(of: "id > 0", with: "id > 1"))
        #expect(try queue.read(edited.status).editedVersions == [2])
    }

    @Test(
        "holds nothing but definitions of tables",
        arguments: [
            ("INSERT INTO photo(title) VALUES ('c')", "INSERT"), ("UPDATE photo SET title = ''", "UPDATE"),
            ("CREATE INDEX photo_by_album ON photo(album)", "CREATE INDEX"),
            ("CREATE TEMP TABLE scratch(x)", "CREATE TEMP"), ("DROP TABLE album", "DROP TABLE"),
            ("PRAGMA foreign_keys = ON", "PRAGMA FOREIGN_KEYS"),
            ("EXPLAIN CREATE TABLE a(x)", "EXPLAIN CREATE"),
        ])
    func otherStatement(sql: String, words: String) throws {
        let error = try #require(throws: MigrationError.self) {
            try migrator("\(Self.redefine)\n\(sql);").migrate(queue)
        }
        #expect(error.code == .invalidMigration)
        #expect(
            error.description == """
                2_b.sql:9: \(words) is not allowed in a file that redefines tables. Put it in another file: one that \
                begins with `-- migrations: redefine` holds nothing but the CREATE TABLE statements of tables that \
                exist.
                """)
    }

    @Test("needs a transaction")
    func transaction() throws {
        let error = try #require(throws: MigrationError.self) {
            try migrator("-- migrations: redefine, transaction=none\nCREATE TABLE album(id);").migrate(queue)
        }
        #expect(
            error.description == """
                2_b.sql:2: a file that redefines tables asks for no transaction. Remove transaction=none from its header: \
                the definition and its record are committed together.
                """)
    }

    @Test(
        "names its line, the column and the rows if they do not fit, and changes nothing",
        arguments: [
            (
                "title TEXT CHECK (length(title) > 1), album INTEGER",
                "CHECK (length(title) > 1) fails in 2 rows (id: 1, 2)"
            ),
            ("title TEXT, album INTEGER NOT NULL", "column album is NULL in 1 row (id: 2)"),
        ])
    func misfits(columns: String, problem: String) throws {
        let sql = """
            -- migrations: redefine
            CREATE TABLE album(id INTEGER PRIMARY KEY CHECK (id > 0));
            CREATE TABLE photo(id INTEGER PRIMARY KEY, \(columns));
            """
        let error = try #require(throws: MigrationError.self) { try migrator(sql).migrate(queue) }
        #expect(error.code == .stepFailed)
        #expect(error.schemaVersion == 2)
        #expect(error.committed == [1])
        #expect(
            error.description == """
                2_b.sql:3: The rows of table photo break its new definition: \(problem). Correct the rows in a file before \
                it. It was rolled back.
                """)
        #expect(
            try definitions() == [
                "CREATE TABLE album(id INTEGER PRIMARY KEY)",
                "CREATE TABLE photo(id INTEGER PRIMARY KEY, title TEXT, album INTEGER)",
            ])
    }

    @Test("leaves the remedy to what SQLite cannot check")
    func unanswered() throws {
        let sql = """
            -- migrations: redefine
            CREATE TABLE photo(id INTEGER PRIMARY KEY, title TEXT CHECK (title < date('now')), album INTEGER);
            """
        let error = try #require(throws: MigrationError.self) { try migrator(sql).migrate(queue) }
        #expect(error.code == .stepFailed)
        #expect(
            error.description == """
                2_b.sql:2: SQLite cannot check the rows of table photo under its new definition: non-deterministic use \
                of date() in a CHECK constraint. Correct the condition of the CHECK, or the rows for which SQLite \
                cannot check it. Nothing was changed.
                """)
    }

    @Test("is refused if it is more than constraints, or names no table")
    func more() throws {
        for (table, problem) in [
            ("album(id INTEGER PRIMARY KEY, name TEXT)", "Table album would get a column name."),
            ("song(id INTEGER PRIMARY KEY)", "There is no table song."),
        ] {
            let error = try #require(throws: MigrationError.self) {
                try migrator("-- migrations: redefine\n\nCREATE TABLE \(table);").migrate(queue)
            }
            #expect(error.code == .invalidMigration)
            #expect(error.description.hasPrefix("2_b.sql:3: \(problem)"), "\(error)")
        }
    }

    @Test("can be undone by a down migration of its kind, also by a build that lacks the file")
    func down() throws {
        let before = try folder.migrator(["1_a.sql": Self.create])
        try before.migrate(queue)
        let old = try definitions()
        let migrator = try migrator(
            Self.redefine,
            ["2_b.down.sql": "-- migrations: redefine\n" + old.map { "\($0);" }.joined(separator: "\n")])
        try migrator.migrate(queue)
        #expect(try definitions() != old)
        try migrator.rollback(queue, to: 1)
        #expect(try definitions() == old)

        try migrator.migrate(queue)
        let older = try SchemaMigrator(
            migrations: [SQLMigration(version: 1, name: "a", sql: Self.create)],
            options: SchemaOptions(newerDatabases: .rollBack))
        try #expect(older.migrate(queue).undone == [2])
        #expect(try definitions() == old)
    }
}
