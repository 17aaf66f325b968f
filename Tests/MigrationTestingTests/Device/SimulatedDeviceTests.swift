import AppMigrations
import Foundation
import GRDB
import MigrationTesting
import SchemaMigrations
import TestTraits
import Testing

@Suite("A simulated device", .timed)
struct SimulatedDeviceTests {
    /// An app with plain steps, each of which leaves a line in a file.
    private static func plainApp(_ folder: URL, _ version: AppVersion) throws {
        let manager = try MigrationManager(
            currentVersion: version,
            adopting: .newApp,
            store: MigrationStore(
                JSONStore(at: folder.appendingPathComponent("records.json"), durability: .recordOnly)),
            options: MigrationOptions(ignoresStepsAboveCurrent: true))
        for step in ["1.1", "1.1-1", "2.0"] as [AppVersion] {
            manager.whenMigratingToVersion(step) { try folder.add("\(step)") }
        }
        try manager.migrate()
    }

    /// An app whose steps work in a database, which is the store as well.
    private static func databaseApp(_ folder: URL, _ version: AppVersion) throws {
        let database = try DatabaseQueue(path: folder.appendingPathComponent("app.sqlite").path)
        let manager = try MigrationManager(
            name: "Library", currentVersion: version, adopting: .newApp, store: .database(database),
            options: MigrationOptions(ignoresStepsAboveCurrent: true))
        let schema = try SchemaMigrator(migrations: [
            SQLMigration(version: 1, name: "note", sql: "CREATE TABLE note(line TEXT);")
        ])
        manager.whenMigratingToVersion("1.0", migrate: schema, in: database)
        for step in ["1.1", "2.0"] as [AppVersion] {
            manager.whenMigratingToVersion(step, in: database) { db in
                try db.execute(sql: "INSERT INTO note VALUES (?)", arguments: ["\(step)"])
            }
        }
        try manager.migrate()
    }

    /// The lines that the steps of ``databaseApp(_:_:)`` have left.
    private static func notes(_ device: SimulatedDevice) throws -> [String] {
        try device.database.read { try String.fetchAll($0, sql: "SELECT line FROM note") }
    }

    @Test("refuses to migrate inside a transaction of the app's, as a real launch does")
    func insideTransaction() throws {
        let device = try SimulatedDevice { folder, version in
            let database = try DatabaseQueue(path: folder.appendingPathComponent("app.sqlite").path)
            try database.inTransaction { _ in
                let manager = try MigrationManager(
                    currentVersion: version, adopting: .newApp, store: .database(database))
                manager.whenMigratingToVersion("1.0") {}
                try manager.migrate()
                return .commit
            }
        }
        let error = #expect(throws: MigrationError.self) { try device.launch(as: "1.0") }
        #expect(error?.code == .misuse)
        #expect(error?.message.contains("is migrated from inside one of its own transactions") == true)
    }

    @Test("runs upgrades, and logs in words what ran")
    func upgrades() throws {
        let device = try SimulatedDevice(Self.plainApp)
        try device.launch(as: "1.0")
        try device.launch(as: "1.1")
        try device.launch(as: "1.1")
        try device.launch(as: "2.0")
        try device.expectLog([
            "launch as 1.0: fresh install",
            "launch as 1.1: upgrade from 1.0, ran 1.1 and 1.1-1",
            "launch as 1.1: relaunch",
            "launch as 2.0: upgrade from 1.1, ran 2.0",
        ])
        #expect(try device.folder.lines == ["1.1", "1.1-1", "2.0"])
    }

    @Test("kills a plain step between its work and the record, so that it runs again")
    func killsPlainStep() throws {
        let device = try SimulatedDevice(Self.plainApp)
        try device.launch(as: "1.0")
        try device.kill(during: "1.1-1", launching: "2.0")
        try device.launch(as: "2.0")
        try device.expectLog([
            "launch as 1.0: fresh install",
            "launch as 2.0: upgrade from 1.0, ran 1.1, killed at 1.1-1",
            "launch as 2.0: upgrade from 1.0, ran 1.1-1 and 2.0",
        ])
        #expect(try device.folder.lines == ["1.1", "1.1-1", "1.1-1", "2.0"])
    }

