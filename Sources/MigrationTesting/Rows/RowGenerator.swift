public import GRDB
import MigrationTools

/// Fills the tables of a database with rows that its schema accepts.
///
/// The rows have values of the columns' types, and obey `NOT NULL`, unique indexes and foreign keys. They
/// obey `CHECK` constraints if the generator finds values that do. The same seed makes the same rows on every
/// machine.
///
/// ```swift
/// try dbQueue.write { db in try RowGenerator(rowsPerTable: 100).fill(db) }
/// ```
public struct RowGenerator: Sendable {
    /// The number of rows for each table.
    public let rowsPerTable: Int

    /// The seed, from which the generator makes the values.
    public let seed: UInt64

    /// Creates a generator.
    ///
    /// - Parameters:
    ///   - rowsPerTable: the number of rows for each table.
    ///   - seed: the seed; another seed makes other rows.
    public init(rowsPerTable: Int = 20, seed: UInt64 = 1) {
        self.rowsPerTable = max(0, rowsPerTable)
        self.seed = seed
    }

    /// Adds rows to every table, and fills a table before those that refer to it.
    ///
    /// It leaves virtual tables to their triggers. A table that accepts fewer rows, such as one that allows a
    /// single row, gets as many as it accepts.
    ///
    /// - Parameter db: a connection for writing.
    /// - Returns: a sentence for each table that accepted no row, which says why.
    /// - Throws: SQLite's errors, except those about a row that it does not accept.
    @discardableResult
    public func fill(_ db: Database) throws -> [String] {
        try TableFilling.fillAll(db, rowsPerTable: rowsPerTable, seed: seed)
    }
}
