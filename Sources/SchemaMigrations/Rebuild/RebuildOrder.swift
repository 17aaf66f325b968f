import AppMigrations
import GRDB
import MigrationDiagnostics

/// A rebuild as the app has registered it.
struct RebuildOrder: Sendable {
    let table: String
    /// The statements that create the table and its indexes, as the app wants them.
    let schema: String
    /// The expressions that fill columns of the new table from a row of the old one.
    let copying: [SQLName: String]
    /// The columns of the old table whose values the app gives up.
    let dropping: Set<SQLName>

    var names: RebuildNames { RebuildNames(table: SQLName(table)) }

    func refused(_ problem: String, _ remedy: String) -> MigrationError {
        MigrationError(.stepFailed, problem, remedy: remedy)
    }

    private static let plainRebuild = "Rebuild it in a schema migration, or in a step with `in:`."

    // MARK: Before anything is created

    /// Throws if the table is none that can be rebuilt while the app uses it.
    func check(_ db: Database) throws {
        _ = try RebuildSchema(schema, names)
        guard !["new", "old"].contains(names.table) else {
            throw refused("table \(table) has the name of a row in triggers", Self.plainRebuild)
        }
        guard !names.table.folded.hasPrefix("sqlite_"), !Ledger.isOwn(table: names.table) else {
            throw refused(
                "table \(table) is not the app's own",
                "Tables of SQLite and of AppMigrations stay as they are.")
        }
        for (column, expression) in copying { try check(expression, for: column) }
        let type = try String.fetchOne(
            db,
            sql: "SELECT type FROM pragma_table_list WHERE schema = 'main' AND name = ? COLLATE NOCASE",
            arguments: [table])
        guard let type else { return try checkOtherDatabases(db) }
        guard type == "table" else {
            let kinds = ["virtual": "a virtual table", "shadow": "a table of a virtual table"]
            throw refused(
                "\(table) is \(kinds[type] ?? "a \(type)"), and cannot be rebuilt while the app uses it",
                Self.plainRebuild)
        }
        guard let found = try RebuildTable(names.table, db) else { return }
        try check(found)
    }

    /// Throws if the table is in another database than `main`.
    private func checkOtherDatabases(_ db: Database) throws {
        let schema = try String.fetchOne(
            db, sql: "SELECT schema FROM pragma_table_list WHERE name = ? COLLATE NOCASE", arguments: [table])
        guard let schema else { return }
        throw refused(
            "table \(table) is in the database \(schema), and only tables of `main` can be rebuilt",
            "Open that database on its own, and register the rebuild for it.")
    }

    private func check(_ found: RebuildTable) throws {
        guard !found.key.isEmpty else {
            throw refused(
                "table \(table) has no primary key, by which its rows could be copied", Self.plainRebuild)
        }
        guard found.isWithoutRowID || found.rowID != nil else {
            throw refused("the columns of table \(table) hide the row id", Self.plainRebuild)
        }
        try checkReplacedRows(of: found)
    }

    /// Throws if a trigger cannot find the row that `REPLACE` is about to remove.
    private func checkReplacedRows(of found: RebuildTable) throws {
        func refused(_ index: RebuildTable.UniqueIndex, _ reason: String) -> MigrationError {
            self.refused(
                """
                the unique index \(index.name) of table \(found.name) is over \(reason), and a trigger cannot see which row \
                REPLACE removes
                """, Self.plainRebuild)
        }
        let generated = found.columns.filter(\.isGenerated)
        let index = found.uniqueIndexes.first { $0.mentions(generated) }
        if let index, found.columns.contains(where: { $0.replacement != nil }) {
            throw refused(index, "a generated column, where a default takes the place of NULL")
        }
        guard found.isRowIDKey, let id = found.key.first.flatMap({ found.column($0.name) }) else { return }
        let computed = found.generatesColumns(from: id.name) ? generated : []
        if let index = found.uniqueIndexes.first(where: { $0.computes(with: [id]) || $0.mentions(computed) })
        {
            throw refused(index, "what is computed from \(id.name), which SQLite gives")
        }
    }

    private func check(_ expression: String, for column: SQLName) throws {
        let tokens = Array(SQLLexer(Array(expression.utf8)))
        let isWhole =
            !expression.utf8.contains(0) && !tokens.isEmpty
            && !tokens.contains { [.unterminated, .semicolon, .parameter].contains($0.kind) }
        let problem =
            SQLLexer.hasWord("select", in: expression)
            ? "has a SELECT" : SQLLexer.hasTable(in: expression) ? "looks for a value in a table" : nil
        if isWhole, problem == nil { return }
        throw refused(
            "the expression that fills column \(column) of table \(table) \(problem ?? "is none: `\(expression)`")",
            "Use the columns of the row alone: it is copied again only when the row itself changes.")
    }

    func checkIndexes(_ schema: RebuildSchema, _ db: Database) throws {
        for index in schema.indexes {
            let isTaken = try Bool.fetchOne(
                db, sql: "SELECT EXISTS (SELECT 1 FROM main.sqlite_master WHERE name = ? COLLATE NOCASE)",
                arguments: [index])
            if isTaken == true {
                throw refused(
                    "there is an index, a table or a view \(index) already",
                    "Give the indexes of the new table \(table) new names: SQLite cannot rename them.")
            }
        }
    }