    @Test("rolls back the step in a database that it kills")
    func killsDatabaseStep() throws {
        let device = try SimulatedDevice(Self.databaseApp)
        try device.kill(during: "1.0")
        try device.launch(as: "1.0")
        try device.kill(during: "2.0")
        try device.launch(as: "2.0")
        try device.expectLog([
            "launch as 1.0: Library: fresh install, killed at 1.0",
            "launch as 1.0: Library: fresh install, migrated app.sqlite to 1",
            "launch as 2.0: Library: upgrade from 1.0, ran 1.1, killed at 2.0",
            "launch as 2.0: Library: upgrade from 1.0, ran 2.0",
        ])
        #expect(try Self.notes(device) == ["1.1", "2.0"])
    }

    @Test("can be killed at any moment, and continues with the next launch", arguments: [true, false])
    func everyMoment(inDatabase: Bool) throws {
        let app = inDatabase ? Self.databaseApp : Self.plainApp
        try expectEveryKill(of: app, launching: "2.0") { device, moment in
            if inDatabase {
                #expect(try Self.notes(device) == ["1.1", "2.0"], "moment \(moment)")
            } else {
                // At most one step ran twice.
                let lines = try device.folder.lines
                #expect(Set(lines) == ["1.1", "1.1-1", "2.0"], "moment \(moment)")
                #expect(lines.count <= 4, "moment \(moment)")
            }
        }
    }

    @Test("is killed at a moment that counts on from the first one if a launch has fewer")
    func momentFromStart() throws {
        func killed(_ kill: (SimulatedDevice) throws -> Bool) throws -> [String]? {
            let device = try SimulatedDevice(Self.plainApp)
            try device.launch(as: "1.0")
            return try kill(device) ? device.log : nil
        }
        var logs: [[String]] = []
        while let log = try killed({ try $0.kill(atMoment: logs.count + 1, launching: "2.0") }) {
            logs.append(log)
        }
        #expect(logs.count > 4)
        for moment in logs.indices {
            let later = logs.count * (1 + moment % 2) + moment + 1
            #expect(try killed { try $0.kill(atMomentFromStart: later, launching: "2.0") } == logs[moment])
        }
    }

    @Test("has two moments in a commit, however many managers work in the database")
    func managersOfOneDatabase() throws {
        func moments(managers: Int) throws -> Int {
            var moment = 1
            while true {
                let device = try SimulatedDevice { folder, version in
                    let queue = try DatabaseQueue(path: folder.appendingPathComponent("app.sqlite").path)
                    for number in 1...managers {
                        let manager = try MigrationManager(
                            name: "\(number)", currentVersion: version, adopting: .newApp,
                            store: .database(queue))
                        manager.whenMigratingToVersion("1.0", in: queue, onFreshInstall: .run) { _ in }
                        if number == managers { try manager.migrate() }
                    }
                }
                guard try device.kill(atMoment: moment, launching: "1.0") else { return moment - 1 }
                moment += 1
            }
        }
        let alone = try moments(managers: 1)
        #expect(alone > 4)
        #expect(try moments(managers: 3) == alone)
    }

    @Test("writes nothing after its death, even if the app continues")
    func deadIsDead() throws {
        var records: Data?
        let device = try SimulatedDevice { (folder: URL, version: AppVersion) throws -> Void in
            try? Self.plainApp(folder, version)
            guard version == "2.0" else { return }
            records = try Data(contentsOf: folder.appendingPathComponent("records.json"))
            try? Self.plainApp(folder, version)
        }
        try device.launch(as: "1.0")
        try device.kill(during: "2.0")
        let now = try Data(contentsOf: device.folder.appendingPathComponent("records.json"))
        #expect(records == now)
        #expect(device.log.last == "launch as 2.0: upgrade from 1.0, ran 1.1 and 1.1-1, killed at 2.0")
    }

