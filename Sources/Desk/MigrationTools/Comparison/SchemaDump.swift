package import GRDB
import SchemaMigrations

/// A database's schema as SQL, in an order that does not depend on its history.
///
/// It lists tables, indexes, views and triggers, each sorted by name. So the dumps of two databases, or of
/// one database at two times, can be compared line by line.
package struct SchemaDump: Sendable {
    /// The SQL, with a line break at its end.
    package let text: String

    /// Reads the schema of a database.
    package init(_ db: Database) throws {
        let order = ["table", "index", "view", "trigger"]
        let objects = try SchemaObject.fetchAll(db).sorted { first, second in
            let ranks = (order.firstIndex(of: first.type) ?? 0, order.firstIndex(of: second.type) ?? 0)
            return (ranks.0, first.name.text) < (ranks.1, second.name.text)
        }
        let version = try Ledger(db).currentVersion.map { "at version \($0)" } ?? "without a version"
        text =
            (["-- A schema \(version), by app-migrations dump."] + objects.map(\.statement))
            .joined(separator: "\n\n") + "\n"
    }
}
