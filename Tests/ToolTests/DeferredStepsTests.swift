import AppMigrations
import DatabaseBatches
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("app-migrations status and history, with deferred steps", .timed)
struct DeferredStepsTests {
    /// Launches an app of which 2.1 fails at a book, 2.2 is cut short, and 2.3 has not begun.
    private func launch(_ tool: Tool, _ version: String, copyingTo copy: URL? = nil) throws {
        let queue = try DatabaseQueue(path: tool.folder.file("app.sqlite").path)
        defer { try? queue.close() }
        let manager = try MigrationManager(
            name: "Library", currentVersion: version, adopting: .newApp, store: .database(queue),
            options: MigrationOptions(ignoresStepsAboveCurrent: true))
        let schema = try SchemaMigrator(directory: tool.folder.file("Migrations"))
        manager.whenMigratingToVersion("1.0", migrate: schema, in: queue)
        manager.whenMigratingToVersion("2.0", in: queue) { db in
            try db.execute(
                sql: """
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
                    INSERT INTO book(id, title) SELECT i, 'Book ' || i FROM n
                    """)
        }
        manager.afterMigratingToVersion("2.1", in: queue, overRowsOf: "book") { db, rows in
            if try rows.ids(of: "book", db).contains(80) { throw Mishap() }
        }
        manager.afterMigratingToVersion("2.2", in: queue, overRowsOf: "book") { db, rows in
            // Time decides how large batches are, except the first one.
            guard try rows.ids(of: "book", db)[0] > 1 else { return }
            // The batch is not committed: this is what a kill in it leaves.
            if let copy {
                try FileManager.default.copyItem(at: tool.folder.file("app.sqlite"), to: copy)
            }
            throw MigrationPostponed(reason: "not now")
        }
        manager.afterMigratingToVersion("2.3", in: queue, startingAt: 0) { _, _ in
            throw MigrationPostponed(reason: "its time has not come")
        }
        try manager.migrate()
        try manager.runDeferred()
    }

    private func tool() throws -> Tool {
        let tool = try Tool(Tool.books)
        try launch(tool, "1.0")
        try launch(tool, "2.3", copyingTo: tool.folder.file("killed.sqlite"))
        return tool
    }

    @Test("status shows how far they are")
    func status() async throws {
        let tool = try tool()
        let run = try await tool("status --database app.sqlite --exit-code")
        #expect(
            run.output.withoutTimes == """
                app.sqlite is at version 20240601120000000, and nothing is pending
                  ✓  20240110090000000  create_books  applied DATE TIME
                  ✓  20240601120000000  add_shelves   applied DATE TIME
                Deferred steps of Library
                  !  2.1  99 of 100 rows  99%  failed in 1 run; 1 row set aside
                  ·  2.2  1 of 100 rows    1%  waiting
                  ·  2.3  not begun            waiting

                """)
        #expect(run.status == 0)
        try launch(tool, "2.3")
        #expect(
            try await tool("status --database app.sqlite").output.hasSuffix(
                "  !  2.1  99 of 100 rows  99%  failed in 2 runs; 1 row set aside\n"
                    + "  ·  2.2  1 of 100 rows    1%  waiting\n  ·  2.3  not begun            waiting\n"))
    }

    @Test("status says that a run goes on, or was killed")
    func killed() async throws {
        let tool = try tool()
        let run = try await tool("status --database killed.sqlite")
        #expect(
            run.output.withoutTimes.hasSuffix(
                """
                Deferred steps of Library
                  !  2.1  99 of 100 rows  99%  failed in 1 run; 1 row set aside
                  ·  2.2  1 of 100 rows    1%  running since DATE in 2.3, or killed then
                  ·  2.3  not begun            waiting

                """), "\(run)")
    }

    @Test("history shows them after the steps that are settled")
    func history() async throws {
        let tool = try tool()
        let run = try await tool("history --database app.sqlite")
        // The width of a column depends on the durations.
        #expect(
            run.output.withoutTimes.replacing(#/ +by/#, with: " by") == """
                Schema migrations
                  20240110090000000  create_books  DATE  applied TIME by 1.0
                  20240601120000000  add_shelves   DATE  applied TIME by 1.0
                Library
                  2.0  DATE  ran TIME by 2.3
                  !  2.1  99 of 100 rows  99%  failed in 1 run; 1 row set aside
                  ·  2.2  1 of 100 rows    1%  waiting
                  ·  2.3  not begun            waiting

                """)
    }

    @Test("history shows those of a store in a file")
    func store() async throws {
        let tool = try Tool()
        for version in ["1.0", "2.1"] {
            let manager = try MigrationManager(
                name: "Library", currentVersion: version,
                adopting: .newApp, store: .jsonFile(at: tool.folder.file("store.json")),
                options: MigrationOptions(ignoresStepsAboveCurrent: true))
            manager.afterMigratingToVersion("2.1") { _ in }
            try await manager.migrate()
        }
        #expect(
            try await tool("history --store store.json").output == "Library\n  ·  2.1  not begun    waiting\n"
        )
    }

    @Test("print JSON")
    func json() async throws {
        let tool = try tool()
        let status = try await tool("status --database killed.sqlite --json")
        #expect(
            status.output.withoutTimes.contains(
                """
                  "deferred" : [
                    {
                      "done" : 99,
                      "failures" : 1,
                      "manager" : "Library",
                      "rowsSetAside" : 1,
                      "state" : "failed",
                      "total" : 100,
                      "version" : "2.1"
                    },
                    {
                      "attempt" : 1,
                      "build" : "2.3",
                      "done" : 1,
                      "failures" : 0,
                      "manager" : "Library",
                      "rowsSetAside" : 0,
                      "since" : "DATE",
                      "state" : "running",
                      "total" : 100,
                      "version" : "2.2"
                    },
                    {
                      "done" : 0,
                      "failures" : 0,
                      "manager" : "Library",
                      "rowsSetAside" : 0,
                      "state" : "waiting",
                      "version" : "2.3"
                    }
                  ],
                """), "\(status.output)")
        let history = try await tool("history --database app.sqlite --json")
        #expect(history.output.contains("\"state\" : \"waiting\""))
    }
}
