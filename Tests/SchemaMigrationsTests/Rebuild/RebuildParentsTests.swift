import AppMigrations
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("While a table is rebuilt, and a migration changes one that it refers to,", .timed)
struct RebuildParentsTests {
    private static let albums = """
        CREATE TABLE album(id INTEGER PRIMARY KEY, name TEXT);
        CREATE UNIQUE INDEX album_by_name ON album(name);
        CREATE TABLE photo(id INTEGER PRIMARY KEY, album INTEGER);
        INSERT INTO album VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd');
        INSERT INTO photo SELECT id, id FROM album;
        """

    /// Launches a release with a migration that changes a parent.
    private func update(_ app: RebuildApp, _ sql: String) throws {
        let manager = try app.manager("3.0")
        manager.whenMigratingToVersion("3.0", in: app.database) { db in try db.execute(sql: sql) }
        #expect(try manager.migrate().completed == ["3.0"])
    }

    /// Ends the rebuild, in the release with the migration.
    private func finish(_ app: RebuildApp) throws {
        try app.database.execute("DELETE FROM photo WHERE id = 99")
        for _ in 1...3 {
            let manager = try app.manager("3.0")
            manager.whenMigratingToVersion("3.0", in: app.database) { _ in }
            try manager.migrate()
            let report = try manager.runDeferred()
            #expect(report.failures.isEmpty, "\(report.failures)")
        }
        #expect(try app.leftovers() == [])
    }

    /// Copies every row but one that does not fit, or goes on until the old table is left to empty.
    private func begin(_ app: RebuildApp, isSwapped: Bool) throws {
        if !isSwapped { try app.database.execute("INSERT INTO photo VALUES (99, NULL)") }
        let report = try app.launchAndRun()
        if isSwapped {
            try app.manager().migrate()
        } else {
            #expect(report.pending.map(\.rowsSetAside) == [["99"]])
        }
        #expect(try app.leftovers().contains("app_migrations_\(isSwapped ? "old" : "new")_photo"))
    }

    @Test(
        "rows of the old table, and copies of rows, keep no migration from dropping it",
        arguments: [true, false])
    func droppedParent(isSwapped: Bool) throws {
        let key = "album INTEGER REFERENCES album(id)"
        let app = try RebuildApp(
            Self.albums.replacingOccurrences(of: "album INTEGER", with: isSwapped ? key : "album INTEGER"),
            as: """
                CREATE TABLE photo(
                    id INTEGER PRIMARY KEY, \(isSwapped ? "album INTEGER" : key) CHECK (id <> 99), t DEFAULT 1)
                """)
        try begin(app, isSwapped: isSwapped)
        try update(
            app,
            isSwapped
                ? "DROP TABLE album"
                : """
                CREATE TABLE album_2(id INTEGER PRIMARY KEY, name TEXT);
                INSERT INTO album_2 SELECT * FROM album WHERE id <> 2;
                UPDATE photo SET album = NULL WHERE album = 2;
                DROP TABLE album;
                ALTER TABLE album_2 RENAME TO album;
                """)
        try finish(app)
        let albums = try app.database.strings("SELECT coalesce(album, 'none') FROM photo ORDER BY id")
        #expect(albums == (isSwapped ? ["1", "2", "3", "4"] : ["1", "none", "3", "4"]))
        #expect(try app.database.integer("SELECT count(t) FROM photo") == 4)
    }

    @Test(
        "the app can still change that one, before the swap and after it",
        arguments: [true, false],
        [
            """
            CREATE TABLE album_2(id INTEGER PRIMARY KEY, name TEXT); INSERT INTO album_2 SELECT * FROM album;
            DROP TABLE album; ALTER TABLE album_2 RENAME TO album
            """,
            "ALTER TABLE album ADD COLUMN year INTEGER; CREATE UNIQUE INDEX album_by_year ON album(year)",
        ])
    func rebuiltParent(isSwapped: Bool, migration: String) throws {
        let (cascade, plain) = (
            "album INTEGER REFERENCES album(id) ON DELETE CASCADE", "album INTEGER REFERENCES album(id)"
        )
        let app = try RebuildApp(
            Self.albums.replacingOccurrences(of: "album INTEGER", with: isSwapped ? plain : cascade),
            as: """
                CREATE TABLE photo(id INTEGER PRIMARY KEY, \(isSwapped ? cascade : plain) CHECK (id <> 99), t DEFAULT 1)
                """)
        try begin(app, isSwapped: isSwapped)
        try update(app, migration)
        try app.database.execute("DELETE FROM album WHERE id = 1")
        if migration.contains("year") {
            try app.database.execute(
                "UPDATE album SET year = id; REPLACE INTO album(id, year) VALUES (9, 3)")
        }
        let left = try app.database.strings("SELECT id FROM photo WHERE id < 99")
        #expect(left.count == (migration.contains("year") ? 2 : 3))
        try finish(app)
        #expect(try app.database.strings("SELECT id FROM photo WHERE t = 1").count == left.count)
    }

