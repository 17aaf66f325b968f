import AppMigrations
import DatabaseBatches
import DatabaseFiles
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("A manager whose database was salvaged", .timed)
struct LostRecordTests {
    typealias App = SalvagedApp

    static let apps = App.Kind.allCases.flatMap { kind in App.Adopting.allCases.map { (kind, $0) } }

    private static let lost =
        "the record in app.sqlite was lost when the database was salvaged, and nothing else says"
    private static let remedy = """
        Nothing was changed. Call replaceRecord(assuming:) with the version that the data is at: steps above it run, and \
        deferred closures at or below it, which may have been waiting.
        """

    @Test(
        "goes on where it was if one of two pages with its record is lost, or the schema",
        arguments: apps, [App.Loss.record, .mirror, .schema, .schemaAndRecord])
    func found(app: (App.Kind, App.Adopting), loss: App.Loss) throws {
        let app = try App(app.0, app.1)
        try app.begin()
        try app.launch("2.0")
        let report = try app.salvage(losing: loss)
        #expect(!report.hasLostRecord)
        #expect(!report.description.contains("version of the app"))
        #expect(try app.launch("2.0").launch == .relaunch)
        #expect(try app.letters() == ["!: 2000"])
        #expect(try app.launch("3.0", steps: ["2.0": "!", "3.0": "?"]).launch == .upgrade(from: "2.0"))
        #expect(try app.letters() == ["!?: 2000"])
    }

