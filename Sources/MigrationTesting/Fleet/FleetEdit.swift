import AppMigrations
import GRDB
import MigrationTools

/// A field of a synchronized row, on whatever device.
struct FleetField: Hashable, Sendable {
    let table: String
    let key: DatabaseValue
    let column: String

    /// The field in a sentence: `entry.mood of 'row 3'`.
    var words: String { "\(table).\(column) of \(key.words)" }
}

/// A value that a device has written into a field.
///
/// A value that a migration writes is none.
struct FleetEdit: Sendable {
    /// The fleet's clock: every edit has a time of its own.
    let time: Int
    let value: DatabaseValue
    let device: Int
    let version: AppVersion
}

/// The last edits of fields: what the server has, or what a device knows.
typealias FleetEdits = [FleetField: FleetEdit]

extension FleetEdits {
    /// Takes over other edits, of which the last one of each field wins.
    mutating func take(_ others: FleetEdits) {
        merge(others) { $0.time < $1.time ? $1 : $0 }
    }
}

extension DatabaseValue {
    /// The value in a sentence, as SQL.
    var words: String { StoredValue(self).sql }
}
