package import GRDB
package import SchemaMigrations

/// The objects of a schema, from which a migration to another schema can be worked out.
package struct SchemaDescription: Sendable {
    /// The tables, indexes, views and triggers, in the order of creation.
    package let objects: [SchemaObject]
    /// The names that the SQL may mean.
    let names: Set<SQLName>
    /// How to open a database in which the schema can be made.
    let configuration: Configuration
    /// For full-text tables, the statements that give them their settings, which no definition names.
    let settings: [SQLName: [String]]

    /// Reads the schema of a database.
    package init(_ db: Database) throws {
        objects = try SchemaObject.fetchAll(db)
        configuration = db.configuration
        var names = Set(objects.map(\.name))
        for object in objects where object.type == "table" {
            names.formUnion(
                try SQLName.fetchAll(
                    db, sql: "SELECT name FROM pragma_table_xinfo(?, 'main')", arguments: [object.name]))
        }
        self.names = names
        settings = try objects.compactMap(FullTextTable.init).reduce(into: [:]) { settings, table in
            settings[table.name] = try table.settings(db, \.plain)
        }
    }

    /// Creates a description of some objects, in a database that another one describes.
    init(_ objects: [SchemaObject], names: Set<SQLName>, like other: SchemaDescription) {
        self.objects = objects
        (configuration, settings) = (other.configuration, other.settings)
        self.names = names
    }

    /// Returns the objects in which two schemas differ, each in words such as ``table `note` ``.
    ///
    /// The order of a table's columns makes no difference, and neither does that of a column's constraints.
    package func differences(from other: SchemaDescription) -> [String] {
        let names = names.union(other.names)
        let (mine, others) = (byKey, other.byKey)
        return Set(mine.keys).union(others.keys).filter { key in
            guard let one = mine[key], let two = others[key] else { return true }
            return !one.isSame(as: two, names: names)
        }.map(\.title).sorted()
    }

    /// Returns whether there is a table or a column, in a text such as `note` or `note.body`.
    func has(_ path: String) -> Bool {
        objects.filter { $0.type == "table" && !$0.isVirtual }.contains { table in
            SQLName(path) == table.name
                || TableOutline(table, names: names).columns.contains {
                    SQLName(path) == SQLName("\(table.name).\($0.name)")
                }
        }
    }

    /// The objects by type and name.
    var byKey: [DatabaseSchema.Key: SchemaObject] {
        Dictionary(objects.map { ($0.key, $0) }, uniquingKeysWith: { $1 })
    }
}

extension SchemaObject {
    var key: DatabaseSchema.Key { .init(type: type, name: name) }

    /// Returns whether two objects differ in nothing but the writing of their SQL, and the order of columns.
    func isSame(as other: SchemaObject, names: Set<SQLName>) -> Bool {
        if meaning(names) == other.meaning(names) { return true }
        guard type == "table", other.type == "table", !isVirtual, !other.isVirtual else { return false }
        return TableOutline(self, names: names).isSame(as: TableOutline(other, names: names))
    }
}
