import GRDB

/// A savepoint that can undo one migration of a transaction and keep those before it (lang_savepoint.html).
struct Savepoint {
    /// The savepoint's name.
    ///
    /// If a migration ends the transaction and begins another one, the new transaction has no savepoint of
    /// this name.
    static let name = "schema_migrations_savepoint"

    let db: Database

    init(_ db: Database) throws {
        self.db = db
        try db.cachedStatement(sql: "SAVEPOINT \(Self.name)").execute()
    }

    /// Undoes the changes made since the savepoint.
    ///
    /// - Returns: false when that is impossible, because the migration has ended the transaction or SQLite
    ///   has no memory left; then the transaction must not be committed.
    func undo() -> Bool {
        defer { db.clearSchemaCache() }
        do {
            try db.execute(sql: "ROLLBACK TO \(Self.name); RELEASE \(Self.name)")
            // A savepoint of this name outside our transaction was the migration's own, and began another
            // one.
            return db.isInsideTransaction
        } catch {
            return false
        }
    }
}
