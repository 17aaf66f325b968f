import AppMigrations
import DatabaseFiles
import Foundation
import GRDB
import MigrationTesting
import SchemaMigrations
import Testing

@Suite("A database that moves on a simulated device", .timed)
struct MovedDeviceTests {
    /// An app whose version 2.0 has its database and its record in another folder.
    private static func app(folder: URL, version: AppVersion) throws {
        let old = folder.appendingPathComponent("Old", isDirectory: true)
        let shared = folder.appendingPathComponent("Shared", isDirectory: true)
        for folder in [old, shared] {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }
        let isShared = version >= "2.0"
        func place(_ name: String) -> (new: URL, old: [URL]) {
            isShared
                ? (shared.appendingPathComponent(name), [old.appendingPathComponent(name)])
                : (old.appendingPathComponent(name), [])
        }
        let library = place("library.sqlite")
        let dbPool = try DatabaseFile(path: library.new.path, movedFrom: library.old.map(\.path)).openPool()
        let record = place("migrations.json")
        let manager = try MigrationManager(
            currentVersion: version, adopting: .newApp,
            store: .jsonFile(at: record.new, movedFrom: record.old),
            options: MigrationOptions(ignoresStepsAboveCurrent: true))
        let schema = try SchemaMigrator(migrations: [
            SQLMigration(version: 1, name: "book", sql: "CREATE TABLE book(title TEXT)")
        ])
        manager.whenMigratingToVersion("1.0", migrate: schema, in: dbPool)
        manager.whenMigratingToVersion("2.0", in: dbPool) { db in
            try db.execute(sql: "ALTER TABLE book ADD COLUMN rating INTEGER")
        }
        manager.whenMigratingToVersion("2.0") {}
        try manager.migrate()
        try dbPool.write { try $0.execute(sql: "INSERT INTO book(title) VALUES ('\(version)')") }
        try dbPool.close()
    }

    @Test("comes along in an upgrade that is cut short, and is kept in a downgrade")
    func upgrade() throws {
        let device = try SimulatedDevice(Self.app)
        try device.launch(as: "1.0")
        try device.kill(during: "2.0")
        try device.launch(as: "2.0")
        func titles() throws -> [String] {
            let path = device.folder.appendingPathComponent("Shared/library.sqlite").path
            return try DatabaseQueue(path: path).read {
                try String.fetchAll($0, sql: "SELECT title FROM book")
            }
        }
        #expect(try titles() == ["1.0", "2.0"])
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: device.folder.path + "/Old").filter {
                !$0.hasSuffix(".lock")
            } == [])
        // The older version finds nothing, and begins anew.
        try device.downgrade(to: "1.0")
        try device.launch(as: "2.0")
        #expect(try titles() == ["1.0", "2.0", "2.0"])
        try device.expectLog([
            "launch as 1.0: fresh install, migrated library.sqlite to 1",
            "launch as 2.0: upgrade from 1.0, killed at 2.0",
            "launch as 2.0: upgrade from 1.0, ran 2.0 and 2.0",
            "downgrade to 1.0: fresh install, migrated library.sqlite to 1",
            "launch as 2.0: relaunch",
        ])
    }
}
