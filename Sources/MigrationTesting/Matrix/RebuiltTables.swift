import GRDB
import MigrationTools
import SchemaMigrations
import TextOutput

/// The indexes and triggers of a database, and which table each is on, to find those that a rebuild has lost.
///
/// The recipe for what `ALTER TABLE` cannot do makes a new table and drops the old one, and all that is on it goes with
/// it (lang_altertable.html, section 7): a fresh install then lacks it as well, so that comparing does not tell.
struct RebuiltTables {
    /// Something that went with its table.
    struct Loss {
        let object: SchemaObject
        let sentence: String
    }

    private let objects: [SchemaObject]
    /// Where each table begins: the new one is made before the old one goes, so it begins elsewhere.
    private let pages: [String: Int]

    init(_ db: Database) throws {
        objects = try SchemaObject.fetchAll(db).filter { $0.type == "index" || $0.type == "trigger" }
        let rows = try Row.fetchAll(
            db, sql: "SELECT name, rootpage FROM main.sqlite_master WHERE type = 'table'")
        pages = Dictionary(
            rows.map { (($0["name"] as String).lowercased(), $0["rootpage"]) }, uniquingKeysWith: { $1 })
    }

    /// Whether there is an object of this name.
    func contains(_ object: SchemaObject) -> Bool {
        objects.contains { $0.type == object.type && $0.name.lowercased() == object.name.lowercased() }
    }

    func losses(since before: RebuiltTables, by migration: any SchemaMigration) -> [Loss] {
        before.objects.filter { !contains($0) }.compactMap { object in
            let table = object.table.lowercased()
            guard let old = before.pages[table], let new = pages[table], old != new else { return nil }
            return Loss(
                object: object,
                sentence: """
                    \(migration.title) rebuilds table \(object.table.quoted), and \(object.type) \(object.name.quoted) is \
                    not made again
                    """)
        }
    }
}
