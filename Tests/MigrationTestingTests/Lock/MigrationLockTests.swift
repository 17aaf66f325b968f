import AppMigrations
import Foundation
import GRDB
import MigrationTesting
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("A lock of migrations", .timed)
struct MigrationLockTests {
    typealias Body = @Sendable (Database) throws -> Void

    let lock: MigrationLock
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        lock = MigrationLock(at: folder.file("Migrations.lock"))
    }

    private static let shipped: [(String, Body)] = [
        (
            "createBook",
            { db in
                try db.create(table: "book") {
                    $0.autoIncrementedPrimaryKey("id")
                    $0.column("title", .text).notNull()
                }
            }
        ),
        (
            "fill",
            { db in
                try db.execute(sql: "INSERT INTO book(title) VALUES (?)", arguments: ["Emma"])
                try db.execute(sql: "UPDATE book SET title = 'a;\nb' WHERE id = 1")
            }
        ),
        (
            "search",
            { db in
                try db.execute(
                    sql: """
                        -- Words of titles.
                        CREATE VIRTUAL TABLE words USING fts4(title);
                        CREATE TRIGGER add_words AFTER INSERT ON book BEGIN
                            INSERT INTO words(title) VALUES (new.title);
                        END;
                        INSERT INTO book(title) VALUES ('Persuasion');
                        """)
            }
        ),
    ]

    private func migrator(_ migrations: [(String, Body)]) -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        for (identifier, body) in migrations { migrator.registerMigration(identifier, migrate: body) }
        return migrator
    }

    private func text() throws -> String { try String(contentsOf: lock.url, encoding: .utf8) }

    @Test("can be read whatever identifiers and texts hold")
    func oddCharacters() throws {
        let migrations: [(String, Body)] = [
            ("#1 create", { try $0.execute(sql: "CREATE TABLE book(title TEXT)") }),
            ("#2 fill", { try $0.execute(sql: "INSERT INTO book VALUES ('a\u{2028}b\u{0B}c')") }),
            ("#3 lines", { try $0.execute(sql: "UPDATE book SET title = 'a\r\nb\r\n\nc\r'") }),
            ("", { try $0.execute(sql: "CREATE TABLE a(x)") }),
            ("  ", { try $0.execute(sql: "CREATE TABLE b(x)") }),
            ("#4\nlines", { try $0.execute(sql: "CREATE TABLE c(x)") }),
            ("#5\r\n", { try $0.execute(sql: "CREATE TABLE d(x)") }),
        ]
        try lock.record(migrator(migrations))
        try lock.verify(migrator(migrations))
        // As git checks it out on Windows.
        try Data(text().replacingOccurrences(of: "\n", with: "\r\n").utf8).write(to: lock.url)
        try lock.verify(migrator(migrations))
    }

    @Test("has the statements of each migration, and what it changes in the schema")
    func format() throws {
        try lock.record(migrator(Self.shipped))
        #expect(
            try text() == """
                # What each shipped migration does. MigrationLock writes this file: commit it.
                # Format 4.

                createBook
                  CREATE TABLE book (id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL)
                  + CREATE TABLE book (id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL)

                fill
                  INSERT INTO book (title) VALUES ('Emma')
                  UPDATE book SET title = 'a;\\nb' WHERE id = 1

                search
                  CREATE VIRTUAL TABLE words USING fts4 (title)
                  CREATE TRIGGER add_words AFTER INSERT ON book BEGIN INSERT INTO words (title) VALUES (new.title) END
                  INSERT INTO book (title) VALUES ('Persuasion')
                  + CREATE TRIGGER add_words AFTER INSERT ON book BEGIN INSERT INTO words (title) VALUES (new.title) END
                  + CREATE VIRTUAL TABLE words USING fts4 (title)

                """)
        try lock.verify(migrator(Self.shipped))
    }

    private static func replacing(_ index: Int, by body: @escaping Body) -> [(String, Body)] {
        var migrations = shipped
        migrations[index].1 = body
        return migrations
    }

    /// Shipped migrations in other forms, with the one that the lock names and why.
    private static let edits: [(migrations: [(String, Body)], culprit: String)] = [
        (
            replacing(0) {
                try $0.create(table: "book") {
                    $0.primaryKey("id", .integer)
                    $0.column("title", .text)
                }
            },
            "createBook does something else"
        ),
        (replacing(1) { _ in }, "fill does something else"),
        (
            replacing(1) { db in
                try db.execute(sql: "INSERT INTO book(title) VALUES (?)", arguments: ["Ema"])
                try db.execute(sql: "UPDATE book SET title = 'a;\nb' WHERE id = 1")
            }, "fill does something else"
        ),
        (
            replacing(1) { db in
                try db.execute(sql: "UPDATE book SET title = 'a;\nb' WHERE id = 1")
                try db.execute(sql: "INSERT INTO book(title) VALUES (?)", arguments: ["Emma"])
            }, "fill does something else"
        ),
        (
            replacing(1) { db in
                try shipped[1].1(db)
                try db.execute(sql: "DELETE FROM book WHERE id = 9")
            }, "fill does something else"
        ),
        (
            replacing(2) { db in
                try shipped[2].1(db)
                try db.create(index: "by_title", on: "book", columns: ["title"])
            }, "search does something else"
        ),
        (
            replacing(2) { db in
                try db.execute(sql: "CREATE VIRTUAL TABLE words USING fts4(title, tokenize=porter)")
            }, "search does something else"
        ),
        (Array(shipped.dropLast()), "search was removed"),
        ([shipped[0], shipped[2], shipped[1]], "has another place in the order"),
        (
            [shipped[0], ("between", { _ in }), shipped[1], shipped[2]],
            "between is new, and runs before recorded ones. Let new migrations run last"
        ),
        ([shipped[0], ("fill 2", shipped[1].1), shipped[2]], "fill was removed"),
    ]

    @Test("names each kind of edit", arguments: 0..<11)
    func edit(number: Int) throws {
        try lock.record(migrator(Self.shipped))
        let before = try text()
        let (migrations, culprit) = Self.edits[number]
        let edited = migrator(migrations)
        let error = try #require(throws: MigrationError.self) { try lock.verify(edited) }
        #expect(error.code == .differentSchema)
        #expect(error.description.contains(culprit), "\(error)")
        #expect(throws: MigrationError.self) { try lock.record(edited) }
        #expect(try text() == before)
        try lock.record(edited, writing: .everything)
        try lock.verify(edited)
    }

    @Test("says that two branches were not merged, and accuses no migration")
    func badMerge() throws {
        try lock.record(migrator(Self.shipped))
        let text = try text()
        let conflict = text.replacingOccurrences(
            of: "\nsearch\n", with: "\n<<<<<<< HEAD\ntags\n  SELECT 1\n=======\nsearch\n")
        let twice = text + "\nsearch\n  SELECT 1\n"
        for (text, problem) in [
            (conflict + ">>>>>>> tags\n", "holds a conflict of Git"), (twice, "describes search twice"),
            ("<<<<<<< HEAD\n" + text, "holds a conflict of Git"),
        ] {
            try Data(text.utf8).write(to: lock.url)
            for body in [lock.verify, { try lock.record($0) }] as [(DatabaseMigrator) throws -> Void] {
                let error = try #require(throws: MigrationError.self) { try body(migrator(Self.shipped)) }
                #expect(
                    error.description == """
                        Migrations.lock: \(problem). Keep one paragraph for each migration, in the order in which they run.
                        """)
            }
        }
    }

    @Test("finds a text that is only spelled with other code points")
    func normalization() throws {
        func migrator(_ text: String) -> DatabaseMigrator {
            self.migrator([
                ("a", { try $0.execute(sql: "CREATE TABLE a(x); INSERT INTO a VALUES ('\(text)')") })
            ])
        }
        try lock.record(migrator("caf\u{E9}"))
        #expect(throws: MigrationError.self) { try lock.verify(migrator("cafe\u{301}")) }
    }

    @Test("says how to record a squash, and not to undo it")
    func squash() throws {
        func schema(_ files: [String: String]) throws -> SchemaMigrator {
            try SchemaMigrator(
                migrations: files.map { name, sql in
                    SQLMigration(
                        version: SchemaVersion(name.prefix(1)) ?? 0, name: "\(name.dropFirst(2))", sql: sql)
                })
        }
        var files = ["1_a": "CREATE TABLE a(x)", "2_b": "CREATE TABLE b(x)", "3_c": "CREATE TABLE c(x)"]
        try lock.record(schema(files))
        (files["1_a"], files["2_b"]) = (nil, nil)
        files["2_baseline"] = """
            -- replaces: 1 a
            -- replaces: 2 b
            CREATE TABLE a(x); CREATE TABLE b(x);
            """
        for verify in [{ try lock.verify($0) }, { try lock.record($0) }] as [(SchemaMigrator) throws -> Void]
        {
            let error = try #require(throws: MigrationError.self) { try verify(schema(files)) }
            #expect(
                error.remedy == """
                    2_baseline.sql stands for what was removed: call MigrationLock.record(_:writing:) with .everything, and \
                    commit the file.
                    """)
        }
        files["3_c"] = "CREATE TABLE c(y)"
        let error = try #require(throws: MigrationError.self) { try lock.verify(schema(files)) }
        #expect(error.remedy.hasPrefix("Undo that"))
        try lock.record(schema(files), writing: .everything)
        try lock.verify(schema(files))
    }

    @Test("says how to record migrations that GRDB merges, and finds an edit of what is merged")
    func merging() throws {
        func migrator(_ merged: Set<String>?, among others: [String] = []) -> DatabaseMigrator {
            var migrator = DatabaseMigrator()
            for name in others {
                migrator.registerMigration(name) { try $0.execute(sql: "CREATE TABLE \(name)(x)") }
            }
            guard let merged else { return migrator }
            migrator.registerMigration("cd", merging: merged) { db, _ in
                try db.execute(sql: "CREATE TABLE IF NOT EXISTS c(x); CREATE TABLE IF NOT EXISTS d(x)")
            }
            return migrator
        }
        try lock.record(migrator(nil, among: ["c", "d"]))
        let merger = migrator(["c", "d"])
        let error = try #require(throws: MigrationError.self) { try lock.verify(merger) }
        #expect(
            error.remedy == """
                cd stands for what was removed: call MigrationLock.record(_:writing:) with .everything, and commit the file.
                """)
        let other = try #require(throws: MigrationError.self) { try lock.verify(migrator(["c"])) }
        #expect(other.remedy.hasPrefix("Undo that"))
        try lock.record(merger, writing: .everything)
        let text = try String(contentsOf: lock.url, encoding: .utf8)
        #expect(
            text.contains(
                "  merges: 'c', 'd'\n  unprotected: what it does in a database that has had any of these\n"))
        try lock.verify(merger)
        let edit = try #require(throws: MigrationError.self) { try lock.verify(migrator(["c"])) }
        #expect(edit.description.contains("\n  was: merges: 'c', 'd'\n"))
    }

    @Test("has how foreign keys are handled, where the app enforces them")
    func foreignKeys() throws {
        func migrator(
            _ checks: DatabaseMigrator.ForeignKeyChecks, in empty: DatabaseMigrator = DatabaseMigrator()
        ) -> DatabaseMigrator {
            var migrator = empty
            migrator.registerMigration("make", foreignKeyChecks: checks) {
                try $0.execute(sql: "CREATE TABLE a(x)")
            }
            return migrator
        }
        try lock.record(migrator(.deferred))
        #expect(try !String(contentsOf: lock.url, encoding: .utf8).contains("foreign keys:"))
        let error = try #require(throws: MigrationError.self) { try lock.verify(migrator(.immediate)) }
        #expect(error.description.contains("\n  now: foreign keys: immediate"))
        let unchecked = try #require(throws: MigrationError.self) {
            try lock.verify(
                migrator(.deferred, in: DatabaseMigrator().disablingDeferredForeignKeyChecks()))
        }
        #expect(unchecked.description.contains("\n  now: foreign keys: unchecked"))
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let other = MigrationLock(at: lock.url, configuration: configuration)
        try other.verify(migrator(.immediate))
    }

    @Test("shows the difference")
    func difference() throws {
        try lock.record(migrator(Self.shipped))
        let error = try #require(throws: MigrationError.self) {
            try lock.verify(migrator(Self.replacing(1) { try $0.execute(sql: "DELETE FROM book") }))
        }
        #expect(
            error.description == """
                Migrations.lock: fill does something else. Undo that, since people have the migrations as they were, and \
                write a new one. If it has not shipped, call MigrationLock.record(_:writing:) with .everything.
                fill
                  was: INSERT INTO book (title) VALUES ('Emma')
                  was: UPDATE book SET title = 'a;\\nb' WHERE id = 1
                  now: DELETE FROM book
                """)
    }

    @Test("takes new migrations when they are recorded, and not before")
    func addition() throws {
        let missing = try #require(throws: MigrationError.self) {
            try lock.verify(migrator(Self.shipped))
        }
        #expect(
            missing.description
                == "Migrations.lock: there is no such file. Write it with MigrationLock.record(_:), and commit it."
        )
        try lock.record(migrator(Array(Self.shipped.dropLast())))
        let error = try #require(throws: MigrationError.self) {
            try lock.verify(migrator(Self.shipped))
        }
        #expect(
            error.description == """
                Migrations.lock: search is not recorded. Record new migrations with MigrationLock.record(_:), and commit \
                the file.
                """)
        try lock.record(migrator(Self.shipped))
        try lock.verify(migrator(Self.shipped))
    }

    @Test("does not change with what is the same: spaces, quotes, comments, and arguments of each run")
    func same() throws {
        let stamped: [(String, Body)] = [
            ("a", { try $0.execute(sql: "CREATE TABLE a(id TEXT, day TEXT)") }),
            (
                "b",
                { db in
                    let day = ISO8601DateFormatter().string(from: Date()).prefix(10)
                    try db.execute(
                        sql: "INSERT INTO a VALUES (?, ?)", arguments: [UUID().uuidString, String(day)])
                    try db.execute(sql: "UPDATE a SET day = ?", arguments: [String(day)])
                    _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM a")
                }
            ),
        ]
        try lock.record(migrator(stamped))
        #expect(try text().contains("  INSERT INTO a VALUES (?, ?)\n  UPDATE a SET day = ?\n"))
        var other = stamped
        other[0].1 = { try $0.execute(sql: "CREATE  TABLE \"a\" (\"id\" TEXT, -- key\n day TEXT) ; ") }
        try lock.verify(migrator(other))
    }

    @Test("finds an edit in a loop over rows, which a new database does not have")
    func loop() throws {
        func trimming(_ sql: String) -> DatabaseMigrator {
            var migrator = migrator([Self.shipped[0]])
            migrator.registerMigration("trim") { db in
                for id in try Int.fetchAll(db, sql: "SELECT id FROM book") {
                    try db.execute(sql: sql, arguments: [id])
                }
            }
            return migrator
        }
        try lock.record(trimming("UPDATE book SET title = trim(title) WHERE id = ?"))
        #expect(
            try text().contains(
                """

                trim
                  over rows: UPDATE book SET title = trim (title) WHERE id = ?
                  reads: SELECT id FROM book
                  unprotected: it leaves generated rows as they are

                """))
        let error = try #require(throws: MigrationError.self) {
            try lock.verify(trimming("UPDATE book SET title = upper(title) WHERE id = ?"))
        }
        #expect(
            error.description.contains(
                "now: over rows: UPDATE book SET title = upper (title) WHERE id = ?"))
    }

    @Test("does the same for a SchemaMigrator, with files and with migrations in Swift")
    func schemaMigrator() throws {
        func schema(_ sql: String, _ code: String) throws -> SchemaMigrator {
            try SchemaMigrator(migrations: [
                SQLMigration(version: 1, name: "a", sql: sql),
                CodeMigration(2, "b") { try $0.execute(sql: code) },
            ])
        }
        try lock.record(schema("CREATE TABLE a(x)", "INSERT INTO a VALUES (1)"))
        #expect(
            try text() == """
                # What each shipped migration does. MigrationLock writes this file: commit it.
                # Format 4.

                1_a.sql
                  CREATE TABLE a (x)
                  + CREATE TABLE a (x)

                2 b
                  INSERT INTO a VALUES (1)

                """)
        try lock.verify(schema("CREATE TABLE a(x);", "INSERT INTO a VALUES (1)"))
        #expect(throws: MigrationError.self) {
            try lock.verify(schema("CREATE TABLE a(x, y)", "INSERT INTO a VALUES (1)"))
        }
        #expect(throws: MigrationError.self) {
            try lock.verify(schema("CREATE TABLE a(x)", "INSERT INTO a VALUES (2)"))
        }
    }
}
