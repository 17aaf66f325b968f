package import GRDB

/// What SQLite finds wrong with a database's file.
package struct IntegrityCheck {
    /// How much is looked at.
    package enum Depth: String {
        /// Everything but whether indexes fit their tables.
        case quick = "quick_check"
        /// Everything.
        case full = "integrity_check"
    }

    /// A text for each problem; none for a database that is whole.
    package let problems: [String]

    /// Looks through a database.
    ///
    /// SQLite 3.40.0 to 3.41.0 find a null in columns that hold none, in tables `WITHOUT ROWID` whose primary
    /// key is not their first columns: what is said of nulls is looked up.
    ///
    /// - Parameter limit: how many problems are enough.
    package init(_ db: Database, _ depth: Depth, limit: Int) throws {
        var problems: [String] = []
        var nulls: [String: Bool] = [:]
        let answers = try String.fetchCursor(db, sql: "PRAGMA main.\(depth.rawValue)(\(Int32.max))")
        while problems.count < limit, let answer = try answers.next() {
            if answer == "ok" { continue }
            if answer.hasPrefix(Self.nullValue) {
                if nulls.isEmpty { nulls = try Self.nulls(db) }
                if nulls[answer] == false { continue }
            }
            problems.append(answer)
        }
        self.problems = problems
    }

    /// For each column, as SQLite would name it, whether there is a null in it.
    private static func nulls(_ db: Database) throws -> [String: Bool] {
        let columns = try Row.fetchAll(
            db,
            sql: """
                SELECT list.name AS "table", info.name AS "column"
                FROM pragma_table_list AS list, pragma_table_info(list.name, 'main') AS info
                WHERE list.schema = 'main' AND list.wr AND info."notnull"
                """)
        return try columns.reduce(into: [:]) { nulls, row in
            let (table, column) = (row["table"] as String, row["column"] as String)
            // Not IS NULL: in a column that is NOT NULL, SQLite does not look.
            let sql = """
                SELECT EXISTS (SELECT 1 FROM main.\(table.quotedDatabaseIdentifier)
                WHERE typeof(\(column.quotedDatabaseIdentifier)) = 'null')
                """
            nulls["\(nullValue)\(table).\(column)"] = try Bool.fetchOne(db, sql: sql) ?? true
        }
    }
}
