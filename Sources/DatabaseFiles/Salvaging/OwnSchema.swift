import GRDB
import SchemaMigrations

/// The schema of a damaged database, made again in a database in memory, from its own texts.
struct OwnSchema {
    /// The objects that could be made, in an order in which they can be, without those that others bring along.
    let objects: [DamagedDatabase.Entry]
    /// The same objects, without the tables of migrators and what belongs to these.
    let definitions: [SQLName: SchemaObject]
    let layouts: [TableLayout]
    /// The kinds of objects of which some could not be made; nil if part of the schema is lost.
    ///
    /// One of another kind that the schema does not name is not there. One of these may be, as its name may be damaged.
    private let lostKinds: Set<String>?

    /// Makes each object whose text can be read.
    init(_ damaged: DamagedDatabase, _ configuration: Configuration) throws {
        (objects, definitions, layouts, lostKinds) = try configuration.withScratchDatabase { scratch in
            try scratch.inDatabase { db in
                var objects: [DamagedDatabase.Entry] = []
                var lostKinds: Set<String> = []
                for entry in damaged.entriesInOrder where try !db.has(entry) {
                    if (try? entry.make(db)) == true {
                        objects.append(entry)
                    } else if entry.sql != nil || entry.type != "index" {
                        lostKinds.insert(Self.kind(entry.type, isVirtual: entry.isVirtual))
                    }
                }
                let isWhole = damaged.hasWholeSchema && !objects.isEmpty
                return (
                    objects, try SchemaObject.definitions(db), try TableLayout.fetchAll(db),
                    isWhole ? lostKinds : nil
                )
            }
        }
    }

    /// The kind of an object: its type, but a virtual table, whose module may be missing, is no table here.
    private static func kind(_ type: String, isVirtual: Bool) -> String { isVirtual ? "virtual" : type }

    /// True if nothing of the schema is lost.
    var isComplete: Bool { lostKinds?.isEmpty == true }
    /// True if no table is lost besides virtual ones, so that none is a ledger whose name is damaged.
    var hasAllTables: Bool { lostKinds?.contains("table") == false }

    /// Returns true if nothing of an object's kind is lost, so that it is not there if the schema does not name it.
    func hasAll(like object: SchemaObject) -> Bool {
        // That a table is virtual may be what can no longer be read.
        let kinds: Set = [object.type, Self.kind(object.type, isVirtual: object.isVirtual)]
        return lostKinds?.isDisjoint(with: kinds) == true
    }
}

extension SchemaObject {
    /// Reads the objects of a database by name.
    static func definitions(_ db: Database) throws -> [SQLName: SchemaObject] {
        try Dictionary(fetchAll(db).map { ($0.name, $0) }, uniquingKeysWith: { $1 })
    }
}

extension Database {
    /// Returns true if a database has an object of the same type and name.
    func has(_ entry: DamagedDatabase.Entry) throws -> Bool {
        try Bool.fetchOne(
            self,
            sql: """
                SELECT EXISTS (SELECT 1 FROM main.sqlite_master WHERE type = ? AND name = ? COLLATE NOCASE)
                """, arguments: [entry.type, entry.name]) ?? false
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
    private func isShadow(_ name: SQLName) -> Bool {
        entries.contains { $0.isVirtual && name.folded.hasPrefix($0.name.folded + "_") }
    }
}

extension DamagedDatabase.Entry {
    fileprivate var isVirtual: Bool { sql?.uppercased().hasPrefix("CREATE VIRTUAL") == true }

    /// Makes the object.
    ///
    /// - Returns: false if its text is damaged, so that it makes something else, or more.
    func make(_ db: Database) throws -> Bool {
        guard let sql, sql.hasPrefix("CREATE ") else { return false }
        return try db.with([(.doubleQuotedTexts, true)]) {
            // It must be one statement.
            let statement = try db.makeStatement(sql: sql)
            var isMade = false
            try db.inSavepoint {
                try statement.execute()
                isMade = try db.has(self)
                return isMade ? .commit : .rollback
            }
            return isMade
        }
    }
}
