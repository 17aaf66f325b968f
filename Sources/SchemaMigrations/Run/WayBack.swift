import GRDB

/// The way out of a transaction, where memory may have run out.
///
/// Then a `ROLLBACK` may not be compiled any more, so it is compiled before the transaction begins. One that stays
/// open at the end of an access makes GRDB trap.
struct WayBack {
    private let db: Database
    private let statement: Statement

    /// Prepares the way, before the first change.
    init(_ db: Database) throws {
        self.db = db
        statement = try db.cachedStatement(sql: "ROLLBACK")
    }

    /// Rolls back, where there is a transaction.
    func take() {
        // GRDB's own is not disturbed by an interruption.
        if db.isInsideTransaction { try? db.rollback() }
        if db.isInsideTransaction { try? statement.execute() }
    }
}