    @Test(
        "a migration can drop a column that a unique index had, and columns of the table itself",
        arguments: [true, false])
    func droppedColumn(isStep: Bool) throws {
        let sql = """
            DROP INDEX album_by_name; ALTER TABLE album DROP COLUMN name;
            DROP INDEX photo_by_name; ALTER TABLE photo DROP COLUMN name;
            """
        let app = try RebuildApp(
            """
            \(Self.albums.replacingOccurrences(of: "album INTEGER", with: "album INTEGER REFERENCES album(id)"));
            ALTER TABLE photo ADD COLUMN name TEXT; CREATE UNIQUE INDEX photo_by_name ON photo(name);
            """,
            as: """
                CREATE TABLE photo(
                    id INTEGER PRIMARY KEY, album INTEGER NOT NULL REFERENCES album(id) ON DELETE CASCADE, name TEXT)
                """)
        try app.database.execute("INSERT INTO photo VALUES (99, NULL, NULL)")
        try app.launchAndRun()
        if isStep {
            try update(app, sql)
        } else {
            let manager = try app.manager("3.0")
            let schema = try SchemaMigrator(
                migrations: [SQL(version: 1, sql: "SELECT 1"), SQL(version: 2, sql: sql)],
                adopting: SchemaAdoption { _ in 1 })
            manager.whenMigratingToVersion("3.0", migrate: schema, in: app.database)
            try manager.migrate()
        }
        #expect(try app.database.integer("SELECT count(*) FROM pragma_table_info('album')") == 1)
        #expect(throws: (any Error).self) { try app.database.execute("DELETE FROM album WHERE id = 1") }
        try app.database.execute("DELETE FROM photo WHERE id = 1; DELETE FROM album WHERE id = 1")
        try finish(app)
        #expect(try app.rows() == ["2, 2, NULL", "3, 3, NULL", "4, 4, NULL"])
    }

    @Test("which is refused from then on, the app can change that one")
    func brokenKey() throws {
        let app = try RebuildApp(
            Self.albums.replacingOccurrences(of: "album INTEGER", with: "album TEXT")
                .replacingOccurrences(of: "SELECT id, id FROM", with: "SELECT id, name FROM"),
            as: "CREATE TABLE photo(id INTEGER PRIMARY KEY, album TEXT NOT NULL REFERENCES album(name))")
        try begin(app, isSwapped: false)
        try update(app, "DROP INDEX album_by_name")
        try app.database.execute("DELETE FROM album WHERE id = 1; UPDATE album SET name = 'x' WHERE id = 2")
        for _ in 1...2 {
            let manager = try app.manager("3.0")
            try manager.migrate()
            #expect(
                try manager.runDeferred().failures.map(\.message) == [
                    """
                    Library: deferred step 2.1 (Migrations.swift:7) failed in the new table photo: the new table photo refers to \
                    name of table album, where these are not unique together. Add a unique index on them first, in a schema \
                    migration.
                    """
                ])
            try app.database.execute("UPDATE album SET name = 'y' WHERE id = 2")
        }
        try app.database.execute(
            "DELETE FROM photo WHERE id < 3; CREATE UNIQUE INDEX album_by_name_2 ON album(name)")
        try finish(app)
        #expect(try app.rows() == ["3, \"c\"", "4, \"d\""])
    }

    @Test("the other rebuild, which refers to one that is rebuilt, starts over or gives way")
    func twoRebuilds() throws {
        let app = try RebuildApp(
            Self.albums.replacingOccurrences(of: "album INTEGER", with: "album INTEGER REFERENCES album(id)"),
            as:
                "CREATE TABLE photo(id INTEGER PRIMARY KEY, album INTEGER REFERENCES album(id) ON DELETE CASCADE)"
        )
        var albums = app
        albums.table = "album"
        albums.schema = "CREATE TABLE album(id INTEGER PRIMARY KEY, name TEXT, year UNIQUE)"
        func manager() throws -> MigrationManager {
            let manager = try app.manager()
            manager.whenMigratingToVersion(
                "2.1-1", rebuilding: "album", deferredIn: app.database, as: albums.schema)
            return manager
        }
        for launch in 1...5 {
            let manager = try manager()
            try manager.migrate()
            if launch == 2 {
                #expect(try app.leftovers().contains("app_migrations_old_photo"))
                try app.database.execute(
                    "UPDATE album SET year = id; REPLACE INTO album(id, year) VALUES (9, 3)")
            }
            let report = try manager.runDeferred()
            #expect(report.failures.isEmpty, "\(report.failures)")
        }
        #expect(try app.leftovers() == [])
    }

    @Test("a value that only the parent's type makes equal keeps no row of the parent")
    func affinity() throws {
        let app = try RebuildApp(
            """
            CREATE TABLE album(id INTEGER PRIMARY KEY, code INTEGER UNIQUE);
            CREATE TABLE photo(id INTEGER PRIMARY KEY, album);
            INSERT INTO album VALUES (1, 10), (2, 20); INSERT INTO photo VALUES (1, '10'), (2, '20');
            """, as: "CREATE TABLE photo(id INTEGER PRIMARY KEY, album REFERENCES album(code))")
        try app.launchAndRun()
        try app.database.execute("DELETE FROM album WHERE id = 1; DELETE FROM photo WHERE id = 1")
        try app.rebuildInPieces()
        #expect(try app.rows() == ["2, \"20\""])
    }
}
