import AppMigrations
import GRDB

extension TableChange {
    /// The columns that are to be `NOT NULL`, and are not now.
    private var newlyRequired: [TableShape.Column] {
        zip(old.columns, new.columns).filter { !$0.isRequired && $1.isRequired }.map(\.0)
    }

    /// The conditions that the table does not have now.
    private var newChecks: [TableText.Expression] { new.checks.filter { !old.checks.contains($0) } }

    /// Returns whether every row holds a new `NOT NULL` and `CHECK`, and none meets the other conditions, by one scan; nil if a
    /// condition cannot be asked about.
    ///
    /// It takes half as long as `quick_check`, which also looks at the pages of the indexes.
    func rowsHold(_ others: [String], _ db: Database) throws -> Bool? {
        let conditions =
            newlyRequired.map { "\($0.name.sql) IS NULL" } + newChecks.map { "NOT (\($0.text)\n)" } + others
        guard new.text.hasOnlyKnownChecks, !newChecks.contains(where: \.mayNotBePure) else { return nil }
        guard !conditions.isEmpty else { return true }
        do {
            let isBroken = try Bool.fetchOne(
                db,
                sql: """
                    SELECT EXISTS (SELECT 1 FROM \(table.inMain) NOT INDEXED
                    WHERE \(conditions.joined(separator: " OR ")))
                    """)
            return isBroken.map(!)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            return nil
        }
    }

    /// Throws an error if rows break a new `NOT NULL` or `CHECK`.
    ///
    /// Under the old definition: SQLite does not look for NULL in a column that is `NOT NULL`.
    func refuseRows(_ db: Database) throws {
        var problems: [String] = []
        var total = 0
        func look(_ condition: String, _ description: (String) -> String) throws {
            let rows = "main.\(table.sql) NOT INDEXED WHERE \(condition)"
            try checking {
                let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM \(rows)") ?? 0
                guard count > 0 else { return }
                total += count
                problems.append(description(try "\(count.rows)\(keys(of: rows, db))"))
            }
        }
        for column in newlyRequired {
            try look("\(column.name.sql) IS NULL") { "column \(column.name) is NULL in \($0)" }
        }
        for check in newChecks {
            try look("NOT (\(check.text)\n)") { "CHECK (\(check.text)) fails in \($0)" }
        }
        if !problems.isEmpty { throw broken(problems.joined(separator: "; "), count: total) }
    }

    /// Runs the body, and names the table if SQLite cannot evaluate a condition, be it for one of the rows.
    func checking<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            throw MigrationError(
                .stepFailed,
                """
                SQLite cannot check the rows of table \(table) under its new definition: \(error.message ?? "no reason given")
                """,
                remedy:
                    """
                    Correct the condition of the CHECK, or the rows for which SQLite cannot check it. Nothing was \
                    changed.
                    """,
                underlyingError: error)
        }
    }

    /// Returns the keys of the first rows that a query finds, in words; nothing if they are not numbers: no message quotes
    /// the values of rows.
    func keys(of rows: String, _ db: Database) throws -> String {
        let names = old.keyNames
        guard !names.isEmpty else { return "" }
        let found = try Row.fetchAll(
            db, sql: "SELECT \(names.sql) FROM \(rows) ORDER BY \(names.sql) LIMIT 3")
        return describe(found)
    }

    private func describe(_ rows: [Row]) -> String {
        let areNumbers = rows.flatMap(\.databaseValues).allSatisfy {
            if case .int64 = $0.storage { true } else { $0.isNull }
        }
        guard !rows.isEmpty, areNumbers else { return "" }
        let names = old.keyNames.map(\.text).joined(separator: ", ")
        let values = rows.map { row in
            let values = row.databaseValues.map(\.description).joined(separator: ", ")
            return row.count > 1 ? "(\(values))" : values
        }
        return " (\(names): \(values.joined(separator: ", ")))"
    }

    /// The error for rows that break the new definition.
    func broken(_ problem: String, count: Int?) -> MigrationError {
        MigrationError(
            .stepFailed, "The rows of table \(table) break its new definition: \(problem)",
            remedy: "Correct \(count == 1 ? "the row" : "these rows") first, in the same transaction.")
    }
}

extension Int {
    /// A number of rows, in words.
    var rows: String { self == 1 ? "1 row" : "\(self) rows" }
}
