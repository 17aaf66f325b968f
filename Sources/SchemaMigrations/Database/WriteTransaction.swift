import GRDB

extension Database {
    /// Runs the body in a transaction that may write; commits when the body returns, rolls back when it
    /// throws.
    ///
    /// Waits while another connection is in the way: before the transaction begins, while others write;
    /// before it commits, in rollback mode, while others read. GRDB's own time-out is not used for that: it
    /// is off by default, it may be too long, and it cannot be interrupted. A busy callback of the app's
    /// stays, since it could not be put back.
    func withWriteTransaction<Result>(
        waitingUpTo limit: Duration, interrupter: Interrupter? = nil, _ body: () throws -> Result
    ) throws -> Result {
        try interrupter?.check()
        try withoutBusyTimeout {
            try waitWhileBusy(upTo: limit, interrupter: interrupter) { try beginTransaction(.immediate) }
        }
        do {
            // GRDB's memory of the schema may be older than what another process has made of it.
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
        // By a C function and not by a pragma, which could fail and leave the new transaction open.
        defer { setBusyTimeout(milliseconds: Int32(clamping: Int(seconds * 1_000))) }
        try body()
    }
}
