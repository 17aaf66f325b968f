package import GRDB

/// The result of SQLite's check of a database file.
package struct IntegrityCheck {
    /// The depth of the check.
    package enum Depth: String {
        /// Checks everything except that indexes match their tables.
        case quick = "quick_check"
        /// Checks everything.
        case full = "integrity_check"
    }

    /// A text for each problem of the file; empty for an intact database.
    package let problems: [String]

    /// A text for each value that a constraint forbids.
    ///
    /// Such a row counts as no damage: it may be older than the constraint, and salvaging would leave it out. Where a page is
    /// damaged, SQLite mostly finds something else, too; but a single changed bit can make a number null. A null in a
    /// migrator's own table is damage, since nothing changes its constraints.
    package let forbiddenValues: [String]

    /// Everything that SQLite has found: where a value cannot be older than the constraint, it may well be damage.
    package var findings: [String] { problems + forbiddenValues }

    /// Checks a database.
    ///
    /// SQLite 3.40.0 to 3.41.0 find a null in columns that hold none, in tables `WITHOUT ROWID` whose primary
    /// key is not their first columns. The check therefore looks up the nulls reported in such tables.
    ///
    /// - Parameter limit: the highest number of problems to find, and that of forbidden values.
    package init(_ db: Database, _ depth: Depth, limit: Int) throws {
        var (problems, values): ([String], [String]) = ([], [])
        var nulls: [String: Bool] = [:]
        let answers = try String.fetchCursor(db, sql: "PRAGMA main.\(depth.rawValue)(\(Int32.max))")
        while problems.count < limit, let answer = try answers.next() {
            if answer == "ok" { continue }
            var isForbidden = answer.hasPrefix(Self.failedCheck)
            if answer.hasPrefix(Self.nullValue) {
                if nulls[answer] == nil { nulls[answer] = try Self.hasNull(answer, db) }
                if nulls[answer] == false { continue }
                isForbidden = !Self.isAboutOwnTable(answer)
            }
            if isForbidden {
                if values.count < limit { values.append(answer) }
            } else {
                problems.append(answer)
            }
        }
        (self.problems, forbiddenValues) = (problems, values)
    }

    /// Returns true if a message about a null is about one of the tables whose constraints nothing changes.
    private static func isAboutOwnTable(_ message: String) -> Bool {
        let table = SQLName(String(message.dropFirst(nullValue.count).prefix { $0 != "." }))
        return OwnTables.all.contains(table) || table == OwnTables.ofGRDB
    }

    /// Returns true unless a message is about a `NOT NULL` column of a table `WITHOUT ROWID` that holds no null.
    private static func hasNull(_ message: String, _ db: Database) throws -> Bool {
        let columns = try Row.fetchAll(
            db,
            sql: """
                SELECT list.name AS "table", info.name AS "column"
                FROM pragma_table_list AS list, pragma_table_info(list.name, 'main') AS info
                WHERE list.schema = 'main' AND list.wr AND info."notnull"
                """)
        // Others may be damaged, so that even their names cannot be used.
        for row in columns {
            let (table, column) = (row["table"] as SQLName, row["column"] as SQLName)
            guard message == "\(nullValue)\(table).\(column)" else { continue }
            // Not IS NULL: in a column that is NOT NULL, SQLite does not look.
            let sql = """
                SELECT EXISTS (SELECT 1 FROM \(table.inMain)
                WHERE typeof(\(column.sql)) = 'null')
                """
            return try Bool.fetchOne(db, sql: sql) ?? true
        }
        return true
    }
}
