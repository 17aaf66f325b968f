import AppMigrations
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

/// A store that has come back from a backup does not know of the release that a database has seen.
@Suite("A step in a database that a newer app has used", .timed)
struct HeldStepTests {
    private let folder: TemporaryFolder
    private let log = BridgeLog()

    init() throws { folder = try TemporaryFolder() }

    private func manager(
        _ version: AppVersion, removes: Bool = true, fails: Bool = false, defers: Bool = false
    ) throws -> MigrationManager {
        let manager = try MigrationManager(
            name: "Library", currentVersion: version, adopting: .newApp,
            store: .jsonFile(at: folder.file("migrations.json")),
            options: MigrationOptions(ignoresStepsAboveCurrent: true))
        manager.whenVersionChanges { [log] from, to in log.add("from \(from) to \(to)") }
        guard version > "1.0" else { return manager }
        let database = try DatabaseQueue(path: folder.file("data.sqlite").path)
        manager.whenMigratingToVersion("2.0", in: database) { [log] _ in
            if fails { throw Mishap() }
            log.add("import")
        }
        if removes { manager.whenMigratingToVersion("2.1") { [log] in log.add("remove") } }
        if defers { manager.afterMigratingToVersion("2.1-1") { [log] _ in log.add("tidy up") } }
        return manager
    }

    /// Lets 3.0 fail in the database, and brings the store back as 1.0 has left it.
    private func bringBackStore() throws {
        let (store, backup) = (folder.file("migrations.json"), folder.file("backup.json"))
        try manager("1.0").migrate()
        try FileManager.default.copyItem(at: store, to: backup)
        #expect(throws: MigrationError.self) { try manager("3.0", fails: true).migrate() }
        try FileManager.default.removeItem(at: store)
        try FileManager.default.copyItem(at: backup, to: store)
    }

    @Test("is waited for by what comes after it elsewhere")
    func laterStep() throws {
        try bringBackStore()
        let error = try #require(throws: MigrationError.self) { try manager("2.1").migrate() }
        #expect(error.code == .newerThanThisProcess)
        #expect(error.advice == .updateApp)
        #expect(
            error.message.hasSuffix(
                "was not run: a newer app has used data.sqlite, in which step 2.0 is not done."))
        #expect(error.remedy == "Update the app, or restore data.sqlite.")
        #expect(log.lines == [])
        try manager("3.0").migrate()
        #expect(log.lines == ["import", "remove", "from 1.0 to 3.0"])
    }

    @Test("leaves the launch incomplete, so that a database made anew gets it")
    func madeAnew() throws {
        try bringBackStore()
        try manager("2.0", removes: false).migrate()
        #expect(log.lines == [], "no version change is complete either")
        try FileManager.default.removeItem(at: folder.file("data.sqlite"))
        try manager("3.0").migrate()
        #expect(log.lines == ["import", "remove", "from 1.0 to 3.0"])
    }

    @Test("is waited for by deferred work, which no other run of this app can do")
    func deferredStep() async throws {
        try bringBackStore()
        let old = try manager("2.1", removes: false, defers: true)
        try await old.migrate()
        let report = try await old.runDeferred()
        #expect(report.completed == [])
        #expect(report.pending.map(\.work.version) == ["2.1-1"])
        let error = try #require(report.failures.first)
        #expect(error.code == .newerThanThisProcess)
        #expect(error.advice == .updateApp)
        #expect(!report.canContinue)
        #expect(log.lines == [])
        let new = try manager("3.0", defers: true)
        try await new.migrate()
        try await new.runDeferred()
        #expect(log.lines == ["import", "remove", "from 1.0 to 3.0", "tidy up"])
    }
}
