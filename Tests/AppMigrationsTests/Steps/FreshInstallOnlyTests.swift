import AppMigrations
import TestSupport
import Testing

@Suite("A step for fresh installs only", .timed)
struct FreshInstallOnlyTests {
    let store = MigrationStore.inMemory()
    let log = Log()

    func manager(_ version: String, failing: Bool = false) throws -> MigrationManager {
        let manager = try MigrationManager(
            name: "Library", currentVersion: version, adopting: .newApp, store: store)
        manager.whenMigratingToVersion("1.0", onFreshInstall: .run) { [log] context in
            log.lines.append("1.0 on \(context.launch)")
        }
        manager.whenMigratingToVersion("1.0-1", onFreshInstall: .only) { [log] in
            if failing { throw StepError(description: "the keychain is locked") }
            log.lines.append("keychain")
        }
        manager.whenMigratingToVersion("1.0-2", onFreshInstall: .only) { [log] in
            log.lines.append("defaults")
        }
        return manager
    }

    @Test("runs only on a fresh install, once, in order of registration and before every step")
    func fresh() throws {
        let report = try manager("1.0").migrate()
        #expect(report.launch == .freshInstall)
        #expect(report.completed.versions == ["1.0-1", "1.0-2", "1.0"])
        #expect(log.lines == ["keychain", "defaults", "1.0 on freshInstall"])
        try manager("1.0").migrate()
        try manager("2.0").migrate()
        #expect(log.lines.count == 3)
    }

    @Test("does not run on an adopted install, nor when all steps are rerun")
    func old() throws {
        let manager = try MigrationManager(
            name: "Library", currentVersion: "1.0", adopting: Adoption { "0.5" }, store: store)
        manager.whenMigratingToVersion("1.0", onFreshInstall: .only) { [log] in log.lines.append("keychain") }
        try manager.migrate()
        try manager.rerunAllSteps()
        #expect(try manager.pendingVersions() == [])
        try manager.migrate()
        #expect(log.lines == [])
    }

    @Test("is retried until it succeeds, even in a later version")
    func owed() throws {
        let error = try #require(throws: MigrationError.self) { try manager("1.0", failing: true).migrate() }
        #expect(error.code == .stepFailed)
        #expect(error.message.hasPrefix("Library: step 1.0-1 ("))
        #expect(error.message.hasSuffix(") failed: the keychain is locked."))
        #expect(log.lines == [])
        try manager("2.0").migrate()
        #expect(log.lines == ["keychain", "defaults", "1.0 on upgrade(from: 1.0)"])
    }

    @Test("stays owed whatever steps a later release puts before and after it")
    func laterRelease() throws {
        #expect(throws: MigrationError.self) { try manager("1.0", failing: true).migrate() }
        let later = try MigrationManager(
            name: "Library", currentVersion: "1.1", adopting: .newApp, store: store)
        for version: AppVersion in ["0.9", "1.0-1", "1.0-2", "1.1"] {
            later.whenMigratingToVersion(version, onFreshInstall: .only) { [log] in
                log.lines.append("\(version)")
            }
        }
        #expect(try later.migrate().completed.versions == ["1.0-1", "1.0-2"])
        #expect(log.lines == ["1.0-1", "1.0-2"], "the others were not there when the install was fresh")
        #expect(try later.migrate().completed == [])
    }
}
