import GRDB

/// The triggers of a rebuild.
///
/// They write nothing but keys into a table that has no constraint, and delete from tables that the app does not know. So
/// they can refuse no write of the app's, whatever the new table would say about it.
struct RebuildTriggers {
    private let names: RebuildNames
    /// The key by which rows are noted.
    private var key: [RebuildTable.KeyColumn] = []
    private var statements: [String] = []

    private init(_ names: RebuildNames) { self.names = names }

    /// Creates the triggers that note which rows change until the swap.
    static func create(_ names: RebuildNames, _ table: RebuildTable, _ db: Database) throws {
        var triggers = RebuildTriggers(names)
        triggers.key = table.key
        triggers.noteRows(of: table.name)
        triggers.noteReplacedRows(of: table)
        let keys = try triggers.freeParents(of: names.shadow, db)
        // What foreign key actions do to the new table is noted too: its row is no longer the old one's.
        if keys > 0 { triggers.noteChanges(of: names.shadow) }
        for statement in triggers.statements { try db.execute(sql: statement) }
    }

    /// Replaces the triggers of rebuilds by those that keep their tables from refusing changes of the parents.
    ///
    /// That is all that the old table needs after its swap, and a new one whose rebuild starts over because a parent has
    /// changed.
    ///
    /// - Parameter children: the tables, among others that are none of a rebuild's.
    static func renew(for children: Set<SQLName>, _ db: Database) throws {
        let keys = try ForeignKey.fetchAll(db)
        for child in children {
            guard let names = RebuildNames(of: child) else { continue }
            // SQLite would refuse every change of the parent.
            let isBroken = try keys.contains {
                try $0.child == child && db.hasTable($0.parent) && !$0.isComplete(in: db)
            }
            if isBroken {
                try TableRebuild.discard(names.table.text, db)
                continue
            }
            try names.dropTriggers(db)
            var triggers = RebuildTriggers(names)
            _ = try triggers.freeParents(of: child, db)
            for statement in triggers.statements { try db.execute(sql: statement) }
        }
    }

    /// Drops the triggers of all rebuilds if one of them has kept a migration from changing the schema, as one that names a
    /// dropped column does; the rebuilds start over.
    ///
    /// - Returns: whether the migration is to run again.
    static func giveWay(after error: any Error, _ db: Database) throws -> Bool {
        guard areInTheWay(error) else { return false }
        let triggers = try SQLName.fetchAll(
            db, sql: "SELECT name FROM main.sqlite_master WHERE type = 'trigger'"
        ).filter { $0.folded.hasPrefix(RebuildNames.triggerPrefix) }
        for trigger in triggers { try db.execute(sql: "DROP TRIGGER \(trigger.inMain)") }
        return !triggers.isEmpty
    }

    /// Returns true for SQLite's error about a trigger of a rebuild that does not go with a new schema.
    static func areInTheWay(_ error: any Error) -> Bool {
        "\(error)".contains("error in trigger \(RebuildNames.triggerPrefix)")
    }

    private mutating func add(
        _ event: String, on table: SQLName, when condition: String? = nil, _ body: [String]
    ) {
        guard !body.isEmpty else { return }
        let name = names.trigger(statements.count + 1)
        statements.append(
            """
            CREATE TRIGGER \(name.inMain) \(event) ON \(table.sql)\(condition.map { " WHEN \($0)" } ?? "") BEGIN
                \(body.map { "\($0);" }.joined(separator: "\n    "))
            END
            """)
    }

    // MARK: Notes

    private mutating func noteRows(of table: SQLName) {
        add("AFTER INSERT", on: table, [note("NEW")])
        noteChanges(of: table)
    }

    private mutating func noteChanges(of table: SQLName) {
        add("AFTER DELETE", on: table, [note("OLD")])
        add("AFTER UPDATE", on: table, [note("OLD"), note("NEW")])
    }

    private mutating func noteReplacedRows(of table: RebuildTable) {
        let notes = table.conflicts(includingKey: false).map {
            note(table.name.sql, from: table.name, where: $0)
        }
        add("BEFORE INSERT", on: table.name, notes)
        add("BEFORE UPDATE", on: table.name, notes)
    }

