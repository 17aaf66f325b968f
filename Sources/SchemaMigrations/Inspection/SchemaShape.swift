import GRDB

/// A database's schema at one moment, for detecting changes.
struct SchemaShape {
    struct Object: Hashable {
        let identity: Identity
        let sql: String?

        var table: SQLName { identity.table }
    }

    /// What stays the same while `ALTER TABLE` adds, drops or renames a column.
    struct Identity: Hashable {
        /// An identifier that usually changes when a table is dropped and created again.
        let id: Int64
        let name: String
        let table: SQLName
        let rootPage: Int
    }

    /// The schema cookie (fileformat2.html, 1.3.9), which each change of the schema raises.
    let cookie: Int
    let objects: Set<Object>
    let keys: Set<ForeignKey>

    init(_ db: Database) throws {
        cookie = try db.pragma("main.schema_version")
        let rows = try Row.fetchAll(
            db, sql: "SELECT rowid, name, tbl_name, sql, rootpage FROM main.sqlite_master")
        objects = Set(
            rows.map {
                Object(
                    identity: Identity(
                        id: $0["rowid"], name: $0["name"], table: $0["tbl_name"],
                        rootPage: $0["rootpage"] ?? 0),
                    sql: $0["sql"])
            })
        keys = try Set(ForeignKey.fetchAll(db))
    }

    /// Returns true if everything in the earlier schema still exists unchanged.
    func hasAll(of before: SchemaShape) -> Bool {
        cookie == before.cookie || objects.isSuperset(of: before.objects)
    }
}
