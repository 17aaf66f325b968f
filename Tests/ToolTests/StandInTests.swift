import Foundation
import GRDB
import TestSupport
import Testing

@Suite("app-migrations with stand-ins", .timed)
struct StandInTests {
    private static let first = """
        CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT NOT NULL COLLATE backwards);
        CREATE INDEX note_title ON note(title);
        CREATE INDEX note_slug ON note(slug(title));
        """

    private func tool(_ rules: String = "collation: backwards\nfunction: slug(1) pure\n") throws -> Tool {
        try Tool([
            "1_a.sql": Self.first, "code.rules": rules,
            "2_b.sql": "ALTER TABLE note ADD COLUMN slug TEXT; UPDATE note SET slug = slug(title);",
        ])
    }

    /// The app's configuration: a collation of another order than its stand-in's, and the function.
    private static var app: Configuration {
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            db.add(
                collation: DatabaseCollation("backwards") { one, other in
                    one == other ? .orderedSame : one < other ? .orderedDescending : .orderedAscending
                })
            db.add(
                function: DatabaseFunction("slug", argumentCount: 1, pure: true) {
                    String.fromDatabaseValue($0[0])?.lowercased()
                })
        }
        return configuration
    }

    private func execute(_ sql: String, _ tool: Tool, _ file: String = "app.sqlite") throws {
        let queue = try DatabaseQueue(path: tool.folder.file(file).path, configuration: Self.app)
        try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
        try queue.close()
    }

    private func strings(_ sql: String, _ tool: Tool, _ file: String) throws -> [String] {
        let queue = try DatabaseQueue(path: tool.folder.file(file).path, configuration: Self.app)
        let strings = try queue.read { try String.fetchAll($0, sql: sql) }
        try queue.close()
        return strings
    }

    /// Creates the database of the app, without a ledger, and with rows.
    private func createDatabase(_ tool: Tool) throws {
        try execute(Self.first, tool)
        try execute("INSERT INTO note(title) VALUES ('Anna'), ('berta'), ('Cäsar'), ('dora')", tool)
    }

    @Test("checks, generates, squashes and writes snapshots and types")
    func inMemory() async throws {
        let tool = try tool()
        #expect(
            try await tool("check").output
                == "✓ 2 migrations checked, not compared with a branch: nothing found\n")
        try tool.write(
            Self.first.replacing(
                "backwards)", with: "backwards, slug TEXT, mood TEXT COLLATE backwards CHECK (slug(mood)))"),
            to: "schema.sql")
        let diff = try await tool("diff --from schema.sql")
        #expect(
            diff.output == "ALTER TABLE note ADD COLUMN mood TEXT COLLATE backwards CHECK (slug(mood));\n",
            "\(diff)")
        #expect(try await tool("new mood --from schema.sql").status == 0)
        #expect(try await tool("check").output.hasPrefix("✓ 3 migrations checked"))
        for command in [
            "squash --before 2", "snapshot write --output s.sql", "snapshot verify --output s.sql",
            "types --output Old.swift",
        ] {
            let run = try await tool(command)
            #expect(run.status == 0, "\(run)")
        }
        #expect(try await tool("check").status == 0)
    }

    @Test(
        "freezes no result of a stand-in for every later install",
        arguments: ["slug(1)", "slug(1) = lower", "slug(1) = 'work'", "slug(1) = 0"])
    func frozen(_ function: String) async throws {
        let tool = try Tool([
            "1_a.sql": "CREATE TABLE category(name, slug); CREATE INDEX slugs ON category(name);",
            "2_b.sql": "INSERT INTO category VALUES ('Work', substr(slug('Work'), 1, 4));",
            "code.rules": "function: \(function)\nfunction: other(1)\n",
        ])
        for command in ["squash --before 2", "snapshot write --output s.sql"] {
            let run = try await tool(command)
            #expect(
                run.errors == """
                    error: What the migrations make depends on function `slug` of the app: table `category` has 1 row after one \
                    result, 1 after another, with other values.
                    Every later install would get the values of its stand-in. Write the value itself in the file, or leave the \
                    row to the app. Nothing was changed.

                    """, "\(run)")
        }
        #expect(FileManager.default.fileExists(atPath: tool.folder.file("Migrations/1_a.sql").path))
    }

    @Test("squashes what only later calls of a function decide, and what any result of it passes")
    func laterCalls() async throws {
        let tool = try Tool([
            "1_a.sql": """
            CREATE TABLE note(title CHECK (slug(title)), slug AS (slug(title)) STORED, upper AS (slug(title)));
            CREATE INDEX slugs ON note(slug(title));
            CREATE TRIGGER t AFTER DELETE ON note BEGIN INSERT INTO note(title) VALUES (slug(old.title)); END;
            """,
            "2_b.sql": """
            INSERT INTO note(title) VALUES ('Work');
            CREATE TABLE page(body CHECK (NOT has_html(body)), plain AS (slug(body)) STORED);
            INSERT INTO page(body) VALUES ('Welcome');
            CREATE VIRTUAL TABLE search USING fts5(plain, content='page');
            INSERT INTO search(search) VALUES ('rebuild');
            """,
            "code.rules": "function: slug(1) pure\nfunction: has_html(1) pure = 0\n",
        ])
        let run = try await tool("squash --before 2")
        #expect(run.status == 0, "\(run)")
    }

    @Test("never migrates a real database, and says so")
    func migrate() async throws {
        let tool = try tool()
        try createDatabase(tool)
        _ = try await tool("adopt --database app.sqlite --from version --version 1")
        for (command, part) in [
            ("migrate --database new.sqlite", "collation `backwards`"),
            ("migrate --database app.sqlite", "function `slug`"),
            ("rehearse --database app.sqlite", "function `slug`"),
        ] {
            let run = try await tool(command)
            #expect(run.status == 1)
            #expect(
                run.errors.hasSuffix(
                    """
                    If the app adds \(part), let the app do this: what `code.rules` declares stands in for it where nothing is \
                    migrated for good, as in `app-migrations check`. Nothing was left half-done.

                    """), "\(run)")
        }
    }

    @Test("adopts a database, and compares its schema")
    func adopt() async throws {
        let tool = try tool()
        try createDatabase(tool)
        let run = try await tool("adopt --database app.sqlite --from version --version 1")
        #expect(run.status == 0, "\(run)")
        let drift = try await tool("drift --database app.sqlite")
        #expect(drift.output == "✓ app.sqlite has the schema that its migrations make\n", "\(drift)")
    }

    @Test("makes a fixture, of which a test puts the indexes in order")
    func fixture() async throws {
        let tool = try tool()
        try createDatabase(tool)
        let run = try await tool("fixture --database app.sqlite --output 1.0.sqlite --keep note.title")
        #expect(run.status == 0, "\(run)")
        #expect(
            run.output.contains(
                "  note: made with stand-ins for collation `backwards` and function `slug`: let the test execute REINDEX, with the app's, before it reads\n"
            ), "\(run)")
        try execute("REINDEX", tool, "1.0.sqlite")
        #expect(try strings("PRAGMA integrity_check", tool, "1.0.sqlite") == ["ok"])
        #expect(
            try strings("SELECT title FROM note ORDER BY title", tool, "1.0.sqlite")
                == ["dora", "berta", "Cäsar", "Anna"])
        #expect(try attributes(tool, "1.0.sqlite") == attributes(tool, "app.sqlite"))
    }

    private func attributes(_ tool: Tool, _ name: String) throws -> Int? {
        let path = tool.folder.file(name).path
        return try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test("makes no fixture of a table that is itself in the order of a collation")
    func tableInOrder() async throws {
        let tool = try tool()
        try execute("CREATE TABLE tag(name TEXT PRIMARY KEY COLLATE backwards) WITHOUT ROWID", tool)
        let run = try await tool("fixture --database app.sqlite --output 1.0.sqlite")
        #expect(
            run.errors == """
                error: Table `tag` is WITHOUT ROWID, and in the order of a collation of the app.
                Let the app, or its tests, do this: the library has it as well.

                """, "\(run)")
    }

    @Test("names the line of code.rules that it does not understand")
    func mistake() async throws {
        let tool = try tool("collation: backwards\nfunction: slug(1) impure\n")
        try tool.write(Self.first, to: "schema.sql")
        for command in ["diff --from schema.sql", "squash --before 2", "snapshot write --output s.sql"] {
            let run = try await tool(command)
            #expect(
                run.errors == """
                    error: code.rules:2: `slug(1) impure` declares no function.
                    Write function: slug, function: slug(1), function: slug(1) pure, or function: slug(1) = lower.

                    """, "\(run)")
        }
    }

    @Test("fails in CI if a file was not tried, unless it says so")
    func continuousIntegration() async throws {
        let tool = try tool("")
        #expect(try await tool("check --no-since").status == 0)
        func inCI(_ value: String) async throws -> BuiltProcess.Result {
            try await BuiltProcess(
                running: Products.executable("app-migrations"), ["check", "--no-since"], in: tool.folder.url,
                environment: BuiltProcess.ownVariables.merging(["CI": value]) { $1 }
            ).result()
        }
        let run = try await inCI("true")
        #expect(run.status == 1)
        #expect(
            run.output.contains(
                "1_a.sql:1: error: It was not tried, because SQLite has no collation `backwards`. If the app adds it, "
            ), "\(run)")
        #expect(try await inCI("false").status == 0)
        try tool.write("untried: note\n", to: "Migrations/check.rules")
        #expect(try await inCI("true").status == 0)
    }
}
