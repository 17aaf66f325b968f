import CMigrationSQLite
import GRDB
import MigrationDiagnostics

/// A table of a main database, as SQLite describes it.
struct TableShape {
    struct Column {
        let name: SQLName
        let type: String
        let affinity: Affinity
        let collation: SQLName
        let isRequired: Bool
        /// The text of the default value.
        let defaultValue: String?
        /// The column's place in the primary key, from 1; 0 if it is not in it.
        let keyPlace: Int
        /// 0 for an ordinary column, 2 for a virtual generated one, 3 for a stored one (pragma.html, table_xinfo).
        let kind: Int
        /// The value of a generated column.
        let generatedValue: TableText.Expression?

        var isGenerated: Bool { kind > 1 }
    }

    /// An index that belongs to `UNIQUE` or `PRIMARY KEY`.
    struct Index: Equatable {
        struct Term: Equatable {
            let column: Int
            let isDescending: Bool
            let collation: SQLName
            let isKey: Bool
        }

        /// The number in its name, which binds it to its pages.
        let number: Int
        let origin: String
        let terms: [Term]
    }

    let name: SQLName
    let text: TableText
    let isStrict: Bool
    let isWithoutRowID: Bool
    let isAutoincremented: Bool
    let columns: [Column]
    /// The indexes, by their numbers.
    let indexes: [Index]
    let checks: [TableText.Expression]
    /// The foreign keys, by the numbers that SQLite gives them.
    let foreignKeys: [(id: Int, key: ForeignKey)]
    /// The words of a query that keep it from reading the columns of a row from another index than that of its key.
    let withoutIndexes: String

    /// Reads a table that is there.
    init(_ table: SQLName, _ db: Database) throws {
        guard
            let found = try Row.fetchOne(
                db,
                sql: """
                    SELECT m.name, sql, strict, wr FROM main.sqlite_master AS m
                    JOIN pragma_table_list AS t ON t.schema = 'main' AND t.name = m.name
                    WHERE m.type = 'table' AND m.name = ? COLLATE NOCASE
                    """, arguments: [table])
        else { throw DatabaseError(resultCode: .SQLITE_ERROR, message: "no such table: \(table)") }
        let (name, isStrict): (SQLName, Bool) = (found["name"], found["strict"])
        let text = TableText(found["sql"])
        self.name = name
        self.text = text
        self.isStrict = isStrict
        isWithoutRowID = found["wr"]
        // SQLite takes no notice of NOT INDEXED in a WITHOUT ROWID table (measured with 3.40 and 3.53).
        let keyIndex = try SQLName.fetchOne(
            db, sql: "SELECT name FROM pragma_index_list(?, 'main') WHERE origin = 'pk'", arguments: [name])
        withoutIndexes = isWithoutRowID ? keyIndex.map { "INDEXED BY \($0.sql)" } ?? "" : "NOT INDEXED"
        let infos = try Row.fetchAll(
            db, sql: "SELECT * FROM pragma_table_xinfo(?, 'main') ORDER BY cid", arguments: [name])
        let names = Set(infos.map { $0["name"] as SQLName })
        columns = infos.enumerated().map { number, info in
            let column: SQLName = info["name"]
            let metadata = db.columnMetadata(column, of: name)
            return Column(
                name: column, type: metadata.type,
                affinity: Affinity(type: metadata.type, isStrict: isStrict),
                collation: SQLName(metadata.collation), isRequired: info["notnull"],
                defaultValue: info["dflt_value"], keyPlace: info["pk"], kind: info["hidden"],
                generatedValue: text.generatedValue(ofColumn: number, names))
        }
        isAutoincremented = columns.contains {
            app_migrations_is_autoincremented(db.sqliteConnection, name.text, $0.name.text) != 0
        }
        indexes = try Self.indexes(of: name, db)
        checks = text.checks(names)
        foreignKeys = try ForeignKey.fetchAll(db, of: name)
    }

    private static func indexes(of table: SQLName, _ db: Database) throws -> [Index] {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT i.name, i.origin, x.seqno, x.cid, x."desc", x.coll, x.key
                FROM pragma_index_list(?, 'main') AS i, pragma_index_xinfo(i.name, 'main') AS x
                WHERE i.origin <> 'c' ORDER BY length(i.name), i.name, x.seqno
                """, arguments: [table])
        return rows.split(before: { $0["seqno"] as Int == 0 }).map { rows in
            let name: String = rows[0]["name"]
            return Index(
                number: name.split(separator: "_").last.flatMap { Int($0) } ?? 0, origin: rows[0]["origin"],
                terms: rows.map { row in
                    let collation: SQLName? = row["coll"]
                    return Index.Term(
                        column: row["cid"], isDescending: row["desc"],
                        collation: collation ?? "BINARY", isKey: row["key"])
                })
        }
    }
}

extension TableShape {
    /// The columns of the primary key, in its order.
    var key: [Column] { columns.filter { $0.keyPlace > 0 }.inOrder { $0.keyPlace < $1.keyPlace } }

    /// True if the key is another name of the row id.
    var hasRowIDKey: Bool {
        !isWithoutRowID && key.count == 1 && !indexes.contains { $0.origin == "pk" }
    }

    /// A name of the row id that no column hides; nil if the table has no row id, or no name of it is left.
    var rowID: SQLName? {
        let taken = Set(columns.map(\.name))
        return isWithoutRowID ? nil : ["rowid", "_rowid_", "oid"].first { !taken.contains($0) }
    }

    /// The columns that tell rows apart in messages and queries.
    var keyNames: [SQLName] {
        if let rowID, !hasRowIDKey, key.isEmpty { return [rowID] }
        return key.map(\.name)
    }
}
