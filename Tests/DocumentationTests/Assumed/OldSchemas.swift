// swift-format-ignore-file: TypeNamesShouldBeCapitalized
// What the snippets of OldSchemas.md assume, beside Assumed.swift. Only compiled, and private to them.

private enum Schema {
    enum v20240601 {
        struct Book: FetchableRecord, PersistableRecord {
            var id: Int64
            var title: String
            init(row: Row) throws { (id, title) = (row["id"], row["title"]) }
            func encode(to container: inout PersistenceContainer) { container["id"] = id }
        }
    }
    enum v20250110 {
        struct Work: PersistableRecord {
            var id: Int64
            var title: String
            func encode(to container: inout PersistenceContainer) { container["id"] = id }
        }
    }
}
private var sources: URL { URL(fileURLWithPath: "Sources") }
private var migrator: DatabaseMigrator { DatabaseMigrator() }
