import AppMigrations
import Foundation
import TestSupport
import Testing

@Suite("Options", .timed)
struct OptionsTests {
    let store = MigrationStore.inMemory()
    let log = Log()

    @Test("steps above the current version are left out if requested, until the app reaches them")
    func leaveOut() throws {
        let options = MigrationOptions(ignoresStepsAboveCurrent: true)
        try launch("1.0", store: store)
        let steps: [AppVersion] = ["1.1", "2.0", "2.0-1", "3.0"]
        #expect(try launch("1.1", steps: steps, store: store, options: options).completed.versions == ["1.1"])
        #expect(
            try launch("2.0", steps: steps, store: store, options: options).completed.versions == [
                "2.0", "2.0-1",
            ])
        let error = try #require(throws: MigrationError.self) {
            try launch("2.0", steps: steps, store: store)
        }
        #expect(error.code == .misuse)
    }

    @Test("a fresh install does not settle steps above the current version")
    func leaveOutOnFreshInstall() throws {
        let options = MigrationOptions(ignoresStepsAboveCurrent: true)
        try launch("1.0", steps: ["1.0", "2.0"], store: store, options: options)
        #expect(
            try launch("2.0", steps: ["1.0", "2.0"], store: store, options: options).completed.versions == [
                "2.0"
            ])
    }

    @Test("data older than the oldest supported version is refused, and stays unchanged")
    func tooOld() throws {
        try launch("2.9", store: store)
        let before = try store.read("Library")
        let error = try #require(throws: MigrationError.self) {
            try launch(
                "4.0", steps: ["4.0"], store: store, log: log,
                options: MigrationOptions(oldestSupported: "3.0"))
        }
        #expect(error.code == .tooOld)
        #expect(error.version == "2.9")
        #expect(
            error.description == """
                Library: the data of memory is at version 2.9; the oldest that can be migrated is 3.0. Nothing was \
                changed. Launch an app version that still migrates it first, then this one.
                """)
        #expect(log.lines == [])
        #expect(try store.read("Library") == before)
    }

    @Test("adopting an install older than the oldest supported version is refused")
    func tooOldAdoption() throws {
        let options = MigrationOptions(oldestSupported: "3.0")
        let error = try #require(throws: MigrationError.self) {
            try launch("4.0", store: store, adopting: Adoption { "2.9" }, options: options)
        }
        #expect(error.code == .tooOld)
        #expect(try store.read("Library") == StoreState())
    }

    @Test(
        "versions that were launched, and in which the manager never came to its end, make the data no newer",
        arguments: [true, false])
    func neverCompleted(isAdopted: Bool) throws {
        if !isAdopted { try launch("1.0", name: "Other", store: store) }
        let adopting = isAdopted ? Adoption { "1.0" } : .newApp
        let failing = try MigrationManager(
            name: "Library", currentVersion: "1.5", adopting: adopting, store: store)
        failing.whenMigratingToVersion("1.2") { throw StepError(description: "1.2") }
        #expect(throws: MigrationError.self) { try failing.migrate() }
        let error = try #require(throws: MigrationError.self) {
            try launch(
                "3.0", steps: ["2.0"], store: store, log: log, adopting: adopting,
                options: MigrationOptions(oldestSupported: "1.5"))
        }
        #expect(error.code == .tooOld && error.version == "1.0" && log.lines == [])
    }

    @Test("a manager that came later, and has failed once, is as old as what was launched before it")
    func cameLater() throws {
        for version in ["1.0", "2.0"] { try launch(version, name: "Other", store: store) }
        let options = MigrationOptions(oldestSupported: "2.0")
        let failing = try MigrationManager(
            name: "Library", currentVersion: "3.0", adopting: .newApp, store: store, options: options)
        failing.whenMigratingToVersion("3.0") { throw StepError(description: "3.0") }
        #expect(try #require(throws: MigrationError.self) { try failing.migrate() }.code == .stepFailed)
        #expect(
            try launch("3.1", steps: ["3.0"], store: store, options: options).completed.versions == ["3.0"])
    }

    @Test("a manager that came later, and is answered a bound, is as old as what was launched before it")
    func cameLaterAtBound() throws {
        let folder = try TemporaryFolder()
        let old = folder.file("old")
        try Data().write(to: old)
        func launch(
            _ name: String, _ version: String, _ adopting: Adoption, oldest: AppVersion? = nil
        ) throws -> Launch {
            let manager = try MigrationManager(
                name: name, currentVersion: version, adopting: adopting, store: store,
                options: MigrationOptions(oldestSupported: oldest))
            return try manager.migrate().launch
        }
        let bound = Adoption.fileExists(old, means: "1.0")
        // An answer is noted, so the next manager begins at its own.
        #expect(try launch("Library", "2.0", bound) == .adoption(from: "1.0"))
        #expect(try launch("Library", "4.0", bound) == .upgrade(from: "2.0"))
        #expect(try launch("Photos", "5.0", bound, oldest: "3.0") == .adoption(from: "1.0"))
        let error = try #require(throws: MigrationError.self) {
            try launch("Sounds", "5.0", Adoption { "1.0" }, oldest: "3.0")
        }
        #expect(error.code == .tooOld && error.version == "1.0", "an exact answer stands")
    }

    @Test("the oldest supported version, a relaunch, a fresh install and a downgrade are not refused")
    func notTooOld() throws {
        let options = MigrationOptions(oldestSupported: "3.0")
        try launch("3.0", store: store)
        #expect(try launch("4.0", store: store, options: options).launch == .upgrade(from: "3.0"))
        let strict = MigrationOptions(oldestSupported: "4.0")
        #expect(try launch("4.0", store: store, options: strict).launch == .relaunch)
        #expect(try launch("4.0", store: .inMemory(), options: strict).launch == .freshInstall)
        #expect(try launch("3.0", store: store, options: options).launch == .downgrade(from: "4.0"))
    }

    @Test("an oldest supported version above the current one is a mistake, except in tests of older versions")
    func oldestAboveCurrent() throws {
        let error = try #require(throws: MigrationError.self) {
            try launch("2.9", store: store, options: MigrationOptions(oldestSupported: "3.0"))
        }
        #expect(error.code == .misuse)
        #expect(
            error.description == """
                Library: oldestSupported, 3.0, is above the current version 2.9. Pass a version from which people may \
                update: this one refuses them all.
                """)
        // It has the steps of its release.
        let beta = try launch("3.0-beta.1", store: store, options: MigrationOptions(oldestSupported: "3.0"))
        #expect(beta.launch == .freshInstall)
        let older = MigrationOptions(oldestSupported: "3.0", ignoresStepsAboveCurrent: true)
        #expect(try launch("2.9", store: .inMemory(), options: older).launch == .freshInstall)
    }

    @Test("a separate line of versions and the app's line do not affect each other")
    func line() throws {
        let plugin = MigrationOptions(line: "Plugin")
        try launch("1.0", name: "Plugin", store: store, options: plugin)
        try launch("1.5", name: "Plugin", store: store, options: plugin)
        let app = try launch("2.0", steps: ["2.0"], name: "Library", store: store, log: log)
        #expect(app.launch == .freshInstall, "that the plug-in has had 1.5 does not make the app an old one")

        let other = try launch("7.0", steps: ["7.0"], name: "Filter", store: store, options: plugin)
        #expect(other.launch == .adoption(from: "1.0"), "of its own line it has seen 1.0, of the app's 2.0")
        #expect(try store.read("Library").seen["app"]?.map(\.version) == ["2.0"])
        #expect(try store.read("Library").seen["Plugin"]?.map(\.version) == ["1.0", "1.5", "7.0"])
    }
}
