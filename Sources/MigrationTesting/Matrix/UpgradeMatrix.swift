public import Foundation
public import GRDB
public import SchemaMigrations

/// Proves that every version that was ever shipped upgrades to the latest, and ends where a fresh install does.
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
/// Each version's database is built as it was, filled with rows, and upgraded. Then the schema has to be that of a
/// fresh install, the file whole, every foreign key kept, every row still there, and nothing left to do.
///
/// Everything happens in memory; files are only read.
public struct UpgradeMatrix: Sendable {
    /// The versions from which to upgrade.
    public struct Versions: Sendable {
        let chosen: [SchemaVersion]?

        /// Every migration's version.
        public static let all = Versions(chosen: nil)

        /// The versions with which releases were shipped.
        public static func versions(_ versions: [SchemaVersion]) -> Versions { Versions(chosen: versions) }
    }

    /// What an old version's database is filled with.
    public struct Rows: Sendable {
        /// Fills a database, and answers a sentence for each table that stays empty.
        let fill: @Sendable (Database, SchemaVersion) throws -> [String]

        /// Rows that the schema of each version accepts, made by a ``RowGenerator``.
        public static func generatedRows(perTable count: Int = 20, seed: UInt64 = 1) -> Rows {
            Rows { db, _ in try RowGenerator(rowsPerTable: count, seed: seed).fill(db) }
        }

        /// Rows that the test writes, in a transaction, for the schema of the version that it is given.
        public static func rows(
            _ write: @escaping @Sendable (_ db: Database, _ version: SchemaVersion) throws -> Void
        ) -> Rows {
            Rows { db, version in
                try write(db, version)
                return []
            }
        }

        /// None: what the migrations have written is all there is.
        public static let none = Rows { _, _ in [] }
    }

    let schema: SchemaMigrator
    let versions: Versions
    let rows: Rows
    let fixtures: URL?
    let rowCounts: RowCounts
    let configuration: Configuration

    /// Creates a matrix; ``run()`` runs it.
    ///
    /// - Parameters:
    ///   - schema: the migrator of the app. Where it has a snapshot, that is what a fresh install starts from, and is
    ///     proved to be up to date.
    ///   - versions: the versions from which to upgrade.
    ///   - rows: what each version's database is filled with.
    ///   - fixtures: a folder of databases (`.sqlite`, `.sqlite3`, `.db`) that old versions of the app have left, which
    ///     are upgraded as well, with the rows that they hold.
    ///   - rowCounts: how many rows must be there afterwards.
    ///   - configuration: how the app opens its database; functions and collations that migrations use are added
    ///     here.
    public init(
        of schema: SchemaMigrator, from versions: Versions = .all, filledWith rows: Rows = .generatedRows(),
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
    /// - Throws: ``UpgradeMatrixError``, which tells in words everything that is wrong, and not only the first.
    public func run() throws -> UpgradeReport {
        let report = UpgradeMatrixRun(self).report()
        guard report.problems.isEmpty else { throw UpgradeMatrixError(report: report) }
        return report
    }
}
