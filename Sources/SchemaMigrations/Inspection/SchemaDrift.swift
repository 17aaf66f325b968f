import GRDB

/// The differences between a database's schema and another, an object each.
struct SchemaDrift {
    /// The objects that differ, such as ``index `by_title` is missing``.
    let sentences: [String]

    /// Compares a database with one that has the schema it should have.
    init(of db: Database, from expected: Database) throws {
        let found = try Self.objects(db)
        let wanted = try Self.objects(expected)
        sentences = Set(found.keys).union(wanted.keys).compactMap { title in
            switch (found[title], wanted[title]) {
            case (nil, _?): "\(title) is missing"
            case (_?, nil): "\(title) should not be there"
            case (let one, let other): one == other ? nil : "\(title) is different"
            }
        }.sorted()
    }

    /// Returns the tokens of each object, by its title.
    private static func objects(_ db: Database) throws -> [String: [[UInt8]]] {
        let objects = try SchemaObject.fetchAll(db)
        var names = Set(objects.map(\.name))
        for object in objects where object.type == "table" {
            names.formUnion(
                try SQLName.fetchAll(
                    db, sql: "SELECT name FROM pragma_table_xinfo(?, 'main')", arguments: [object.name]))
        }
        return Dictionary(
            objects.map { ("\($0.type) `\($0.name)`", $0.comparable(names)) }, uniquingKeysWith: { $1 })
    }
}
