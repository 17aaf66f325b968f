/// A migration written in SQL, in a file or in the app's code.
package protocol SQLSource: FileMigration {
    /// True if the migration has a down migration.
    var hasDown: Bool { get }
    /// Reads the text of the migration, again at each call.
    func text() throws -> String
    /// Parses the statements that roll back, or returns nil if there is no down migration.
    func downScript() throws -> SQLScript?
}

extension SQLSource {
    /// Parses the statements that migrate, and reads them again at each call.
    package func script() throws -> SQLScript {
        try SQLScript(text(), fileName: fileName)
    }

    /// The text of the down migration, for the ledger; nil if there is none that can run in a transaction.
    ///
    /// A broken down migration is no reason not to migrate.
    var downForLedger: String? {
        guard let script = try? downScript(), !script.statements.isEmpty,
            script.settings.transaction == .wrapped, (try? self.script())?.baseline == nil
        else { return nil }
        return script.sql
    }
}
