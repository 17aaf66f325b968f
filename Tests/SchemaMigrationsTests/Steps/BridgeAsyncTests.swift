import AppMigrations
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@MainActor
@Suite("Launching asynchronously with databases", .timed)
struct BridgeAsyncTests {
    let app: App

    init() throws { app = try App() }

    @Test("steps and schema steps of every kind run in order of version, schema steps first")
    func order() async throws {
        try app.launch("1.0")
        let database = try app.open()
        let manager = try app.manager("2.0")
        let schema = try app.schema()
        let log = app.log
        manager.whenMigratingToVersion("1.0", migrate: schema, upTo: 10, in: database)
        manager.whenMigratingToVersion("1.1") {
            MainActor.assertIsolated()
            log.add("plain, of \(try app.columns().count) columns")
        }
        manager.whenMigratingToVersion("1.2", in: database) { db in
            #expect(!Thread.isMainThread)
            log.add("in the database, of \(try db.columns(in: "book").count) columns")
        }
        manager.whenMigratingToVersion("1.2", migrate: schema, upTo: 12, in: database)
        manager.whenMigratingToVersion("1.3") { _ in
            await Task.yield()
            log.add("asynchronous")
        }
        manager.whenMigratingToVersion("2.0", migrate: schema, upTo: 20, in: database)
        manager.whenMigratingToVersion("2.0") {
            MainActor.assertIsolated()
            log.add("plain, of \(try app.columns().count) columns")
        }
        let report = try await manager.migrate()
        #expect(
            log.lines == [
                "plain, of 2 columns", "in the database, of 3 columns", "asynchronous", "plain, of 4 columns",
            ])
        #expect(report.completed.versions == ["1.1", "1.2", "1.3", "2.0"])
        #expect(report.schemaSteps.map(\.schemaVersions) == [["12"], ["20"]])
    }

    @Test("a step in a database does not block the main actor")
    func freeActor() async throws {
        try app.launch("1.0")
        let database = try app.open()
        let manager = try app.manager("1.2")
        let isFree = DispatchSemaphore(value: 0)
        manager.whenMigratingToVersion("1.2", in: database) { [log = app.log] _ in
            // Ends at once if the main actor can run; the limit keeps a blocked one from hanging the tests.
            log.add(isFree.wait(timeout: .now() + 600) == .success ? "free" : "blocked")
        }
        let launch = Task { try await manager.migrate() }
        Task { isFree.signal() }
        #expect(try await launch.value.completed.versions == ["1.2"])
        #expect(app.log.lines == ["free"])
    }

    @Test("a step in a database that is cancelled is rolled back")
    func cancellation() async throws {
        try app.launch("1.0")
        let database = try app.open()
        func launch(cancelling: Bool) async throws -> MigrationReport {
            let manager = try app.manager("1.2")
            let progress = manager.progress
            manager.whenMigratingToVersion("1.2", in: database) { db, context in
                try db.execute(sql: "INSERT INTO book(title) VALUES ('by 1.2')")
                if cancelling { progress.cancel() }
                if context.progress.isCancelled { throw CancellationError() }
                #expect(context.attempt == 1)
            }
            return try await manager.migrate()
        }
        await #expect(throws: CancellationError.self) { try await launch(cancelling: true) }
        #expect(try app.titles() == [])
        #expect(try await launch(cancelling: false).completed.versions == ["1.2"])
        #expect(try app.titles() == ["by 1.2"])
    }
}
