import AppMigrations
import Foundation
import Testing

@Suite("A closure for a version change", .timed)
struct VersionChangeTests {
    let store = MigrationStore.inMemory()
    let log = Log()

    /// Launches an app with a step for its version and two closures for a version change.
    func launch(_ version: String, adopting: AppVersion? = nil, failing: Bool = false) throws {
        let manager = try MigrationManager(
            currentVersion: version, adopting: Adoption { adopting }, store: store)
        manager.whenVersionChanges { from, to in log.lines.append("\(from) to \(to)") }
        manager.register([try AppVersion(parsing: version)], log: log)
        manager.whenVersionChanges { _, _ in
            if failing { throw StepError(description: "no window yet") }
            log.lines.append("again")
        }
        try manager.migrate()
    }

    @Test("runs once for each upgrade, after the steps, in order of registration")
    func upgrade() throws {
        try launch("1.0")
        try launch("2.0")
        try launch("2.0")
        try launch("3.0")
        #expect(log.lines == ["2.0", "1.0 to 2.0", "again", "3.0", "2.0 to 3.0", "again"])
    }

    @Test("runs on an adoption, unless the adopted version is the current one")
    func adoption() throws {
        try launch("2.0", adopting: "1.0")
        #expect(log.lines == ["2.0", "1.0 to 2.0", "again"])
        let other = VersionChangeTests()
        try other.launch("2.0", adopting: "2.0")
        #expect(other.log.lines == [])
    }

    @Test("does not run on a fresh install, a relaunch or a downgrade, but runs on the return from one")
    func others() throws {
        try launch("2.0")
        try launch("2.0")
        try launch("1.0")
        try launch("1.0")
        #expect(log.lines == [])
        try launch("2.0")
        #expect(log.lines == ["1.0 to 2.0", "again"])
    }

    @Test("does not run again if the launch is cancelled while the last one runs")
    func cancelled() throws {
        try launch("1.0")
        for _ in 1...2 {
            let manager = try MigrationManager(currentVersion: "2.0", adopting: .newApp, store: store)
            let progress = manager.progress
            manager.whenVersionChanges { _, _ in log.lines.append("first") }
            manager.whenVersionChanges { _, _ in
                log.lines.append("last")
                progress.cancel()
            }
            try manager.migrate()
        }
        #expect(log.lines == ["first", "last"])
    }

    @Test("runs again at the next launch if it throws, and the steps do not")
    func failure() throws {
        try launch("1.0")
        let error = try #require(throws: MigrationError.self) { try launch("2.0", failing: true) }
        #expect(error.code == .stepFailed)
        #expect(
            error.description == """
                default: the closure for a version change failed: no window yet. The steps are complete. \
                The next launch runs the closure again.
                """)
        try launch("2.0")
        #expect(log.lines == ["2.0", "1.0 to 2.0", "1.0 to 2.0", "again"])
        try launch("2.0")
        #expect(log.lines.count == 4)
    }

    @Test("runs again after an adoption if it throws")
    func failureOnAdoption() throws {
        #expect(throws: MigrationError.self) { try launch("2.0", adopting: "1.0", failing: true) }
        try launch("2.0")
        #expect(log.lines == ["2.0", "1.0 to 2.0", "1.0 to 2.0", "again"])
    }

    @Test("runs in migrate(), not in migrate(through:)")
    func through() throws {
        try launch("1.0")
        let manager = try MigrationManager(currentVersion: "2.0", adopting: .newApp, store: store)
        manager.register(["1.1", "2.0"], log: log)
        manager.whenVersionChanges { from, to in log.lines.append("\(from) to \(to)") }
        try manager.migrate(through: "2.0")
        #expect(log.lines == ["1.1", "2.0"])
        try manager.migrate()
        try manager.migrate()
        #expect(log.lines == ["1.1", "2.0", "1.0 to 2.0"])
    }
}
