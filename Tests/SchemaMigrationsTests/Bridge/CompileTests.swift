import AppMigrations
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import Testing

/// The documentation's example in a class on the main actor, which must compile.
@MainActor
private final class Library {
    func launch(in folder: URL, _ dbQueue: DatabaseQueue, _ url: URL) throws -> MigrationManager {
        let schema = try SchemaMigrator(directory: folder)
        let store = try JSONStore(at: url)
        let manager = try MigrationManager(name: "Library", currentVersion: "2.0", store: store)

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

@Suite("The documentation's example", .serialized)
struct CompileTests {
    @MainActor
    @Test(
        "compiles and runs in a class on the main actor, synchronously and asynchronously",
        arguments: [true, false])
    func mainActor(isAsynchronous: Bool) async throws {
        let app = try App()
        let folder = app.folder.url.appendingPathComponent("Migrations")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        try Data("CREATE TABLE book(author TEXT);".utf8)
            .write(to: folder.appendingPathComponent("20240601120000000_create_books.sql"))
        try await app.manager("1.0").migrate()

        done = []
        let library = Library()
        let manager = try library.launch(in: folder, app.open(), app.storeURL)
        let report = isAsynchronous ? try await library.reportLater(manager) : try library.report(manager)
        #expect(report.launch == .upgrade(from: "1.0"))
        #expect(report.completed == ["1.1", "1.1-1"], "in the new database nothing is to be trimmed")
        #expect(report.moves.map(\.schemaVersions) == [["20240601120000000"]])
        #expect(try manager.pendingVersions() == [])
        #expect(try manager.pendingMoves() == [])
        #expect(done == ["archive", "attempt 1"])
    }

    @Test("compiles without a warning in a module isolated to the main actor by default")
    func defaultIsolation() async throws {
        let source = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("DefaultIsolation/Sources/Library/Library.swift")
        let result = try await BuiltProcess.compiler([
            "-typecheck", "-swift-version", "6", "-default-isolation", "MainActor", "-warnings-as-errors",
            "-parse-as-library", "-module-name", "Library", source.path,
        ]).result()
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        #expect(result.errors == "")
    }

    @Test("the compiler used here reports isolation mistakes")
    func mistake() async throws {
        let folder = try TemporaryFolder()
        let source = folder.url.appendingPathComponent("Mistake.swift")
        let text = """
            import AppMigrations
            final class Library {
                var count = 0
                func register(_ manager: MigrationManager) {
                    manager.whenMigratingToVersion("1.0") { self.count += 1 }
                    Task.detached { self.count += 1 }
                }
            }
            """
        try Data(text.utf8).write(to: source)
        let result = try await BuiltProcess.compiler([
            "-typecheck", "-swift-version", "6", "-default-isolation", "MainActor", source.path,
        ]).result()
        #expect(result.status == 1)
        #expect(result.errors.contains("Mistake.swift:6:"))
        #expect(!result.errors.contains("Mistake.swift:5:"))
    }
}
