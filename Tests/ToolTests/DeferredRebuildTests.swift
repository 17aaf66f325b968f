import AppMigrations
import Foundation
import GRDB
import MigrationTesting
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@testable import MigrationTools

@Suite("app-migrations new --from --deferred", .timed)
struct DeferredRebuildTests {
    private static let photos = """
        CREATE TABLE photo(id INTEGER PRIMARY KEY, title TEXT, data BLOB);
        CREATE INDEX photo_by_title ON photo(title);

        """
    private static let newPhotos = """
        CREATE TABLE photo(id INTEGER PRIMARY KEY, title TEXT NOT NULL DEFAULT '' CHECK (title <> '-'), data BLOB);
        CREATE INDEX photo_by_title ON photo(title);

        """

    private func run(_ old: String, _ wanted: String, _ options: String = "") async throws
        -> BuiltProcess.Result
    {
        let tool = try Tool(["1_create.sql": old])
        try tool.write(wanted, to: "schema.sql")
        let result = try await tool("new --from schema.sql --deferred \(options)")
        #expect(try tool.folder.fileNames.sorted() == ["Migrations", "schema.sql"])
        return result
    }

    @Test("prints the call that rebuilds a table, and what people have to know about it")
    func call() async throws {
        let run = try await run(
            Self.photos, Self.newPhotos + "CREATE TABLE album(id INTEGER PRIMARY KEY, name TEXT);")
        #expect(
            run.output == """
                manager.whenMigratingToVersion("…", rebuilding: "photo", deferredIn: dbQueue, as: \"""
                    CREATE TABLE photo(id INTEGER PRIMARY KEY, title TEXT NOT NULL DEFAULT '' CHECK (title <> '-'), data BLOB);
                    CREATE INDEX photo_by_title_2 ON photo(title);
                    \""", copying: ["title": "coalesce(title, '')"])

                """)
        #expect(
            run.errors.replacing(#/\d+ generated rows/#, with: "ROWS") == """

                ✓ Tried on ROWS in 1 table: it makes table `photo` as in schema.sql, and every row stays.
                  Pass the app version of the step, and your database, in place of "…" and `dbQueue`.

                SQLite cannot rename an index. Use its new name in schema.sql, too:
                  ! index `photo_by_title` becomes `photo_by_title_2`

                These changes need no rebuild:
                  + table `album`
                  Make a migration of them first, with new --from and a file that creates `photo` as before. What uses the \
                new columns belongs in a step that is `finishing:` the rebuild.

                Rows may not fit. They are set aside, and the old table stays as long as there is one:
                  ! column `photo.title` gets CHECK

                """)
        #expect(run.status == 0)
    }

    @Test("prints calls that compile, and that lead to the wanted schema with every row")
    func pasted() async throws {
        let tool = try Tool([
            "1_create.sql": #"""
            CREATE TABLE person(name TEXT PRIMARY KEY, mail TEXT) WITHOUT ROWID;
            CREATE TABLE "my ""photo"(id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT, person TEXT, old);
            CREATE INDEX photo_by_title_9 ON "my ""photo"(title);
            CREATE UNIQUE INDEX "photo
            by id" ON "my ""photo"(title, id);
            CREATE TRIGGER named AFTER INSERT ON person BEGIN UPDATE "my ""photo" SET title = new.name WHERE 0; END;
            """#
        ])
        let wanted = ##"""
            CREATE TABLE person(name TEXT NOT NULL PRIMARY KEY, mail TEXT UNIQUE, age INT CHECK (age > 0)) WITHOUT ROWID;
            CREATE TABLE "my ""photo"(
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                title TEXT NOT NULL DEFAULT 'a\b "c" """# -- no
                comment',  -- a comment
                person TEXT REFERENCES person(name)
            );
            CREATE INDEX photo_by_title_9 ON "my ""photo"(title);
            CREATE UNIQUE INDEX "photo
            by id" ON "my ""photo"(title, id);
            CREATE INDEX photo_new ON "my ""photo"(person);
            CREATE TRIGGER named AFTER INSERT ON person BEGIN UPDATE "my ""photo" SET title = new.name WHERE 0; END;
            """##
        try tool.write(wanted, to: "schema.sql")
        let run = try await tool.run([
            "new", "--from", "schema.sql", "--deferred", "--drop", #"my "photo.old"#,
        ])
        #expect(run.status == 0, "\(run.errors)")
        let calls = try await arguments(of: run.output, tool)
        #expect(calls.map(\.table) == ["person", #"my "photo"#])
        try check(calls, in: tool, leadTo: wanted)
    }

    /// Runs rebuilds to their end in a database with rows, and compares the result with the wanted schema.
    private func check(_ calls: [Call], in tool: Tool, leadTo wanted: String) throws {
        let queue = try DatabaseQueue(path: tool.folder.file("app.sqlite").path)
        try SchemaMigrator(directory: tool.folder.file("Migrations")).migrate(queue)
        try queue.write { db in
            try db.execute(
                sql: #"""
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
                    INSERT INTO person SELECT 'p' || i, 'm' || i FROM n;
                    INSERT INTO "my ""photo" SELECT substr(name, 2) * 3, nullif('t ' || name, 't p7'), name, 0 FROM person;
                    """#)
        }
        let store = InMemoryStore()
        for _ in 0..<6 {
            let manager = try MigrationManager(
                currentVersion: "3.0", adopting: Adoption { "1.0" }, store: store)
            for (index, call) in calls.enumerated() {
                manager.whenMigratingToVersion(
                    try AppVersion(parsing: "2.\(index)"), rebuilding: call.table, deferredIn: queue,
                    as: call.schema, copying: call.copying, dropping: call.dropping)
            }
            try manager.migrate()
            let report = try manager.runDeferred()
            #expect(report.failures.isEmpty, "\(report.failures)")
        }
        let names = ["photo_by_title_9": "photo_by_title_10", "photo\nby id": "photo\nby id_2"]
        let found = try queue.read(SchemaDescription.init)
        let expected = try DatabaseQueue().write { db in
            try db.execute(sql: wanted)
            return try SchemaDescription(db)
        }
        #expect(
            Set(found.objects.map { $0.name.text })
                == Set(expected.objects.map { names[$0.name.text] ?? $0.name.text }))
        let differences = found.differences(from: expected).filter { !$0.hasPrefix("index") }
        #expect(differences == [])
        let values = try queue.read { db in
            try String.fetchAll(
                db,
                sql: #"""
                    SELECT count(*) FROM person WHERE mail IS 'm' || substr(name, 2)
                    UNION ALL SELECT count(*) FROM "my ""photo" WHERE id = substr(person, 2) * 3
                    UNION ALL SELECT title FROM "my ""photo" WHERE id = 21
                    """#)
        }
        #expect(values == ["100", "100", "a\\b \"c\" \"\"\"# -- no\n    comment"])
    }

    private struct Call {
        let table: String
        let schema: String
        let dropping: [String]
        let copying: [String: String]
    }

    /// Compiles calls, and returns the arguments that they pass.
    private func arguments(of calls: String, _ tool: Tool) async throws -> [Call] {
        try tool.write(
            """
            struct Manager {
                func whenMigratingToVersion(
                    _ version: String, rebuilding table: String, deferredIn database: Int, as schema: String,
                    copying: [String: String] = [:], dropping: [String] = []
                ) {
                    let texts = [table, schema, dropping.joined(separator: "\\u{1d}")] + copying.flatMap { [$0.key, $0.value] }
                    print(texts.joined(separator: "\\u{1f}"), terminator: "\\u{1e}")
                }
            }
            let manager = Manager()
            let dbQueue = 0
            \(calls)
            """, to: "main.swift")
        let program = tool.folder.file("calls")
        let compiler = try await BuiltProcess.compiler([
            "-warnings-as-errors", tool.folder.file("main.swift").path, "-o", program.path,
        ]).result()
        #expect(compiler.errors == "")
        let output = try await BuiltProcess(running: program, []).result().output
        return output.split(separator: "\u{1e}").map { call in
            let texts = call.split(separator: "\u{1f}", omittingEmptySubsequences: false).map(String.init)
            let pairs = stride(from: 3, to: texts.count, by: 2).map { (texts[$0], texts[$0 + 1]) }
            return Call(
                table: texts[0], schema: texts[1],
                dropping: texts[2].split(separator: "\u{1d}").map(String.init),
                copying: Dictionary(pairs, uniquingKeysWith: { $1 }))
        }
    }

    @Test(
        "refuses what a deferred rebuild refuses, with the reason",
        arguments: [
            (
                "CREATE TABLE a(x TEXT)", "CREATE TABLE a(x TEXT NOT NULL DEFAULT '')",
                "Table `a` cannot be rebuilt in a deferred step: table a has no primary key, by which its rows could be copied."
            ),
            (
                "CREATE TABLE a(x TEXT PRIMARY KEY, y)",
                "CREATE TABLE a(x TEXT COLLATE NOCASE PRIMARY KEY, y)",
                """
                Table `a` cannot be rebuilt in a deferred step: column x of the primary key of table a does not stay as it is.
                """
            ),
            (
                "CREATE TABLE a(x INTEGER PRIMARY KEY, y, z); CREATE VIEW v AS SELECT y FROM a",
                "CREATE TABLE a(x INTEGER PRIMARY KEY, z CHECK (z > 0)); CREATE VIEW v AS SELECT x FROM a",
                "Table `a` cannot be rebuilt in a deferred step: the new table a leaves view v broken: no such column: y."
            ),
        ])
    func refused(old: String, wanted: String, reason: String) async throws {
        let run = try await run(old, wanted, wanted.contains("VIEW") ? "--drop a.y" : "")
        #expect(run.output == "")
        #expect(run.errors.hasPrefix("error: \(reason)\n"), "\(run.errors)")
        #expect(run.status == 1)
    }

    @Test("says so if no table has to be rebuilt, and asks what new --from asks")
    func nothing() async throws {
        let added = try await run(
            Self.photos, Self.photos.replacing("data BLOB", with: "data BLOB, stars INTEGER"))
        #expect(
            added.errors == """
                error: No table has to be rebuilt for the schema of schema.sql: + column `photo.stars`.
                Leave out --deferred, and write a migration: `app-migrations new NAME --from schema.sql`.

                """)
        #expect(added.status == 1)
        let question = try await run(Self.photos, Self.photos.replacing("TEXT", with: "TEXT NOT NULL"))
        #expect(
            question.errors.contains("It becomes NOT NULL, and has no default for rows in which it is NULL."))
        #expect(question.status == 1)
    }

    @Test("leaves renames to a migration, and goes on from there")
    func renamed() async throws {
        let run = try await run(
            Self.photos, Self.newPhotos.replacing("title", with: "name"), "--rename photo.title=name")
        #expect(run.output.contains(#"copying: ["name": "coalesce(name, '')"])"#))
        #expect(
            run.errors.contains(
                "These changes need no rebuild:\n  ~ column `photo.title` is `name` now\n"))
    }

    @Test("takes no name, and no down migration", arguments: ["a_name", "--down"])
    func usage(argument: String) async throws {
        let run = try await run(Self.photos, Self.newPhotos, argument)
        #expect(run.errors.hasPrefix("Error: --deferred needs --from, and takes no name and no --down."))
        #expect(run.status == 64)
    }
}
