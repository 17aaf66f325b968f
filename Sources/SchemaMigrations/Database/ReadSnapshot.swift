import GRDB

extension Database {
    /// Runs several queries on one state of the database.
    func readSnapshot<Value>(_ body: () throws -> Value) throws -> Value {
        if isInsideTransaction { return try body() }
        var value: Value?
        try inTransaction(.deferred) {
            value = try body()
            return .commit
        }
        guard let value else { preconditionFailure("inTransaction returned without running its body") }
        return value
    }
}

extension DatabaseReader {
    /// Runs several queries on one state of the database, and waits while another connection blocks them.
    func readSnapshot<Value>(
        waitingUpTo limit: Duration, _ body: (Database) throws -> Value
    ) throws -> Value {
        try waitWhileBusy(upTo: limit) {
            try unsafeReentrantRead { db in try db.readSnapshot { try body(db) } }
        }
    }
}
