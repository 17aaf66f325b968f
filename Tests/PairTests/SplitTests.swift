import AppMigrations
import DatabaseBatches
import Foundation
import GRDB
import MigrationTesting
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("Steps that have come from another manager", .timed)
struct SplitTests {
    /// Release 2.5 gives the steps of `Notes` to `Marks`, which has the rest of them from then on.
    private func app(_ works: Set<NotesApp.Work> = Set(NotesApp.Work.allCases)) -> NotesApp {
        NotesApp(works: works, ignoresStepsAboveCurrent: true)
    }

    private func later(_ app: NotesApp) -> NotesApp {
        var later = app
        later.name = "Marks"
        later.adopting = { _ in .splitFrom("Notes", before: "3.0") }
        return later
    }

    /// A device on which releases below 2.5 have one manager, and later ones the other.
    private func device(_ app: NotesApp) throws -> SimulatedDevice {
        let later = later(app)
        return try SimulatedDevice { folder, version in
            try (version < "2.5" ? app : later).launch(in: folder, as: version)
        }
    }

    @Test(
        "are done once where the launch that moves them is killed at any moment",
        arguments: [("1.0", 0), ("2.0", 0), ("2.0", 1), ("2.0", 4)] as [(AppVersion, Int)])
    func dying(from version: AppVersion, batches: Int) throws {
        let app = app()
        // Each case has other moments.
        for moment in Array(1...500).sampled(oneIn: 12, from: 2 * batches) {
            let device = try device(app)
            try device.launch(as: "1.0")
            if version == "2.0" { try device.launch(as: version, deferredBatches: batches) }
            guard try device.kill(atMoment: moment, launching: "3.0") else {
                #expect(moment > 4)
                return
            }
            try device.launch(as: "3.0")
            #expect(try app.texts(in: device.folder) == NotesApp.texts("drc3"), "moment \(moment)")
        }
        Issue.record("the launch does not come to an end")
    }

    @Test("know that the process has died in one of them under its former name")
    func death() throws {
        let attempts = Locked<[Int]>([])
        let device = try SimulatedDevice { folder, version in
            let isLater = version >= "2.0"
            let manager = try MigrationManager(
                name: isLater ? "Marks" : "Notes", currentVersion: version,
                adopting: isLater ? .splitFrom("Notes", before: "2.0") : .newApp,
                store: .jsonFile(at: folder.appendingPathComponent("record.json")),
                options: MigrationOptions(ignoresStepsAboveCurrent: true))
            manager.whenMigratingToVersion("1.5") { context in
                attempts.withLock { $0.append(context.attempt) }
            }
            try manager.migrate()
        }
        try device.launch(as: "1.0")
        try device.kill(during: "1.5")
        try device.launch(as: "2.0")
        #expect(attempts.withLock { $0 } == [1, 2])
    }

    @Test("go on where they were, however much was done", arguments: 0...4)
    func halfDone(batches: Int) throws {
        let app = app()
        let device = try device(app)
        try device.launch(as: "1.0")
        try device.launch(as: "2.0", deferredBatches: batches)
        try device.launch(as: "2.5")
        #expect(try app.texts(in: device.folder) == NotesApp.texts("drc"))
        try device.launch(as: "3.0")
        #expect(try app.texts(in: device.folder) == NotesApp.texts("drc3"))
    }

    @Test("are done once although the older app, with one manager, runs again for a while", arguments: 0...4)
    func downgrade(batches: Int) throws {
        let app = app()
        let device = try device(app)
        try device.launch(as: "1.0")
        try device.launch(as: "2.5", deferredBatches: batches)
        try device.downgrade(to: "2.0")
        try device.launch(as: "3.0")
        #expect(try app.texts(in: device.folder) == NotesApp.texts("drc3"))
    }

    @Test(
        "are done once where the database was salvaged before or after they moved", arguments: [false, true])
    func salvaging(isMoved: Bool) throws {
        for batches in 0...4 {
            let app = app()
            let device = try device(app)
            try device.launch(as: "1.0")
            try device.launch(as: isMoved ? "2.5" : "2.0", deferredBatches: batches)
            try app.salvage(in: device.folder, for: "2.0")
            try device.launch(as: "3.0")
            #expect(try app.texts(in: device.folder) == NotesApp.texts("drc3"), "after \(batches)")
        }
    }

    @Test("stay skipped if the former manager has skipped them")
    func skip() throws {
        let app = app([.step, .rows])
        let device = try device(app)
        try device.launch(as: "1.0")
        try app.open(in: device.folder) { try app.manager("2.0", in: device.folder, $0).skip("2.0") }
        try device.launch(as: "3.0")
        #expect(try app.texts(in: device.folder) == NotesApp.texts("r3"))
    }

