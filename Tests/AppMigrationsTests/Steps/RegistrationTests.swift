import AppMigrations
import TestSupport
import Testing

@Suite("Registration", .timed)
struct RegistrationTests {
    let store = MigrationStore.inMemory()
    let log = Log()

    func mistakes(_ register: (MigrationManager) -> Void) throws -> [String] {
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        register(manager)
        let error = try #require(throws: MigrationError.self) { try manager.migrate() }
        #expect(error.code == .misuse)
        #expect(try store.read("Library") == StoreState(), "nothing may run or be written")
        return error.description.split(separator: "\n").map(String.init)
    }

    @Test("steps out of order are refused, with their source location")
    func order() throws {
        let mistakes = try mistakes { manager in
            manager.whenMigratingToVersion("1.2", fileID: "App/Migrations.swift", line: 12) {}
            manager.whenMigratingToVersion("1.1", fileID: "App/Migrations.swift", line: 14) {}
        }
        #expect(
            mistakes == [
                "Library: step 1.1 is registered after 1.2 (Migrations.swift:14). Register steps in ascending order."
            ])
    }

    @Test("a duplicate version is refused, even if it is spelled differently")
    func twice() throws {
        let mistakes = try mistakes { manager in
            manager.whenMigratingToVersion("1.1", fileID: "App/Migrations.swift", line: 12) {}
            manager.whenMigratingToVersion("1.1.0", fileID: "App/More.swift", line: 3) {}
        }
        #expect(
            mistakes == [
                """
                Library: step 1.1.0 is registered twice, first at Migrations.swift:12 (More.swift:3). A version has at \
                most one closure: join the two, or give the later one a sub-migration number.
                """
            ])
    }

    @Test("a version above the current one is refused")
    func above() throws {
        let mistakes = try mistakes { manager in
            manager.whenMigratingToVersion("2.1", fileID: "App/Migrations.swift", line: 7) {}
        }
        #expect(
            mistakes == [
                """
                Library: step 2.1 is above the current version 2.0 (Migrations.swift:7). Raise the app's version, or \
                register the step when it is reached.
                """
            ])
    }

    @Test("sub-migrations and releases of the current pre-release are not above it")
    func notAbove() throws {
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0-beta.1", adopting: .newApp, store: store)
        manager.register(["2.0", "2.0-7"], log: log)
        #expect(throws: Never.self) { try manager.migrate() }
    }

    @Test("all mistakes are reported together, each with an error of its own")
    func together() throws {
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        manager.register(["1.2", "1.1", "1.2", "3.0"], log: log)
        let error = try #require(throws: MigrationError.self) { try manager.migrate() }
        #expect(error.causes.map(\.version) == ["1.1", "1.2", "3.0"])
        #expect(throws: MigrationError.self) { try manager.pendingVersions() }
        #expect(throws: MigrationError.self) { try manager.migrate(through: "1.1") }
        #expect(log.lines == [])
    }
}
