public import AppMigrations
import Foundation
public import GRDB

/// A store in a table of a SQLite database.
///
/// It may be a database of the app's own, or one that holds nothing else. In a database for which steps and
/// moves are registered, the same table keeps their records.
public struct SQLiteStore: HistoryStore, RecoverableStore {
    /// The table's name.
    static let table = "app_migrations"
    static let historyTable = "app_migrations_history"
    /// Before the date, in the name of a table that was set aside.
    static let asidePrefix = "app_migrations_damaged_"

    /// The database file's name.
    public let name: String

    /// Told once: it asks the file system.
    private let file: URL?

    private let writer: any DatabaseWriter

    /// Creates a store in a database that the app has opened.
    ///
    /// The table is made with the first record.
    public init(_ database: any DatabaseWriter) {
        writer = database
        file = database.file
        name = database.displayName
    }

    /// Creates a store in a database file, which is made if there is none.
    ///
    /// - Throws: what GRDB throws when it cannot open the file.
    public init(path: String) throws {
        try self.init(DatabaseQueue.opening(path: path))
    }

    /// Returns what the database says that concerns one manager.
    public func read(_ manager: String) throws -> StoreState {
        try describing(.unreadableStore, "read") {
            try retryingWhileBusy(for: .seconds(10)) {
                try writer.unsafeReentrantRead { try state(of: manager, $0) }
            }
        }
    }

    /// Changes what concerns one manager, in a transaction.
    public func update(_ manager: String, _ change: (inout StoreState) throws -> Void) throws {
        try describing(.unwritableStore, "written") {
            try writer.unsafeReentrantWrite { db in
                guard !db.isInsideTransaction else { throw Self.insideTransaction(name) }
                try ConnectionSettings(db).whileMigrating {
                    try db.writing { try update(manager, db, change) }
                }
            }
        }
    }

    /// Every step of a manager that was settled, in the order of time.
    public func history(_ manager: String) throws -> [SettledStep] {
        try describing(.unreadableStore, "read") {
            try writer.readingConsistently { db in
                try Self.historyEntries(db).compactMap { $0.step(of: manager) }
            }
        }
    }

    /// Every manager's steps that were settled in a database, in the order of time.
    package static func historyEntries(_ db: Database) throws -> [HistoryEntry] {
        guard try db.hasTable(historyTable) else { return [] }
        return try String.fetchAll(db, sql: "SELECT entry FROM main.\(historyTable) ORDER BY id")
            .compactMap { HistoryEntry(json: Data($0.utf8)) }
    }

    /// Renames the table to `app_migrations_damaged_<date>`, and makes it anew, in one transaction.
    public func setAside(replacing manager: String, with state: StoreState) throws {
        try describing(.unwritableStore, "written") {
            try writer.unsafeReentrantWrite { db in
                guard !db.isInsideTransaction else { throw Self.insideTransaction(name) }
                let date = Date().formatted(.iso8601.timeSeparator(.omitted).dateSeparator(.omitted))
                let aside = "\(Self.asidePrefix)\(date)_\(UUID().uuidString.prefix(4))"
                try ConnectionSettings(db).whileMigrating {
                    try db.writing {
                        if try db.hasTable(Self.table) {
                            try db.execute(
                                sql:
                                    "ALTER TABLE main.\(Self.table) RENAME TO \(aside.quotedDatabaseIdentifier)"
                            )
                        }
                        try update(manager, db) { $0 = state }
                    }
                }
            }
        }
    }

    /// Tries to lock a manager for a run: by a lock file beside the database, or in this process for a database
    /// in memory.
    public func lock(_ manager: String) throws -> StoreLock {
        guard let file else { return try MemoryLocks.lock(placeID, manager) }
        do {
            return try FileLock(at: file.appendingPathExtension("\(manager.asFileName).lock")).take()
        } catch let error as POSIXError {
            throw MigrationError(
                .unwritableStore, "The lock file of \(name) cannot be opened: \(error.reason).",
                remedy: "Make the folder of the database writable, and launch again.", underlyingError: error)
        }
    }

    private func describing<Result>(
        _ code: MigrationError.Code, _ verb: String, _ body: () throws -> Result
    ) throws -> Result {
        do {
            return try body()
        } catch let error as DatabaseError {
            throw MigrationError(
                error.isBusy ? .locked : code,
                "\(name) cannot be \(verb): \(error.message ?? "unknown error") (SQLite \(error.extendedResultCode.rawValue)).",
                remedy:
                    "It is not known what has run, so nothing was run. Remove the cause, and launch again.",
                underlyingError: error)
        }
    }
}

