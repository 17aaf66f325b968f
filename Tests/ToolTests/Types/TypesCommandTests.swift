import Foundation
import TestSupport
import Testing

@Suite("app-migrations types", .timed)
struct TypesCommandTests {
    private static let path = "Sources/App/OldSchemas.swift"

    private func text(_ tool: Tool) throws -> String {
        try String(contentsOf: tool.folder.file(Self.path), encoding: .utf8)
    }

    @Test("writes the latest version, and notes the file for the next run and for check")
    func first() async throws {
        let tool = try Tool(Tool.indexedBooks)
        let run = try await tool("types --output \(Self.path)")
        #expect(run.errors == "")
        #expect(
            run.output == """
                Sources/App/OldSchemas.swift: 1 version, 2 types
                Migrations/code.rules: names it, so that `app-migrations check` compares it. Commit both files.

                """)
        #expect(try text(tool).contains("    enum v20240601 {\n"))
        #expect(
            try await tool("types").output == "Sources/App/OldSchemas.swift: 1 version, 2 types, unchanged\n")
        #expect(
            try await tool("check").output
                == "✓ 2 migrations checked, not compared with a branch: nothing found\n")
    }

    @Test(
        "names another file in code.rules, and keeps its other lines and its line ends",
        arguments: ["\n", "\r\n"])
    func otherFile(lineEnd: String) async throws {
        let tool = try Tool(Tool.indexedBooks)
        let rules = "# Ours.\nbook.title: String\ntypes: ../Old.swift\n\nsynced: tag\n".replacing(
            "\n", with: lineEnd)
        try tool.write(rules, to: "Migrations/code.rules")
        let run = try await tool("types --output \(Self.path)")
        #expect(run.status == 0, "\(run)")
        let changed = try String(contentsOf: tool.folder.file("Migrations/code.rules"), encoding: .utf8)
        #expect(changed == rules.replacing("../Old.swift", with: "../\(Self.path)"))

        // A file with other line ends is the same file.
        let text = try text(tool).replacing("\n", with: lineEnd)
        try tool.write(text, to: Self.path)
        #expect(try await tool("types").status == 0)
    }

    @Test("keeps the versions that the file has, and takes in those of releases")
    func kept() async throws {
        let tool = try Tool(Tool.indexedBooks)
        _ = try await tool("types --output \(Self.path) --versions 20240110090000000")
        try tool.write(
            "CREATE TABLE tag(name TEXT PRIMARY KEY);", to: "Migrations/20240701000000000_release_2.sql")
        try tool.write(
            "CREATE TABLE mood(name TEXT PRIMARY KEY);", to: "Migrations/20240702000000000_moods.sql")
        #expect(try await tool("types").output == "Sources/App/OldSchemas.swift: 3 versions, 8 types\n")
        let text = try text(tool)
        #expect(text.contains("    enum v20240110 {") && text.contains("    enum v20240701 {"))
        #expect(text.contains("    enum v20240702 {\n        typealias Book = v20240701.Book\n"))
        #expect(!text.contains("    enum v20240601 {"))
    }

    @Test("is asked for by check when the migrations make other types, and when the file is missing")
    func stale() async throws {
        let tool = try Tool(Tool.indexedBooks)
        _ = try await tool("types --output \(Self.path)")
        try tool.write(
            "CREATE TABLE book(id INTEGER PRIMARY KEY, title TEXT NOT NULL, isbn TEXT);\n",
            to: "Migrations/20240110090000000_create_books.sql")
        let run = try await tool("check")
        #expect(
            run.output.hasPrefix(
                """
                Migrations/code.rules:2: error: OldSchemas.swift is not what the migrations make. Write it again with \
                `app-migrations types`, and commit it. [generated-code]
                """))
        #expect(run.status == 1)
        try FileManager.default.removeItem(at: tool.folder.file(Self.path))
        #expect(
            try await tool("check").output.hasPrefix(
                """
                Migrations/code.rules:2: error: OldSchemas.swift is missing. Write it with `app-migrations types`, and \
                commit it. [generated-code]
                """))
        _ = try await tool("types")
        #expect(try await tool("check").status == 0)
    }

    @Test("reads the types of columns from code.rules, and refuses what it does not understand")
    func rules() async throws {
        let tool = try Tool(Tool.indexedBooks)
        try tool.write(
            "types: ../\(Self.path)\n# Kinds of books.\nbook.title: Kind # raw\nshelf.name: json([String])\n",
            to: "Migrations/code.rules")
        #expect(try await tool("types").status == 0)
        let text = try text(tool)
        #expect(text.contains("var title: Kind\n") && text.contains("var name: [String]\n"))
        for (rule, message) in [
            ("book.title: json()", "Migrations/code.rules:1"),
            ("title: String", "`title` names no column"),
            ("book.titel: String", "no table has column `book.titel` at the versions that have types"),
            ("book.title: Date(secondsSince)); fatalError(", "is not a type"),
        ] {
            try tool.write("\(rule)\ntypes: ../\(Self.path)\n", to: "Migrations/code.rules")
            let run = try await tool("types")
            #expect(run.status == 1)
            #expect(run.errors.contains(message.replacing("Migrations/", with: "")), "\(run.errors)")
        }
    }

    @Test("refuses unknown versions, other files, and a first run without a path")
    func refusals() async throws {
        let tool = try Tool(Tool.indexedBooks)
        #expect(
            try await tool("types").errors == """
                error: No file to write: code.rules names none.
                Pass --output once, such as --output Sources/App/OldSchemas.swift.

                """)
        let unknown = try await tool("types --output \(Self.path) --versions 7")
        #expect(unknown.errors.contains("No migration has version 7."))
        try tool.write("struct App {}\n", to: Self.path)
        let other = try await tool("types --output \(Self.path)")
        #expect(other.errors.contains("OldSchemas.swift: exists already, and holds no types of old schemas."))
        #expect(try text(tool) == "struct App {}\n")
    }

    @Test("finds rows that the types cannot read, in a rehearsal")
    func rehearsal() async throws {
        let tool = try Tool(Tool.indexedBooks)
        _ = try await tool("types --output \(Self.path) --versions all")
        try tool.execute(
            """
            CREATE TABLE schema_migrations(version INTEGER UNIQUE NOT NULL);
            INSERT INTO schema_migrations VALUES (20240110090000000);
            CREATE TABLE book(id INTEGER PRIMARY KEY, title TEXT NOT NULL);
            INSERT INTO book VALUES (16, 'a'), (17, x'00');
            """)
        let run = try await tool("rehearse --database app.sqlite")
        #expect(
            run.output.contains(
                """
                Rows that types of old schemas cannot read
                  book.title at 20240110090000000: 1 row does not hold a String
                  book.title at 20240601120000000: 1 row does not hold a String
                """), "\(run.output)\(run.errors)")
        let shown = try await tool("rehearse --database app.sqlite --show-values")
        #expect(shown.output.contains("1 row does not hold a String, the first where id = 17"))
    }
}