    @Test("run again if they were to run again under the former manager")
    func rerun() throws {
        let app = app([.cursor])
        let device = try device(app)
        try device.launch(as: "1.0")
        try device.launch(as: "2.0")
        try app.open(in: device.folder) { try app.manager("2.0", in: device.folder, $0).rerun("2.0-2") }
        try device.launch(as: "2.5")
        try device.launch(as: "2.5")
        #expect(try app.texts(in: device.folder) == NotesApp.texts("cc"))
    }

    @Test("keep what their database says of them where the store is damaged and replaced")
    func replaceRecord() throws {
        let app = app()
        let device = try device(app)
        try device.launch(as: "1.0")
        try device.launch(as: "2.0")
        try Data("{".utf8).write(to: device.folder.appendingPathComponent("migrations.json"))
        #expect(throws: MigrationError.self) { try device.launch(as: "3.0") }
        let later = later(app)
        try later.open(in: device.folder) {
            try later.manager("3.0", in: device.folder, $0).replaceRecord(assuming: "2.0")
        }
        try device.launch(as: "3.0")
        #expect(try app.texts(in: device.folder) == NotesApp.texts("drc3"))
    }

    @Test("keep an extension waiting until the app has moved them")
    func waitingRole() throws {
        let app = app([.step])
        let device = try device(app)
        try device.launch(as: "1.0")
        let later = later(app)
        func wait() throws {
            try later.open(in: device.folder) { queue in
                let manager = try MigrationManager(
                    name: "Marks", currentVersion: "2.5", adopting: later.adopting(queue),
                    store: .jsonFile(at: device.folder.appendingPathComponent("migrations.json")),
                    options: MigrationOptions(role: .waitsForApp))
                manager.whenMigratingToVersion("2.0", in: queue) { _ in Issue.record("the extension migrates")
                }
                try manager.migrate()
            }
        }
        let error = #expect(throws: MigrationError.self) { try wait() }
        #expect(error?.code == .notYetMigrated)
        try device.launch(as: "2.5")
        try wait()
        #expect(try app.texts(in: device.folder) == NotesApp.texts("d"))
    }

    @Test("are left to the new manager by an older app's deferred run that is under way", arguments: 1...2)
    func olderRun(batches: Int) throws {
        let app = app([.cursor])
        let device = try device(app)
        try device.launch(as: "1.0")
        try app.open(in: device.folder) { queue in
            let notes = try app.manager("2.0", in: device.folder, queue)
            try notes.migrate()
            var calls = 0
            try notes.runDeferred(while: {
                calls += 1
                if calls == batches { #expect(throws: Never.self) { try device.launch(as: "2.5") } }
                return true
            })
            #expect(calls >= batches)
        }
        #expect(try app.texts(in: device.folder) == NotesApp.texts("c"))
    }

    @Test("may be launched by a step of the manager from which they have come")
    func nested() throws {
        let folder = try TemporaryFolder()
        let store = try MigrationStore.jsonFile(at: folder.file("record.json"))
        let log = BridgeLog()
        func manager(_ name: String, _ version: AppVersion, _ adopting: Adoption) throws -> MigrationManager {
            try MigrationManager(
                name: name, currentVersion: version, adopting: adopting, store: store,
                options: MigrationOptions(lockTimeout: .zero))
        }
        try manager("Notes", "1.0", .newApp).migrate()
        let notes = try manager("Notes", "2.0", .newApp)
        notes.whenMigratingToVersion("2.0") { _ in
            let marks = try manager("Marks", "2.0", .splitFrom("Notes", before: "2.0"))
            marks.whenMigratingToVersion("1.5") { _ in log.add("1.5") }
            try marks.migrate()
            log.add("2.0")
        }
        try notes.migrate()
        #expect(log.lines == ["1.5", "2.0"])
    }

    @Test("may be deferred closures, which go on at their checkpoint")
    func deferredClosure() async throws {
        let store = MigrationStore.inMemory()
        let log = BridgeLog()
        func manager(_ name: String, _ version: AppVersion, _ adopting: Adoption, stop: Int?) throws
            -> MigrationManager
        {
            let manager = try MigrationManager(
                name: name, currentVersion: version, adopting: adopting, store: store)
            guard version > "1.0" else { return manager }
            manager.afterMigratingToVersion("2.0") { context in
                for item in (try context.lastCheckpoint(as: Int.self) ?? 0)..<4 {
                    if item == stop { throw MigrationPostponed(reason: "no network") }
                    log.add("\(name) \(item)")
                    try await context.checkpoint(item + 1)
                }
            }
            return manager
        }
        try await manager("Notes", "1.0", .newApp, stop: nil).migrate()
        let notes = try manager("Notes", "2.0", .newApp, stop: 2)
        try await notes.migrate()
        #expect(try await notes.runDeferred().failures.map(\.code) == [.postponed])
        let marks = try manager("Marks", "3.0", .splitFrom("Notes", before: "3.0"), stop: nil)
        try await marks.migrate()
        #expect(try await marks.runDeferred().completed.versions == ["2.0"])
        #expect(log.lines == ["Notes 0", "Notes 1", "Marks 2", "Marks 3"])
    }
}
