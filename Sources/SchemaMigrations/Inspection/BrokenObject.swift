package import GRDB

/// A view or a trigger that does not compile, or a full-text table that no longer finds its texts.
package struct BrokenObject {
    /// The broken view, trigger or table.
    package struct Identity: Equatable {
        package let type: String
        package let name: SQLName
    }

    package let identity: Identity
    /// SQLite's reason.
    package let reason: String
    /// A likely cause, in a sentence.
    let hint: String?

    /// Finds the views, triggers and full-text tables of the database that are broken.
    package static func fetchAll(_ db: Database) throws -> [BrokenObject] {
        var found: [BrokenObject] = []
        for view in try views(db) {
            guard let error = try view.failure(db) else { continue }
            found.append(BrokenObject(type: "view", view, error, db))
        }
        let broken = Set(found.map(\.identity.name))
        // The triggers of a broken view do not compile either.
        for table in try tablesWithTriggers(db) where !broken.contains(table) {
            guard try triggerFailure(of: table, db) != nil else { continue }
            found += try brokenTriggers(of: table, db)
        }
        for table in try fullTextTables(db) {
            guard let error = try table.failure(db) else { continue }
            found.append(BrokenObject(type: "full-text table", table.name, error, db))
        }
        return found
    }

    private init(type: String, _ name: SQLName, _ error: DatabaseError, _ db: Database) {
        identity = Identity(type: type, name: name)
        reason = error.message ?? "unknown error"
        hint = db.hintAtDoubleQuotedText(error)
    }

    private static func views(_ db: Database) throws -> [SQLName] {
        try SQLName.fetchAll(db, sql: "SELECT name FROM main.sqlite_master WHERE type = 'view'")
    }

    /// Returns the full-text tables whose texts another table or a view holds.
    private static func fullTextTables(_ db: Database) throws -> [FullTextTable] {
        try Row.fetchAll(
            db,
            sql: """
                SELECT name, sql FROM main.sqlite_master
                WHERE rootpage = 0 AND sql LIKE 'CREATE VIRTUAL TABLE%' AND sql LIKE '%content%'
                """
        ).compactMap { row in
            let name: SQLName = row["name"]
            return FullTextTable(SchemaObject(type: "table", name: name, table: name, sql: row["sql"]))
        }.filter { $0.contentTable != nil }
    }

    // MARK: Triggers

    private static func tablesWithTriggers(_ db: Database) throws -> [SQLName] {
        try SQLName.fetchAll(
            db, sql: "SELECT DISTINCT tbl_name FROM main.sqlite_master WHERE type = 'trigger'")
    }

    /// Finds the triggers of a table that do not compile.
    ///
    /// SQLite does not say which one it is, so each is compiled without the others, in a savepoint.
    private static func brokenTriggers(of table: SQLName, _ db: Database) throws -> [BrokenObject] {
        let triggers = try SQLName.fetchAll(
            db,
            sql: "SELECT name FROM main.sqlite_master WHERE type = 'trigger' AND tbl_name = ? COLLATE NOCASE",
            arguments: [table])
        func failure(without others: [SQLName]) throws -> DatabaseError? {
            let savepoint = try Savepoint(db)
            defer { _ = savepoint.undo() }
            for other in others { try db.execute(sql: "DROP TRIGGER \(other.inMain)") }
            return try triggerFailure(of: table, db)
        }
        // A temporary trigger may be to blame, which is no part of the database.
        guard try failure(without: triggers) == nil else { return [] }
        return try triggers.compactMap { trigger in
            try failure(without: triggers.filter { $0 != trigger })
                .map { BrokenObject(type: "trigger", trigger, $0, db) }
        }
    }

    private static func triggerFailure(of table: SQLName, _ db: Database) throws -> DatabaseError? {
        for statement in try statementsThatFireTriggers(of: table, db) {
            if let failure = try db.failure(compiling: statement) { return failure }
        }
        return nil
    }

    private static func statementsThatFireTriggers(of table: SQLName, _ db: Database) throws -> [String] {
        let columns = try SQLName.fetchAll(
            db, sql: "SELECT name FROM pragma_table_xinfo(?, 'main') WHERE hidden = 0", arguments: [table])
        let assignments = columns.map { "\($0.sql) = NULL" }.joined(separator: ", ")
        return [
            "INSERT INTO \(table.inMain) DEFAULT VALUES", "DELETE FROM \(table.inMain)",
            "UPDATE \(table.inMain) SET \(assignments)",
        ]
    }
}

extension SQLName {
    /// Returns why a view of this name does not compile, or nil if it does.
    fileprivate func failure(_ db: Database) throws -> DatabaseError? {
        try db.failure(compiling: "SELECT * FROM \(inMain)")
    }
}

extension Database {
    /// Compiles a statement without running it, since SQLite resolves a view's or trigger's names on use.
    func failure(compiling sql: String) throws -> DatabaseError? {
        do {
            _ = try makeStatement(sql: sql)
            return nil
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            // A view with triggers for some kinds of changes refuses the others, which is correct.
            return error.isAboutReadOnlyView ? nil : error
        }
    }
}
