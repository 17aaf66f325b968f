import GRDB

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

    package let name: SQLName
    package let isFTS5: Bool
    /// The place of the texts.
    package let content: Content
    /// The table or view whose texts the table indexes; nil if it indexes its own, or none.
    package let contentTable: SQLName?
    /// The hidden column of FTS4 that tells a text's language (fts3.html, 6.3).
    package let language: SQLName?
    /// True if FTS4 keeps its texts as a function of the app makes them (fts3.html, 6.1).
    package let isCompressed: Bool
    /// The column of that table which the index uses as the id of a row; nil if it is the table's own.
    private let rowID: SQLName?

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
        let arguments = tokens[(using + 2)...]
        let source = Self.option("content", arguments)
        content = source.map { $0 == "" ? .none : .external } ?? .own
        contentTable = content == .external ? source : nil
        language = module == "fts4" ? Self.option("languageid", arguments) : nil
        isCompressed = module == "fts4" && Self.option("compress", arguments) != nil
        rowID = isFTS5 ? Self.option("content_rowid", arguments) : nil
    }

    /// Returns the value of an option among a module's arguments; nil if it is missing.
    private static func option(_ option: SQLName, _ arguments: ArraySlice<String>) -> SQLName? {
        for index in arguments.indices.dropLast(3)
        where ["(", ","].contains(arguments[index]) && SQLName(token: arguments[index + 1]) == option
            && arguments[index + 2] == "="
        {
            let value = SQLName(token: arguments[index + 3])
            return [")", ","].contains(arguments[index + 3]) ? "" : value
        }
        return nil
    }

    /// Compiles the statement with which the module reads another table's texts (fts5.html, 4.4.3).
    ///
    /// SQLite compiles it when the first search reads a text, and not when that table is changed.
    ///
    /// - Returns: why it does not compile; nil if it does, if there is no other table, or if the module is missing here.
    func failure(_ db: Database) throws -> DatabaseError? {
        guard let contentTable else { return nil }
        if let failure = try db.failure(compiling: "SELECT 1 FROM \(contentTable.inMain)") { return failure }
        guard try db.failure(compiling: "SELECT * FROM \(name.inMain)") == nil else { return nil }
        let columns = try SQLName.fetchAll(
            db, sql: "SELECT name FROM pragma_table_xinfo(?, 'main') WHERE hidden = 0", arguments: [name])
        // A name in double quotes that names no column is a text (quirks.html, 8), but not after a table's name.
        let texts = (columns + [rowID].compactMap { $0 }).map { "content.\($0.sql)" }
        return try db.failure(
            compiling: "SELECT \(texts.joined(separator: ", ")) FROM \(contentTable.inMain) AS content")
    }
}
