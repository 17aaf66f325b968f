import GRDB

extension TableChange {
    /// Copies the rows into a new table, inside the transaction.
    ///
    /// Only for a SQLite that does not let its schema be edited.
    func rebuild(_ db: Database) throws {
        try refuseRows(db)
        let objects = try SchemaObject.fetchAll(db).filter {
            $0.table == table && ["index", "trigger"].contains($0.type)
        }
        let names = try Set(SQLName.fetchAll(db, sql: "SELECT name FROM main.sqlite_master"))
        let copy =
            (0...).lazy.map { SQLName("app_migrations_old_\($0)") }.first { !names.contains($0) } ?? table
        let sequence =
            try old.isAutoincremented
            ? Int64.fetchOne(
                db, sql: "SELECT seq FROM main.sqlite_sequence WHERE name = ?", arguments: [table]) : nil
        var columns = old.columns.filter { !$0.isGenerated }.map(\.name)
        if let rowID = old.rowID, !old.hasRowIDKey { columns.insert(rowID, at: 0) }
        // lang_altertable.html: so nothing else that names the table is rewritten or dropped with it.
        try db.with(pragma: "legacy_alter_table", 1) {
            try db.with([(.triggers, false), (.foreignKeys, false)]) {
                try db.execute(sql: "ALTER TABLE \(table.inMain) RENAME TO \(copy.sql)")
                try db.execute(sql: sql)
                try db.execute(
                    sql: """
                        INSERT INTO \(table.inMain)(\(columns.sql)) SELECT \(columns.sql) FROM \(copy.inMain);
                        DROP TABLE \(copy.inMain);
                        """)
                for object in objects { try db.execute(sql: object.sql) }
                if let sequence {
                    try db.execute(
                        sql: """
                            DELETE FROM main.sqlite_sequence WHERE name = ?1;
                            """, arguments: [table])
                    try db.execute(
                        sql: "INSERT INTO main.sqlite_sequence(name, seq) VALUES (?, ?)",
                        arguments: [table, sequence])
                }
            }
        }
    }
}
