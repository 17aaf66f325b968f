import GRDB
import MigrationTools
import SchemaMigrations
import TextOutput

/// The indexes and triggers of a database with their tables, to find those that a rebuild loses.
///
/// For changes that `ALTER TABLE` cannot make, SQLite's recipe makes a new table and drops the old one
/// (lang_altertable.html, section 7). The old table's indexes and triggers are dropped with it. A fresh
/// install lacks them as well, so a comparison with it does not find the loss.
struct RebuiltTables {
    /// An index or trigger that was dropped with its table.
    struct Loss {
        let object: SchemaObject
        let sentence: String
    }

    private let objects: [SchemaObject]
    /// The first page of each table, which a rebuild changes because it makes the new table before it drops
    /// the old one.
    private let pages: [SQLName: Int]

    init(_ db: Database) throws {
        objects = try SchemaObject.fetchAll(db).filter { $0.type == "index" || $0.type == "trigger" }
        let rows = try Row.fetchAll(
            db, sql: "SELECT name, rootpage FROM main.sqlite_master WHERE type = 'table'")
        pages = Dictionary(
            rows.map { ($0["name"], $0["rootpage"]) }, uniquingKeysWith: { $1 })
    }

    /// Returns whether the database has an object of this name.
    func contains(_ object: SchemaObject) -> Bool {
        objects.contains { $0.type == object.type && $0.name == object.name }
    }

    func losses(since before: RebuiltTables, by migration: MigrationTitle) -> [Loss] {
        before.objects.filter { !contains($0) }.compactMap { object in
            let table = object.table
            guard let old = before.pages[table], let new = pages[table], old != new else { return nil }
            return Loss(
                object: object,
                sentence: """
                    \(migration.title) rebuilds table \(object.table.text.quoted), and \(object.type) \(object.name.text.quoted) is \
                    not made again
                    """)
        }
    }
}
