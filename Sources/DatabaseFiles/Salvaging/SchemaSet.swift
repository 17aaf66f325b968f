import GRDB
import SchemaMigrations

/// The migrations of a `SchemaMigrator`, recorded in `schema_migrations` and its details.
struct SchemaSet: MigrationSet {
    private let migrator: SchemaMigrator
    let versions: [String]

    /// Takes the migrations without a snapshot, and without copies of a database that is not the app's yet.
    init(_ migrator: SchemaMigrator) {
        self.migrator = migrator.with(snapshot: nil)
        versions = migrator.migrations.map { "\($0.version)" }
    }

    private static let ledger = SQLName(OwnTables.ledger)
    private static let details = OwnTables.details

    var ledgerTables: Set<SQLName> { [Self.ledger, Self.details] }

    func migrate(_ database: DatabaseQueue, byFirst count: Int) throws {
        try migrator.migrate(database, upTo: migrator.migrations[count - 1].version)
    }

    func leavingOut(_ versions: Set<String>) throws -> Self {
        try Self(
            SchemaMigrator(migrations: migrator.migrations.filter { !versions.contains("\($0.version)") }))
    }

    func migrate(_ database: DatabaseQueue) throws { try migrator.migrate(database) }

    func isLatest(_ db: Database) throws -> Bool { try migrator.status(db).pendingVersions.isEmpty }

    func known(among versions: Set<String>) -> Set<String> { versions.intersection(self.versions) }

    func traces(in damaged: DamagedDatabase) throws -> [SavedLedger.Trace] {
        let ledger = try damaged.traces(of: Self.ledger, .whole) { rowid, record in
            // Other tools may have made the number the row's id.
            (record.integer(0) ?? (record.values.first == .null ? rowid : nil)).map { ("\($0)", $0) }
        }
        // Other tools write no details.
        let details = try damaged.traces(of: Self.details, .latest, Self.detail)
        let loose = try damaged.looseTraces(of: Set(versions), Self.detail)
        return ledger + details + loose
    }

    /// Reads a row of the details, whose id is the version.
    private static func detail(_ rowid: Int64?, _ record: SavedRecord) -> (String, Int64)? {
        guard let rowid, record.values.count > 4, record.values[0] == .null, record.text(1) != nil,
            let origin = record.text(2), record.text(4) != nil,
            AppliedMigration.Origin(rawValue: origin) != nil || origin == Ledger.floorOrigin
        else { return nil }
        return ("\(rowid)", rowid)
    }

    var remedyForRemoved: String? { nil }

    func newer(in ledger: SavedLedger) throws -> String? {
        guard let newest = migrator.migrations.last?.version else { return nil }
        return ledger.versions.compactMap { SchemaVersion($0) }.filter { $0 > newest }.min().map { "\($0)" }
    }

    func isHalfDone(after count: Int, _ ledger: SavedLedger) -> Bool { false }

    func record(_ ledger: SavedLedger, after count: Int?, _ db: Database) throws {
        // Versions of migrations that were squashed would ask for all of these.
        guard count == nil else { return }
        for version in ledger.versions.compactMap({ SchemaVersion($0) }) {
            try db.execute(
                sql: "INSERT OR IGNORE INTO \(Self.ledger.inMain)(version) VALUES (?)", arguments: [version])
        }
    }
}
