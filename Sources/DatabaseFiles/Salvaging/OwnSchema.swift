import GRDB
import SchemaMigrations

/// The schema of a damaged database, made again in a database in memory, from its own texts.
struct OwnSchema {
    /// The statements that make it, in an order in which they can run.
    private(set) var statements: [String] = []
    let layouts: [TableLayout]
    /// True if each object could be made.
    private(set) var isComplete = true

    /// Makes each object whose text can be read.
    init(_ damaged: DamagedDatabase, _ configuration: Configuration) throws {
        let scratch = try DatabaseQueue(configuration: configuration.forCopying())
        defer { try? scratch.close() }
        var statements: [String] = []
        var isComplete = true
        layouts = try scratch.inDatabase { db in
            for entry in damaged.entriesInOrder {
                // A virtual table has made its own.
                if entry.type == "table", try db.hasTable(entry.name) { continue }
                // The text itself may be damaged: it must be one statement.
                if let sql = entry.sql, sql.hasPrefix("CREATE "),
                    let statement = try? db.makeStatement(sql: sql),
                    (try? statement.execute()) != nil
                {
                    statements.append(sql)
                } else if entry.sql != nil || entry.type != "index" {
                    isComplete = false
                }
            }
            return try TableLayout.fetchAll(db)
        }
        (self.statements, self.isComplete) = (statements, isComplete)
    }
}

extension DamagedDatabase {
    /// The objects of the schema besides SQLite's own: first tables, and last what needs them.
    ///
    /// Those with names like parts of a virtual table come after it.
    fileprivate var entriesInOrder: [Entry] {
        func rank(_ entry: Entry) -> Int {
            switch entry.type {
            case "table": entry.isVirtual ? 1 : isShadow(entry.name) ? 2 : 0
            case "index": 3
            case "view": 4
            default: 5
            }
        }
        let ranked = entries.filter { !$0.name.folded.hasPrefix("sqlite_") }.map {
            (rank: rank($0), entry: $0)
        }
        return (0...5).flatMap { rank in ranked.filter { $0.rank == rank }.map(\.entry) }
    }

    /// Returns true if a table is part of a virtual one.
    func isShadow(_ name: SQLName) -> Bool {
        entries.contains { $0.isVirtual && name.folded.hasPrefix($0.name.folded + "_") }
    }
}

extension DamagedDatabase.Entry {
    fileprivate var isVirtual: Bool { sql?.uppercased().hasPrefix("CREATE VIRTUAL") == true }
}
