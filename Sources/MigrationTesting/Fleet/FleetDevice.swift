import AppMigrations
import Foundation
import GRDB

/// A device of a fleet: its database, and what its sync engine has noted beside it.
final class FleetDevice {
    let number: Int
    /// The release that was launched last; nil before the first launch.
    private(set) var release: FleetRelease?
    /// False before the first launch, and after a kill.
    private(set) var isRunning = false
    /// The last edits of fields that the device knows, also of those that its release has no column for.
    var known: FleetEdits = [:]
    /// The times of the edits that are in the database.
    var stored: [FleetField: Int] = [:]
    /// The values that launches have given to fields in place of others.
    private(set) var migrated: [FleetField: [DatabaseValue: Set<DatabaseValue>]] = [:]

    private let device: SimulatedDevice
    private let fleet: SimulatedFleet

    init(_ number: Int, of fleet: SimulatedFleet) throws {
        self.number = number
        self.fleet = fleet
        device = try SimulatedDevice(fleet.app)
    }

    /// The name in a sentence.
    var name: String { "Device \(number)" }

    /// Opens the database as the app's sync engine does.
    func open() throws -> DatabaseQueue {
        try fleet.open(in: device.folder)
    }

    /// Launches a release, unless the app refuses to go back to it.
    ///
    /// - Parameter moment: the moment at which the launch is killed; nil for none.
    /// - Returns: a sentence.
    func launch(_ next: FleetRelease, killedAt moment: Int? = nil) throws -> String {
        let isBack = release.map { next.version < $0.version } ?? false
        let before = try contents()
        defer { if let after = try? contents() { note(before, after) } }
        do {
            let isDead =
                try moment.map { try device.kill(atMomentFromStart: $0, launching: next.version) } ?? false
            if moment == nil { try device.launch(as: next.version) }
            let verb =
                release.map {
                    isBack
                        ? "goes back to" : $0.version == next.version ? "launches" : "updates to"
                } ?? "is new, with"
            release = next
            isRunning = !isDead
            guard isDead, let moment else { return "\(name) \(verb) \(next.version)." }
            return "\(name) \(verb) \(next.version), and is killed at moment \(moment)."
        } catch  where isBack && !(error is SimulatedDeviceError) {
            return "\(name) cannot go back to \(next.version)."
        }
    }

    /// Returns the value of each field of the synchronized tables.
    func contents() throws -> [FleetField: DatabaseValue] {
        // SQLite would make a database that the app has not made.
        guard FileManager.default.fileExists(atPath: fleet.file(in: device.folder).path) else { return [:] }
        return try open().read { db in
            var values: [FleetField: DatabaseValue] = [:]
            for table in fleet.forms.keys where try db.tableExists(table) {
                guard let key = try db.primaryKey(table).columns.first else { continue }
                let rows = try Row.fetchCursor(db, sql: "SELECT * FROM \(table.quotedDatabaseIdentifier)")
                while let row = try rows.next() {
                    for (column, value) in row {
                        values[FleetField(table: table, key: row[key], column: column)] = value
                    }
                }
            }
            return values
        }
    }

    private func note(_ before: [FleetField: DatabaseValue], _ after: [FleetField: DatabaseValue]) {
        for (field, value) in before {
            guard let other = after[field], other != value else { continue }
            migrated[field, default: [:]][value, default: []].insert(other)
        }
    }
}
