import AppMigrations
import GRDB

/// A table as a rebuild has to know it: its columns, its key, and what keeps two rows apart.
struct RebuildTable {
    struct Column {
        let name: SQLName
        let affinity: Affinity
        let collation: String
        let isGenerated: Bool
        let isRequired: Bool
        /// The default that `REPLACE` puts in place of NULL; nil if the column may be NULL, or has none.
        let replacement: String?
    }

    struct KeyColumn {
        let name: SQLName
        let isNullable: Bool
        /// The collation of the key, which need not be that of the column.
        let collation: String
    }

    /// An index that two rows cannot share a place in.
    struct UniqueIndex {
        struct Term {
            /// The name of the column, or the text of the expression.
            let sql: String
            let isColumn: Bool
            let collation: String
        }

        let name: SQLName
        let terms: [Term]
        /// The condition of a partial index.
        let condition: String?
    }

    let name: SQLName
    private let sql: String
    let columns: [Column]
    let key: [KeyColumn]
    let uniqueIndexes: [UniqueIndex]
    let isWithoutRowID: Bool
    /// True if the key is another name of the row id.
    let isRowIDKey: Bool

    /// Reads a table; nil if there is no ordinary table of this name.
    init?(_ name: SQLName, _ db: Database) throws {
        let found = try Row.fetchOne(
            db,
            sql: """
                SELECT t.name, wr, strict, sql FROM pragma_table_list AS t
                JOIN main.sqlite_master AS m ON m.name = t.name AND m.type = 'table'
                WHERE schema = 'main' AND t.type = 'table' AND t.name = ? COLLATE NOCASE
                """, arguments: [name])
        guard let found else { return nil }
        self.name = name
        sql = found["sql"]
        let (isWithoutRowID, isStrict): (Bool, Bool) = (found["wr"], found["strict"])
        self.isWithoutRowID = isWithoutRowID
        let infos = try Row.fetchAll(
            db, sql: "SELECT * FROM pragma_table_xinfo(?, 'main') WHERE hidden <> 1", arguments: [name])
        columns = infos.map { info in
            let column: SQLName = info["name"]
            let metadata = db.columnMetadata(column, of: name)
            let isRequired: Bool = info["notnull"]
            return Column(
                name: column, affinity: Affinity(type: metadata.type, isStrict: isStrict),
                collation: metadata.collation, isGenerated: info["hidden"] as Int > 1,
                isRequired: isRequired || info["pk"] as Int > 0,
                replacement: isRequired ? info["dflt_value"] as String? : nil)
        }
        let keyInfos = infos.filter { $0["pk"] as Int > 0 }.sorted { ($0["pk"] as Int) < ($1["pk"] as Int) }
        let indexes = try Row.fetchAll(
            db, sql: "SELECT * FROM pragma_index_list(?, 'main') WHERE \"unique\"", arguments: [name])
        let keyIndex = indexes.first { $0["origin"] == "pk" }
        isRowIDKey = keyIndex == nil && !isWithoutRowID && !keyInfos.isEmpty
        uniqueIndexes = try indexes.map { index in
            try UniqueIndex(index["name"], isPartial: index["partial"], db)
        }
        let collations = uniqueIndexes.first { $0.name == keyIndex?["name"] as SQLName? }?.terms
        let isRowIDKey = isRowIDKey
        key = keyInfos.enumerated().map { index, info in
            KeyColumn(
                name: info["name"],
                isNullable: !isWithoutRowID && !isRowIDKey && !(info["notnull"] as Bool),
                collation: collations.map { $0[index].collation } ?? "BINARY")
        }
    }

    /// A name of the row id that no column hides; nil if the table has no row id, or no name of it is left.
    var rowID: String? {
        let taken = Set(columns.map(\.name))
        return isWithoutRowID ? nil : ["rowid", "_rowid_", "oid"].first { !taken.contains(SQLName($0)) }
    }

    func column(_ name: SQLName) -> Column? { columns.first { $0.name == name } }

    /// Returns true if a column can become NULL in every row, whatever the others have.
    func takesNull(in column: SQLName) -> Bool {
        self.column(column)?.isRequired == false && !columns.contains(where: \.isGenerated)
            && !SQLLexer.hasWord("check", in: sql)
            && uniqueIndexes.allSatisfy { $0.condition == nil && $0.terms.allSatisfy(\.isColumn) }
    }

    /// Returns true if a generated column may use a column.
    func generatesColumns(from column: SQLName) -> Bool {
        let bytes = Array(sql.utf8)
        let words = SQLLexer(bytes).map { token in
            (
                text: SQLName(token: String(decoding: bytes[token.range], as: UTF8.self)),
                isSymbol: token.kind == .symbol
            )
        }
        var depth = 0
        for (before, word) in zip(words, words.dropFirst()) {
            switch (word.text, word.isSymbol) {
            case ("(", true) where depth > 0 || before.text == "as": depth += 1
            case (")", true) where depth > 0: depth -= 1
            case (column, false) where depth > 0: return true
            default: break
            }
        }
        return false
    }
}

extension RebuildTable.UniqueIndex {
    fileprivate init(_ name: SQLName, isPartial: Bool, _ db: Database) throws {
        self.name = name
        let infos = try Row.fetchAll(
            db, sql: "SELECT name, coll FROM pragma_index_xinfo(?, 'main') WHERE key ORDER BY seqno",
            arguments: [name])
        let hasExpressions = infos.contains { $0["name"] as String? == nil }
        var texts: (terms: [String], condition: String?) = ([], nil)
        if hasExpressions || isPartial {
            let sql = try String.fetchOne(
                db, sql: "SELECT sql FROM main.sqlite_master WHERE type = 'index' AND name = ?",
                arguments: [name])
            texts = Self.parts(of: sql ?? "")
        }
        terms = infos.enumerated().map { index, info in
            let column: SQLName? = info["name"]
            let text = index < texts.terms.count ? texts.terms[index] : "NULL"
            return Term(sql: column?.sql ?? text, isColumn: column != nil, collation: info["coll"])
        }
        condition = texts.condition
    }

