import AppMigrations
import DatabaseBatches
import Foundation
import GRDB
import MigrationTesting
import SchemaMigrations
import TestTraits
import Testing

@Suite("Deferred steps on a simulated device", .timed)
struct DeferredDeviceTests {
    /// An app that hashes its photos after the launch of 2.1, and drops what they were made from in 3.0.
    private static func app(isRight: Bool = true, poison: Int64? = nil) -> SimulatedDevice.App {
        { folder, version in
            let database = try DatabaseQueue(path: folder.appendingPathComponent("app.sqlite").path)
            let manager = try MigrationManager(
                currentVersion: version, adopting: .newApp, store: .database(database),
                options: MigrationOptions(ignoresStepsAboveCurrent: true))
            let schema = try SchemaMigrator(migrations: [
                SQLMigration(
                    version: 1, name: "photo",
                    sql: """
                        CREATE TABLE photo(id INTEGER PRIMARY KEY, data TEXT, hashes INTEGER NOT NULL DEFAULT 0);
                        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 25)
                        INSERT INTO photo(id, data) SELECT i, 'photo ' || i FROM n;
                        """)
            ])
            manager.whenMigratingToVersion("1.0", migrate: schema, in: database)
            manager.afterMigratingToVersion("2.1", in: database, overRowsOf: "photo") { db, rows in
                if let poison, try rows.ids(of: "photo", db).contains(poison) { throw Mishap() }
                // The wrong app does all rows in every batch.
                try db.execute(
                    literal: "UPDATE photo SET hashes = hashes + 1 WHERE \(!isRight) OR \(rows.condition)")
            }
            manager.whenMigratingToVersion("3.0", finishing: ["2.1"], in: database) { db in
                try db.execute(sql: "ALTER TABLE photo DROP COLUMN data")
            }
            try manager.migrate()
            try manager.runDeferred()
        }
    }

    private static func hashes(_ device: SimulatedDevice) throws -> [Int] {
        try device.database.read { try Int.fetchAll($0, sql: "SELECT hashes FROM photo ORDER BY id") }
    }

    /// The hashes of the 25 photos when the first ones are done.
    private static func hashes(done count: Int) -> [Int] {
        Array(repeating: 1, count: count) + Array(repeating: 0, count: 25 - count)
    }

    private let done = Self.hashes(done: 25)

    /// A device on which 1.0 runs.
    private static func device(_ app: @escaping SimulatedDevice.App = Self.app()) throws -> SimulatedDevice {
        let device = try SimulatedDevice(app)
        try device.launch(as: "1.0")
        return device
    }

    @Test("run after the launch, as long as there is time, and continue at the next launch")
    func time() throws {
        let device = try Self.device()
        try device.launch(as: "2.1", deferredBatches: 0)
        try device.launch(as: "2.1", deferredBatches: 1)
        #expect(try Self.hashes(device) == Self.hashes(done: 10))
        try device.launch(as: "2.1")
        try device.launch(as: "2.1")
        try device.expectLog([
            "launch as 1.0: fresh install, migrated app.sqlite to 1",
            "launch as 2.1: upgrade from 1.0",
            "launch as 2.1: relaunch, ran deferred 2.1 up to 10 of 25",
            "launch as 2.1: relaunch, ran deferred 2.1",
            "launch as 2.1: relaunch",
        ])
        #expect(try Self.hashes(device) == done)
    }

    @Test("are killed in a batch, which is rolled back")
    func killed() throws {
        let device = try Self.device()
        try device.kill(during: "2.1", afterBatches: 2)
        #expect(try Self.hashes(device) == Self.hashes(done: 20))
        try device.kill(during: "2.1")
        try device.launch(as: "2.1")
        try device.expectLog([
            "launch as 1.0: fresh install, migrated app.sqlite to 1",
            "launch as 2.1: upgrade from 1.0, ran deferred 2.1 up to 20 of 25, killed at 2.1",
            "launch as 2.1: relaunch, killed at 2.1",
            "launch as 2.1: relaunch, ran deferred 2.1",
        ])
        #expect(try Self.hashes(device) == done)
    }

    @Test("are finished by a later release, even when that is killed meanwhile")
    func update() throws {
        let device = try Self.device()
        let backup = try device.backUp()
        try device.launch(as: "2.1", deferredBatches: 1)
        try device.kill(during: "2.1", afterBatches: 1, launching: "3.0")
        try device.launch(as: "3.0")
        #expect(try Self.hashes(device) == done)
        try device.restoreBackup(from: backup)
        try device.launch(as: "3.0")
        #expect(try Self.hashes(device) == done)
        try device.expectLog([
            "launch as 1.0: fresh install, migrated app.sqlite to 1",
            "back up",
            "launch as 2.1: upgrade from 1.0, ran deferred 2.1 up to 10 of 25",
            "launch as 3.0: upgrade from 2.1, killed at 2.1",
            "launch as 3.0: upgrade from 2.1, ran 2.1 and 3.0",
            "restore backup 1",
            "launch as 3.0: upgrade from 1.0, ran 2.1 and 3.0",
        ])
    }

    @Test("that fail stand in the log")
    func failing() throws {
        let device = try Self.device(Self.app(poison: 12))
        try device.launch(as: "2.1")
        try device.launch(as: "2.1")
        try device.expectLog([
            "launch as 1.0: fresh install, migrated app.sqlite to 1",
            "launch as 2.1: upgrade from 1.0, deferred 2.1 failed: a mishap",
            "launch as 2.1: relaunch, deferred 2.1 failed: a mishap",
        ])
        var expected = done
        expected[11] = 0
        #expect(try Self.hashes(device) == expected)
    }

    @Test("can be killed at any moment, and do each row once", arguments: ["2.1", "3.0"] as [AppVersion])
    func everyMoment(version: AppVersion) throws {
        try expectEveryKill(of: Self.app(), launching: version) { device, moment in
            let hashes = try Self.hashes(device)
            #expect(hashes == done, "moment \(moment)")
        }
    }

    @Test("a kill after more batches than there are says so")
    func tooLate() throws {
        let device = try Self.device()
        let error = try #require(throws: SimulatedDeviceError.self) {
            try device.kill(during: "2.1", afterBatches: 3)
        }
        #expect(
            error.message
                == "The launch was not killed: step 2.1 ended before, or does not run in batches.")
    }

    private func play(isRight: Bool, seeds: Range<UInt64>) throws {
        let versions: [AppVersion] = ["1.0", "2.1", "3.0"]
        try SimulatedDevice.histories(
            seed: seeds.lowerBound, count: seeds.count, versions: versions, app: Self.app(isRight: isRight)
        ) { device, version in
            let hashes = try Self.hashes(device)
            if hashes.contains(where: { $0 > 1 }) { throw Mishap() }
            // Nothing of it is left to do in 3.0; a fresh install has not needed it.
            if version == "3.0", Set(hashes).count > 1 { throw Mishap() }
        }
    }

    @Test("random histories find nothing wrong with a correct app")
    func histories() throws {
        try play(isRight: true, seeds: 1..<31)
    }

    @Test("random histories find a step that does more than its rows")
    func wrong() throws {
        let error = try #require(throws: SimulatedHistoryError.self) {
            try play(isRight: false, seeds: 1..<31)
        }
        #expect(error.underlyingError is Mishap)
        #expect(error.events.count == 2)
    }
}
