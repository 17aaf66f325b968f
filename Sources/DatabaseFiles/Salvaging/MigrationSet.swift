import GRDB
import SchemaMigrations

/// A database's set of migrations, in order, and its ledger.
protocol MigrationSet: Sendable {
    /// The versions, or identifiers, in the order in which the migrations run in a new database.
    var versions: [String] { get }

    /// The tables in which applied migrations are recorded.
    var ledgerTables: Set<SQLName> { get }

    /// Applies the first migrations to a database that has had none, or only some of these.
    func migrate(_ database: DatabaseQueue, byFirst count: Int) throws

    /// Returns the set without some migrations, for a new database.
    func leavingOut(_ versions: Set<String>) throws -> Self

    /// Applies the pending migrations.
    func migrate(_ database: DatabaseQueue) throws

    /// Returns true if nothing is pending in a database.
    func isLatest(_ db: Database) throws -> Bool

    // MARK: Ledgers of damaged databases

    /// Returns those of some versions that the app has, or has had.
    func known(among versions: Set<String>) throws -> Set<String>

    /// Finds the versions that a damaged database names as applied, in each of the places that do.
    func traces(in damaged: DamagedDatabase) throws -> [SavedLedger.Trace]

    /// What to do if a version counts as newer that is not.
    var remedyForRemoved: String? { get }

    /// Returns the first version that only a newer version of the app has.
    func newer(in ledger: SavedLedger) throws -> String?

    /// Returns true if a pending migration would find a part of its work done, because it has merged applied ones.
    ///
    /// - Parameter count: the number of migrations that were applied, from the first.
    func isHalfDone(after count: Int, _ ledger: SavedLedger) throws -> Bool

    /// Records in a new database what only the ledger of the damaged one says.
    ///
    /// - Parameter count: the number of migrations that were applied to the new database, from the first; nil if all of the
    ///   ledger holds for it.
    func record(_ ledger: SavedLedger, after count: Int?, _ db: Database) throws
}
