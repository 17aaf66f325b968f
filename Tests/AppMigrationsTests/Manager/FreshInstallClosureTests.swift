import AppMigrations
import Testing

@Suite("A closure for fresh installs", .timed)
struct FreshInstallClosureTests {
    let store = InMemoryStore()
    let log = Log()

    func manager(_ version: String, failing: Bool = false) throws -> MigrationManager {
        let manager = try MigrationManager(name: "Library", currentVersion: version, store: store)
        manager.whenMigratingToVersion("1.0", onFreshInstall: .run) { [log] context in
            log.lines.append("1.0 on \(context.launch)")
        }
        manager.whenFreshlyInstalled { [log] in
            if failing { throw StepError(description: "the keychain is locked") }
            log.lines.append("keychain")
        }
        manager.whenFreshlyInstalled { [log] in log.lines.append("defaults") }
        return manager
    }

    @Test("runs only on a fresh install, once, in order of registration and before every step")
    func fresh() throws {
        let report = try manager("1.0").migrate()
        #expect(report.launch == .freshInstall)
        #expect(report.completed == ["1.0"])
        #expect(log.lines == ["keychain", "defaults", "1.0 on freshInstall"])
        try manager("1.0").migrate()
        try manager("2.0").migrate()
        #expect(log.lines.count == 3)
    }

    @Test("does not run on an adopted install, nor after a reset")
    func old() throws {
        let options = MigrationOptions(adopting: Adoption { "0.5" })
        let manager = try MigrationManager(
            name: "Library", currentVersion: "1.0", store: store, options: options)
        manager.whenFreshlyInstalled { [log] in log.lines.append("keychain") }
        try manager.migrate()
        try manager.reset()
        #expect(try manager.pendingVersions() == [])
        try manager.migrate()
        #expect(log.lines == [])
    }

    @Test("is retried until it succeeds, even in a later version")
    func owed() throws {
        let error = try #require(throws: MigrationError.self) { try manager("1.0", failing: true).migrate() }
        #expect(error.code == .stepFailed)
        #expect(error.message.hasPrefix("Library: whenFreshlyInstalled ("))
        #expect(error.message.hasSuffix(") failed: the keychain is locked."))
        #expect(log.lines == [])
        try manager("2.0").migrate()
        #expect(log.lines == ["keychain", "defaults", "1.0 on upgrade(from: 1.0)"])
    }
}
