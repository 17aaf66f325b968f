package import GRDB
package import SchemaMigrations

/// A virtual table of FTS3, FTS4 or FTS5, as its definition describes it.
package struct FullTextTable: Sendable {
    /// The place of the texts that the table indexes (fts5.html, 4.4).
    package enum Content: Sendable, Hashable {
        /// The table itself.
        case own
        /// Another table or view.
        case external
        /// None: the table holds only the index.
        case none
    }

    private let name: SQLName
    private let isFTS5: Bool
    /// The place of the texts.
    package let content: Content
    /// The table or view whose texts the table indexes; nil if it indexes its own, or none.
    package let contentTable: SQLName?

    /// Reads the definition of a table; nil if the table has no full-text index.
    package init?(_ object: SchemaObject) {
        guard object.isVirtual else { return nil }
        let bytes = Array(object.sql.utf8)
        let tokens = SQLLexer(bytes).map { String(decoding: bytes[$0.range], as: UTF8.self) }
        guard let using = tokens.firstIndex(where: { SQLName($0) == "using" }), using + 1 < tokens.count
        else {
            return nil
        }
        let module = SQLName(token: tokens[using + 1])
        guard ["fts3", "fts4", "fts5"].contains(module) else { return nil }
        name = object.name
        isFTS5 = module == "fts5"
        let source = Self.contentOption(tokens[(using + 2)...])
        content = source.map { $0 == "" ? .none : .external } ?? .own
        contentTable = content == .external ? source : nil
    }

    /// Returns the value of the option `content` among a module's arguments; nil if it is missing.
    private static func contentOption(_ arguments: ArraySlice<String>) -> SQLName? {
        for index in arguments.indices.dropLast(3)
        where ["(", ","].contains(arguments[index]) && SQLName(token: arguments[index + 1]) == "content"
            && arguments[index + 2] == "="
        {
            let value = SQLName(token: arguments[index + 3])
            return [")", ","].contains(arguments[index + 3]) ? "" : value
        }
        return nil
    }

    /// The statement that indexes the texts of another table again.
    package var rebuilding: String { "INSERT INTO \(name.sql)(\(name.sql)) VALUES ('rebuild');" }

    /// Returns whether the index agrees with the texts, on a connection that may write.
    package func isInSync(_ db: Database) throws -> Bool {
        let (columns, values) = isFTS5 ? (", rank", ", 1") : ("", "")
        do {
            // fts5.html, 6.4: a rank of 1 has the index compared with another table's texts as well.
            try db.execute(
                sql: "INSERT INTO \(name.inMain)(\(name.sql)\(columns)) VALUES ('integrity-check'\(values))")
            return true
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
            return false
        }
    }

    /// Returns the index, row by row, on a connection that may write.
    ///
    /// A query of the table itself shows only the texts, not whether they are indexed.
    package func index(_ db: Database) throws -> [[StoredValue]] {
        let table = "temp.migration_tools_vocabulary"
        let arguments =
            isFTS5 ? "fts5vocab('main', \(name.sql), 'instance')" : "fts4aux(main, \(name.sql))"
        try db.execute(sql: "CREATE VIRTUAL TABLE \(table) USING \(arguments)")
        let terms = try Row.fetchAll(db, sql: "SELECT * FROM \(table)")
        try db.execute(sql: "DROP TABLE \(table)")
        let sizes = SQLName("\(name)_docsize")
        let documents =
            try db.tableExists(sizes.text) ? Row.fetchAll(db, sql: "SELECT * FROM \(sizes.inMain)") : []
        return (documents + terms).map { $0.databaseValues.map(StoredValue.init) }
    }
}
