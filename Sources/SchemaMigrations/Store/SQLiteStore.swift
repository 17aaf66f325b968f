public import AppMigrations
import Foundation
public import GRDB
import MigrationDiagnostics

extension MigrationStore {
    /// Returns a store in a table of a database that the app has opened.
    ///
    /// ```swift
    /// let manager = try MigrationManager(name: "Library", adopting: .newApp, store: .database(dbQueue))
    /// ```
    ///
    /// The database may be one of the app's own, or one that holds nothing else. If steps are registered for it, the same
    /// table keeps their records. The first record creates the table.
    ///
    /// - Parameter database: the database.
    public static func database(_ database: any DatabaseWriter) -> MigrationStore {
        MigrationStore(SQLiteStore(database))
    }
}

/// Keeps records in a table of a SQLite database; see `MigrationStore.database(_:)`.
package struct SQLiteStore: RecordStorage {
    /// The table's name.
    static let table = OwnTables.records
    static let historyTable = OwnTables.history

    /// The database file's name.
    package let name: String

    /// The database's file, determined once because that asks the file system.
    let file: URL?

    package let id: PlaceID

    package let database: any DatabaseWriter

    /// The contents of the table when it was read last, for the other managers of a launch.
    private let known = Locked<(contents: RecordTable, reading: Reading)?>(nil)

    /// Identifies what a connection has read: as long as it stays the same, so does the database.
    private struct Reading {
        /// Weak, so that no other connection can take its place in memory.
        weak var connection: Database?
        let version: UInt32
    }

    package init(_ database: any DatabaseWriter) {
        let file = database.file
        self.database = database
        self.file = file
        id = file.map { .file(Array($0.path.utf8)) } ?? .object(ObjectIdentifier(database))
        name = file.databaseName
    }

    /// Returns the state of one manager.
    ///
    /// - Parameter manager: the name of the manager.
    /// - Throws: `MigrationError`, when the database cannot be read.
    package func read(_ manager: String) throws -> StoreState {
        try read(manager, waitingUpTo: .defaultBusyTimeout)
    }

    func read(_ manager: String, waitingUpTo limit: Duration) throws -> StoreState {
        try StoreAccess.read.of(name) {
            try waitWhileBusy(upTo: limit) {
                try database.unsafeReentrantRead { try knownTable($0).state(of: manager) }
            }
        }
    }

    /// Changes the state of one manager, in a transaction.
    package func update(
        _ manager: String, waitingUpTo limit: Duration, _ change: (inout StoreState) throws -> Void
    ) throws {
        try StoreAccess.write.of(name) {
            // Outside the access to the database, so that the app can use its connection meanwhile.
            try waitWhileBusy(upTo: limit) {
                try database.unsafeReentrantWrite { db in
                    try Self.refuseTransactions(on: db, name)
                    try db.withDurableCommits(waitingUpTo: .zero) {
                        // A commit that waits for a reader keeps new ones out (lockingv3.html, 4.1).
                        let longest = min(limit, .milliseconds(250))
                        try db.withWriteTransaction(waitingUpTo: .zero, committingWithin: longest) {
                            try update(manager, db, change)
                        }
                    }
                }
            }
        }
    }

    /// Syncs the file system of the database.
    ///
    /// SQLite syncs its own files alone, and their names may reach the disk together with those of files whose contents do not.
    package func syncFiles() throws {
        guard let file else { return }
        try StoreAccess.write.of(name, at: file.path) { try DurableFile(at: file).flushFileSystem() }
    }

    /// Returns every settled step of a manager, oldest first.
    ///
    /// - Parameter manager: the name of the manager.
    /// - Throws: `MigrationError`, when the database cannot be read.
    package func history(_ manager: String) throws -> [SettledStep] {
        try StoreAccess.read.of(name) {
            try database.readSnapshot(waitingUpTo: .defaultBusyTimeout) { db in
                try Self.history(of: manager, db)
            }
        }
    }

    static func history(of manager: String, _ db: Database) throws -> [SettledStep] {
        try fullHistory(db).filter { $0.belongs(to: manager) }
    }

    /// Returns every manager's settled steps in a database, oldest first.
    package static func fullHistory(_ db: Database) throws -> [SettledStep] {
        guard try db.hasTable(SQLName(historyTable)) else { return [] }
        return try String.fetchAll(db, sql: "SELECT entry FROM main.\(historyTable) ORDER BY id")
            .compactMap { SettledStep(json: Data($0.utf8)) }
    }

    /// Returns every manager's steps in a database that work in portions and are not complete.
    package static func unfinishedSteps(_ db: Database) throws -> [UnfinishedStep] {
        guard try db.hasTable(SQLName(table)) else { return [] }
        return try RecordTable(
            Row.fetchCursor(db, sql: "SELECT part, name, value FROM main.\(table)")
        ).fullState().unfinishedSteps()
    }

    /// Returns the app versions that a database has seen, by line of versions.
    package static func seenVersions(_ db: Database) throws -> [String: [SeenVersion]] {
        guard try db.hasTable(SQLName(table)) else { return [:] }
        return try StoreAccess.read.of(table) {
            try RecordTable(
                Row.fetchCursor(
                    db, sql: "SELECT part, name, value FROM main.\(table) WHERE part <> 'managers'")
            ).fullState().seen
        }
    }

    /// Writes records and their history into a database that has none, in the open transaction.
    package static func restore(
        _ rows: [StoreState.Row], history: [(id: Int64?, text: String)], _ db: Database
    ) throws {
        try RecordWriter(db).insert(rows)
        try RecordWriter(db).insert(history: history)
    }

    /// Creates one of the store's tables, in the open transaction, unless it is there.
    ///
    /// - Returns: false for a table of another name.
    package static func createTable(named name: SQLName, _ db: Database) throws -> Bool {
        try RecordWriter(db).create(name)
    }

    /// Renames the table and its mirror to names that begin with `app_migrations_damaged_<date>`, and creates new ones, in the
    /// same transaction.
    ///
    /// - Parameter state: the state to begin anew with.
    /// - Throws: `MigrationError`, when the database cannot be written.
    package func setAside(replacingWith state: StoreState) throws {
        try StoreAccess.write.of(name) {
            try database.unsafeReentrantWrite { db in
                try Self.refuseTransactions(on: db, name)
                try db.withDurableCommits(waitingUpTo: .defaultBusyTimeout) {
                    try db.withWriteTransaction(waitingUpTo: .defaultBusyTimeout) {
                        try RecordWriter(db).setAside(replacingWith: state)
                    }
                }
            }
        }
    }

    /// Tries to lock a manager for a run.
    ///
    /// The lock is a file beside the database. For a database in memory, it is held in this process.
    ///
    /// - Parameter manager: the name of the manager.
    /// - Throws: `MigrationError`, when the lock's file cannot be made.
    package func lock(_ manager: String) throws -> StoreLock {
        guard let file else { return try MemoryLocks.lock(id, manager) }
        let url = file.appendingPathExtension("\(manager.asFileName).lock")
        return try StoreAccess.write.of(name, at: url.path) {
            // Whoever may write to the database may take its lock, as with SQLite's own files beside it. SQLite syncs these alone:
            // without a sync, a step could be on the disk as started, and the lock as released. Deferred steps take theirs for each
            // batch, which its transaction settles.
            let permissions = DurableFile(at: file).permissions
            return try FileLock(at: url, permissions: permissions, isSynced: LockName.isOfLaunch(manager))
                .take()
        }
    }
}

