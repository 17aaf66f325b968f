import GRDB

/// A table, index, view or trigger of a database, as SQL.
struct SchemaObject: Hashable {
    let type: String
    let name: String
    let table: String
    let sql: String

    var isVirtual: Bool { sql.uppercased().hasPrefix("CREATE VIRTUAL TABLE") }

    /// The SQL, ended: that of a view can end with a comment.
    var statement: String { sql.contains("--") ? "\(sql)\n;" : "\(sql);" }

    /// Every object of the database, but for SQLite's own, this package's, and the tables that a virtual table
    /// makes for itself; in the order in which they were made.
    static func fetchAll(_ db: Database) throws -> [SchemaObject] {
        try Row.fetchAll(
            db,
            sql: """
                SELECT type, name, tbl_name, sql FROM main.sqlite_master
                WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
                    AND tbl_name NOT IN (SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'shadow')
                ORDER BY rowid
                """
        ).map { SchemaObject(type: $0["type"], name: $0["name"], table: $0["tbl_name"], sql: $0["sql"]) }
            .filter { !Ledger.isOwn(table: $0.table) }
    }
}

/// A database's schema and rows, to be compared with another's.
struct DatabaseContents {
    private let objects: [SchemaObject]
    private let rows: [String: [[DatabaseValue]]]

    init(_ db: Database) throws {
        objects = try SchemaObject.fetchAll(db)
        var rows: [String: [[DatabaseValue]]] = [:]
        for object in objects where object.type == "table" {
            let cursor = try Row.fetchCursor(
                db, sql: "SELECT * FROM main.\(object.name.quotedDatabaseIdentifier)")
            var found: [[DatabaseValue]] = []
            while let row = try cursor.next() { found.append(Array(row.databaseValues)) }
            rows[object.name] = found
        }
        self.rows = rows
    }

    /// Where two databases differ, a sentence each.
    func differences(from other: DatabaseContents, calling here: String, _ there: String) -> [String] {
        let mine = Dictionary(objects.map { ("\($0.type) \($0.name)", $0) }, uniquingKeysWith: { $1 })
        let theirs = Dictionary(other.objects.map { ("\($0.type) \($0.name)", $0) }, uniquingKeysWith: { $1 })
        var differences: [String] = []
        for title in Set(mine.keys).union(theirs.keys).sorted() {
            switch (mine[title], theirs[title]) {
            case (let object?, nil):
                differences.append("\(object.type) \(object.name) is missing after \(there)")
            case (nil, let object?):
                differences.append("\(object.type) \(object.name) is missing after \(here)")
            case (let left?, let right?) where left.sql.tokens != right.sql.tokens:
                differences.append("\(title) is «\(left.sql)» after \(here), «\(right.sql)» after \(there)")
            default: break
            }
        }
        for (table, found) in rows.sorted(by: { $0.key < $1.key }) {
            guard let others = other.rows[table], others != found else { continue }
            differences.append(
                "table \(table) has \(found.count) rows after \(here), \(others.count) after \(there)"
                    + (found.count == others.count ? ", with other values" : ""))
        }
        return differences
    }
}

extension String {
    /// The text's tokens, so that white space and comments do not count.
    fileprivate var tokens: [ArraySlice<UInt8>] {
        let bytes = Array(utf8)
        return SQLLexer(bytes).map { bytes[$0.range] }
    }
}
