package import Foundation
import SchemaMigrations

/// The rows that can be read from a file and its journals, whatever is in them: for tests.
package struct DamagedRows {
    /// The number of rows in the trees of tables and indexes, and in pages that no root leads to.
    package private(set) var count = 0
    /// True if something is wrong with the file.
    package let isDamaged: Bool

    /// Reads every row.
    package init(at url: URL) throws {
        var journals: [String: DamagedFile] = [:]
        for end in ["-wal", "-journal"] {
            let journal = url.appending(end: end)
            if (try? journal.status()) != nil { journals[end] = try DamagedFile(at: journal) }
        }
        guard let damaged = try DamagedDatabase.read(DamagedFile(at: url), besides: journals) else {
            isDamaged = true
            return
        }
        isDamaged = damaged.faults > 0
        for tree in Array(damaged.trees.values) + damaged.loose { count += try damaged.rows(of: tree).count }
        _ = try damaged.ledgerVersions()
    }
}
