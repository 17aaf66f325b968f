import GRDB

/// The findings of a look at all tables, which hold until somebody writes.
struct WholeLook {
    let findings: Findings
    /// The mode of foreign keys, which decides whether they were looked at.
    let foreignKeys: ForeignKeys
    /// The changes up to the look.
    let changes: ChangeCount

    /// Returns whether a look at the tables would find the same.
    func holds(_ db: Database, _ foreignKeys: ForeignKeys) throws -> Bool {
        try foreignKeys == self.foreignKeys && changes == ChangeCount(db)
    }
}

/// The changes that a connection has seen: the count stays the same as long as nobody writes to the database.
struct ChangeCount: Equatable {
    /// A number that changes when another connection commits (pragma.html#pragma_data_version).
    private let others: Int
    /// The rows that this connection has changed (c3ref/total_changes.html).
    private let own: Int
    /// The schema cookie, since a changed schema need not count as rows.
    private let schema: Int

    init(_ db: Database) throws {
        others = try db.pragma("main.data_version")
        own = db.totalChangesCount
        schema = try db.pragma("main.schema_version")
    }
}