@Suite("app-migrations embed", .timed)
struct EmbedCommandTests {
    @Test("writes the migrations as code that holds no path, and check compares it")
    func whole() async throws {
        let tool = try Tool(["1_a.sql": "CREATE TABLE book(x);", "2_AddTags.swift": ""])
        let run = try await tool("embed --output Sources/App/Migrations.swift")
        #expect(
            run.output == """
                Sources/App/Migrations.swift: 2 migrations
                Migrations/code.rules: names it, so that `app-migrations check` compares it. Commit both files.

                """)
        let file = tool.folder.file("Sources/App/Migrations.swift")
        #expect(
            try String(contentsOf: file, encoding: .utf8) == """
                // Written by `app-migrations embed`. Do not edit it: write it again.
                // swift-format-ignore-file
                // swiftlint:disable all

                import SchemaMigrations

                /// The migrations of the folder Migrations.
                enum Migrations {
                    /// Every migration, oldest first.
                    nonisolated static let all: [any SchemaMigration] = [
                        SQLMigration(version: 1, name: #"a"#, sql: #"CREATE TABLE book(x);"#),
                        migration2,
                    ]
                }

                extension `AddTags` { public nonisolated var version: Int64 { 2 } }
                private nonisolated let migration2: any SchemaMigration = `AddTags`()

                """)
        #expect(try await tool("check").status == 0)
        try tool.write("CREATE TABLE book(y);", to: "Migrations/1_a.sql")
        #expect(try await tool("check").output.contains("Migrations.swift is not what the migrations make."))
        #expect(try await tool("embed").output == "Sources/App/Migrations.swift: 2 migrations\n")
        #expect(try await tool("check").status == 0)
    }

    @Test("takes its file, and that of the types, with the line ends of another checkout")
    func lineEnds() async throws {
        let tool = try Tool(["1_a.sql": "CREATE TABLE a(x);", "2_b.sql": "CREATE TABLE b(x);"])
        _ = try await tool("embed --output Migrations.swift")
        _ = try await tool("types --output OldSchemas.swift")
        for name in ["Migrations.swift", "OldSchemas.swift"] {
            let text = try String(contentsOf: tool.folder.file(name), encoding: .utf8)
            try tool.write(text.replacing("\n", with: "\r\n"), to: name)
        }
        let check = try await tool("check")
        #expect(check.status == 0, "\(check)")
        #expect(try await tool("embed").output == "Migrations.swift: 2 migrations, unchanged\n")
        #expect(try await tool("types").output.hasSuffix(", unchanged\n"))
        try tool.write("CREATE TABLE a(y);", to: "Migrations/1_a.sql")
        #expect(try await tool("embed").output == "Migrations.swift: 2 migrations\n")
    }

    @Test("compares the code byte by byte, and refuses the files that the library refuses")
    func bytes() async throws {
        let tool = try Tool(["1_a.sql": "CREATE TABLE a(x DEFAULT 'caf\u{E9}');"])
        _ = try await tool("embed --output Migrations.swift")
        try tool.write("CREATE TABLE a(x DEFAULT 'cafe\u{301}');", to: "Migrations/1_a.sql")
        let check = try await tool("check")
        #expect(check.output.contains("Migrations.swift is not what the migrations make."), "\(check)")
        _ = try await tool("embed")
        let text = try Data(contentsOf: tool.folder.file("Migrations.swift"))
        #expect(text.range(of: Data("cafe\u{301}".utf8)) != nil)
        try tool.write("", to: "Migrations/7\u{FE0F}\u{20E3}_b.sql")
        #expect(try await tool("embed").status == 1)
    }
}
