/// The definitions of the ledger's tables: the migrator creates them, and the build tries SQL beside them.
package enum LedgerTables {
    /// Exactly as in FMDBMigrationManager and SQLiteMigrationManager.swift, so that databases can move between these
    /// packages and this one.
    package static let versions = "schema_migrations(version INTEGER UNIQUE NOT NULL)"

    package static let details = """
        schema_migrations_details(
            version INTEGER PRIMARY KEY NOT NULL,
            name TEXT NOT NULL,
            origin TEXT NOT NULL,
            checksum TEXT,
            applied TEXT NOT NULL,
            seconds REAL,
            app TEXT,
            compatible INTEGER,
            down TEXT
        )
        """
}
