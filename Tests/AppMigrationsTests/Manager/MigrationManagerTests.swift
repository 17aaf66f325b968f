import AppMigrations
import Foundation
import TestSupport
import Testing

@Suite("MigrationManager", .timed)
struct MigrationManagerTests {
    let store = MigrationStore.inMemory()
    let log = Log()

    @Test("an upgrade runs the steps above the last completed version once, oldest first")
    func upgrade() throws {
        try launch("1.0", store: store)
        let report = try launch("2.0", steps: ["0.9", "1.0", "1.1", "1.1-1", "2.0"], store: store, log: log)
        #expect(log.lines == ["1.1", "1.1-1", "2.0"])
        #expect(report.launch == .upgrade(from: "1.0"))
        #expect(report.completed.versions == ["1.1", "1.1-1", "2.0"])

        let again = try launch("2.0", steps: ["1.1", "1.1-1", "2.0"], store: store, log: log)
        #expect(again.launch == .relaunch)
        #expect(again.completed == [])
        #expect(log.lines.count == 3)
    }

    @Test("a fresh install runs no step, nor does the next launch")
    func freshInstall() throws {
        let report = try launch("1.1", steps: ["1.0", "1.1", "1.1-1"], store: store, log: log)
        #expect(report.launch == .freshInstall)
        #expect(report.completed == [])
        try launch("1.1", steps: ["1.0", "1.1", "1.1-1"], store: store, log: log)
        #expect(log.lines == [])
    }

    @Test(
        "a sub-migration added to the installed version runs at the next launch",
        arguments: ["1.1-0", "1.1-1"])
    func subMigration(version: AppVersion) throws {
        try launch("1.1", steps: ["1.1"], store: store)
        let report = try launch("1.1", steps: ["1.1", version], store: store, log: log)
        #expect(report.launch == .relaunch)
        #expect(report.completed.versions == [version])
    }

    @Test("a hotfix that is merged after a newer step still runs, and is marked as out of order")
    func lateStep() throws {
        try launch("1.0", store: store)
        try launch("2.0", steps: ["2.0"], store: store)
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        var contexts: [MigrationContext] = []
        manager.whenMigratingToVersion("1.2") { context in contexts.append(context) }
        manager.whenMigratingToVersion("2.0") { context in contexts.append(context) }
        manager.whenMigratingToVersion("2.0-1") { context in contexts.append(context) }
        #expect(try manager.migrate().completed.versions == ["1.2", "2.0-1"])
        #expect(contexts.map(\.isOutOfOrder) == [true, false])
    }

    @Test("a step is not out of order because later ones were not needed, or were skipped")
    func laterStepsHaveNotRun() throws {
        var contexts: [MigrationContext] = []
        func launch(postpones: Bool) throws {
            let manager = try MigrationManager(
                name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
            manager.whenMigratingToVersion("1.0", onFreshInstall: .run) { context in
                contexts.append(context)
                if postpones { throw MigrationPostponed(reason: "later") }
            }
            manager.whenMigratingToVersion("1.5") {}
            try manager.migrate()
        }
        #expect(throws: MigrationError.self) { try launch(postpones: true) }
        try launch(postpones: false)
        #expect(contexts.map(\.isOutOfOrder) == [false, false])

        let other = MigrationStore.inMemory()
        try AppMigrationsTests.launch("1.0", store: other)
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: other)
        manager.whenMigratingToVersion("1.5") { context in contexts.append(context) }
        manager.whenMigratingToVersion("2.0") {}
        try manager.skip("2.0")
        try manager.migrate()
        #expect(contexts.last?.version == "1.5" && contexts.last?.isOutOfOrder == false)
    }

    @Test("a step's context has its manager, its versions and its attempt")
    func context() throws {
        try launch("1.0", store: store)
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        var context: MigrationContext?
        manager.whenMigratingToVersion("1.1") { context = $0 }
        try manager.migrate()
        #expect(context?.work.manager == "Library")
        #expect(context?.from == "1.0")
        #expect(context?.to == "2.0")
        #expect(context?.version == "1.1")
        #expect(context?.attempt == 1)
    }

