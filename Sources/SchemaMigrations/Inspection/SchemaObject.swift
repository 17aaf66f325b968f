package import GRDB

/// A table, index, view or trigger of a database, as SQL.
package struct SchemaObject: Equatable, Sendable {
    package let type: String
    package let name: SQLName
    package let table: SQLName
    package let sql: String

    package init(type: String, name: SQLName, table: SQLName, sql: String) {
        self.type = type
        self.name = name
        self.table = table
        self.sql = sql
    }

    package var isVirtual: Bool { String(sql.prefix(20)).uppercasedASCII == "CREATE VIRTUAL TABLE" }

    /// The SQL with a semicolon, which stands on its own line if a comment could swallow it.
    package var statement: String { sql.contains("--") ? "\(sql)\n;" : "\(sql);" }

    /// Reads the objects of a database in the order of creation.
    ///
    /// It leaves out SQLite's own, this package's, GRDB's list of migrations, and the tables that a virtual table creates
    /// for itself.
    package static func fetchAll(_ db: Database) throws -> [SchemaObject] {
        let shadows = try ShadowTables(db)
        return try Row.fetchAll(
            db,
            sql: """
                SELECT type, name, tbl_name, sql FROM main.sqlite_master
                WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid
                """
        ).map { SchemaObject(type: $0["type"], name: $0["name"], table: $0["tbl_name"], sql: $0["sql"]) }
            .filter { !OwnTables.isOfMigrator($0.table) && !shadows.contains($0.table) }
    }

    /// The tokens of the SQL, so that white space, comments, and the case and quotes of names make no difference.
    ///
    /// SQLite quotes a table's name when it renames the table. But a word in double quotes that names nothing is
    /// a text (quirks.html, 8), and so is a word after `DEFAULT`: these compare as they are.
    ///
    /// - Parameter names: the names that the SQL may mean.
    package func comparable(_ names: Set<SQLName>) -> [[UInt8]] {
        let bytes = Array(sql.utf8)
        let tokens = Array(SQLLexer(bytes))
        var previous = SQLName("")
        return tokens.indices.map { (index: Int) -> [UInt8] in
            let token = tokens[index]
            let text = String(decoding: bytes[token.range], as: UTF8.self)
            defer { previous = SQLName(text) }
            switch token.kind {
            case .quotedName:
                let name = SQLName(token: text)
                let next = index + 1 < tokens.count ? bytes[tokens[index + 1].range] : []
                let isQualifier = next.elementsEqual(".".utf8)
                let isName =
                    !text.hasPrefix("\"") || isQualifier || names.contains(name)
                    || Self.precedesName.contains(previous)
                return isName && previous != "default" ? name.comparable : Array("\"\(name.text)\"".utf8)
            case .word where previous == "default" && !Self.isKeywordOrNumber(text): return Array(text.utf8)
            case .word: return Array(SQLName(text).folded.utf8)
            default: return Array(text.utf8)
            }
        }
    }

    private static let precedesName: Set<SQLName> = [
        "constraint", "collate", "table", "index", "view", "trigger", "exists", "references", "on", "into",
        "from",
        "update", ".",
    ]

    /// Returns whether a word after `DEFAULT` is no text, so that its case makes no difference.
    private static func isKeywordOrNumber(_ word: String) -> Bool {
        let keywords: Set<SQLName> = [
            "true", "false", "null", "current_time", "current_date", "current_timestamp",
        ]
        return keywords.contains(SQLName(word)) || word.utf8.first.map { (0x30...0x39).contains($0) } == true
    }
}

extension SQLName {
    /// The token of the name as ``SchemaObject/comparable(_:)`` returns it: in brackets, if bare it would be something else.
    ///
    /// A column may be called `1` or `(`.
    package var comparable: [UInt8] {
        let bytes = Array(folded.utf8)
        let isPlain =
            bytes.first.map { !(0x30...0x39).contains($0) } == true
            && bytes.allSatisfy { byte in
                byte >= 0x80 || [0x20, 0x24, 0x5F].contains(byte) || (0x30...0x39).contains(byte)
                    || (0x61...0x7A).contains(byte)
            }
        return isPlain ? bytes : Array("[\(folded)]".utf8)
    }
}

/// The tables in which virtual tables store their contents (vtab.html, 2.1.1).
package struct ShadowTables {
    private let names: Set<SQLName>

    /// Finds the shadow tables of a database.
    ///
    /// SQLite takes a table for a shadow by its name alone. An app's own table may have such a name: `doc_content`
    /// beside a table `doc` of FTS5 without content. So each virtual table is created in an empty database, and only
    /// what its module creates there is a shadow.
    package init(_ db: Database) throws {
        let tables = try Row.fetchAll(
            db,
            sql:
                "SELECT name, sql FROM main.sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL%'"
        )
        guard !tables.isEmpty else {
            names = []
            return
        }
        var candidates = try Set(
            SQLName.fetchAll(
                db, sql: "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'shadow'"))
        let definitions = try Dictionary(
            Row.fetchAll(db, sql: "SELECT name, sql FROM main.sqlite_master WHERE type = 'table'").map {
                ($0["name"] as SQLName, $0["sql"] as String)
            }, uniquingKeysWith: { $1 })
        var shadows: Set<SQLName> = []
        try db.configuration.withScratchDatabase { empty in
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
        }
        candidates.formIntersection(shadows)
        names = candidates
    }

    /// Returns whether a table is a shadow table.
    package func contains(_ table: SQLName) -> Bool { names.contains(table) }

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

extension Database {
    /// Returns true if the database has a table of this name.
    ///
    /// It uses plain SQL, because GRDB caches the schema, and another process may have created a table.
    package func hasTable(_ name: SQLName) throws -> Bool {
        try Bool.fetchOne(
            self,
            sql:
                "SELECT EXISTS (SELECT 1 FROM main.sqlite_master WHERE type = 'table' AND name = ? COLLATE NOCASE)",
            arguments: [name]) ?? false
    }
}