    /// Returns a statement that notes the key of a row, or of the rows of a table, unless it is noted already.
    private func note(_ row: String, from source: SQLName? = nil, where condition: String? = nil) -> String {
        // The sign takes away the column's affinity, with which SQLite could not go by the index (optoverview.html).
        let values = key.map { "+\(row).\($0.name.sql)" }
        let columns = RebuildLog.columns(of: key.count)
        let isNoted = zip(columns, values).map { "\($0) IS \($1)" }.joined(separator: " AND ")
        return """
            INSERT INTO \(names.log.sql)(todo, \(columns.joined(separator: ", "))) \
            SELECT 0, \(values.joined(separator: ", "))\(source.map { " FROM \($0.sql)" } ?? "") \
            WHERE \(condition.map { "\($0) AND " } ?? "")\
            NOT EXISTS (SELECT 1 FROM \(names.log.sql) WHERE todo = 0 AND \(isNoted))
            """
    }

    // MARK: Foreign keys

    /// Adds triggers that delete the rows of a table of ours that would keep the app from changing a parent.
    ///
    /// - Returns: the number of foreign keys.
    private mutating func freeParents(of child: SQLName, _ db: Database) throws -> Int {
        let keys = try ForeignKey.fetchAll(db).filter { $0.child == child }
        let actions = try Row.fetchAll(
            db, sql: "SELECT on_delete, \"from\" FROM pragma_foreign_key_list(?, 'main')", arguments: [child])
        let childTable = try RebuildTable(child, db)
        // A row that is replaced by one with the same key is missed by no key whose action cannot fail.
        let isHarmlessIfReplaced = actions.allSatisfy { row in
            let action: String = row[0]
            return ["NO ACTION", "CASCADE"].contains(action)
                || action == "SET NULL" && childTable?.takesNull(in: row[1]) == true
        }
        for key in keys {
            // The parent of a reference to the table itself is the table of that name, old or new.
            guard let parent = try RebuildTable(key.parent, db) else { continue }
            let parentColumns = try key.parentColumns(in: db)
            guard parentColumns.count == key.columns.count else { continue }
            func each(_ term: (SQLName) -> String) -> String {
                parentColumns.map(term).joined(separator: " AND ")
            }
            let columns: String = zip(key.columns, parentColumns).map { column, parentColumn -> String in
                let collation = SQLName(parent.column(parentColumn)?.collation ?? "BINARY")
                return "\(child.sql).\(column.sql) COLLATE \(collation.sql)"
            }.joined(separator: ", ")
            // The parent's column lends its affinity to the child's, as in SQLite's own check.
            func delete(childrenOf condition: String) -> String {
                """
                DELETE FROM \(child.sql) WHERE \(key.columns.count == 1 ? columns : "(\(columns))") IN \
                (SELECT \(parentColumns.sql) FROM \(parent.name.sql) WHERE \(condition))
                """
            }
            let own = delete(childrenOf: each { "\(parent.name.sql).\($0.sql) = OLD.\($0.sql)" })
            add("BEFORE DELETE", on: parent.name, [own])
            let isUnchanged = each { "OLD.\($0.sql) IS NEW.\($0.sql)" }
            add("BEFORE UPDATE", on: parent.name, when: "NOT (\(isUnchanged))", [own])
            let isSame = each { "\(parent.name.sql).\($0.sql) IS NEW.\($0.sql)" }
            let isOld = each { "\(parent.name.sql).\($0.sql) IS OLD.\($0.sql)" }
            let losesKey = isHarmlessIfReplaced ? "NOT (\(isSame)) AND " : ""
            for conflict in parent.conflicts(includingKey: true) {
                for (event, others) in [("BEFORE INSERT", ""), ("BEFORE UPDATE", "NOT (\(isOld)) AND ")] {
                    let isVictim = "\(others)\(losesKey)\(conflict)"
                    add(
                        event, on: parent.name,
                        when: "EXISTS (SELECT 1 FROM \(parent.name.sql) WHERE \(isVictim))",
                        [delete(childrenOf: isVictim)])
                }
            }
        }
        return keys.count
    }
}

/// The table of keys: those that were written since a batch has looked, and those whose rows are to be copied.
enum RebuildLog {
    static func columns(of count: Int) -> [String] { (1...max(1, count)).map { "key_\($0)" } }
}