    @Test("restores a backup, and downgrades")
    func backups() throws {
        let device = try SimulatedDevice(Self.plainApp)
        try device.launch(as: "1.0")
        let backup = try device.backUp()
        try device.launch(as: "2.0")
        try device.downgrade(to: "1.1")
        try device.launch(as: "2.0")
        try device.restoreBackup(from: backup)
        try device.launch(as: "1.1")
        try device.expectLog([
            "launch as 1.0: fresh install",
            "back up",
            "launch as 2.0: upgrade from 1.0, ran 1.1, 1.1-1 and 2.0",
            "downgrade to 1.1: downgrade from 2.0",
            "launch as 2.0: upgrade from 1.1",
            "restore backup 1",
            "launch as 1.1: upgrade from 1.0, ran 1.1 and 1.1-1",
        ])
        #expect(try device.folder.lines == ["1.1", "1.1-1"])
    }

    @Test("throws what the app throws, and logs it")
    func failure() throws {
        struct Broken: Error, CustomStringConvertible { let description = "the disk is full" }
        let device = try SimulatedDevice { folder, version in
            try Self.plainApp(folder, version)
            throw Broken()
        }
        #expect(throws: Broken.self) { try device.launch(as: "1.0") }
        #expect(device.log == ["launch as 1.0: fresh install, failed: the disk is full"])
    }

    @Test("explains what is wrong with a history")
    func messages() throws {
        let device = try SimulatedDevice(Self.plainApp)
        try device.launch(as: "1.0")
        func message(_ body: () throws -> Void) -> String {
            (#expect(throws: SimulatedDeviceError.self) { try body() })?.description ?? ""
        }
        #expect(
            message { try device.expectLog(["launch as 1.0: fresh install", "launch as 1.1: relaunch"]) }
                == """
                The device was expected to have another history.
                Expected:
                  1. launch as 1.0: fresh install
                → 2. launch as 1.1: relaunch
                Found:
                  1. launch as 1.0: fresh install
                """)
        #expect(
            message { try device.downgrade(to: "1.0") }.hasPrefix(
                "1.0 is not a downgrade: the highest version so far is 1.0."))
        #expect(
            message { try device.kill(during: "3.0") }.hasPrefix(
                "The launch was not killed: step 3.0 was not run."))
        let idle = try SimulatedDevice { _, _ in }
        #expect(
            message { try idle.launch(as: "1.0") } == """
                No manager was launched as 1.0. Create the managers in the closure of the device, on the thread on \
                which it is called, call migrate(), and let its errors through.
                What has happened:
                  nothing
                """)
    }

    @Test(
        "has the failure of a launch in its log, whether the app throws or catches it",
        arguments: [false, true])
    func failure(isCaught: Bool) throws {
        let device = try SimulatedDevice { folder, version in
            let manager = try MigrationManager(
                currentVersion: version, adopting: .newApp,
                store: .jsonFile(at: folder.appendingPathComponent("records.json")),
                options: MigrationOptions(ignoresStepsAboveCurrent: true))
            manager.whenMigratingToVersion("1.1") {}
            manager.whenMigratingToVersion("2.0") { throw Mishap() }
            do { try manager.migrate() } catch  where isCaught {}
        }
        try device.launch(as: "1.0")
        if isCaught {
            try device.launch(as: "2.0")
        } else {
            #expect(throws: MigrationError.self) { try device.launch(as: "2.0") }
        }
        try device.launch(as: "1.1")
        #expect(device.log.count == 3)
        let failure = isCaught ? "2.0 failed: a mishap" : "failed: default: step 2.0 "
        #expect(
            device.log[1].hasPrefix("launch as 2.0: upgrade from 1.0, ran 1.1, \(failure)"), "\(device.log)")
        #expect(device.log[2] == "launch as 1.1: downgrade from 2.0")
    }

    @Test("has what one manager postponed, and caught, in its log, though another one throws")
    func postponed() throws {
        let device = try SimulatedDevice { folder, version in
            func manager(_ name: String, _ error: any Error) throws -> MigrationManager {
                let manager = try MigrationManager(
                    name: name, currentVersion: version, adopting: .newApp,
                    store: .jsonFile(at: folder.appendingPathComponent("records.json")),
                    options: MigrationOptions(ignoresStepsAboveCurrent: true))
                manager.whenMigratingToVersion("2.0") { throw error }
                return manager
            }
            do {
                try manager("Search", MigrationPostponed(reason: "it is switched off")).migrate()
            } catch let error as MigrationError where error.code == .postponed {}
            try manager("Library", Mishap()).migrate()
        }
        try device.launch(as: "1.0")
        #expect(throws: MigrationError.self) { try device.launch(as: "2.0") }
        #expect(
            device.log[1].hasPrefix(
                """
                launch as 2.0: Search: upgrade from 1.0, 2.0 was postponed: it is switched off; Library: upgrade from \
                1.0, failed: Library: step 2.0
                """), "\(device.log)")
    }

    @Test("removes its folder when it is released")
    func folder() throws {
        var device: SimulatedDevice? = try SimulatedDevice(Self.plainApp)
        let folder = try #require(device?.folder)
        #expect(FileManager.default.fileExists(atPath: folder.path))
        device = nil
        #expect(!FileManager.default.fileExists(atPath: folder.deletingLastPathComponent().path))
    }
}