    @Test(
        "goes on where its store stands if that is elsewhere, and the record is lost",
        arguments: App.Adopting.allCases, [App.Loss.both, .schemaAndBoth])
    func storeElsewhere(adopting: App.Adopting, loss: App.Loss) throws {
        let app = try App(.json, adopting)
        try app.begin()
        try app.launch("2.0")
        let report = try app.salvage(losing: loss)
        #expect(report.hasLostRecord && !report.isComplete && report.summary.hasLostRecord)
        #expect(
            report.description.hasSuffix(
                ". It is no longer known which version of the app updated this data last."))
        #expect(report.debugDescription.contains(" rows of unknown tables, no record of managers\n"))
        #expect(try app.manage("2.0") { try $0.pending() } == [])
        #expect(try app.launch("2.0").launch == .relaunch)
        #expect(try app.letters() == ["!: 2000"])
        try app.launch("3.0", steps: ["2.0": "!", "3.0": "?"])
        #expect(try app.letters() == ["!?: 2000"])
    }

    @Test("runs the steps of the first launch after it that are new", arguments: [false, true])
    func upgradeAfterLoss(andHistory: Bool) throws {
        let app = try App(.json)
        try app.begin()
        try app.launch("2.0")
        try app.salvage(losing: .both, andHistory: andHistory)
        try app.launch("3.0", steps: ["1.5": "x", "2.0": "!", "3.0": "?"])
        #expect(try app.letters() == ["!?: 2000"])
    }

    @Test(
        "asks the app if its store was in the database, and the record is lost",
        arguments: App.Adopting.allCases, [App.Loss.both, .schemaAndBoth])
    func storeInDatabase(adopting: App.Adopting, loss: App.Loss) throws {
        let app = try App(.sqlite, adopting)
        try app.begin()
        try app.launch("2.0")
        #expect(try app.salvage(losing: loss).hasLostRecord)
        let text = try app.expectUnknown { try app.launch("2.0") }
        #expect(text.contains("Library: \(Self.lost) which steps have run. \(Self.remedy)"))
        try app.expectUnknown { try app.manage("2.0") { try $0.pending() } }
        try app.expectUnknown { try app.manage("2.0") { try $0.runDeferred() } }
        let waiting = MigrationOptions(role: .waitsForApp)
        try app.expectUnknown { try app.manage("2.0", options: waiting) { try $0.migrate() } }

        try app.manage("2.0") { try $0.replaceRecord(assuming: "2.0") }
        try app.launch("2.0")
        #expect(try app.letters() == ["!: 2000"])
        #expect(try app.launch("3.0", steps: ["2.0": "!", "3.0": "?"]).launch == .upgrade(from: "2.0"))
        #expect(try app.letters() == ["!?: 2000"])
        // There is no damaged record any more.
        let error = try #require(throws: MigrationError.self) {
            try app.manage("3.0") { try $0.replaceRecord(assuming: "2.0") }
        }
        #expect(error.code == .misuse)
    }

    @Test("does not run a step again that the history has, whatever version the app names")
    func historyIsBelieved() throws {
        let app = try App(.sqlite)
        try app.begin()
        try app.launch("2.0")
        try app.salvage(losing: .both)
        try app.manage("3.0") { try $0.replaceRecord(assuming: "1.0") }
        try app.launch("3.0", steps: ["2.0": "!", "3.0": "?"])
        #expect(try app.letters() == ["!?: 2000"])
    }

    @Test(
        "needs no step that its fresh install did not need", arguments: App.Kind.allCases, App.Loss.allCases)
    func freshInstall(kind: App.Kind, loss: App.Loss) throws {
        let app = try App(kind)
        #expect(try app.launch("2.0").launch == .freshInstall)
        try app.insertNotes()
        let isLost = try app.salvage(losing: loss).hasLostRecord
        #expect(isLost == [.both, .schemaAndBoth].contains(loss))
        if isLost, kind == .sqlite {
            try app.expectUnknown { try app.launch("2.0") }
        } else {
            try app.launch("2.0")
            #expect(try app.letters() == [": 2000"])
        }
    }

    // MARK: What a complete launch does not say

    @Test("asks the app about a sub-migration if the history is lost as well", arguments: [false, true])
    func subMigration(andHistory: Bool) throws {
        let app = try App(.json)
        try app.begin()
        try app.launch("2.0", steps: ["2.0-1": "!"])
        try app.salvage(losing: .both, andHistory: andHistory)
        if andHistory {
            let text = try app.expectUnknown { try app.launch("2.0", steps: ["2.0-1": "!"]) }
            #expect(text.contains("\(Self.lost) whether step 2.0-1 (SalvagedApp.swift:"))
            try app.manage("2.0") { try $0.replaceRecord(assuming: "2.0-1") }
        }
        try app.launch("2.0", steps: ["2.0-1": "!"])
        #expect(try app.letters() == ["!: 2000"])
    }

    @Test("runs no step again that a pre-release has run, whatever version the app names")
    func preRelease() throws {
        let app = try App(.json)
        try app.begin()
        try app.launch("2.0-beta.1")
        try app.salvage(losing: .both, andHistory: true)
        let steps: [AppVersion: String] = ["2.0": "!", "2.0-1": "?"]
        try app.expectUnknown { try app.launch("2.0", steps: steps) }
        // The data is not older than what it has completed elsewhere.
        try app.manage("2.0", steps: steps, options: MigrationOptions(oldestSupported: "1.5")) {
            try $0.replaceRecord(assuming: "1.0")
        }
        try app.launch("2.0", steps: steps)
        #expect(try app.letters() == ["!?: 2000"])
    }

    /// Launches 2.0 with a step 1.5, and one of 2.0 that may fail.
    private func upgrade(_ app: App, failing: Bool) throws {
        try app.manage("2.0", steps: ["1.5": "!"]) { manager, queue in
            manager.whenMigratingToVersion("2.0", in: queue) { db in
                if failing { throw Mishap() }
                try db.execute(sql: "UPDATE note SET text = text || '?'")
            }
        } _: {
            _ = try $0.migrate()
        }
    }

    @Test("asks the app about the steps of a launch that was cut short")
    func unfinishedUpgrade() throws {
        let app = try App(.json)
        try app.begin()
        #expect(throws: MigrationError.self) { try upgrade(app, failing: true) }
        try app.salvage(losing: .both)
        let text = try app.expectUnknown { try upgrade(app, failing: false) }
        #expect(text.contains("\(Self.lost) whether step 2.0 ("))
        try app.manage("2.0") { try $0.replaceRecord(assuming: "1.5") }
        try upgrade(app, failing: false)
        #expect(try app.letters() == ["!?: 2000"])
    }

    /// Adds a deferred step, which adds `#` to each text, 200 at a time.
    private func fill(
        _ manager: MigrationManager, _ queue: DatabaseQueue, at version: AppVersion = "2.0-1",
        stoppingAt stop: Int = 2_001
    ) {
        let progress = manager.deferredProgress
        manager.afterMigratingToVersion(version, in: queue, startingAt: 1) { db, first in
            try db.execute(
                sql: "UPDATE note SET text = text || '#' WHERE id BETWEEN ? AND ?",
                arguments: [first, first + 199])
            // A batch ends after 50 ms.
            if stop < 2_000 { Thread.sleep(forTimeInterval: 0.02) }
            if first >= stop { progress.cancel() }
            return first + 200 > 2_000 ? .done : .more(first + 200)
        }
    }

    /// Launches 2.0, and runs the deferred step up to a row.
    private func launchAndFill(
        _ app: App, steps: [AppVersion: String] = ["2.0": "!"], at version: AppVersion = "2.0-1",
        stoppingAt stop: Int = 2_001
    ) throws {
        try app.manage("2.0", steps: steps) {
            fill($0, $1, at: version, stoppingAt: stop)
        } _: { manager in
            try manager.migrate()
            try manager.runDeferred()
        }
    }

    @Test("continues a deferred step where it was", arguments: App.Kind.allCases, [App.Loss.record, .schema])
    func deferredStep(kind: App.Kind, loss: App.Loss) throws {
        let app = try App(kind)
        try app.begin()
        try launchAndFill(app, stoppingAt: 1_001)
        #expect(try app.letters().count == 2, "some texts have it, and some have not")
        try app.salvage(losing: loss)
        try launchAndFill(app)
        #expect(try app.letters() == ["!#: 2000"])
    }

    @Test("asks the app about a deferred step that may be half done, and takes a settled one for done")
    func lostDeferredStep() throws {
        for stop in [1_001, 2_001] {
            let app = try App(.json)
            try app.begin()
            try launchAndFill(app, stoppingAt: stop)
            let letters = try app.letters()
            #expect(letters.count == (stop < 2_000 ? 2 : 1))
            try app.salvage(losing: .both)
            if stop < 2_000 {
                let text = try app.expectUnknown { try launchAndFill(app) }
                #expect(text.contains("\(Self.lost) whether deferred step 2.0-1 ("))
                try app.manage("2.0") {
                    fill($0, $1)
                } _: {
                    try $0.replaceRecord(assuming: "2.0-1")
                }
            }
            try launchAndFill(app)
            #expect(try app.letters() == letters)
        }
    }

    @Test("runs a deferred step again that is above the version that the app names")
    func namedDeferredStep() throws {
        let app = try App(.json)
        try app.begin()
        func launch(stoppingAt stop: Int = 2_001) throws {
            try launchAndFill(app, steps: ["1.2": "!"], at: "1.5", stoppingAt: stop)
        }
        try launch(stoppingAt: 1_001)
        try app.salvage(losing: .both)
        try app.expectUnknown { try launch() }
        try app.manage("2.0", steps: ["1.2": "!"]) {
            fill($0, $1, at: "1.5")
        } _: {
            try $0.replaceRecord(assuming: "1.0")
        }
        try launch()
        // It has begun anew, and the step 1.2, which its store has completed, has not.
        let letters = try app.letters()
        #expect(letters.count == 2 && letters.allSatisfy { $0.hasPrefix("!#") })
    }

    // MARK: Several managers and places

    @Test("is independent of the other managers")
    func twoManagers() throws {
        let app = try App(.json)
        try app.begin()
        let steps: [AppVersion: String] = ["2.0": "?"]
        func settings<Result>(_ body: (MigrationManager) throws -> Result) throws -> Result {
            let queue = try DatabaseQueue(path: app.path)
            defer { try? queue.close() }
            return try app.manage("2.0", "Settings", steps: steps, store: .database(queue)) { try body($0) }
        }
        try app.launch("2.0")
        try settings { _ = try $0.migrate() }
        #expect(try app.letters() == ["!?: 2000"])
        try app.salvage(losing: .both, andHistory: true)
        try app.expectUnknown { try settings { try $0.migrate() } }
        #expect(try app.launch("2.0").launch == .relaunch)
        // Its own records do not tell a manager about another one.
        try app.expectUnknown { try settings { try $0.migrate() } }
        try settings { try $0.replaceRecord(assuming: "2.0") }
        try settings { _ = try $0.migrate() }
        try app.launch("2.0")
        #expect(try app.letters() == ["!?: 2000"])
    }

    @Test("does not begin at the version that was named for another one if its store knows better")
    func namedForAnother() throws {
        let app = try App(.json)
        try app.begin()
        try app.launch("2.0")
        try app.manage("2.0", "Settings", steps: ["2.0": "?"]) { _ = try $0.migrate() }
        try app.salvage(losing: .both, andHistory: true)
        try app.manage("2.0", "Settings", steps: ["2.0": "?"]) { try $0.replaceRecord(assuming: "1.0") }
        try app.launch("2.0")
        try app.manage("2.0", "Settings", steps: ["2.0": "?"]) { _ = try $0.migrate() }
        #expect(try app.letters() == ["!?: 2000"])
    }

    @Test("is asked although a version was named for another one, if its own launch was cut short")
    func namedForAnotherBefore() throws {
        let app = try App(.json)
        try app.begin()
        #expect(throws: MigrationError.self) { try upgrade(app, failing: true) }
        try app.manage("2.0", "Settings", steps: [:]) { _ = try $0.migrate() }
        try app.salvage(losing: .both, andHistory: true)
        try app.manage("2.0", "Settings", steps: [:]) { try $0.replaceRecord(assuming: "2.0") }
        try app.expectUnknown { try upgrade(app, failing: false) }
        try app.manage("2.0") { try $0.replaceRecord(assuming: "1.5") }
        try upgrade(app, failing: false)
        #expect(try app.letters() == ["!?: 2000"])
    }

    @Test("begins like any new one if it comes after that, and its store knows the install")
    func newManager() throws {
        let app = try App(.json)
        try app.begin()
        try app.launch("2.0")
        try app.salvage(losing: .both)
        try app.launch("2.0")
        try app.manage("3.0", "Tags", steps: ["2.5": "#", "3.0": "?"]) { _ = try $0.migrate() }
        #expect(try app.letters() == ["!#?: 2000"])
    }

    @Test("asks the app if it comes after that, and its store is in the database")
    func newManagerInDatabase() throws {
        let app = try App(.sqlite)
        try app.begin()
        try app.salvage(losing: .both)
        try app.manage("2.0") { try $0.replaceRecord(assuming: "1.0") }
        try app.launch("2.0")
        let line = MigrationOptions(line: "Plugin")
        func launch() throws {
            try app.manage("3.0", "Tags", steps: ["3.0": "?"], options: line) { _ = try $0.migrate() }
        }
        try app.expectUnknown { try launch() }
        try app.manage("3.0", "Tags", options: line) { try $0.replaceRecord(assuming: "2.0") }
        try launch()
        #expect(try app.letters() == ["!?: 2000"])
    }

    @Test("asks the app if its store is gone as well")
    func twoLosses() throws {
        let app = try App(.json, .tables)
        try app.begin()
        try app.launch("2.0")
        try app.salvage(losing: .both)
        try FileManager.default.removeItem(at: app.storeURL)
        try app.expectUnknown { try app.launch("2.0") }
        try app.manage("2.0") { try $0.replaceRecord(assuming: "2.0") }
        try app.launch("2.0")
        #expect(try app.letters() == ["!: 2000"])
    }

    @Test("goes on in its store where one of its databases stands")
    func databaseElsewhere() throws {
        let app = try App(.sqlite)
        let ran = Locked(0)
        func launch() throws {
            let other = try DatabaseQueue(path: app.folder.path("other.sqlite"))
            try app.manage("2.0") { manager, _ in
                manager.whenMigratingToVersion("2.0-1", in: other) { _ in ran.withLock { $0 += 1 } }
            } _: {
                _ = try $0.migrate()
            }
        }
        try app.begin()
        try app.launch("1.0")
        try launch()
        try app.salvage(losing: .both, andHistory: true)
        try launch()
        #expect(try app.letters() == ["!: 2000"])
        #expect(ran.withLock { $0 } <= 1)
    }

    @Test("writes the record of the database before that of the store, which says where it begins")
    func orderOfRecords() throws {
        let app = try App(.json)
        try app.begin()
        try app.launch("2.0")
        try app.salvage(losing: .both)
        let other = try DatabaseQueue(path: app.path)
        let steps: [AppVersion: String] = ["2.0": "!", "3.0": "?"]
        try other.inDatabase { db in
            try db.execute(sql: "BEGIN IMMEDIATE")
            let error = try #require(throws: MigrationError.self) {
                try app.manage("3.0", steps: steps, options: MigrationOptions(lockTimeout: .zero)) {
                    _ = try $0.migrate()
                }
            }
            #expect(error.code == .locked)
            try db.execute(sql: "ROLLBACK")
        }
        try other.close()
        try app.launch("3.0", steps: steps)
        #expect(try app.letters() == ["!?: 2000"])
    }
}
