import GRDB

extension Database {
    /// Runs the body in a write transaction, which commits when the body returns and rolls back when it
    /// throws.
    ///
    /// Waits for other connections: before the transaction begins, while others write; before it commits, in
    /// rollback mode, while others read. It does not use GRDB's own timeout for that, which is off by
    /// default, may be too long, and cannot be interrupted. A busy callback of the app's stays, since it
    /// could not be restored.
    func withWriteTransaction<Result>(
        waitingUpTo limit: Duration, interrupter: Interrupter? = nil, _ body: () throws -> Result
    ) throws -> Result {
        try interrupter?.check()
        try withoutBusyTimeout {
            try waitWhileBusy(upTo: limit, interrupter: interrupter) { try beginTransaction(.immediate) }
        }
        do {
            // GRDB's schema cache may be older than another process's changes.
            clearSchemaCache()
            let result = try body()
            try interrupter?.check()
            // lang_transaction.html: a COMMIT that fails with SQLITE_BUSY leaves the transaction open, for a
            // retry.
            try withoutBusyTimeout {
                try waitWhileBusy(upTo: limit, interrupter: interrupter) { try commit() }
            }
            return result
        } catch {
            if isInsideTransaction { try? rollback() }
            clearSchemaCache()
            throw error
        }
    }

    private func withoutBusyTimeout(_ body: () throws -> Void) throws {
        guard case .timeout(let seconds) = configuration.busyMode else { return try body() }
        setBusyTimeout(milliseconds: 0)
        // Uses a C function instead of a pragma, which could fail and leave the new transaction open.
        defer { setBusyTimeout(milliseconds: Int32(max(0, min(seconds * 1_000, Double(Int32.max))))) }
        try body()
    }
}
