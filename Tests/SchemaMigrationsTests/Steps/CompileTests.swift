import AppMigrations
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@testable import DefaultIsolation

/// The documentation's example in a class on the main actor, which must compile.
@MainActor
private final class Library {
    func launch(in folder: URL, _ dbQueue: DatabaseQueue, _ url: URL) throws -> MigrationManager {
        let schema = try SchemaMigrator(directory: folder)
        let store = try MigrationStore.jsonFile(at: url)
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)

        manager.whenMigratingToVersion("1.1") { try moveArchive() }
        manager.whenMigratingToVersion("1.1-1") { context in try resumeMove(attempt: context.attempt) }
        manager.whenMigratingToVersion("2.0", migrate: schema, upTo: 20240601120000000, in: dbQueue)
        manager.whenMigratingToVersion("2.0", in: dbQueue) { db in
            try db.execute(sql: "UPDATE book SET author = trim(author)")
        }
        return manager
    }

    func report(_ manager: MigrationManager) throws -> MigrationReport { try manager.migrate() }
    func reportLater(_ manager: MigrationManager) async throws -> MigrationReport {
        try await manager.migrate()
    }
}

@MainActor private var done: [String] = []
@MainActor private func moveArchive() throws { done.append("archive") }
@MainActor private func resumeMove(attempt: Int) throws { done.append("attempt \(attempt)") }

@Suite("The design's snippet", .timed, .serialized)
struct CompileTests {
    @MainActor
    @Test(
        "compiles and runs in a class on the main actor, synchronously and asynchronously",
        arguments: [true, false])
    func mainActor(isAsynchronous: Bool) async throws {
        let app = try appAfterVersion1()
        done = []
        let library = Library()
        let manager = try library.launch(
            in: app.folder.url.appendingPathComponent("Migrations"), app.open(), app.storeURL)
        let report = isAsynchronous ? try await library.reportLater(manager) : try library.report(manager)
        #expect(report.launch == .upgrade(from: "1.0"))
        #expect(
            report.completed.versions == ["1.1", "1.1-1", "2.0"],
            "the new database begins where the store stands")
        #expect(report.schemaSteps.map(\.schemaVersions) == [["20240601120000000"]])
        #expect(try manager.pendingVersions() == [])
        #expect(try manager.pendingSchemaSteps() == [])
        #expect(done == ["archive", "attempt 1"])
    }

    @MainActor
    @Test("compiles and runs in a module whose default isolation is the main actor")
    func defaultIsolation() async throws {
        let app = try appAfterVersion1()
        let library = DefaultIsolation.Library()
        let report = try await library.launch(in: app.folder.url, app.open())
        #expect(report.completed.versions == ["1.1", "1.1-1", "1.2", "1.2-1", "2.0"])
        #expect(report.schemaSteps.map(\.schemaVersions) == [["20240601120000000"]])
        let recognized = "Library: upgrade(from: 1.0)"
        #expect(
            library.done == [
                recognized, "archive", recognized, "attempt 1", "migration 1", "migration 1", "1.0 to 2.0",
                "migration 1",
            ])
        #expect(try library.launchAtOnce(MigrationStore.inMemory()).launch == .freshInstall)
    }

    @MainActor
    @Test("plain classes in such a module run where they are called")
    func plainClass() async throws {
        let store = MigrationStore.inMemory()
        try await MigrationManager(name: "Importer", currentVersion: "1.0", adopting: .newApp, store: store)
            .migrate()
        let importer = Importer()
        #expect(try await importer.launch(store).completed.versions == ["1.1", "1.2"])
        #expect(importer.ranOnMainActor == [true, true, true])
    }

    /// An app of which version 1.0 has been launched, with the files of 2.0.
    private func appAfterVersion1() throws -> App {
        let app = try App()
        let folder = app.folder.url.appendingPathComponent("Migrations")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        try Data("CREATE TABLE book(author TEXT);".utf8)
            .write(to: folder.appendingPathComponent("20240601120000000_create_books.sql"))
        try app.manager("1.0").migrate()
        return app
    }
}
