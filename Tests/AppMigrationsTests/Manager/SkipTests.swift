import AppMigrations
import TestSupport
import Testing

@Suite("Skipping a step", .timed)
struct SkipTests {
    let store = MigrationStore.inMemory()
    let log = Log()

    func manager() throws -> MigrationManager {
        try MigrationManager(name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
    }

    @Test("is an error if the step is not pending, and changes nothing", arguments: ["1.0", "1.5", "2.0-1"])
    func notPending(version: AppVersion) throws {
        try launch("1.0", store: store)
        let before = try store.read("Library")
        let manager = try manager()
        manager.register(["1.0", "1.1", "2.0"], log: log)
        let other = try self.manager()
        other.register([version], log: log)
        let work = try other.work(version)
        let error = try #require(throws: MigrationError.self) { try manager.skip(work) }
        #expect(error.code == .misuse)
        #expect(error.version == version)
        #expect(
            error.description == """
                Library: step \(version) is not pending. pending() returns the work that is.
                """)
        #expect(try store.read("Library") == before)
    }

    @Test("is possible before the first launch")
    func first() throws {
        let manager = try manager()
        for version in ["1.1", "1.2"] as [AppVersion] {
            manager.whenMigratingToVersion(version, onFreshInstall: .run) { [log] in
                log.lines.append("\(version)")
            }
        }
        try manager.skip("1.1")
        #expect(try manager.pendingVersions() == ["1.2"])
        try manager.migrate()
        #expect(log.lines == ["1.2"])
    }
}
