package import GRDB
import MigrationDiagnostics

/// The differences between a database's schema and another, an object each.
package struct SchemaDrift {
    /// The objects that differ, such as ``index `by_title` is missing``.
    package let sentences: [String]

    /// The tables in which other tools record their migrations, which no migration creates.
    private static let ledgersOfOthers = ["table `schema_info`"]

    /// Compares a database with one that has the schema it should have.
    ///
    /// - Parameter ignoringAdditions: whether objects may be there that should not.
    package init(of db: Database, from expected: Database, ignoringAdditions: Bool = false) throws {
        let wanted = try Self.objects(expected)
        let found = try Self.objects(db).filter { title, _ in
            wanted[title] != nil || !ignoringAdditions && !Self.ledgersOfOthers.contains(title)
        }
        sentences = Set(found.keys).union(wanted.keys).compactMap { title in
            switch (found[title], wanted[title]) {
            case (nil, _?): "\(title) is missing"
            case (_?, nil): "\(title) should not be there"
            case (let one, let other): one == other ? nil : "\(title) is different"
            }
        }.inOrder()
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
            objects.map { ("\($0.type) `\($0.name)`", $0.meaning(names)) }, uniquingKeysWith: { $1 })
    }
}
