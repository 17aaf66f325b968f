import AppMigrations
import Testing

@Suite("First launches", .timed)
struct FirstLaunchTests {
    let store = MigrationStore.inMemory()

    struct Answer: Equatable {
        let ever: Bool
        let ofVersion: Bool
    }

    func launch(_ version: String, name: String = "Library", adopting: Adoption = .newApp)
        throws -> Answer
    {
        let manager = try MigrationManager(
            name: name, currentVersion: version, adopting: adopting, store: store)
        let report = try manager.migrate()
        return Answer(ever: report.launch == .freshInstall, ofVersion: report.isFirstLaunchOfVersion)
    }

    @Test("a fresh install is the first launch ever and of its version, and a relaunch is neither")
    func freshInstall() throws {
        #expect(try launch("1.0") == Answer(ever: true, ofVersion: true))
        #expect(try launch("1.0") == Answer(ever: false, ofVersion: false))
    }

    @Test("an upgrade and an adoption are the first launch of their version")
    func upgrade() throws {
        #expect(try launch("1.1", adopting: Adoption { "1.0" }) == Answer(ever: false, ofVersion: true))
        #expect(try launch("2.0") == Answer(ever: false, ofVersion: true))
        #expect(try launch("2.0") == Answer(ever: false, ofVersion: false))
    }

    @Test("a downgrade and the return from it are not the first launch of their version")
    func downgrade() throws {
        _ = try launch("1.0")
        _ = try launch("2.0")
        #expect(try launch("1.0") == Answer(ever: false, ofVersion: false))
        #expect(try launch("2.0") == Answer(ever: false, ofVersion: false))
        _ = try launch("1.0")
        #expect(try launch("3.0") == Answer(ever: false, ofVersion: true))
    }

    @Test("all managers of a launch agree, even after the first one has written its record")
    func severalManagers() throws {
        #expect(try launch("1.0", name: "Library") == Answer(ever: true, ofVersion: true))
        #expect(try launch("1.0", name: "Settings") == Answer(ever: true, ofVersion: true))
        #expect(try launch("2.0", name: "Library") == Answer(ever: false, ofVersion: true))
        #expect(try launch("2.0", name: "Settings") == Answer(ever: false, ofVersion: true))
    }

    @Test("a second object of the same manager sees a relaunch")
    func secondObject() throws {
        #expect(try launch("1.0").ever)
        #expect(try launch("1.0") == Answer(ever: false, ofVersion: false))
    }

    @Test(
        "the launch that completes a version is the first of it, however many have thrown before",
        arguments: 0..<2, [true, false])
    func thrown(adoption: Int, isFresh: Bool) throws {
        let adopting = [Adoption.newApp, Adoption { "1.0" }][adoption]
        if !isFresh { _ = try launch("1.0", adopting: adopting) }
        for _ in 1...3 {
            let manager = try MigrationManager(
                name: "Library", currentVersion: "2.0", adopting: adopting, store: store)
            manager.whenMigratingToVersion("2.0", onFreshInstall: .run) { throw StepError(description: "") }
            #expect(throws: MigrationError.self) { try manager.migrate() }
        }
        #expect(try launch("2.0", adopting: adopting).ofVersion)
        #expect(try !launch("2.0", adopting: adopting).ofVersion)
    }

    @Test("the closure for a version change that has thrown does not take the first launch away")
    func versionChange() throws {
        _ = try launch("1.0")
        for isBroken in [true, true, false] {
            let manager = try MigrationManager(
                name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
            manager.register(["2.0"], log: Log())
            manager.whenVersionChanges { _, _ in if isBroken { throw StepError(description: "") } }
            if isBroken {
                #expect(throws: MigrationError.self) { try manager.migrate() }
            } else {
                #expect(try manager.migrate().isFirstLaunchOfVersion)
            }
        }
    }
}
