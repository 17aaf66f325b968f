import GRDB

/// A database's schema at one moment, for detecting changes.
struct SchemaShape {
    struct Object: Hashable {
        let identity: Identity
        let sql: String?

        var table: SQLName { identity.table }

        func hash(into hasher: inout Hasher) { hasher.combine(identity) }
    }

    /// What stays the same while `ALTER TABLE` adds, drops or renames a column.
    struct Identity: Hashable {
        /// An identifier that usually changes when a table is dropped and created again.
        let id: Int64
        let name: String
        let table: SQLName
        let rootPage: Int

        // No other object of a schema has the identifier, and the texts would take long.
        func hash(into hasher: inout Hasher) { hasher.combine(id) }
    }

    /// The schema cookie (fileformat2.html, 1.3.9), which each change of the schema raises.
    let cookie: Int
    let objects: Set<Object>
    let keys: Set<ForeignKey>
    /// Whether some object has no root page, as views, triggers and virtual tables (fileformat2.html, 2.6).
    let mayHaveViewsOrTriggers: Bool

    init(_ db: Database) throws {
        cookie = try db.pragma("main.schema_version")
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT rowid, name, tbl_name, rootpage, sql, instr(lower(sql), 'references') FROM main.sqlite_master
                """)
        var objects: Set<Object> = []
        var mayHaveKeys = false
        var mayHaveViewsOrTriggers = false
        while let row = try rows.next() {
            let identity = Identity(id: row[0], name: row[1], table: row[2], rootPage: row[3] ?? 0)
            objects.insert(Object(identity: identity, sql: row[4]))
            mayHaveViewsOrTriggers = mayHaveViewsOrTriggers || identity.rootPage == 0
            mayHaveKeys = mayHaveKeys || row[5] as Int? ?? 0 > 0
        }
        self.objects = objects
        self.mayHaveViewsOrTriggers = mayHaveViewsOrTriggers
        keys = mayHaveKeys ? try Set(ForeignKey.fetchAll(db)) : []
    }

    /// Returns the schema of the same connection later on, which takes little if nothing has changed.
    func next(_ db: Database) throws -> SchemaShape {
        try db.pragma("main.schema_version") == cookie ? self : SchemaShape(db)
    }

    /// Returns true if everything in the earlier schema still exists unchanged.
    func hasAll(of before: SchemaShape) -> Bool {
        cookie == before.cookie || objects.isSuperset(of: before.objects)
    }
}
