import SchemaMigrations

/// The values that a migration drops, and that a new table has columns for.
///
/// Nothing but their names tells that they belong there, so a person decides: the statements stand in the migration as
/// comments, where the new tables are there and the old values are not gone yet.
struct MovedValues {
    private let old: [TableOutline]
    private let made: [TableOutline]
    /// The columns that each old table keeps, by name.
    private let kept: [SQLName: Set<SQLName>]

    /// Compares two schemas.
    ///
    /// - Parameter made: the tables that are new.
    init(from old: SchemaDescription, to result: SchemaDescription, made: Set<SQLName>, names: Set<SQLName>) {
        func outlines(_ schema: SchemaDescription) -> [TableOutline] {
            schema.objects.filter { $0.type == "table" && !$0.isVirtual }.map {
                TableOutline($0, names: names)
            }
        }
        let after = outlines(result)
        self.old = outlines(old)
        self.made = after.filter { made.contains($0.name) }
        kept = Dictionary(
            after.map { ($0.name, Set($0.columns.map(\.name))) }, uniquingKeysWith: { $1 })
    }

    /// The statements that would keep the values.
    var statements: [String] {
        old.flatMap { table in made.compactMap { statement(from: table, to: $0) } }
    }

    private func statement(from table: TableOutline, to new: TableOutline) -> String? {
        let gone = table.columns.filter { column in
            column.generation == nil && !table.primaryKey.contains(column.name)
                && kept[table.name]?.contains(column.name) != true
        }
        let moved = gone.map(\.name).filter { name in
            new.column(name)?.generation == nil && new.column(name) != nil && !new.primaryKey.contains(name)
        }
        guard !moved.isEmpty else { return nil }
        let keys = new.columns.compactMap { column in
            parentColumn(of: column, in: table).map { (column: column.name, value: $0) }
        }
        let columns = (keys.map(\.column) + moved).map(\.plain).joined(separator: ", ")
        let values = (keys.map(\.value) + moved).map(\.plain).joined(separator: ", ")
        return "INSERT INTO \(new.name.plain)(\(columns)) SELECT \(values) FROM \(table.name.plain);"
    }

    /// Returns the column of a table to which a column refers; nil if it does not.
    private func parentColumn(of column: ColumnOutline, in table: TableOutline) -> SQLName? {
        guard let reference = column.constraints["REFERENCES"]?.first, reference.count > 1 else { return nil }
        let words = reference.map { SQLName(String(decoding: $0, as: UTF8.self)) }
        guard words[1] == table.name, kept[table.name] != nil else { return nil }
        let parent = words.count > 3 && words[2] == "(" ? words[3] : table.primaryKey.first
        return parent.flatMap { table.column($0)?.name }
    }
}
