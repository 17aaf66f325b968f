package import GRDB

extension Database {
    /// Returns true if the database has a table of this name.
    ///
    /// It uses plain SQL, because GRDB caches the schema, and another process may have created a table.
    package func hasTable(_ name: SQLName) throws -> Bool {
        try Bool.fetchOne(
            self,
            sql:
                "SELECT EXISTS (SELECT 1 FROM main.sqlite_master WHERE type = 'table' AND name = ? COLLATE NOCASE)",
            arguments: [name]) ?? false
    }

    /// Returns the integer value of a pragma.
    func pragma(_ name: String) throws -> Int {
        try Int.fetchOne(self, sql: "PRAGMA \(name)") ?? 0
    }

    /// Turns the enforcement of foreign keys on or off.
    func setForeignKeys(_ foreignKeys: ForeignKeys) throws {
        // pragma.html, foreign_keys: "This pragma is a no-op within a transaction".
        try execute(sql: "PRAGMA foreign_keys = \(foreignKeys == .immediate ? 1 : 0)")
    }
}
