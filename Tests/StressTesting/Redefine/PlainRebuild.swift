import GRDB

/// The rebuild that SQLite's page on ALTER TABLE describes, without a renaming, so that the texts are the same.
struct PlainRebuild {
    let db: Database

    /// - Returns: what keeps the rows from being copied; then nothing has changed.
    func run(_ sql: String) throws -> String? {
        let foreignKeys = try Int.fetchOne(db, sql: "PRAGMA foreign_keys") ?? 0
        try db.execute(sql: "PRAGMA foreign_keys = 0")
        defer { try? db.execute(sql: "PRAGMA foreign_keys = \(foreignKeys)") }
        var problem: String?
        try db.inTransaction {
            problem = try rebuild(sql)
            return problem == nil ? .commit : .rollback
        }
        return problem
    }

    private func rebuild(_ sql: String) throws -> String? {
        let keys = try keys()
        let objects = try String.fetchAll(
            db,
            sql: """
                SELECT sql FROM sqlite_master WHERE tbl_name = 't' AND type IN ('index', 'trigger') AND sql IS NOT NULL
                ORDER BY rowid
                """)
        let hasRowID =
            try Bool.fetchOne(db, sql: "SELECT NOT wr FROM pragma_table_list WHERE name = 't'") == true
        let sequences = try db.tableExists("sqlite_sequence")
        let sequence =
            sequences ? try Int64.fetchOne(db, sql: "SELECT seq FROM sqlite_sequence WHERE name = 't'") : nil
        let names =
            try (hasRowID ? ["rowid"] : [])
            + String.fetchAll(db, sql: "SELECT name FROM pragma_table_xinfo('t') WHERE hidden = 0")
        let list = names.joined(separator: ", ")
        do {
            // Renamed, a table whose CHECK has its name is an error.
            let aliases = names.enumerated().map { "\($1) AS a\($0)" }.joined(separator: ", ")
            try db.execute(sql: "CREATE TABLE t_old AS SELECT \(aliases) FROM t; DROP TABLE t")
            try db.execute(sql: sql)
            // The conflict clauses of the table are not to drop or change rows.
            try db.execute(sql: "INSERT OR ABORT INTO t(\(list)) SELECT * FROM t_old; DROP TABLE t_old")
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            return error.message
        }
        for object in objects { try db.execute(sql: object) }
        if let sequence {
            try db.execute(sql: "DELETE FROM sqlite_sequence WHERE name = 't'")
            try db.execute(sql: "INSERT INTO sqlite_sequence VALUES ('t', ?)", arguments: [sequence])
        }
        let now = try self.keys()
        let orphans = try Row.fetchAll(db, sql: "PRAGMA foreign_key_check(t)").filter { row in
            !keys.values.contains(now[row["fkid"]] ?? "")
        }
        return orphans.isEmpty ? nil : "orphans"
    }

    /// The foreign keys without their actions, by number.
    private func keys() throws -> [Int: String] {
        let rows = try Row.fetchAll(db, sql: "SELECT * FROM pragma_foreign_key_list('t') ORDER BY id, seq")
        return Dictionary(grouping: rows) { $0["id"] as Int }.mapValues { rows in
            let implied = rows[0]["table"] == "p" ? ["id"] : ["a", "b"]
            return rows.enumerated().map { number, row in
                "\(row["from"] as String) \(row["table"] as String) \(row["to"] as String? ?? implied[number])"
            }.sorted().joined(separator: ", ")
        }
    }
}
