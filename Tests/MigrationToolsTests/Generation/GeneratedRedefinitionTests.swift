import Foundation
import GRDB
import SchemaMigrations
import Testing

@testable import MigrationTools

@Suite("A generated redefinition", .timed)
struct GeneratedRedefinitionTests {
    private func generator(
        _ old: String, _ new: String, goingBack goesBack: Bool = true
    ) throws -> MigrationGenerator {
        let first = try SchemaMigrator(migrations: [SQLMigration(version: 1, name: "first", sql: old)])
        return try MigrationGenerator.tried(goingBack: goesBack) {
            try MigrationGenerator(
                first, to: SchemaFile(Data(new.utf8), name: "schema.sql"), renaming: SchemaRenames(),
                redefining: $0)
        } fill: {
            try TableFilling.fillAll($0, rowsPerTable: 16, seed: 1, style: .awkward)
        }.0
    }

    @Test("redefines a table also where it can be undone, which the values that fill it cannot")
    func filledAndUndone() throws {
        let generator = try generator(
            "CREATE TABLE m(id INTEGER PRIMARY KEY, note TEXT)",
            "CREATE TABLE m(id INTEGER PRIMARY KEY, note TEXT NOT NULL DEFAULT '')")
        #expect(generator.files.map(\.redefines) == [false, true])
        #expect(
            generator.files.map(\.downSQL).first
                == "-- The values stay. A file needs a statement.\nSELECT 1;\n")
    }

    @Test(
        "takes the place of a rebuild for a constraint alone",
        arguments: [
            (
                "CREATE TABLE t(a INTEGER, b TEXT)", "CREATE TABLE t(a INTEGER CHECK (a <> 3), b TEXT)",
                """
                -- t: column `a` changes.
                -- As in schema.sql: fails where rows break a new CHECK.
                -- allow: new-check
                CREATE TABLE t(a INTEGER CHECK (a <> 3), b TEXT);

                """
            ),
            (
                "CREATE TABLE t(a INTEGER, b TEXT)", "CREATE TABLE t(a INTEGER DEFAULT 5, b TEXT)",
                "-- t: column `a` changes.\nCREATE TABLE t(a INTEGER DEFAULT 5, b TEXT);\n"
            ),
            (
                "CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE t(p INTEGER)",
                "CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE t(p INTEGER REFERENCES p(id) ON DELETE CASCADE)",
                """
                -- t: column `p` changes.
                -- As in schema.sql: fails where rows refer to missing rows.
                -- allow: orphans
                CREATE TABLE t(p INTEGER REFERENCES p(id) ON DELETE CASCADE);

                """
            ),
            // The order of columns is worth no rebuild.
            (
                "CREATE TABLE t(a INTEGER, b TEXT)", "CREATE TABLE t(b TEXT, a INTEGER, CHECK (a <> 3))",
                """
                -- t: its constraints change.
                -- As in schema.sql: fails where rows break a new CHECK.
                -- allow: new-check
                CREATE TABLE t(a INTEGER, b TEXT, CHECK (a <> 3));

                """
            ),
        ])
    func alone(old: String, new: String, body: String) throws {
        let generator = try generator(old, new)
        #expect(generator.files.map(\.body) == [body])
        #expect(generator.files.map(\.suffix) == [""])
        #expect(generator.sql == "-- migrations: redefine\n\n\(body)")
        #expect(generator.downSQL.hasPrefix("-- migrations: redefine\n\n-- t: "))
        #expect(generator.downSQL.hasSuffix("\(old.split(separator: "; ").last ?? "");\n"))
        #expect(generator.summary.count == 1)
        #expect(generator.summary.first?.hasPrefix("~ table `t`, redefined: ") == true)
    }

    @Test("has comments above the statements that they are about, whatever the line ends of the schema")
    func lineEnds() throws {
        let generator = try generator(
            "CREATE TABLE p(id INTEGER PRIMARY KEY, n INTEGER); CREATE TABLE t(p INTEGER)",
            """
            CREATE TABLE p(
                id INTEGER PRIMARY KEY,
                n INTEGER DEFAULT 3
            );
            CREATE TABLE t(
                p INTEGER REFERENCES p(id)
            );
            """.replacing("\n", with: "\r\n"), goingBack: false)
        #expect(generator.sql.contains("-- allow: orphans\nCREATE TABLE t("), "\(generator.sql)")
    }

    @Test("passes its own check, since a file before it fills what becomes NOT NULL")
    func passesCheck() throws {
        let old = "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, n INTEGER);"
        let generator = try generator(
            old,
            "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT NOT NULL DEFAULT '', n INTEGER NOT NULL DEFAULT 0)",
            goingBack: false)
        let files = generator.files.enumerated().map { ("\($0 + 2)_x.sql", $1.sql) }
        let all = Dictionary(uniqueKeysWithValues: files + [("1_first.sql", old)])
        #expect(all.count == 3)
        #expect(try ReviewedMigrations(all).allFindings == [])
    }

    @Test("follows a file with the other changes, which fills what becomes NOT NULL")
    func twoFiles() throws {
        let generator = try generator(
            "CREATE TABLE t(a TEXT); CREATE TABLE u(x); CREATE VIEW v AS SELECT a FROM t; CREATE INDEX i ON t(a)",
            """
            CREATE TABLE t(a TEXT NOT NULL DEFAULT ''); CREATE TABLE u(x, y); CREATE VIEW v AS SELECT a FROM t;
            CREATE INDEX i ON t(a); CREATE TABLE w(z)
            """)
        #expect(
            generator.sql == """
                CREATE TABLE w(z);

                ALTER TABLE u ADD COLUMN y;

                UPDATE t SET a = '' WHERE a IS NULL;

                -- The next file:
                -- migrations: redefine

                -- t: column `a` changes.
                -- The file before this one fills what is NULL.
                -- allow: new-not-null
                CREATE TABLE t(a TEXT NOT NULL DEFAULT '');

                """)
        #expect(generator.files.map(\.suffix) == ["", "_redefine"])
        #expect(
            generator.downSQL == """
                -- migrations: redefine

                -- t: column `a` changes.
                CREATE TABLE t(a TEXT);

                -- The next file:
                DROP TABLE w;

                ALTER TABLE u DROP COLUMN y;

                """)
    }

    @Test("says which constraints the wanted schema gives up")
    func allowed() throws {
        let generator = try generator(
            "CREATE TABLE t(a TEXT NOT NULL CHECK (length(a) > 0))", "CREATE TABLE t(a TEXT)")
        #expect(
            generator.sql == """
                -- migrations: redefine

                -- t: column `a` changes.
                -- As in schema.sql: redefining table `t` loses `CHECK (length(a) > 0)`.
                -- As in schema.sql: redefining table `t` loses the NOT NULL of column `a`.
                -- allow: lost-check, lost-not-null
                CREATE TABLE t(a TEXT);

                """)
    }

    @Test(
        "leaves it to a rebuild where it cannot be, or where other changes need it at once",
        arguments: [
            ("CREATE TABLE t(a INTEGER)", "CREATE TABLE t(a INTEGER UNIQUE)"),
            ("CREATE TABLE t(a TEXT)", "CREATE TABLE t(a TEXT COLLATE NOCASE)"),
            ("CREATE TABLE t(a INTEGER)", "CREATE TABLE t(a INTEGER) STRICT"),
            ("CREATE TABLE t(a INTEGER)", "CREATE TABLE t(a INTEGER CHECK (a <> 3), b TEXT)"),
            // The UPDATE that fills the column would fire the trigger.
            (
                "CREATE TABLE t(a TEXT); CREATE TRIGGER g AFTER UPDATE ON t BEGIN SELECT 1; END",
                "CREATE TABLE t(a TEXT NOT NULL DEFAULT ''); CREATE TRIGGER g AFTER UPDATE ON t BEGIN SELECT 1; END"
            ),
            // A new trigger is there before the UPDATE.
            (
                "CREATE TABLE t(a TEXT)",
                """
                CREATE TABLE t(a TEXT NOT NULL DEFAULT ''); CREATE TABLE u(b);
                CREATE TRIGGER g AFTER UPDATE ON t BEGIN INSERT INTO u VALUES (1); END
                """
            ),
            // The UPDATE would remove rows.
            (
                "CREATE TABLE t(a TEXT UNIQUE ON CONFLICT REPLACE)",
                "CREATE TABLE t(a TEXT UNIQUE ON CONFLICT REPLACE NOT NULL DEFAULT '')"
            ),
            // The UPDATE would leave the index stale.
            (
                "CREATE TABLE t(a TEXT); CREATE VIRTUAL TABLE f USING fts5(a, content='t')",
                "CREATE TABLE t(a TEXT NOT NULL DEFAULT ''); CREATE VIRTUAL TABLE f USING fts5(a, content='t')"
            ),
            // The old CHECK refuses the value.
            (
                "CREATE TABLE t(a TEXT CHECK (a <> ''))", "CREATE TABLE t(a TEXT NOT NULL DEFAULT '')"
            ),
            // The index goes before the key that needs it.
            (
                "CREATE TABLE p(x INTEGER); CREATE UNIQUE INDEX i ON p(x); CREATE TABLE t(p INTEGER REFERENCES p(x))",
                "CREATE TABLE p(x INTEGER); CREATE TABLE t(p INTEGER)"
            ),
        ])
    func rebuild(old: String, new: String) throws {
        let generator = try generator(old, new)
        #expect(generator.sql.contains("CREATE TABLE t_new("), "\(generator.sql)")
        #expect(!generator.redefines)
    }
}
