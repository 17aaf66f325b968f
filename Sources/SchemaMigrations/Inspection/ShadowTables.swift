import GRDB

/// The tables in which virtual tables store their contents (vtab.html, 2.1.1).
struct ShadowTables {
    private let names: Set<SQLName>

    /// Finds the shadow tables of a database.
    ///
    /// SQLite takes a table for a shadow by its name alone. An app's own table may have such a name: `doc_content`
    /// beside a table `doc` of FTS5 without content. So each virtual table is created in an empty database, and only
    /// what its module creates there is a shadow.
    init(_ db: Database) throws {
        var candidates = try Set(
            SQLName.fetchAll(
                db, sql: "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'shadow'"))
        guard !candidates.isEmpty else {
            names = []
            return
        }
        let tables = try Row.fetchAll(
            db,
            sql:
                "SELECT name, sql FROM main.sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL%'"
        )
        let definitions = try Dictionary(
            Row.fetchAll(db, sql: "SELECT name, sql FROM main.sqlite_master WHERE type = 'table'").map {
                ($0["name"] as SQLName, $0["sql"] as String)
            }, uniquingKeysWith: { $1 })
        let empty = try DatabaseQueue(configuration: db.configuration.forCopying())
        var shadows: Set<SQLName> = []
        for table in tables {
            let found: [SQLName: String]? = try? empty.writeWithoutTransaction { empty in
                try Self.tables(createdBy: table["sql"], named: table["name"], in: empty)
            }
            if let found {
                shadows.formUnion(
                    found.filter { $0.value.isEmpty || Self.isSame($0.value, definitions[$0.key]) }.keys)
            } else {
                // Without the module, SQLite's answer is the best.
                let prefix = SQLName("\(table["name"] as String)_").folded
                shadows.formUnion(candidates.filter { $0.folded.hasPrefix(prefix) })
            }
        }
        try empty.close()
        candidates.formIntersection(shadows)
        names = candidates
    }

    /// Returns whether a table is a shadow table.
    func contains(_ table: SQLName) -> Bool { names.contains(table) }

    /// Creates a virtual table, and returns the tables that it creates with it, or later.
    ///
    /// The definition of those created later matters: FTS3 creates `_stat` when it is told to merge, and until then
    /// an app can have a table of this name.
    private static func tables(
        createdBy sql: String, named name: SQLName, in db: Database
    ) throws -> [SQLName: String] {
        func tables() throws -> [SQLName: String] {
            try Dictionary(
                Row.fetchAll(
                    db, sql: "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name <> ?",
                    arguments: [name]
                )
                .map { ($0["name"] as SQLName, $0["sql"] as String) }, uniquingKeysWith: { $1 })
        }
        try db.execute(sql: sql)
        let first = try tables()
        try? db.execute(sql: "INSERT INTO \(name.sql)(\(name.sql)) VALUES ('automerge=2')")
        let all = try tables()
        try db.execute(sql: "DROP TABLE \(name.sql)")
        return Dictionary(
            all.map { ($0.key, first[$0.key] == nil ? $0.value : "") }, uniquingKeysWith: { $1 })
    }

    /// Returns whether two tables have the same columns, whatever their names.
    private static func isSame(_ first: String, _ second: String?) -> Bool {
        guard let second else { return false }
        func columns(_ sql: String) -> [UInt8] { Array(sql.utf8.drop { $0 != UInt8(ascii: "(") }) }
        return columns(first) == columns(second)
    }
}
