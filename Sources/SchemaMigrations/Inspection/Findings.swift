import GRDB

/// The problems in a database, with their counts.
struct Findings {
    private var counts: [Finding: Int] = [:]

    /// Looks for problems in the suspects, and in everything that refers to them.
    init(_ db: Database, _ suspects: Suspects, _ foreignKeys: ForeignKeys) throws {
        if foreignKeys != .unchecked { try countOrphans(db, suspects) }
        if suspects.schemaHasChanged { try findBrokenObjects(db) }
    }

    var isEmpty: Bool { counts.isEmpty }

    /// The problems, a sentence each.
    var descriptions: [String] {
        counts.map { "\($0.description(count: $1))." + ($0.hint.map { " \($0)" } ?? "") }.sorted()
    }

    /// Returns the first problem whose count has grown, with the increase, or nil if there is none.
    ///
    /// An old problem of a table or column that has been renamed is not new.
    func firstNew(since before: Findings) -> (finding: Finding, count: Int)? {
        var gone = before.counts.filter { counts[$0.key] == nil }
        let more = counts.filter { $1 > before.counts[$0, default: 0] }
            .map { (finding: $0, count: $1 - before.counts[$0, default: 0]) }
            .sorted { $0.finding.description(count: $0.count) < $1.finding.description(count: $1.count) }
        return more.first { new in
            guard before.counts[new.finding] == nil,
                let renamed = gone.first(where: {
                    $0.value >= new.count && $0.key.isSameKind(as: new.finding)
                })
            else { return true }
            gone[renamed.key] = nil
            return false
        }
    }

    // MARK: Rows

    private mutating func countOrphans(_ db: Database, _ suspects: Suspects) throws {
        for table in try tables(toCheckFor: suspects, db) {
            do {
                let violations = try Row.fetchAll(
                    db,
                    sql: """
                        SELECT violation.parent, count(*) AS count, (
                            SELECT group_concat("from", ', ') FROM pragma_foreign_key_list(?1, 'main')
                            WHERE id = fkid) AS columns
                        FROM pragma_foreign_key_check(?1, 'main') AS violation
                        GROUP BY violation.parent, fkid
                        """, arguments: [table])
                for row in violations {
                    let finding = Finding.orphans(
                        child: table.text, parent: row["parent"], columns: [row["columns"]])
                    counts[finding, default: 0] += row["count"]
                }
            } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
                counts[.brokenKey(child: table.text, reason: error.message ?? "unknown error"), default: 0] +=
                    1
            }
        }
    }

    /// Returns the tables with foreign keys that are suspects, or that refer to a suspect.
    private func tables(toCheckFor suspects: Suspects, _ db: Database) throws -> [SQLName] {
        guard suspects.isEverything || !suspects.tables.isEmpty else { return [] }
        let references = try Row.fetchAll(
            db,
            sql: """
                SELECT DISTINCT child.name AS child, key."table" AS parent
                FROM main.sqlite_master AS child, pragma_foreign_key_list(child.name, 'main') AS key
                WHERE child.type = 'table'
                """)
        let children = references.filter { row in
            let names: [SQLName] = [row["child"], row["parent"]]
            return suspects.isEverything || !suspects.tables.isDisjoint(with: names)
        }
        return Set(children.map { $0["child"] as SQLName }).sorted { $0.text < $1.text }
    }

    // MARK: Views and triggers

    private mutating func findBrokenObjects(_ db: Database) throws {
        let views = try SQLName.fetchAll(db, sql: "SELECT name FROM main.sqlite_master WHERE type = 'view'")
        var broken: Set<SQLName> = []
        for view in views {
            let compiles = try compile(
                "SELECT * FROM \(view.inMain)", db, blaming: "view \(view)")
            if !compiles { broken.insert(view) }
        }
        let tables = try SQLName.fetchAll(
            db, sql: "SELECT DISTINCT tbl_name FROM main.sqlite_master WHERE type = 'trigger'")
        // The triggers of a broken view do not compile either.
        for table in tables where !broken.contains(table) {
            for statement in try statementsThatFireTriggers(of: table, db) {
                try compile(statement, db, blaming: "a trigger of \(table)")
            }
        }
    }

    /// Compiles a statement without running it, since SQLite resolves a view's or trigger's names on use.
    @discardableResult
    private mutating func compile(_ sql: String, _ db: Database, blaming name: String) throws -> Bool {
        do {
            _ = try db.makeStatement(sql: sql)
            return true
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            // A view with triggers for some kinds of changes refuses the others, which is correct.
            if error.isAboutReadOnlyView { return false }
            let hint = db.hintAtDoubleQuotedText(error)
            counts[.brokenObject(name: name, reason: error.message ?? "unknown error", hint: hint)] = 1
            return false
        }
    }

    private func statementsThatFireTriggers(of table: SQLName, _ db: Database) throws -> [String] {
        let name = table.inMain
        let columns = try SQLName.fetchAll(
            db, sql: "SELECT name FROM pragma_table_xinfo(?, 'main') WHERE hidden = 0", arguments: [table])
        let assignments = columns.map { "\($0.sql) = NULL" }.joined(separator: ", ")
        return [
            "INSERT INTO \(name) DEFAULT VALUES", "DELETE FROM \(name)", "UPDATE \(name) SET \(assignments)",
        ]
    }
}
