public import AppMigrations
public import Foundation
package import GRDB
import MigrationDiagnostics

/// A migration in a database's ledger, with its details.
public struct AppliedMigration: Sendable, Equatable {
    /// The way in which a migration entered the ledger.
    package enum Origin: String, Sendable {
        /// The migrator ran it.
        case applied
        /// It was marked as applied, as part of a baseline.
        case marked
        /// The database began with a snapshot that contains it, or with a baseline of this version.
        case snapshot
        /// Another tool wrote it.
        case unknown
    }

    /// The migration's version.
    public let version: SchemaVersion
    /// The name that the migration had; nil if unknown.
    public let name: String?
    /// The way in which the migration entered the ledger.
    package let origin: Origin
    /// The date at which the migration entered the ledger; nil if unknown.
    public let date: Date?
    /// The time that the migration took; nil if it did not run.
    package let duration: Duration?
    /// The version of the app that applied the migration; nil if unknown.
    public let appVersion: AppVersion?
    /// A Boolean value that indicates whether apps that do not know the migration can use the database after it.
    package let isCompatible: Bool
    /// A Boolean value that indicates whether an app that does not know the migration can undo it.
    ///
    /// True if the migration had a `.down.sql` file, or a `down:` argument, when it was applied.
    package var canBeUndone: Bool { down != nil }
    /// True if this package has run the migration, or a snapshot that contains it.
    package var wasRun: Bool { [.applied, .snapshot].contains(origin) }
    let checksum: String?
    /// The SQL of the down migration, as it was when the migration was applied; nil if there was none.
    let down: String?

    /// Reads every migration in a database's ledger, ascending.
    package static func fetchAll(_ db: Database) throws -> [AppliedMigration] {
        try fetchAll(db, in: Ledger(db))
    }

    /// Reads the details of the migrations in a ledger, ascending.
    static func fetchAll(_ db: Database, in ledger: Ledger) throws -> [AppliedMigration] {
        let details = try Dictionary(
            fetchDetails(db).compactMap { row in SchemaVersion.fromDatabaseValue(row[0]).map { ($0, row) } },
            uniquingKeysWith: { $1 })
        return ledger.applied.inOrder().map { AppliedMigration(version: $0, details: details[$0]) }
    }

    private static func fetchDetails(_ db: Database) throws -> [Row] {
        guard try db.hasTable("schema_migrations_details") else { return [] }
        // Until the next migration, a ledger may lack the columns that were added last.
        let added = try Ledger.hasUndoColumns(db) ? "compatible, down" : "NULL, NULL"
        do {
            return try Row.fetchAll(
                db, sql: "SELECT \(columns), \(added) FROM main.schema_migrations_details")
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            throw MigrationError(
                .databaseFailed,
                "The table schema_migrations_details lacks a column: \(error.message ?? "unknown error")",
                remedy: """
                    It was left as it is. Add the column by hand. Do not drop the table: without it, the database looks as if \
                    another tool had migrated it.
                    """,
                underlyingError: error
            )
        }
    }

    private static let columns = "version, name, origin, checksum, applied, seconds, app"

    /// Reads a row of details, in which a value of the wrong type counts as unknown.
    private init(version: SchemaVersion, details row: Row?) {
        self.version = version
        func value<Value: DatabaseValueConvertible>(_ index: Int) -> Value? {
            row.flatMap { Value.fromDatabaseValue($0[index]) }
        }
        name = value(1)
        origin = value(2).flatMap(Origin.init(rawValue:)) ?? .unknown
        checksum = value(3)
        date = value(4).flatMap { (text: String) in try? Date(text, strategy: .iso8601) }
        duration = value(5).flatMap(Duration.init(recordedSeconds:))
        appVersion = value(6).flatMap { (text: String) in AppVersion(text) }
        isCompatible = value(7) ?? false
        down = value(8)
    }
}
