import Foundation
import GRDB
import TestSupport
import Testing

@Suite("app-migrations refuses", .timed)
struct OddArgumentTests {
    private static let databaseRemedy =
        "Pass the path of a SQLite database as --database; only `app-migrations migrate` creates one.\n"

    @Test(
        "a database that SQLite would forget",
        arguments: [
            ("", "The path of the database is empty"), (":memory:", ":memory: is not the path of a file"),
            ("file:app.sqlite?mode=memory", "file:app.sqlite?mode=memory is not the path of a file"),
            ("file::memory:", "file::memory: is not the path of a file"),
            ("Migrations", "Migrations is a folder"),
        ])
    func databases(path: String, problem: String) async throws {
        let tool = try Tool(Tool.books)
        for command in ["migrate", "status", "dump"] {
            let run = try await tool.run([command, "--database", path])
            #expect(run.errors == "error: \(problem).\n\(Self.databaseRemedy)", "\(command)")
            #expect(run.output == "")
            #expect(run.status == 1)
        }
        #expect(try tool.folder.fileNames == ["Migrations"])
    }

    @Test("a pipe, instead of waiting for somebody to write into it")
    func pipes() async throws {
        let tool = try Tool(Tool.books)
        try #require(mkfifo(tool.folder.file("pipe").path, 0o600) == 0)
        for arguments in [
            "status --database pipe", "migrate --database pipe", "check --database pipe",
            "history --store pipe",
        ] {
            let run = try await tool(arguments)
            #expect(
                run.errors.hasPrefix("error: pipe is not a regular file.\n"), "\(arguments): \(run.errors)")
            #expect(run.status == 1)
        }
        try #require(mkfifo(tool.folder.file("Migrations/30000101000000000_pipe.sql").path, 0o600) == 0)
        let check = try await tool("check")
        #expect((check.output + check.errors).contains("It cannot be read"))
        let snapshot = try await tool("snapshot write --output pipe")
        #expect(snapshot.status == 1)
    }

    private func shell(_ command: String, in tool: Tool) async throws -> BuiltProcess.Result {
        let executable = try Products.executable("app-migrations").path
        return try await BuiltProcess(
            running: URL(fileURLWithPath: "/bin/sh"),
            ["-c", command.replacing("TOOL", with: "'\(executable)'")], in: tool.folder.url
        ).result()
    }

    @Test("a path that is not UTF-8, which would become another one")
    func notUTF8() async throws {
        let tool = try Tool(Tool.books)
        let run = try await shell(#"TOOL migrate --database "$(printf 'caf\351.sqlite')""#, in: tool)
        #expect(
            run.errors == """
                error: Argument 3 is not UTF-8: caf\u{FFFD}.sqlite.
                Rename the file, or pass a path in UTF-8. Nothing was changed.

                """)
        #expect(run.status == 1)
        #expect(try tool.folder.fileNames == ["Migrations"])
    }

    #if os(Linux)
        @Test(
            "to report success if its output is lost",
            arguments: [
                "status --database app.sqlite", "status --database app.sqlite --json",
                "dump --database app.sqlite",
                "migrate --database other.sqlite", "check", "plan --database app.sqlite", "--help",
                "new more",
                "rehearse --database app.sqlite", "snapshot write --output schema.sql",
            ])
        func fullOutput(arguments: String) async throws {
            let tool = try Tool(Tool.books)
            if arguments.contains("app.sqlite") {
                _ = try await tool("migrate --database app.sqlite --up-to 20240110090000000")
            }
            let run = try await shell("TOOL \(arguments) > /dev/full", in: tool)
            let problem = "The output could not be written: No space left on device."
            #expect(
                run.errors.hasPrefix(
                    arguments.contains("--json")
                        ? "{\n  \"error\" : \"\(problem)\"" : "error: \(problem)\n"))
            #expect(run.status == 1)
        }

        @Test(
            "to crash where its errors are lost",
            arguments: [
                ("status", "2> /dev/full"), ("status --json", "2> /dev/full"), ("status", ">&- 2>&-"),
            ])
        func lostErrors(command: String, redirection: String) async throws {
            let tool = try Tool(Tool.books)
            let run = try await shell("TOOL \(command) --database missing \(redirection)", in: tool)
            #expect(run.status == 1)
        }

        @Test("to crash where what stands beside its output is lost")
        func lostNote() async throws {
            let book = "CREATE TABLE book(id INTEGER PRIMARY KEY);"
            let tool = try Tool(["1_book.sql": book])
            try tool.write("\(book) CREATE TABLE shelf(id INTEGER PRIMARY KEY);", to: "schema.sql")
            let run = try await shell("TOOL diff --from schema.sql 2> /dev/full", in: tool)
            #expect(run.output.contains("CREATE TABLE shelf"))
            #expect(run.status == 0)
        }
    #endif

    @Test(
        "a name with which a new file would be no migration",
        arguments: [
            ("a.down", "it makes the file a down migration"),
            ("", "its name is empty or ends with an _"), ("a_", "its name is empty or ends with an _"),
            ("a/b", "its name has a character that a name may not have"),
            ("a.sql", "its name has a character that a name may not have"),
        ])
    func newNames(name: String, problem: String) async throws {
        let tool = try Tool(Tool.books)
        let names = try FileManager.default.contentsOfDirectory(atPath: tool.folder.file("Migrations").path)
        let run = try await tool.run(["new", name])
        #expect(
            run.errors == """
                error: "\(name)" cannot be a migration's name: \(problem).
                Use letters, digits, _ and -, and do not end with _. For a down migration, pass --down.

                """)
        #expect(run.status == 1)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: tool.folder.file("Migrations").path) == names)
    }

    @Test("new never gives two migrations one version, however many are made at once")
    func simultaneousNew() async throws {
        let tool = try Tool()
        let paths = try await withThrowingTaskGroup(of: String.self) { group in
            for index in 0..<60 { group.addTask { try await tool("new name\(index)").output } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let versions = paths.compactMap { $0.firstMatch(of: #/\d{17}/#)?.output }
        #expect(versions.count == 60)
        #expect(Set(versions).count == 60)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: tool.folder.file("Migrations").path).count
                == 60)
    }
}
