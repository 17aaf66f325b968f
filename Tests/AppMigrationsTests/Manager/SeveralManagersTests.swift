import AppMigrations
import Testing

@Suite("Several managers in one store", .timed)
struct SeveralManagersTests {
    let store = MigrationStore.inMemory()
    let log = Log()

    private func launch(_ name: String, _ adopting: Adoption) throws -> Launch {
        let manager = try MigrationManager(
            name: name, currentVersion: "4.0", adopting: adopting, store: store)
        manager.whenMigratingToVersion("0.9", onFreshInstall: .only) { [log] in
            log.lines.append("\(name) fresh")
        }
        for version: AppVersion in ["2.0", "3.5"] {
            manager.whenMigratingToVersion(version) { [log] in log.lines.append("\(name) \(version)") }
        }
        return try manager.migrate().launch
    }

    @Test("each have their own baseline, whatever the ones before them have adopted")
    func baselines() throws {
        #expect(try launch("Settings", Adoption { "3.0" }) == .adoption(from: "3.0"))
        #expect(try launch("Photos", Adoption { "1.0" }) == .adoption(from: "1.0"))
        #expect(log.lines == ["Settings 3.5", "Photos 2.0", "Photos 3.5"])
    }

    @Test("are adopted even after a manager that takes the install for a fresh one")
    func afterFresh() throws {
        #expect(try launch("Settings", .newApp) == .freshInstall)
        #expect(try launch("Photos", Adoption { "1.0" }) == .adoption(from: "1.0"))
        #expect(log.lines == ["Settings fresh", "Photos 2.0", "Photos 3.5"])
    }
}
