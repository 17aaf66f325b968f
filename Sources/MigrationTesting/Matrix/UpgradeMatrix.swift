public import AppMigrations
public import Foundation
public import GRDB
import MigrationTools

/// Tests that every shipped version upgrades to the latest, with the same result as a fresh install.
///
/// Call it from a test of the app, with Swift Testing or XCTest:
///
/// ```swift
/// @Test func everyShippedVersionUpgrades() throws {
///     let matrix = UpgradeMatrix(of: try SchemaMigrator(migrations: Migrations.all))
///     print(try matrix.run())
/// }
/// ```
///
/// The matrix builds the database of each version, fills it with rows, and upgrades it. Then it checks that
/// the schema is that of a fresh install, the database is intact, every foreign key is satisfied, no row is
/// lost, and no migration is pending.
///
/// The matrix works in memory, and only reads files.
public struct UpgradeMatrix: Sendable {
    /// The rows of an old version's database.
    public struct Rows: Sendable {
        /// Fills a database and returns a sentence for each table that stays empty.
        let fill: @Sendable (Database, MigrationKey) throws -> [String]

        /// Makes rows with a ``RowGenerator`` that the schema of each version accepts.
        ///
        /// - Parameters:
        ///   - count: the number of rows of each table.
        ///   - seed: the same seed makes the same rows.
        public static func generatedRows(perTable count: Int = 20, seed: UInt64 = 1) -> Rows {
            Rows { db, _ in try RowGenerator(rowsPerTable: count, seed: seed).fill(db) }
        }

        /// Has the closure write the rows, in a transaction, for the version that it receives.
        ///
        /// - Parameter write: writes the rows, and receives the migration that the database is at.
        public static func rows(
            _ write: @escaping @Sendable (_ db: Database, _ version: MigrationKey) throws -> Void
        ) -> Rows {
            Rows { db, version in
                try write(db, version)
                return []
            }
        }

        /// No rows except those that the migrations insert.
        public static let none = Rows { _, _ in [] }
    }

    /// The app's launch with an old database: creates the manager of the latest version, and registers its steps.
    ///
    /// It receives the database and the migration that it is at, which is 0 for a fresh install, and for a fixture at
    /// no migration that the migrator knows. An asynchronous step cannot be played: leave it out here.
    public typealias App =
        @Sendable (_ database: DatabaseQueue, _ version: MigrationKey) throws -> MigrationManager

    let runner: any MigrationRunner
    let app: App?
    let versions: [MigrationKey]?
    let rows: Rows
    let fixtures: URL?
    let rowCounts: RowCounts
    let configuration: Configuration

    /// Creates a matrix; ``run()`` runs it.
    ///
    /// - Parameters:
    ///   - source: the migrator of the app: a `SchemaMigrator` or a `DatabaseMigrator`. If it has a snapshot, a fresh
    ///     install starts from that, and the matrix verifies that it is up to date.
    ///   - versions: the versions, or identifiers, from which to upgrade; nil for all.
    ///   - rows: the rows of each version's database.
    ///   - fixtures: a folder of databases (`.sqlite`, `.sqlite3`, `.db`) from old versions of the app. The
    ///     matrix upgrades them as well, with the rows that they hold.
    ///   - rowCounts: the number of rows that each table must have afterwards.
    ///   - app: creates the app's manager, whose `migrate()` upgrades the databases in place of the migrator. The matrix
    ///     then runs every deferred step to its end, in batches of ten rows and of one row, and compares the results.
    ///   - configuration: how the app opens its database; functions and collations that migrations use are added
    ///     here.
    public init(
        of source: some MigrationSource, from versions: [MigrationKey]? = nil,
        filledWith rows: Rows = .generatedRows(),
        fixtures: URL? = nil, rowCounts: RowCounts = .unchanged, launching app: App? = nil,
        configuration: Configuration = Configuration()
    ) {
        self.app = app
        runner = source.orderedMigrations.runner
        self.versions = versions
        self.rows = rows
        self.fixtures = fixtures
        self.rowCounts = rowCounts
        self.configuration = configuration
    }

    /// Upgrades from every version, and checks each result.
    ///
    /// - Returns: a report of the upgrades, for printing.
    /// - Throws: ``UpgradeMatrixError``, which describes every problem, not only the first.
    public func run() throws -> UpgradeReport {
        let report = UpgradeMatrixRun(self).report()
        guard report.problems.isEmpty else { throw UpgradeMatrixError(report: report) }
        return report
    }
}
