import GRDB

extension TableChange {
    /// Copies the rows away, and into the new table, inside the transaction.
    ///
    /// Only for a SQLite that does not let its schema be edited. No table is renamed: that would rewrite, or refuse, what
    /// names the table.
    func rebuild(_ db: Database) throws {
        try refuseRows(db)
        try refuseTemporaryTriggers(db)
        let objects = try SchemaObject.fetchAll(db).filter {
            $0.table == table && ["index", "trigger"].contains($0.type)
        }
        let sequence = try sequence(db)
        var columns = old.columns.filter { !$0.isGenerated }.map(\.name)
        if let rowID = old.rowID, !old.hasRowIDKey { columns.insert(rowID, at: 0) }
        let copy = SQLName("app_migrations_copy").inMain
        let aliases = columns.enumerated().map { "\($1.sql) AS c\($0)" }.joined(separator: ", ")
        try db.with([(.triggers, false), (.foreignKeys, false)]) {
            try db.execute(
                sql:
                    "CREATE TABLE \(copy) AS SELECT \(aliases) FROM \(table.inMain); DROP TABLE \(table.inMain)"
            )
            try db.execute(sql: sql)
            // What ON CONFLICT says of the table is not to drop or change a row. Rows that break what was there before stop nothing.
            try db.with(pragma: "ignore_check_constraints", 1) {
                try db.execute(
                    sql: """
                        INSERT OR ABORT INTO \(table.inMain)(\(columns.sql)) SELECT * FROM \(copy); DROP TABLE \(copy)
                        """)
            }
            for object in objects { try db.execute(sql: object.sql) }
            guard let sequence else { return }
            try db.execute(sql: "DELETE FROM main.sqlite_sequence WHERE name = ?", arguments: [table])
            try db.execute(
                sql: "INSERT INTO main.sqlite_sequence(name, seq) VALUES (?, ?)",
                arguments: [table, sequence])
        }
    }

    /// The highest key that AUTOINCREMENT has given.
    private func sequence(_ db: Database) throws -> Int64? {
        guard old.isAutoincremented else { return nil }
        return try Int64.fetchOne(
            db, sql: "SELECT seq FROM main.sqlite_sequence WHERE name = ?", arguments: [table])
    }
}