    /// Splits the text of an index into its terms, without their collations and directions, and its condition.
    private static func parts(of sql: String) -> (terms: [String], condition: String?) {
        let bytes = Array(sql.utf8)
        let tokens = Array(SQLLexer(bytes))
        func text(_ tokens: some Collection<SQLLexer.Token>) -> String {
            guard let first = tokens.first, let last = tokens.suffix(1).first else { return "" }
            return String(decoding: bytes[first.range.lowerBound..<last.range.upperBound], as: UTF8.self)
        }
        func isWord(_ token: SQLLexer.Token, _ words: Set<SQLName>) -> Bool {
            token.kind == .word && words.contains(SQLName(text([token])))
        }
        var terms: [String] = []
        var term: [SQLLexer.Token] = []
        var depth = 0
        func endTerm() {
            if let last = term.last, isWord(last, ["asc", "desc"]) { term.removeLast() }
            if term.count > 2, isWord(term[term.count - 2], ["collate"]) { term.removeLast(2) }
            terms.append(text(term))
            term = []
        }
        for (index, token) in tokens.enumerated() {
            let symbol = token.kind == .symbol ? bytes[token.range.lowerBound] : 0
            if symbol == UInt8(ascii: ")") {
                depth -= 1
                if depth == 0 {
                    endTerm()
                    // After the word WHERE.
                    let rest = tokens[(index + 1)...].dropFirst()
                    return (terms, rest.isEmpty ? nil : text(rest))
                }
            }
            if symbol == UInt8(ascii: ","), depth == 1 {
                endTerm()
            } else if depth > 0 {
                term.append(token)
            }
            if symbol == UInt8(ascii: "(") { depth += 1 }
        }
        return (terms, nil)
    }

    /// Returns true if the index has one of the columns, or an expression that may use it.
    func mentions(_ columns: [RebuildTable.Column]) -> Bool {
        (terms.map(\.sql) + [condition ?? ""]).contains { !columns.mentioned(in: $0).isEmpty }
    }

    /// Returns true if an expression of the index may use one of the columns.
    func computes(with columns: [RebuildTable.Column]) -> Bool {
        (terms.filter { !$0.isColumn }.map(\.sql) + [condition ?? ""]).contains {
            !columns.mentioned(in: $0).isEmpty
        }
    }
}

extension [RebuildTable.Column] {
    /// Returns the columns whose names are in an SQL text.
    fileprivate func mentioned(in sql: String) -> Self {
        let bytes = [UInt8](sql.utf8)
        let names = Set(
            SQLLexer(bytes).map { SQLName(token: String(decoding: bytes[$0.range], as: UTF8.self)) })
        return filter { names.contains($0.name) }
    }
}

// MARK: Rows that conflict

extension RebuildTable {
    /// Returns a condition for the rows of the table that a row, as a trigger sees it, would replace; nil if there can be
    /// none.
    ///
    /// SQLite removes such rows without firing a trigger (lang_conflict.html). Values are compared as the index does. In
    /// place of NULL, `REPLACE` puts the default of a column that is NOT NULL, after BEFORE triggers have run.
    func conflicts(includingKey: Bool) -> [String] {
        var conditions: [String] = []
        for index in uniqueIndexes {
            let parts = index.terms.map { term in
                let new: String
                if term.isColumn, let column = columns.first(where: { $0.name.sql == term.sql }) {
                    new = value(of: column)
                } else {
                    // The condition may keep the expression from rows in which it fails.
                    new = value(
                        of: index.condition.map { "CASE WHEN (\($0)) THEN (\(term.sql)) END" } ?? term.sql)
                }
                let old = term.isColumn ? "\(name.sql).\(term.sql)" : "(\(term.sql))"
                return "\(old) = \(new) COLLATE \(SQLName(term.collation).sql)"
            }
            let condition = index.condition.map { ["(\($0))"] } ?? []
            conditions.append((condition + parts).joined(separator: " AND "))
        }
        if isRowIDKey {
            if includingKey, let key = key.first?.name.sql {
                conditions.append("\(name.sql).\(key) = NEW.\(key)")
            }
        } else if let rowID {
            conditions.append("\(name.sql).\(rowID) = NEW.\(rowID)")
        }
        return conditions
    }

    /// Returns the value of an expression for the new row, with the affinities of the columns.
    private func value(of expression: String) -> String {
        let mentioned = columns.mentioned(in: expression)
        let used = mentioned.isEmpty ? Array(columns.prefix(1)) : mentioned
        // A column of a compound SELECT has the affinity of the first one's (datatype3.html, section 3.3). Since 3.41 or so, it
        // has none if the other one's may be of another type. So texts are cast, and no function supplies a default.
        let values = used.map { column in
            column.affinity == .text ? "CAST(\(value(of: column)) AS TEXT)" : value(of: column)
        }.joined(separator: ", ")
        return """
            (SELECT (\(expression)) FROM (SELECT \(used.map(\.name).sql) FROM \(name.sql) WHERE 0 \
            UNION ALL SELECT \(values)) AS \(name.sql))
            """
    }

    /// Returns the value of a column of the new row.
    private func value(of column: Column) -> String {
        let value = "NEW.\(column.name.sql)"
        return column.replacement.map { "CASE WHEN \(value) IS NULL THEN (\($0)) ELSE \(value) END" } ?? value
    }
}