    @Test("a pre-release runs its release's steps, and later fixes run as sub-migrations")
    func prerelease() throws {
        try launch("1.0", store: store)
        #expect(try launch("2.0-beta.1", steps: ["2.0"], store: store).completed.versions == ["2.0"])
        #expect(
            try launch("2.0-beta.2", steps: ["2.0", "2.0-1"], store: store).completed.versions == ["2.0-1"])
        let release = try launch("2.0", steps: ["2.0", "2.0-1"], store: store)
        #expect(release.launch == .upgrade(from: "2.0-beta.2"))
        #expect(release.completed == [])
    }

    @Test("a step that throws stops the manager, and the next launch retries it")
    func failure() throws {
        try launch("1.0", store: store)
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        manager.register(["1.1"], log: log)
        manager.whenMigratingToVersion("1.2") { throw StepError(description: "no space for the archive") }
        manager.register(["2.0"], log: log)

        let error = try #require(throws: MigrationError.self) { try manager.migrate() }
        #expect(error.code == .stepFailed)
        #expect(error.version == "1.2")
        #expect(error.attempt == 1)
        #expect(error.underlyingError is StepError)
        #expect(error.message.hasPrefix("Library: step 1.2 (MigrationManagerTests.swift:"))
        #expect(error.message.hasSuffix(") failed: no space for the archive."))
        #expect(error.remedy == "Earlier steps are complete. The next launch retries this one.")
        #expect(log.lines == ["1.1"])

        let next = try launch("2.0", steps: ["1.1", "1.2", "2.0"], store: store, log: log)
        #expect(next.launch == .upgrade(from: "1.0"))
        #expect(next.completed.versions == ["1.2", "2.0"])
    }

    @Test("a downgrade runs nothing, and the next upgrade reports the return from it")
    func downgrade() throws {
        try launch("1.0", store: store)
        try launch("2.0", steps: ["2.0"], store: store)
        let down = try launch("1.5", steps: ["1.5"], store: store, log: log)
        #expect(down.launch == .downgrade(from: "2.0"))
        #expect(down.completed == [])
        #expect(try launch("1.5", store: store).launch == .downgrade(from: "2.0"))

        let back = try launch("2.0", steps: ["2.0", "2.0-1"], store: store, log: log)
        #expect(back.launch == .upgrade(from: "1.5"))
        #expect(back.returnedFromDowngrade)
        #expect(back.completed.versions == ["2.0-1"])
        #expect(log.lines == ["2.0-1"])
        #expect(try launch("2.1", store: store).returnedFromDowngrade == false)
    }

    @Test("an interrupted upgrade is not mistaken for a downgrade")
    func interruptedUpgrade() throws {
        try launch("1.0", store: store)
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        manager.whenMigratingToVersion("2.0") { throw StepError(description: "not today") }
        #expect(throws: MigrationError.self) { try manager.migrate() }
        let next = try launch("2.0", steps: ["2.0"], store: store)
        #expect(next.launch == .upgrade(from: "1.0"))
        #expect(next.returnedFromDowngrade == false)
    }

    @Test("managers that share a store are independent")
    func independence() throws {
        try launch("1.0", name: "Library", store: store)
        try launch("1.0", name: "Settings", store: store)
        #expect(
            try launch("2.0", steps: ["2.0"], name: "Library", store: store).completed.versions == ["2.0"])
        #expect(
            try launch("2.0", steps: ["1.5", "2.0"], name: "Settings", store: store).completed.versions == [
                "1.5", "2.0",
            ])
    }

    @Test("a manager introduced in 2.0 runs its 2.0 step if the store has seen 1.0")
    func introducedLater() throws {
        try launch("1.0", name: "Library", store: store)
        try launch("2.0", name: "Library", store: store)
        let report = try launch("2.0", steps: ["1.0", "2.0"], name: "Thumbnails", store: store)
        #expect(report.launch == .adoption(from: "1.0"))
        #expect(report.completed.versions == ["2.0"])
    }

    @Test("a manager introduced in 2.0 does not run its 2.0 step on a fresh install of 2.0")
    func introducedOnFreshInstall() throws {
        try launch("2.0", name: "Library", store: store)
        let report = try launch("2.0", steps: ["2.0"], name: "Thumbnails", store: store)
        #expect(report.launch == .freshInstall)
        #expect(report.completed == [])
    }

    @Test("an existing install is adopted at the version that the app returns, and the app is asked once")
    func adoption() throws {
        var asked = 0
        let adopting = Adoption {
            asked += 1
            return "1.0"
        }
        let report = try launch("2.0", steps: ["1.0", "1.1", "2.0"], store: store, adopting: adopting)
        #expect(report.launch == .adoption(from: "1.0"))
        #expect(report.completed.versions == ["1.1", "2.0"])
        #expect(
            try launch("2.0", steps: ["1.0", "1.1", "2.0"], store: store, adopting: adopting).launch
                == .relaunch)
        #expect(asked == 1, "once in a launch, and never with a record")
    }

    @Test("an interrupted adoption continues as an adoption")
    func interruptedAdoption() throws {
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: Adoption { "1.0" }, store: store)
        manager.register(["1.1"], log: log)
        manager.whenMigratingToVersion("2.0") { throw StepError(description: "not today") }
        #expect(throws: MigrationError.self) { try manager.migrate() }
        let next = try launch("2.0", steps: ["1.1", "2.0"], store: store, log: log)
        #expect(next.launch == .adoption(from: "1.0"))
        #expect(log.lines == ["1.1", "2.0"])
    }

    @Test("a version that one manager adopted is known to the others in its store")
    func adoptionIsSeen() throws {
        try launch(
            "2.0", name: "Library", store: store, adopting: Adoption { "1.0" })
        #expect(
            try launch("2.0", steps: ["2.0"], name: "Thumbnails", store: store).completed.versions == ["2.0"])
    }

    @Test("a step marked for fresh installs runs on a fresh install")
    func owedStep() throws {
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        manager.register(["1.0"], log: log)
        manager.whenMigratingToVersion("1.1", onFreshInstall: .run) { [log] in log.lines.append("1.1") }
        manager.register(["2.0"], log: log)
        #expect(try manager.pendingVersions() == ["1.1"])
        #expect(try manager.migrate().completed.versions == ["1.1"])
        #expect(try manager.migrate().completed == [])
        #expect(try launch("2.0", steps: ["1.0", "1.1", "2.0"], store: store, log: log).completed == [])
        #expect(log.lines == ["1.1"])
    }

    @Test("migrate(through:) leaves later steps pending, and does not change the kind of launch")
    func through() throws {
        try launch("1.0", store: store)
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        manager.register(["1.1", "1.1-1", "1.2", "2.0"], log: log)
        let first = try manager.migrate(through: "1.1")
        #expect(first.completed.versions == ["1.1"])
        #expect(first.launch == .upgrade(from: "1.0"))
        #expect(try manager.pendingVersions() == ["1.1-1", "1.2", "2.0"])
        let rest = try manager.migrate()
        #expect(
            rest.completed.versions == ["1.1", "1.1-1", "1.2", "2.0"], "the report covers the whole launch")
        #expect(rest.launch == .upgrade(from: "1.0"))
        #expect(log.lines == ["1.1", "1.1-1", "1.2", "2.0"])
        #expect(try manager.migrate().launch == .relaunch, "the launch was complete")
        #expect(try manager.migrate().completed == [])
        #expect(try launch("2.0", store: store).launch == .relaunch)
    }

    @Test("a step registered after migrate(through:) does not run on a fresh install either")
    func throughOnFreshInstall() throws {
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        manager.register(["1.1"], log: log)
        #expect(try manager.migrate(through: "1.1").launch == .freshInstall)
        manager.register(["2.0", "2.0-1"], log: log)
        #expect(try manager.migrate().completed == [])
        #expect(try launch("2.0", steps: ["1.1", "2.0", "2.0-1"], store: store, log: log).completed == [])
        #expect(log.lines == [])
    }

    @Test("migrate(through:) refuses a version above the current one")
    func throughAbove() throws {
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        let error = try #require(throws: MigrationError.self) { try manager.migrate(through: "2.1") }
        #expect(error.code == .misuse)
        #expect(
            error.description
                == "Library: cannot migrate through 2.1, above the current version 2.0. Ask for the current version or one below it."
        )
    }

    @Test("listing pending steps changes nothing")
    func pending() throws {
        try launch("1.0", store: store)
        let before = try store.read("Library")
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        manager.register(["1.0", "1.1", "2.0"], log: log)
        #expect(try manager.pendingVersions() == ["1.1", "2.0"])
        #expect(try manager.pendingSchemaSteps() == [])
        #expect(try store.read("Library") == before)
    }

    @Test("rerunning all steps marks every due step as not run")
    func reset() throws {
        try launch("1.0", steps: ["0.9", "1.0"], store: store)
        let manager = try MigrationManager(
            name: "Library", currentVersion: "1.0", adopting: .newApp, store: store)
        manager.register(["0.9", "1.0"], log: log)
        #expect(try manager.migrate().completed == [])
        try manager.rerunAllSteps()
        #expect(try manager.pendingVersions() == ["0.9", "1.0"])
        let report = try manager.migrate()
        #expect(report.launch == .relaunch)
        #expect(report.completed.versions == ["0.9", "1.0"])
    }

    @Test(
        "rerunning a step refuses that of another manager, and leaves the manager's own of the same version")
    func rerunOther() throws {
        func manager(_ name: String) throws -> MigrationManager {
            let manager = try MigrationManager(
                name: name, currentVersion: "1.0", adopting: Adoption { "0.9" }, store: store)
            manager.register(["1.0"], log: log)
            return manager
        }
        let photos = try manager("Photos")
        try photos.migrate()
        let other = try #require(try manager("Library").work.first)
        let error = try #require(throws: MigrationError.self) { try photos.rerun(other) }
        #expect(error.code == .misuse)
        #expect(
            error.description
                == "Library: step 1.0 cannot be run again. Pass a step that is registered, as `work` returns them."
        )
        #expect(try photos.migrate().completed == [])
    }

    @Test("once the record is removed, the manager is new")
    func forget() throws {
        try launch("1.0", store: store)
        try launch("2.0", store: store)
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        manager.register(["2.0"], log: log)
        try manager.removeRecord()
        #expect(try store.record(of: "Library") == nil)
        #expect(try manager.migrate().launch == .freshInstall)
        #expect(log.lines == [])
    }

    @Test("once the record is removed, a checkpoint of a step that is still running does not bring it back")
    func lateCheckpoint() async throws {
        try launch("1.0", store: store)
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: Adoption { "1.0" }, store: store)
        let late = Locked<MigrationContext?>(nil)
        manager.afterMigratingToVersion("2.0") { context in late.withLock { $0 = context } }
        try await manager.migrate()
        try await manager.runDeferred()
        try manager.removeRecord()
        try await late.withLock { $0 }?.checkpoint(1)
        #expect(try await manager.migrate().launch == .freshInstall)
    }

    @Test("once the record is removed, the end of a step that has lost its lock does not bring it back")
    func lateEnd() async throws {
        let folder = try TemporaryFolder()
        let store = try MigrationStore.jsonFile(at: folder.file("records.json"))
        try launch("1.0", store: store)
        func manager() throws -> MigrationManager {
            try MigrationManager(
                name: "Library", currentVersion: "2.0", adopting: Adoption { "1.0" }, store: store)
        }
        let first = try manager()
        first.afterMigratingToVersion("2.0") { _ in
            // The system is about to suspend the app, which gives up the lock of a step that does not stop.
            for name in try folder.fileNames where name.hasSuffix(".lock") {
                try FileManager.default.removeItem(at: folder.file(name))
            }
            try manager().removeRecord()
        }
        try await first.migrate()
        try await first.runDeferred()
        #expect(try store.record(of: "Library") == nil)
        #expect(try await manager().migrate().launch == .freshInstall)
    }

    @Test("a step that calls its manager gets an error, not a deadlock")
    func reentrance() throws {
        try launch("1.0", store: store)
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        manager.whenMigratingToVersion("2.0") { [unowned manager] in try manager.migrate() }
        let error = try #require(throws: MigrationError.self) { try manager.migrate() }
        #expect((error.underlyingError as? MigrationError)?.code == .misuse)
        #expect(
            error.description.contains(
                "Library: called while it is migrating, by one of its steps or by another task. Call the manager before migrate(), or when migrate() has returned."
            ))
    }

    @Test("a manager waits for another one that holds the lock, and times out")
    func locked() throws {
        try launch("1.0", store: store)
        guard case .acquired(_, let release) = try store.lock("Library") else {
            Issue.record("the lock was taken")
            return
        }
        let options = MigrationOptions(lockTimeout: .milliseconds(30))
        let error = try #require(throws: MigrationError.self) {
            try launch("2.0", steps: ["2.0"], store: store, log: log, options: options)
        }
        #expect(error.code == .locked)
        #expect(
            error.message == "Library: this process is migrating, and did not finish within 0.03 seconds.")
        #expect(log.lines == [])
        // A launch would not repeat what a recovery screen has asked for.
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store, options: options)
        let refused = try #require(throws: MigrationError.self) { try manager.removeRecord() }
        #expect(refused.remedy == "Make this call again when it has finished.")
        release()
        #expect(try launch("2.0", steps: ["2.0"], store: store, log: log).completed.versions == ["2.0"])
    }

    @Test("a relaunch with nothing pending takes no lock")
    func relaunchTakesNoLock() throws {
        try launch("1.0", store: store)
        guard case .acquired(_, let release) = try store.lock("Library") else {
            Issue.record("the lock was taken")
            return
        }
        defer { release() }
        #expect(
            try launch("1.0", store: store, options: MigrationOptions(lockTimeout: .zero)).launch == .relaunch
        )
    }
}
