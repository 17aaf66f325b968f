import AppMigrations
import Foundation
import GRDB

/// Writes the records of managers, in the open transaction: into the table that is read, and into its mirror.
///
/// A table has pages of its own (fileformat2.html, 1.6). So where a page of one is lost, salvaging finds the records in the other.
struct RecordWriter {
    private let db: Database

    init(_ db: Database) { self.db = db }

    /// Writes what has changed in the state of one manager.
    ///
    /// - Parameter table: what the table holds.
    func write(_ state: StoreState, of manager: String, over table: RecordTable) throws {
        let rows = try state.rows(of: manager)
        try insert(rows.filter { !table.holds($0) })
        if table.hasRow(of: manager), !rows.contains(where: \.isOfManager) { try delete(manager) }
        try append(state.newHistory)
    }

    /// Renames the tables of records, and creates new ones.
    func setAside(replacingWith state: StoreState) throws {
        let setting = try db.pragma("legacy_alter_table")
        defer { try? db.execute(sql: "PRAGMA legacy_alter_table = \(setting)") }
        // Otherwise a broken view keeps every table from being renamed (pragma.html, legacy_alter_table).
        try db.execute(sql: "PRAGMA legacy_alter_table = 1")
        let date = Date().inFileName
        let aside = "\(OwnTables.asidePrefix)\(date)_\(UUID().uuidString.prefix(4))"
        for (table, name) in [(Self.table, aside), (Self.mirror, "\(aside)_mirror")]
        where try db.hasTable(SQLName(table)) {
            try db.execute(sql: "ALTER TABLE main.\(table) RENAME TO \(SQLName(name).sql)")
            try mark(SQLName(name), with: date)
        }
        try insert(state.sharedRows)
        for manager in try state.managerNames { try insert(state.rows(of: manager)) }
        try append(state.newHistory)
    }

    /// Marks a table that was set aside: where the schema is lost, only the rows tell it from one of records.
    private func mark(_ table: SQLName, with date: String) throws {
        do {
            try db.execute(
                sql: "INSERT OR IGNORE INTO \(table.inMain) VALUES (?, '', ?)",
                arguments: [StoreState.Row.setAside, date])
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            // It has other columns, so it is taken for none.
        }
    }

    /// Inserts rows into the tables of records.
    func insert(_ rows: [StoreState.Row]) throws {
        guard !rows.isEmpty else { return }
        for statement in try insertions() {
            for row in rows { try statement.execute(arguments: [row.part, row.name, row.value]) }
        }
    }

    /// Appends entries to the history, or gives them the ids that they had.
    func insert(history entries: [(id: Int64?, text: String)]) throws {
        guard !entries.isEmpty else { return }
        try create(SQLName(Self.history))
        for entry in entries {
            try db.cachedStatement(sql: "INSERT INTO main.\(Self.history)(id, entry) VALUES (?, ?)")
                .execute(arguments: [entry.id, entry.text])
        }
    }

    private func append(_ steps: [SettledStep]) throws {
        try insert(history: steps.map { (nil, String(decoding: try $0.json(), as: UTF8.self)) })
    }

    /// Prepares the statements that insert a row, and creates the tables if they are missing.
    private func insertions() throws -> [Statement] {
        func prepare() throws -> [Statement] {
            try [Self.table, Self.mirror].map {
                try db.cachedStatement(sql: "INSERT OR REPLACE INTO main.\($0) VALUES (?, ?, ?)")
            }
        }
        do {
            return try prepare()
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            try create(SQLName(Self.table))
            try create(SQLName(Self.mirror))
            // One of them may have been there.
            try db.execute(
                sql: """
                    DELETE FROM main.\(Self.mirror);
                    INSERT INTO main.\(Self.mirror) SELECT part, name, value FROM main.\(Self.table)
                    """)
            return try prepare()
        }
    }

    private func delete(_ manager: String) throws {
        for table in [Self.table, Self.mirror] where try db.hasTable(SQLName(table)) {
            try db.execute(
                sql: "DELETE FROM main.\(table) WHERE part = 'managers' AND name = ?",
                arguments: [StoreState.rowName(of: manager)])
        }
    }
}

extension RecordWriter {
    private static let table = OwnTables.records
    private static let mirror = OwnTables.mirror
    private static let history = OwnTables.history

    private static let columns: [SQLName: String] = {
        let rows = """
            (
                part TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (part, name)
            ) WITHOUT ROWID
            """
        return [
            SQLName(table): rows, SQLName(mirror): rows,
            SQLName(history): "(id INTEGER PRIMARY KEY, entry TEXT NOT NULL)",
        ]
    }()

    /// Creates a table unless it is there.
    ///
    /// - Returns: false for a table that this does not write.
    @discardableResult
    func create(_ table: SQLName) throws -> Bool {
        guard let columns = Self.columns[table] else { return false }
        try db.execute(sql: "CREATE TABLE IF NOT EXISTS main.\(table.folded)\(columns)")
        return true
    }
}