extension SQLiteStore: IdentifiableStore {
    package var placeID: PlaceID { file.map { .file($0.path) } ?? .object(ObjectIdentifier(writer)) }
}

// Inside an access to the database, for whoever has opened it already.
extension SQLiteStore {
    func state(of manager: String, _ db: Database) throws -> StoreState {
        try document(of: manager, db).state(of: manager)
    }

    /// Changes what concerns one manager, in the transaction that is open.
    func update(_ manager: String, _ db: Database, _ change: (inout StoreState) throws -> Void) throws {
        var document = try document(of: manager, db)
        var state = try document.state(of: manager)
        try change(&state)
        try document.replaceState(of: manager, with: state)
        try db.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS main.\(Self.table)(
                    part TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (part, name)
                ) WITHOUT ROWID
                """)
        try db.execute(
            sql: "DELETE FROM main.\(Self.table) WHERE part = 'managers' AND name = ?", arguments: [manager])
        for row in try document.rows(of: manager) {
            try db.cachedStatement(sql: "INSERT OR REPLACE INTO main.\(Self.table) VALUES (?, ?, ?)")
                .execute(arguments: [row.part, row.name, row.value])
        }
        try append(state.newHistory, of: manager, db)
    }

    private func append(_ steps: [SettledStep], of manager: String, _ db: Database) throws {
        guard !steps.isEmpty else { return }
        try db.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS main.\(Self.historyTable)(id INTEGER PRIMARY KEY, entry TEXT NOT NULL)
                """)
        for step in steps {
            let entry = String(decoding: try HistoryEntry(step, manager: manager).json(), as: UTF8.self)
            try db.execute(sql: "INSERT INTO main.\(Self.historyTable)(entry) VALUES (?)", arguments: [entry])
        }
    }

    /// Whether any manager has a record in the database.
    func hasRecords(_ db: Database) throws -> Bool {
        try db.hasTable(Self.table)
            && Bool.fetchOne(
                db, sql: "SELECT EXISTS (SELECT 1 FROM main.\(Self.table) WHERE part IN ('managers', 'seen'))"
            ) ?? false
    }

    private func document(of manager: String, _ db: Database) throws -> RecordDocument {
        guard let rows = try rows(of: manager, db) else { return RecordDocument(place: name) }
        return try RecordDocument(
            rows: rows.map { row in
                guard let part = String.fromDatabaseValue(row[0]),
                    let name = String.fromDatabaseValue(row[1]),
                    let value = String.fromDatabaseValue(row[2])
                else {
                    throw MigrationError(
                        .damagedStore,
                        "\(self.name) is damaged: the table \(Self.table) holds what is not text.",
                        remedy: "Nothing was changed. Restore the database from a backup.")
                }
                return RecordDocument.Row(part: part, name: name, value: value)
            },
            place: name)
    }

    /// The rows that concern one manager; nil where there is no table.
    ///
    /// One statement sees one state of the database, also outside a transaction, and nearly always the table is
    /// there.
    private func rows(of manager: String, _ db: Database) throws -> [Row]? {
        func fetch() throws -> [Row] {
            // All managers of a launch ask the same; compiling it takes longer than running it.
            try Row.fetchAll(
                db.cachedStatement(
                    sql:
                        "SELECT part, name, value FROM main.\(Self.table) WHERE part <> 'managers' OR name = ?"
                ),
                arguments: [manager])
        }
        do {
            return try fetch()
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            // Only where there certainly is no table is there no record.
            return try db.consistently { try db.hasTable(Self.table) ? fetch() : nil }
        }
    }

    static func insideTransaction(_ name: String) -> MigrationError {
        MigrationError(
            .reentrantCall, "\(name) is migrated from inside one of its own transactions.",
            remedy: "Migrate before db.write { … } or db.read { … }, not in it.")
    }
}

/// The locks of databases in memory, which no other process can see.
private enum MemoryLocks {
    private struct Key: Hashable {
        let place: PlaceID
        let manager: String
    }

    private static let held = Locked<Set<Key>>([])

    static func lock(_ place: PlaceID, _ manager: String) throws -> StoreLock {
        let key = Key(place: place, manager: manager)
        guard held.withLock({ $0.insert(key).inserted }) else { return .held(by: "this process") }
        return .acquired { held.withLock { _ = $0.remove(key) } }
    }
}
