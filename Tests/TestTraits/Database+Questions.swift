package import GRDB

extension DatabaseReader {
    /// The names of the tables, without the ledger's.
    package func tables() throws -> [String] {
        try read { db in
            try String.fetchAll(
                db,
                sql: """
                    SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'schema_migrations%'
                    AND name NOT LIKE 'sqlite%' ORDER BY name
                    """)
        }
    }

    /// SQLite's description of the schema, without the ledger's tables.
    package func schema() throws -> [String] {
        try read { db in
            try String.fetchAll(
                db,
                sql: """
                    SELECT type || ' ' || name || ' on ' || tbl_name || ': ' || ifnull(sql, '') FROM sqlite_master
                    WHERE tbl_name NOT LIKE 'schema_migrations%' ORDER BY type, name
                    """)
        }
    }

    /// The versions in the ledger.
    package func ledger() throws -> [Int64] {
        try integers("SELECT version FROM schema_migrations ORDER BY version")
    }

    package func integers(_ sql: String) throws -> [Int64] {
        try unsafeRead { db in try Int64.fetchAll(db, sql: sql) }
    }

    package func integer(_ sql: String) throws -> Int64? {
        try integers(sql).first
    }

    package func strings(_ sql: String) throws -> [String] {
        try unsafeRead { db in try String.fetchAll(db, sql: sql) }
    }
}

extension DatabaseWriter {
    package func execute(_ sql: String) throws {
        try writeWithoutTransaction { db in try db.execute(sql: sql) }
    }
}
