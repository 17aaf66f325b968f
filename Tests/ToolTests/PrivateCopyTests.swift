import Foundation
import GRDB
import TestSupport
import Testing

@Suite("Copies that app-migrations makes of a database", .timed)
struct PrivateCopyTests {
    /// The signals that end a process, without those that this process ignores, since its children do so too.
    private static var signals: [Int32] {
        [SIGINT, SIGTERM, SIGHUP].filter { number in
            let previous = signal(number, SIG_DFL)
            signal(number, previous)
            return unsafeBitCast(previous, to: Int.self) != unsafeBitCast(SIG_IGN, to: Int.self)
        }
    }

    private func permissions(_ url: URL) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
        return try #require(attributes[.posixPermissions] as? NSNumber).intValue
    }

    private func tool(_ migrations: [String: String]) async throws -> Tool {
        let tool = try Tool(migrations)
        _ = try await tool("migrate --database app.sqlite --up-to 1")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: tool.folder.file("app.sqlite").path)
        return tool
    }

    @Test(
        "are as private as the database, and are removed when a signal ends the process", arguments: signals)
    func rehearsal(signal: Int32) async throws {
        let tool = try await tool([
            "1_a.sql": "CREATE TABLE a(x);",
            "2_b.sql": """
            INSERT INTO a VALUES (1);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000000)
            INSERT INTO a SELECT count(*) FROM n;
            """,
        ])
        let temporary = tool.folder.file("temporary")
        try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: false)
        var result = try await interruptRehearsal(of: tool, in: temporary, with: signal)
        // After some seconds the process does not wait for its disk any more, and says nothing: then once more.
        for _ in 1...9 where result.status == 128 + signal {
            result = try await interruptRehearsal(of: tool, in: temporary, with: signal)
        }
        #expect(result.errors.contains("error: Cancelled."))
        #expect(result.status == 1)
    }

    /// Runs a rehearsal, and sends a signal when it has a copy.
    private func interruptRehearsal(
        of tool: Tool, in temporary: URL, with signal: Int32
    ) async throws -> BuiltProcess.Result {
        let process = try BuiltProcess(
            running: Products.executable("app-migrations"), ["rehearse", "--database", "app.sqlite"],
            in: tool.folder.url,
            environment: BuiltProcess.ownVariables.merging(["TMPDIR": temporary.path]) { $1 })
        func copies() -> [URL] {
            let files = FileManager.default.enumerator(at: temporary, includingPropertiesForKeys: nil)
            return files?.compactMap { $0 as? URL }.filter { $0.lastPathComponent.hasPrefix("copy.sqlite") }
                ?? []
        }
        // The journal shows that the first statement has run.
        // Without suspending: other tests may block the threads of tasks for longer than the statement takes.
        while copies().count < 2, kill(process.id, 0) == 0 { usleep(5_000) }
        let copy = try #require(copies().first { $0.pathExtension == "sqlite" })
        #expect(try permissions(copy) == 0o600)
        #expect(try permissions(copy.deletingLastPathComponent()) == 0o700)
        // The journal of the backup is gone by now, that of the migration is there.
        for journal in copies() where journal != copy {
            #expect([nil, 0o600].contains(try? permissions(journal)))
        }
        kill(process.id, signal)
        let result = try await process.result()
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary.path) == [])
        return result
    }

    /// Runs a command that makes a file, and sends a signal when there is a part of it, which has a hidden name.
    private func interrupt(
        _ command: String, of tool: Tool, with signal: Int32
    ) async throws -> BuiltProcess.Result {
        let process = try BuiltProcess(
            running: Products.executable("app-migrations"), command.split(separator: " ").map(String.init),
            in: tool.folder.url)
        func hasPart() throws -> Bool { try tool.folder.fileNames.contains { $0.hasPrefix(".") } }
        // Without suspending: other tests may block the threads of tasks for longer than the part is there.
        while try !hasPart(), kill(process.id, 0) == 0 { usleep(1_000) }
        kill(process.id, signal)
        let result = try await process.result()
        #expect(try !hasPart())
        return result
    }

    @Test("parts of a snapshot are removed when a signal ends the process", arguments: signals)
    func snapshot(signal: Int32) async throws {
        // Takes long enough to be found while the snapshot is verified.
        let tool = try Tool([
            "1_a.sql": """
            CREATE TABLE a(x);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000)
            INSERT INTO a SELECT count(*) FROM n;
            """
        ])
        let command = "snapshot write --output schema.sql"
        var result = try await interrupt(command, of: tool, with: signal)
        // The signal may come too late to stop the last step: then once more.
        for _ in 1...9 where result.status == 0 {
            try FileManager.default.removeItem(at: tool.folder.file("schema.sql"))
            result = try await interrupt(command, of: tool, with: signal)
        }
        #expect(result.errors.contains("error: Cancelled."))
        #expect(result.status == 1)
        #expect(try tool.folder.fileNames == ["Migrations"])
    }

    @Test("parts of a fixture are removed when a signal ends the process", arguments: signals)
    func fixture(signal: Int32) async throws {
        let tool = try await tool([
            "1_a.sql": """
            CREATE TABLE a(x);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
            INSERT INTO a SELECT zeroblob(4000000) FROM n;
            """
        ])
        let result = try await interrupt(
            "fixture --database app.sqlite --output 1.0.sqlite --keep a.x", of: tool, with: signal)
        // The signal may come too late to stop the last step.
        #expect(result.signal == nil)
        let isMade = result.status == 0
        #expect(isMade || result.errors.contains("error: Cancelled."))
        #expect(try tool.folder.fileNames == (isMade ? ["1.0.sqlite"] : []) + ["Migrations", "app.sqlite"])
    }

    @Test("fixtures are as private as the database", arguments: [0o600, 0o644])
    func fixture(mode: Int) async throws {
        let tool = try await tool(["1_a.sql": "CREATE TABLE a(x);"])
        try FileManager.default.setAttributes(
            [.posixPermissions: mode], ofItemAtPath: tool.folder.file("app.sqlite").path)
        let run = try await tool("fixture --database app.sqlite --output 1.0.sqlite")
        #expect(run.errors == "")
        #expect(try permissions(tool.folder.file("1.0.sqlite")) == mode)
        #expect(try tool.folder.fileNames == ["1.0.sqlite", "Migrations", "app.sqlite"])
    }

    @Test("that a killed rehearsal has left are removed by the next one")
    func leftovers() async throws {
        let tool = try await tool(["1_a.sql": "CREATE TABLE a(x);", "2_b.sql": "CREATE TABLE b(x);"])
        let temporary = tool.folder.file("temporary")
        let left = temporary.appendingPathComponent("app-migrations-\(UUID().uuidString)/rehearsal-1")
        try FileManager.default.createDirectory(at: left, withIntermediateDirectories: true)
        try Data("copy".utf8).write(to: left.appendingPathComponent("copy.sqlite"))
        let others = temporary.appendingPathComponent("app-migrations-notes")
        try FileManager.default.createDirectory(at: others, withIntermediateDirectories: true)
        let run = try await BuiltProcess(
            running: Products.executable("app-migrations"), ["rehearse", "--database", "app.sqlite"],
            in: tool.folder.url,
            environment: BuiltProcess.ownVariables.merging(["TMPDIR": temporary.path]) { $1 }
        ).result()
        #expect(run.status == 0)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: temporary.path) == ["app-migrations-notes"])
    }
}
