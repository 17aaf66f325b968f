public import Foundation
public import GRDB
public import SchemaMigrations

/// Tests that every version that was ever shipped upgrades to the latest, and ends where a fresh install does.
///
/// A few lines in a test of the app, with Swift Testing or XCTest:
///
/// ```swift
/// @Test func everyShippedVersionUpgrades() throws {
///     let matrix = UpgradeMatrix(of: try SchemaMigrator(migrations: Migrations.all))
///     print(try matrix.run())
/// }
/// ```
///
/// The matrix builds each version's database as it was, fills it with rows, and upgrades it. Then the schema must be that
/// of a fresh install, the file intact, every foreign key satisfied, every row still there, and nothing pending.
///
/// Everything happens in memory; files are only read.
public struct UpgradeMatrix: Sendable {
    /// The rows of an old version's database.
    public struct Rows: Sendable {
        /// Fills a database, and returns a sentence for each table that stays empty.
        let fill: @Sendable (Database, SchemaVersion) throws -> [String]

        /// Rows that the schema of each version accepts, made by a ``RowGenerator``.
        public static func generatedRows(perTable count: Int = 20, seed: UInt64 = 1) -> Rows {
            Rows { db, _ in try RowGenerator(rowsPerTable: count, seed: seed).fill(db) }
        }

        /// Rows that the closure writes, in a transaction, for the schema of the version that it is given.
        public static func rows(
            _ write: @escaping @Sendable (_ db: Database, _ version: SchemaVersion) throws -> Void
        ) -> Rows {
            Rows { db, version in
                try write(db, version)
                return []
            }
        }

        /// No rows but those that the migrations insert.
        public static let none = Rows { _, _ in [] }
    }

    let schema: SchemaMigrator
    let versions: [SchemaVersion]?
    let rows: Rows
    let fixtures: URL?
    let rowCounts: RowCounts
    let configuration: Configuration

    /// Creates a matrix; ``run()`` runs it.
    ///
    /// - Parameters:
    ///   - schema: the migrator of the app. If it has a snapshot, a fresh install starts from that, and the matrix verifies
    ///     that it is up to date.
    ///   - versions: the versions from which to upgrade; nil for every migration's version.
    ///   - rows: the rows of each version's database.
    ///   - fixtures: a folder of databases (`.sqlite`, `.sqlite3`, `.db`) that old versions of the app left, which are
    ///     upgraded as well, with the rows that they hold.
    ///   - rowCounts: the number of rows that each table must have afterwards.
    ///   - configuration: how the app opens its database; functions and collations that migrations use are added
    ///     here.
    public init(
        of schema: SchemaMigrator, from versions: [SchemaVersion]? = nil,
        filledWith rows: Rows = .generatedRows(),
        fixtures: URL? = nil, rowCounts: RowCounts = .unchanged,
        configuration: Configuration = Configuration()
    ) {
        self.schema = schema
        self.versions = versions
        self.rows = rows
        self.fixtures = fixtures
        self.rowCounts = rowCounts
        self.configuration = configuration
    }

    /// Upgrades from every version, and compares.
    ///
    /// - Returns: what was tried, to be printed.
    /// - Throws: ``UpgradeMatrixError``, which describes every problem, not only the first.
    public func run() throws -> UpgradeReport {
        let report = UpgradeMatrixRun(self).report()
        guard report.problems.isEmpty else { throw UpgradeMatrixError(report: report) }
        return report
    }
}
