import GRDB

// The version with which a database began: whatever is below it was there already, or is not needed.
//
// The lowest version of the ledger tells it, by the way in which it came. Once that one is undone, nothing would tell
// any more. So a row of the details keeps the floor from then on, in which no migration is.
extension Ledger {
    /// The origin of the row that keeps the floor.
    package static let floorOrigin = "floor"

    /// The version of the row that says that there is no floor; no migration has it.
    private static let noFloor: SchemaVersion = -1

    /// Returns the floor of a ledger that has details; nil if the database was built by replaying.
    ///
    /// - Parameter origin: the lowest version; nil if there is none.
    static func floor(at origin: SchemaVersion?, _ db: Database) throws -> SchemaVersion? {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT version, origin FROM main.schema_migrations_details
                WHERE version = ? OR origin = '\(floorOrigin)'
                """,
            arguments: [origin])
        var cameBy: String?
        for row in rows {
            guard let version = SchemaVersion.fromDatabaseValue(row[0]) else { continue }
            let text = String.fromDatabaseValue(row[1])
            if version == origin {
                cameBy = text
            } else if text == floorOrigin, version < origin ?? .max {
                return version == noFloor ? nil : version
            }
        }
        return cameBy == AppliedMigration.Origin.applied.rawValue ? nil : origin
    }

    /// Removes a version that was undone, and leaves the floor where it is.
    ///
    /// If it was the floor itself, the next lower number takes its place: the version may be applied again.
    static func remove(_ version: SchemaVersion, _ db: Database) throws {
        let floor = try currentFloor(db).map { min($0, version - 1) }
        for table in ["schema_migrations", "schema_migrations_details"] {
            try db.execute(sql: "DELETE FROM main.\(table) WHERE version = ?", arguments: [version])
        }
        guard try currentFloor(db) != floor else { return }
        try db.execute(
            sql: """
                DELETE FROM main.schema_migrations_details WHERE origin = '\(floorOrigin)';
                INSERT INTO main.schema_migrations_details(version, name, origin, applied)
                VALUES (?, '', '\(floorOrigin)', strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))
                """,
            arguments: [floor ?? noFloor])
    }

    private static func currentFloor(_ db: Database) throws -> SchemaVersion? {
        try floor(
            at: SchemaVersion.fetchOne(db, sql: "SELECT min(version) FROM main.schema_migrations"), db)
    }
}
