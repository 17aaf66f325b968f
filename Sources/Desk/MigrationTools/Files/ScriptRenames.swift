package import SchemaMigrations

/// The names that tables and columns have after migrations, as the statements that rename them say.
package struct ScriptRenames: Sendable {
    /// The present name of each table that a statement names, by the name that it had; nil if it was dropped.
    private var tables: [SQLName: SQLName?] = [:]
    private var columns: [Column: SQLName] = [:]

    private struct Column: Hashable {
        let table: SQLName
        let name: SQLName
    }

    /// Reads scripts, in the order in which they run.
    package init(_ scripts: some Sequence<SQLScript>) {
        for script in scripts { add(ScriptOutline(script)) }
    }

    init(_ outline: ScriptOutline) {
        add(outline)
    }

    private mutating func add(_ outline: ScriptOutline) {
        for statement in outline.statements {
            if let (from, to) = statement.rename {
                if let source = source(of: from) { tables[source] = to }
            } else if let table = statement.dropped("TABLE") {
                if let source = source(of: table) { tables[source] = .some(nil) }
            } else if let table = statement.createdTable {
                if tables[table] == nil { tables[table] = .some(nil) }
            } else if let (table, from, to) = statement.renamedColumn {
                let source = source(of: table) ?? table
                let first = columns.first { $0.key.table == source && $0.value == from }?.key.name ?? from
                columns[Column(table: source, name: first)] = to
            }
        }
    }

    /// Returns the name before the scripts of a table that has a name now; nil if a script made it.
    private func source(of table: SQLName) -> SQLName? {
        if let renamed = tables.first(where: { $0.value == table })?.key { return renamed }
        return tables[table] == nil ? table : nil
    }

    /// Returns the name of a table after the scripts; nil if they drop it.
    package func table(_ name: SQLName) -> SQLName? { tables[name] ?? name }

    /// Returns whether the scripts drop a table, and give its name to another one.
    package func isTaken(_ name: SQLName, by others: some Sequence<SQLName>) -> Bool {
        table(name) != name && others.contains { $0 != name && table($0) == name }
    }

    /// Returns the name of a table's column after the scripts.
    func column(_ name: SQLName, of table: SQLName) -> SQLName {
        columns[Column(table: table, name: name)] ?? name
    }
}
