/// The rows that can be read from a file and its write-ahead log, whatever is in them: for tests.
package struct DamagedRows {
    /// The number of rows in the trees of tables and indexes, and in pages that no root leads to.
    package private(set) var count = 0
    /// True if something is wrong with the file.
    package let isDamaged: Bool

    /// Reads every row.
    package init(in database: [UInt8], log: [UInt8]) throws {
        let damaged = try DamagedDatabase.read(DamagedFile(database), besides: ["-wal": DamagedFile(log)])
        isDamaged = damaged.map { $0.faults > 0 } ?? true
        guard let damaged else { return }
        for tree in Array(damaged.trees.values) + damaged.loose { count += try damaged.rows(of: tree).count }
        _ = try damaged.ledgerVersions()
    }
}
