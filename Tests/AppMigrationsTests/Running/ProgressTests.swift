import AppMigrations
import Foundation
import TestSupport
import Testing

@Suite("Progress", .timed)
struct ProgressTests {
    let store = MigrationStore.inMemory()

    @Test("counts finished steps and the running step's own progress")
    func fractions() throws {
        try launch("1.0", store: store)
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        let progress = manager.progress
        var fractions: [Double] = []
        manager.whenMigratingToVersion("1.1") { fractions.append(progress.fractionCompleted) }
        manager.whenMigratingToVersion("1.2") { context in
            fractions.append(progress.fractionCompleted)
            context.progress.totalUnitCount = 10
            context.progress.completedUnitCount = 5
            fractions.append(progress.fractionCompleted)
            context.progress.completedUnitCount = 10
            fractions.append(progress.fractionCompleted)
        }
        manager.whenMigratingToVersion("1.3") { context in
            fractions.append(progress.fractionCompleted)
            context.progress.totalUnitCount = 10
            context.progress.completedUnitCount = 3
        }
        manager.whenMigratingToVersion("2.0") { fractions.append(progress.fractionCompleted) }
        #expect(progress.fractionCompleted == 0)
        try manager.migrate()
        #expect(fractions == [0, 0.25, 0.375, 0.5, 0.5, 0.75])
        #expect(progress.fractionCompleted == 1)
        #expect(progress.isFinished)
    }

    @Test(
        "takes every number", arguments: [.min, -1, 0, 1, .max] as [Int64], [.min, -1, 0, .max] as [Int64])
    func extremes(total: Int64, completed: Int64) throws {
        try launch("1.0", store: store)
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        for (index, version) in (["1.1", "1.2", "2.0"] as [AppVersion]).enumerated() {
            manager.whenMigratingToVersion(version) { [unowned manager] context in
                let progress = context.progress
                if index == 1 { manager.progress.completedUnitCount = completed }
                progress.totalUnitCount = total
                progress.completedUnitCount = completed
                _ = (progress.fractionCompleted, manager.progress.fractionCompleted)
                progress.completedUnitCount = total
                progress.totalUnitCount = completed
                _ = manager.progress.fractionCompleted
            }
        }
        try manager.migrate()
        #expect(manager.progress.isFinished)
    }

    @Test("is complete after a launch with nothing to do")
    func nothingToDo() throws {
        for _ in 1...2 {
            let manager = try MigrationManager(
                name: "Library", currentVersion: "1.0", adopting: .newApp, store: store)
            manager.register(["1.0"], log: Log())
            try manager.migrate()
            #expect(manager.progress.fractionCompleted == 1)
        }
    }

    @Test("stops at a failed step, and a retry counts the remaining steps")
    func failure() throws {
        try launch("1.0", store: store)
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        var fails = true
        var fractions: [Double] = []
        manager.register(["1.1"], log: Log())
        manager.whenMigratingToVersion("1.2") { [progress = manager.progress] context in
            context.progress.totalUnitCount = 2
            context.progress.completedUnitCount = 1
            fractions.append(progress.fractionCompleted)
            if fails { throw StepError(description: "not today") }
        }
        #expect(throws: MigrationError.self) { try manager.migrate() }
        #expect(fractions == [0.75])
        #expect(manager.progress.fractionCompleted == 0.5)
        fails = false
        try manager.migrate()
        #expect(fractions == [0.75, 0.5])
        #expect(manager.progress.fractionCompleted == 1)
    }

    @Test("counts a step of unknown length once it is finished")
    func indeterminate() throws {
        try launch("1.0", store: store)
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        let progress = manager.progress
        var fractions: [Double] = []
        manager.whenMigratingToVersion("1.1") { context in
            context.progress.totalUnitCount = -1
            fractions.append(progress.fractionCompleted)
        }
        manager.whenMigratingToVersion("1.2") { fractions.append(progress.fractionCompleted) }
        try manager.migrate()
        #expect(fractions == [0, 0.5])
        #expect(manager.progress.fractionCompleted == 1)
    }

    @Test("never falls back between migrate(through:) and migrate(), also for a parent")
    func through() throws {
        try launch("1.0", store: store)
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        let parent = Progress(totalUnitCount: 10)
        parent.addChild(manager.progress, withPendingUnitCount: 10)
        var fractions: [Double] = []
        for version in ["1.1", "1.2", "1.3", "2.0"] as [AppVersion] {
            manager.whenMigratingToVersion(version) { fractions.append(parent.fractionCompleted) }
        }
        try manager.migrate(through: "1.1")
        fractions.append(parent.fractionCompleted)
        try manager.migrate(through: "1.1")
        fractions.append(parent.fractionCompleted)
        #expect(!manager.progress.isFinished)
        try manager.migrate()
        #expect(fractions == [0, 0.25, 0.25, 0.25, 0.5, 0.75])
        #expect(parent.fractionCompleted == 1)
    }

    @Test("a step without anything to do may say so")
    func nothingInStep() throws {
        try launch("1.0", store: store)
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        manager.whenMigratingToVersion("1.1") { $0.progress.totalUnitCount = 0 }
        manager.whenMigratingToVersion("2.0") { context in
            let child = Progress(totalUnitCount: 0, parent: context.progress, pendingUnitCount: 1)
            context.progress.totalUnitCount = 0
            child.completedUnitCount = 0
        }
        #expect(try manager.migrate().completed.versions == ["1.1", "2.0"])
        #expect(manager.progress.fractionCompleted == 1)
    }
}
