import GRDB
import SchemaMigrations

/// A table of which a migration changes constraints alone, so that no row need be copied.
struct TableRedefinition {
    /// The table with its new definition, and its columns in their old order.
    let object: SchemaObject
    /// The changes, such as ``column `text` ``.
    let reasons: [String]
    /// The values that rows must get first: columns become `NOT NULL`, and have a default.
    let fills: [SchemaAlteration]

    /// Finds them among the rebuilds of a migration.
    static func find(in generated: GeneratedMigration, from old: SchemaDescription) -> [TableRedefinition] {
        generated.changes.compactMap { change in
            guard case .rebuild(let rebuild) = change else { return nil }
            return TableRedefinition(rebuild, generated, old)
        }
    }

    private init?(_ rebuild: TableRebuild, _ generated: GeneratedMigration, _ old: SchemaDescription) {
        let key = DatabaseSchema.Key(type: "table", name: rebuild.table)
        let names = generated.result.names
        guard let before = old.byKey[key], let after = generated.result.byKey[key], !before.isVirtual,
            !after.isVirtual
        else { return nil }
        let (one, other) = (TableOutline(before, names: names), TableOutline(after, names: names))
        let columns = one.columns.compactMap { other.column($0.name) }
        guard columns.count == one.columns.count, columns.count == other.columns.count else { return nil }
        let isInOrder = one.columns.map(\.name) == other.columns.map(\.name)
        object = isInOrder ? after : after.with(sql: other.sql(columns: columns.map(\.text)))
        reasons = rebuild.reasons
        fills = rebuild.copies.compactMap { copy in
            guard copy.expression != copy.column.plain, let value = other.column(copy.column)?.defaultValue
            else { return nil }
            return .fill(copy.column, of: rebuild.table, with: value)
        }
        let all = old.objects + generated.result.objects
        guard
            fills.isEmpty
                || !before.hasConflictClause && !all.contains(where: { $0.reacts(to: before, names) })
        else { return nil }
        // The old definition, which is there for one file longer, must not name a table that is gone.
        let dropped = generated.changes.compactMap { change in
            if case .drop(let object) = change, object.type == "table" { object.name } else { nil }
        }
        guard !dropped.contains(where: SQLTokens(before, names: names).mention),
            Self.isPossible(object, in: old)
        else { return nil }
    }

    /// Returns whether the migrator would do it.
    private static func isPossible(_ object: SchemaObject, in schema: SchemaDescription) -> Bool {
        var configuration = schema.configuration
        configuration.foreignKeysEnabled = false
        guard let database = try? configuration.scratchDatabase() else { return false }
        defer { try? database.close() }
        let result = try? database.writeWithoutTransaction { db in
            // What the table does not need may fail.
            for object in schema.objects where ["table", "index"].contains(object.type) {
                try? db.execute(sql: object.sql)
            }
            return try db.redefine(table: object.name.text, as: object.sql, editing: true)
        }
        return result != nil && result != .unchanged
    }
}

extension SchemaObject {
    /// True if an `UPDATE` of the table could remove rows that are in its way, or leave its own out.
    fileprivate var hasConflictClause: Bool { sql.uppercasedASCII.contains("CONFLICT") }

    /// Returns true if an `UPDATE` of a table does more than fill a column, or makes an index of its texts stale.
    fileprivate func reacts(to table: SchemaObject, _ names: Set<SQLName>) -> Bool {
        if type == "trigger" { return self.table == table.name }
        return FullTextTable(self)?.content == .external
            && SQLTokens(self, names: names).tokens.contains { $0.name == table.name }
    }
}

extension SchemaDescription {
    /// Returns the schema with other definitions of some tables.
    func replacing(_ tables: [SchemaObject]) -> SchemaDescription {
        let tables = Dictionary(tables.map { ($0.key, $0) }, uniquingKeysWith: { $1 })
        return SchemaDescription(objects.map { tables[$0.key] ?? $0 }, names: names, like: self)
    }
}
