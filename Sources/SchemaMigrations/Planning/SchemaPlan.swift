import AppMigrations
import GRDB

/// The work of a run on a database, found by a look without a lock.
struct SchemaPlan {
    /// The versions to apply, ascending.
    var pending: [SchemaVersion] = []
    /// True if the run has to write what the ledger lacks besides: adopted versions, or corrected down migrations.
    var writesLedger = false
    /// True if the database has neither a ledger nor tables, and so may start from a snapshot.
    var isForNewDatabase = false
    /// The unknown migrations to undo first, newest first.
    var undo: [AppliedMigration] = []
    /// The unknown migrations that stay, ascending.
    var newer: [SchemaVersion] = []

    /// True if the run has nothing to do.
    var isSettled: Bool { pending.isEmpty && undo.isEmpty && !writesLedger }
}