// These methods work inside an access to the database that the caller has opened.
extension SQLiteStore {
    package func state(of manager: String, _ db: Database) throws -> StoreState {
        try StoreAccess.read.of(name) { try table(db).state(of: manager) }
    }

    /// Returns what the table holds.
    ///
    /// Returns the cached contents while the database has not changed.
    private func knownTable(_ db: Database) throws -> RecordTable {
        guard !db.isInsideTransaction else { return try table(db) }
        // Before reading the table: what changes in between will have another number.
        let version = try db.dataVersion()
        if let known = known.withLock({ $0 }), known.reading.connection === db,
            known.reading.version == version
        {
            return known.contents
        }
        // Not under the lock: the app's observers may ask the store.
        let contents = try table(db)
        known.withLock { $0 = (contents, Reading(connection: db, version: version)) }
        return contents
    }

    /// Changes the state of one manager, in the open transaction.
    package func update(_ manager: String, _ db: Database, _ change: (inout StoreState) throws -> Void) throws
    {
        try StoreAccess.write.of(name) {
            let known = try StoreAccess.read.of(name) { try table(db) }
            var state = try known.state(of: manager)
            try change(&state)
            do {
                try RecordWriter(db).write(state, of: manager, over: known)
            } catch {
                throw db.explained(error)
            }
        }
    }

    /// Returns what the table holds; nothing if there is no table.
    ///
    /// One statement sees one state of the database, also outside a transaction, and nearly always the table
    /// is there.
    private func table(_ db: Database) throws -> RecordTable {
        func fetch() throws -> RecordTable {
            // All steps of a launch run the same query, and compiling it takes longer than running it.
            try RecordTable(
                Row.fetchCursor(
                    db.cachedStatement(sql: "SELECT part, name, value FROM main.\(Self.table)")))
        }
        do {
            return try fetch()
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            // It is empty only if the table does not exist.
            return try db.readSnapshot { try db.hasTable(SQLName(Self.table)) ? fetch() : RecordTable() }
        }
    }

    /// Throws if a connection is inside a transaction of the app's, which sees nothing that others commit.
    package static func refuseTransactions(on db: Database, _ name: String) throws {
        guard db.isInsideTransaction else { return }
        throw MigrationError(
            .misuse,
            Diagnostic(
                at: .store(name), "is migrated from inside one of its own transactions",
                remedy: "Migrate before db.write { … } or db.read { … }, not in it."))
    }
}

/// The locks of databases in memory, which no other process can see.
private enum MemoryLocks {
    private struct Key: Equatable {
        let place: PlaceID
        let manager: ManagerName
    }

    private static let held = Locked<[Key]>([])

    static func lock(_ place: PlaceID, _ manager: String) throws -> StoreLock {
        let key = Key(place: place, manager: ManagerName(manager))
        let isFree = held.withLock { held in
            guard !held.contains(key) else { return false }
            held.append(key)
            return true
        }
        guard isFree else { return .held(by: .thisProcess) }
        return .acquired(release: LockRelease { _ in held.withLock { $0.removeAll { $0 == key } } })
    }
}
