import AppMigrations
import GRDB

/// Puts the new table in the place of the old one.
///
/// Only names change. With `legacy_alter_table` on and foreign keys off, everything that refers to the table by its name
/// goes on to do so (lang_altertable.html).
struct RebuildSwap {
    private let order: RebuildOrder
    private let names: RebuildNames
    private let name: SQLName
    private let table: RebuildTable
    private let shadow: RebuildTable

    /// Prepares the swap; nil if a table is missing.
    init?(_ order: RebuildOrder, _ db: Database) throws {
        guard let table = try RebuildTable(order.names.table, db),
            let shadow = try RebuildTable(order.names.shadow, db)
        else { return nil }
        self.order = order
        self.table = table
        self.shadow = shadow
        names = order.names
        name = try RebuildSchema(order.schema, order.names).name
    }

    func perform(_ db: Database) throws {
        let isLegacy = try db.pragma("legacy_alter_table")
        try db.execute(sql: "PRAGMA legacy_alter_table = 1")
        defer { try? db.execute(sql: "PRAGMA legacy_alter_table = \(isLegacy)") }
        // A migration may have added a table since.
        try order.checkReferences(table, shadow, db)
        let broken = try Set(BrokenObject.fetchAll(db).map(\.identity))
        // The tables of other rebuilds give way below.
        let keys = try ForeignKey.fetchAll(db).filter {
            $0.parent == names.table && (!RebuildNames.isTable($0.child) || $0.child == names.shadow)
        }
        let complete = try Set(keys.filter { try $0.isComplete(in: db) })

        try names.dropTriggers(db)
        // A temporary trigger of this connection's may be on a temporary table of the same name: it stays there.
        let triggers = try Row.fetchAll(
            db,
            sql: """
                SELECT name, sql, 'main' AS schema, rowid AS number FROM main.sqlite_master
                WHERE type = 'trigger' AND tbl_name = :table COLLATE NOCASE
                UNION ALL SELECT name, sql, 'temp', rowid FROM temp.sqlite_master
                WHERE type = 'trigger' AND tbl_name = :table COLLATE NOCASE AND NOT EXISTS (
                    SELECT 1 FROM temp.sqlite_master WHERE type = 'table' AND name = :table COLLATE NOCASE)
                ORDER BY schema, number
                """, arguments: ["table": names.table])
        for trigger in triggers {
            try db.execute(
                sql: "DROP TRIGGER \(trigger["schema"] as String).\((trigger["name"] as SQLName).sql)")
        }
        try db.execute(
            sql: """
                ALTER TABLE \(names.table.inMain) RENAME TO \(names.old.sql);
                ALTER TABLE \(names.shadow.inMain) RENAME TO \(name.sql);
                """)
        for trigger in triggers { try create(trigger["name"], trigger["sql"], in: trigger["schema"], db) }
        try continueSequence(db)
        db.clearSchemaCache()
        let children = try ForeignKey.fetchAll(db).filter { $0.parent == names.table }.map(\.child)
        try RebuildTriggers.renew(for: Set(children).union([names.old]), db)
        db.clearSchemaCache()

        if let object = try BrokenObject.fetchAll(db).first(where: { !broken.contains($0.identity) }) {
            throw order.refused(
                "the new table \(names.table) leaves \(Finding.brokenObject(object).description)",
                "Drop what uses the old table's columns first, or keep the columns.")
        }
        for key in complete where try key.child != names.old && !key.isComplete(in: db) {
            throw order.refused(
                """
                table \(key.child) refers to \(try key.parentColumns(in: db).map(\.text).joined(separator: ", ")) of table \
                \(names.table), and in the new table these are not unique together
                """, "Keep the columns, and a unique index on them.")
        }
        try db.notifyObservers(of: .anything)
    }

    private func create(_ trigger: SQLName, _ sql: String, in schema: String, _ db: Database) throws {
        // SQLite keeps the text without the schema, and would take a temporary table of the same name.
        let name = sql.dropFirst("CREATE TRIGGER ".count)
        do {
            try db.execute(sql: "CREATE TRIGGER \(schema).\(name)")
        } catch let error as DatabaseError {
            throw order.refused(
                "trigger \(trigger) does not go with the new table \(names.table): \(error.message ?? "\(error)")",
                "Drop the trigger first, and create it again when the table is rebuilt.")
        }
    }

    /// Sees to it that AUTOINCREMENT never gives a row id again (autoinc.html).
    private func continueSequence(_ db: Database) throws {
        guard try db.hasTable("sqlite_sequence") else { return }
        let last = try Int64.fetchOne(
            db, sql: "SELECT seq FROM main.sqlite_sequence WHERE name = ?", arguments: [names.old])
        let sql = try String.fetchOne(
            db, sql: "SELECT sql FROM main.sqlite_master WHERE type = 'table' AND name = ? COLLATE NOCASE",
            arguments: [names.table])
        guard let last, let sql, SQLLexer.hasWord("autoincrement", in: sql) else { return }
        try db.execute(
            sql: "UPDATE main.sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", arguments: [last, name])
        if db.changesCount == 0 {
            try db.execute(
                sql: "INSERT INTO main.sqlite_sequence(name, seq) VALUES (?, ?)", arguments: [name, last])
        }
    }
}

extension SQLLexer {
    /// Returns true if an expression looks for a value in a table, as in `id IN covers` (lang_expr.html, section 7).
    static func hasTable(in expression: String) -> Bool {
        let bytes = Array(expression.utf8)
        let words = SQLLexer(bytes).map { SQLName(String(decoding: bytes[$0.range], as: UTF8.self)) }
        return zip(words, words.dropFirst()).contains { $0 == "in" && $1 != "(" }
    }

    /// Returns true if a text has a word, outside comments and quotes.
    static func hasWord(_ word: SQLName, in text: String) -> Bool {
        let bytes = Array(text.utf8)
        return SQLLexer(bytes).contains {
            $0.kind == .word && SQLName(String(decoding: bytes[$0.range], as: UTF8.self)) == word
        }
    }
}