@Suite("Random histories", .timed)
struct HistoriesTests {
    /// An app that counts in a file, in a way that is right or forgets that a step may run again.
    private static func app(
        isRight: Bool
    ) -> SimulatedDevice.App {
        { folder, version in
            let manager = try MigrationManager(
                currentVersion: version,
                adopting: .newApp,
                store: MigrationStore(
                    JSONStore(at: folder.appendingPathComponent("records.json"), durability: .recordOnly)),
                options: MigrationOptions(ignoresStepsAboveCurrent: true))
            for step in ["1.1", "2.0"] as [AppVersion] {
                manager.whenMigratingToVersion(step) {
                    if try !isRight || !folder.lines.contains("\(step)") { try folder.add("\(step)") }
                }
            }
            try manager.migrate()
        }
    }

    private struct Twice: Error, CustomStringConvertible { let description = "a step has left two lines" }

    private func play(isRight: Bool, seed: UInt64 = 1, count: Int = 40) throws {
        try SimulatedDevice.histories(
            seed: seed, count: count, versions: ["1.0", "1.1", "2.0"], app: Self.app(isRight: isRight)
        ) { device, version in
            let lines = try device.folder.lines
            if Set(lines).count < lines.count { throw Twice() }
        }
    }

    @Test("find nothing wrong with a correct app")
    func right() throws {
        try play(isRight: true, count: 10)
    }

    @Test("are refused without a version, as they would find nothing wrong with any app")
    func noVersions() throws {
        let error = #expect(throws: SimulatedDeviceError.self) {
            try SimulatedDevice.histories(versions: [], app: Self.app(isRight: false)) { _, _ in }
        }
        #expect(
            error?.message == "There is nothing to launch. Pass the versions that people have as versions:.")
    }

    @Test("find a step that must not run twice, and report a short history that can be replayed")
    func wrong() throws {
        let error = try #require(
            #expect(throws: SimulatedHistoryError.self) { try play(isRight: false) })
        #expect(error.underlyingError is Twice)
        #expect(error.events.count == 3)
        let lines = error.description.split(separator: "\n").map(String.init)
        #expect(lines.first == "A history of 3 events fails: a step has left two lines")
        #expect(lines.last == "Play it again with histories(seed: \(error.seed), count: 1, …).")
        let again = #expect(throws: SimulatedHistoryError.self) {
            try play(isRight: false, seed: error.seed, count: 1)
        }
        #expect(again?.description == error.description)
    }
}

extension URL {
    fileprivate var lines: [String] {
        get throws {
            let file = appendingPathComponent("lines.txt")
            guard FileManager.default.fileExists(atPath: file.path) else { return [] }
            return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
        }
    }

    fileprivate func add(_ line: String) throws {
        let text = (try lines + [line]).joined(separator: "\n")
        try Data(text.utf8).write(to: appendingPathComponent("lines.txt"))
    }
}
