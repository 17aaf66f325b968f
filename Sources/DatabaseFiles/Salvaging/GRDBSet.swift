import AppMigrations
import GRDB
import GRDBMigrations
import SchemaMigrations

/// The migrations of GRDB's `DatabaseMigrator`, recorded in `grdb_migrations`.
struct GRDBSet: MigrationSet {
    private let migrator: DatabaseMigrator
    /// The identifiers of migrations that shipped, and that the migrator no longer has.
    private let removed: Set<String>
    private var leftOut: Set<String> = []

    /// Takes the migrations of a migrator, without its wish to erase a database whose schema has changed.
    init(_ migrator: DatabaseMigrator, ignoring removed: Set<String>) {
        var migrator = migrator
        migrator.eraseDatabaseOnSchemaChange = false
        (self.migrator, self.removed) = (migrator, removed)
    }

    var versions: [String] { migrator.migrations.filter { !leftOut.contains($0) } }

    var ledgerTables: Set<SQLName> { [OwnTables.ofGRDB] }

    func migrate(_ database: DatabaseQueue, byFirst count: Int) throws {
        let last = versions[count - 1]
        try naming(database) {
            // They do not run. The ledger gets what was there at the end.
            let skipped = migrator.migrations.prefix { $0 != last }.filter(leftOut.contains)
            if !skipped.isEmpty { try database.write { try GRDBHistory.record(skipped, in: $0) } }
            try migrator.migrate(database, upTo: last)
        }
    }

    func leavingOut(_ versions: Set<String>) -> Self {
        var set = self
        set.leftOut = versions
        return set
    }

    func migrate(_ database: DatabaseQueue) throws {
        try naming(database) { try migrator.migrate(database) }
    }

    /// Names the migration in the errors of the body, which applies migrations one after the other.
    private func naming(_ database: DatabaseQueue, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch  where !(error is CancellationError) {
            let applied = try database.read { try GRDBHistory($0).applied }
            let obstacle = Obstacle(error)
            let problem = (error as? DatabaseError)?.problem ?? error.quotation
            throw MigrationError(
                obstacle?.code ?? .stepFailed,
                "migration \(versions.first { !applied.contains($0) } ?? "") failed: \(problem)",
                remedy: obstacle?.remedy ?? "Fix the migration. Nothing was changed.", underlyingError: error)
        }
    }

    func isLatest(_ db: Database) throws -> Bool {
        try GRDBHistory(db).applied.isSuperset(of: versions)
    }

    func known(among identifiers: Set<String>) throws -> Set<String> {
        let unknown = identifiers.subtracting(versions)
        return try identifiers.subtracting(unknown).union(migrator.merged(among: unknown))
    }

    func traces(in damaged: DamagedDatabase) throws -> [SavedLedger.Trace] {
        try damaged.traces(of: OwnTables.ofGRDB, .whole, Self.row)
            + damaged.looseTraces(of: Set(versions), Self.row)
    }

    /// Reads a row of the table, or an entry of its index.
    private static func row(_ rowid: Int64?, _ record: SavedRecord) -> (String, Int64)? {
        guard record.values.count == (rowid == nil ? 2 : 1), let identifier = record.text(0),
            let number = rowid ?? record.integer(1)
        else { return nil }
        return (identifier, number)
    }

    var remedyForRemoved: String? {
        "If this version left migrations out, name them: salvage(into: migrator.ignoring([…]))."
    }

    func newer(in ledger: SavedLedger) throws -> String? {
        let last = versions.lastIndex(where: ledger.versions.contains)
        // A migration that is missing says something about those around it only if nothing is lost.
        let lost =
            ledger.completeness == .whole
            ? [] : versions.prefix((last ?? -1) + 1).filter { !ledger.versions.contains($0) }
        return try GRDBHistory(identifiers: lost + ledger.versions).newer(than: migrator, ignoring: removed)
            .first
    }

    func isHalfDone(after count: Int, _ ledger: SavedLedger) throws -> Bool {
        try !mergedByPending(unknown(in: ledger), after: count).isEmpty
    }

    func record(_ ledger: SavedLedger, after count: Int?, _ db: Database) throws {
        var identifiers = ledger.versions
        if let count {
            let unknown = unknown(in: ledger)
            let merged = try mergedByPending(unknown, after: count)
            // Before the others, as what comes after them is of a newer app.
            identifiers = unknown.filter { !merged.contains($0) } + versions.prefix(count)
        }
        try db.execute(sql: "DELETE FROM \(OwnTables.ofGRDB.inMain)")
        for identifier in identifiers {
            try db.execute(
                sql: "INSERT INTO \(OwnTables.ofGRDB.inMain)(identifier) VALUES (?)", arguments: [identifier])
        }
    }

    private func unknown(in ledger: SavedLedger) -> [String] {
        let known = Set(versions)
        return ledger.versions.filter { !known.contains($0) }
    }

    /// Returns those of some identifiers that pending migrations have merged.
    private func mergedByPending(_ identifiers: [String], after count: Int) throws -> Set<String> {
        try migrator.merged(among: Set(identifiers))
            .subtracting(migrator.merged(among: Set(identifiers), byFirst: count))
    }
}