    // MARK: With both tables

    /// Throws if the new table does not go with the old one.
    func check(_ old: RebuildTable, _ new: RebuildTable, _ db: Database) throws {
        try check(old)
        guard new.isWithoutRowID || new.rowID != nil else {
            throw refused("the columns of the new table \(table) hide the row id", "Rename one of them.")
        }
        if let unknown = copying.keys.sorted().first(where: { new.column($0)?.isGenerated ?? true }) {
            throw refused(
                "`copying` fills column \(unknown), and the new table \(table) has no such column",
                "Name the columns of the new table that are not generated.")
        }
        for key in old.key { try check(key, old, new) }
        guard try hasIndex(old.key, new, db) else {
            throw refused(
                "the new table \(table) has no index that begins with \(old.key.map(\.name.text).joined(separator: ", "))",
                "Make the old primary key the new one, or add an index on it: rows are found by it.")
        }
        try checkReferences(old, new, db)
        try checkForeignKeys(of: new, db)
        for key in try ForeignKey.fetchAll(db) where [old.name, new.name].contains(key.child) {
            if let parent = try RebuildTable(key.parent, db) { try checkReplacedRows(of: parent) }
        }
        try checkColumns(old, new, db)
    }

    /// Throws if SQLite would refuse the app's writes because of a foreign key of the new table (foreignkeys.html, section 3).
    private func checkForeignKeys(of new: RebuildTable, _ db: Database) throws {
        for key in try ForeignKey.fetchAll(db) where key.child == new.name {
            guard try db.hasTable(key.parent), try !key.isComplete(in: db) else { continue }
            let columns = try key.parentColumns(in: db).map(\.text).joined(separator: ", ")
            throw refused(
                "the new table \(table) refers to \(columns) of table \(key.parent), where these are not unique together",
                "Add a unique index on them first, in a schema migration.")
        }
    }

    /// Throws if a column would be lost that the app does not know of, or has forgotten.
    private func checkColumns(_ old: RebuildTable, _ new: RebuildTable, _ db: Database) throws {
        // SQLite takes neither aggregates nor window functions in a condition.
        let read = try copying.values.map { expression in
            try db.makeStatement(sql: "SELECT 1 FROM \(old.name.inMain) WHERE (\(expression)\n)")
                .databaseRegion
        }
        let lost = old.columns.first { column in
            !column.isGenerated && new.column(column.name) == nil && !dropping.contains(column.name)
                && !read.contains {
                    $0.isModified(
                        byEventsOfKind: .update(tableName: old.name.text, columnNames: [column.name.text]))
                }
        }
        guard let lost else { return }
        throw refused(
            "the new table \(table) has no column \(lost.name), whose values would be lost",
            """
            Add the column to the new table, or name it in `dropping:`. A later migration that adds it must be `finishing:` the \
            rebuild.
            """)
    }

    private func check(_ key: RebuildTable.KeyColumn, _ old: RebuildTable, _ new: RebuildTable) throws {
        let (before, after) = (old.column(key.name), new.column(key.name))
        guard copying[key.name] == nil, let before, let after, !after.isGenerated,
            before.affinity == after.affinity, SQLName(before.collation) == SQLName(after.collation)
        else {
            throw refused(
                "column \(key.name) of the primary key of table \(table) does not stay as it is",
                Self.plainRebuild)
        }
    }

    /// Returns true if rows of the new table can be found by the old key.
    private func hasIndex(_ key: [RebuildTable.KeyColumn], _ new: RebuildTable, _ db: Database) throws -> Bool
    {
        if new.isRowIDKey, new.key.map(\.name) == key.map(\.name) { return true }
        let wanted = Dictionary(
            key.map { ($0.name, SQLName($0.collation)) }, uniquingKeysWith: { first, _ in first })
        let indexes = try SQLName.fetchAll(
            db, sql: "SELECT name FROM pragma_index_list(?, 'main') WHERE NOT partial", arguments: [new.name])
        return try indexes.contains { index in
            let columns = try Row.fetchAll(
                db,
                sql: "SELECT name, coll FROM pragma_index_xinfo(?, 'main') WHERE key ORDER BY seqno LIMIT ?",
                arguments: [index, key.count])
            return columns.count == key.count
                && columns.allSatisfy { row in
                    guard let name: SQLName = row["name"] else { return false }
                    return wanted[name] == row["coll"] as SQLName
                }
        }
    }

    /// Throws if rows of other tables could lose the row that they refer to.
    func checkReferences(_ old: RebuildTable, _ new: RebuildTable, _ db: Database) throws {
        for key in try ForeignKey.fetchAll(db) where key.parent == old.name && key.child != old.name {
            // That of another rebuild starts over.
            if RebuildNames.isTable(key.child), key.child != new.name { continue }
            for column in try key.parentColumns(in: db) {
                guard let before = old.column(column) else { continue }
                if copying[column] == nil, let after = new.column(column), after.affinity == before.affinity,
                    SQLName(after.collation) == SQLName(before.collation)
                {
                    continue
                }
                throw refused(
                    """
                    table \(key.child == new.name ? old.name : key.child) refers to column \(column) of table \(table), which \
                    does not stay as it is
                    """,
                    Self.plainRebuild)
            }
        }
    }
}
