import AppMigrations
import Foundation
public import GRDB
import MigrationDiagnostics
import SchemaMigrations

/// A SQLite database file that several processes may open at the same time, and that may have been elsewhere before.
///
/// ```swift
/// let dbPool = try DatabaseFile(path: url.path).openPool()
/// ```
///
/// With GRDB's own initializers, processes that create a file at the same moment can fail with `SQLITE_BUSY`,
/// which no busy timeout covers, and a connection does not wait for others unless you ask for it.
///
/// An app that moves its database, into the folder of an app group for instance, names the paths of its older versions:
///
/// ```swift
/// let file = DatabaseFile(path: url.path, movedFrom: [oldURL.path])
/// let dbPool = try file.openPool()
/// ```
///
/// Opening then brings the database here first, once, with everything in its write-ahead log; see
/// <doc:MovingIntoAnAppGroup>. It refuses a store of Core Data or SwiftData, which `NSPersistentStoreCoordinator` moves.
///
/// A file that is damaged is never deleted: see <doc:SalvagingADamagedDatabase>. Nor is one that gives way to another. Such a file
/// can be opened only by a `DatabaseFile` until the process ends that has set it aside, because a connection that was opened before
/// would take the new database's journal for its own; on iOS, tvOS, watchOS and visionOS, it can be opened by any connection.
public struct DatabaseFile: Sendable {
    /// A rule for opening a file that does not exist.
    public enum MissingFileRule: Sendable {
        /// Creates it, after looking for it at its old paths.
        case create
        /// Throws `MigrationError.Code.notYetMigrated`, also for a file without a table, and moves nothing.
        ///
        /// For app extensions, which the system may launch before the app has created or moved its database.
        case refuse
    }

    /// A rule for opening a file that is damaged.
    public enum DamagedFileRule: Sendable {
        /// Throws `MigrationError.Code.damagedDatabase`, whose advice is to repair, and changes nothing.
        case refuse
        /// Salvages the file into the tables of a `SchemaMigrator` or of GRDB's `DatabaseMigrator`, as
        /// ``DatabaseFile/salvage(into:keepingDamagedFiles:progress:)`` does, and opens the new one.
        ///
        /// ``DatabaseFile/Event/salvaged(_:)`` says which rows were saved. Open a large database in the background: one that is salvaged on
        /// the main thread may keep the app from launching in time, and what is unfinished begins anew.
        case salvage(into: any SalvageTarget)
    }

    /// Something that happened to the files before the database was opened.
    public enum Event: Sendable, Equatable {
        /// The database was moved here; as a copy if it was on another volume.
        case moved(from: String, to: String, isCopy: Bool)
        /// The rows of a damaged database were saved into a new one.
        case salvaged(SalvageReport)
        /// A database gave way, which may have rows, and is kept under another name.
        case setAside(String, as: String)
        /// A file at an old path was left alone, because the database was moved from there before: an older version of
        /// the app must have created it.
        case ignored(String)
    }

    /// A change of a file in a move.
    package enum MoveChange: Sendable, CaseIterable {
        case mark, setAside, nameAside, rename, copy, nameCopy, removeOld
    }

    let path: String
    let oldPaths: [String]
    private let rule: MissingFileRule
    let damagedRule: DamagedFileRule
    let configuration: Configuration
    let limit: Duration
    let onEvent: (@Sendable (Event) -> Void)?
    /// True to copy the database also on one volume: for tests.
    package var copiesAlways = false
    /// Is called before each change of a file: for tests, in which it throws where a process dies, and makes what another
    /// process makes between two changes.
    package var willChange: @Sendable (MoveChange) throws -> Void = { _ in }

    /// Creates a description of a file, without opening it.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - oldPaths: the paths of the file in older versions of the app, the newest first. If the database is still
    ///     there, opening moves it to `path`.
    ///   - rule: what to do if there is no file.
    ///   - damagedRule: what to do if the file is damaged.
    ///   - configuration: GRDB's configuration, used unchanged, also while the database is moved. If nil, connections
    ///     wait for up to five seconds while another connection writes.
    ///   - limit: how long opening may wait for another process.
    ///   - onEvent: gets what happens to the files, on the thread that opens the database.
    public init(
        path: String, movedFrom oldPaths: [String] = [], ifMissing rule: MissingFileRule = .create,
        ifDamaged damagedRule: DamagedFileRule = .refuse,
        configuration: Configuration? = nil, waitingFor limit: Duration = .seconds(10),
        onEvent: (@Sendable (Event) -> Void)? = nil
    ) {
        // SQLite's to read if it has a query.
        self.path = path.contains("?") ? path : path.databasePath ?? path
        self.oldPaths = oldPaths.map { $0.databasePath ?? $0 }
        self.rule = rule
        self.damagedRule = damagedRule
        self.configuration = configuration ?? SQLiteFile.waiting
        self.limit = limit
        self.onEvent = onEvent
    }

    /// Opens the file, or creates it.
    ///
    /// - Throws: `MigrationError`, when it cannot be opened, is missing, damaged, or cannot be moved here. Nothing is
    ///   lost then, and the next call tries again. GRDB's error is its `MigrationError.underlyingError`.
    public func openQueue() throws -> DatabaseQueue {
        try openingDamaged { try opening { try $0.openQueue() } }
    }

    /// Opens the file in WAL mode, or creates it.
    ///
    /// - Throws: as ``openQueue()`` does.
    public func openPool() throws -> DatabasePool {
        try openingDamaged { try opening { try $0.openPool() } }
    }

    private func opening<Writer: DatabaseWriter>(_ open: (SQLiteFile) throws -> Writer) throws -> Writer {
        guard !["", "file:", "file://"].contains(path) else {
            throw MigrationError(
                .misuse, "The path of the database is empty, which SQLite takes for a temporary database",
                remedy: "Pass the path of a file. For that of an app group, check the group's identifier.")
        }
        if mayChangeFiles { try checkPath() }
        var configuration = configuration
        // After the app has prepared a connection, which may be encrypted, and before GRDB sets up WAL mode.
        configuration.prepareDatabase { try $0.requireCurrentFile() }
        let file = SQLiteFile(path: path, configuration: configuration, waitingFor: limit)
        switch rule {
        case .create:
            try checkOldPaths()
            if !oldPaths.isEmpty { try moveHere() }
            return try open(file)
        case .refuse:
            // Opening would create the file.
            let url = URL(fileURLWithPath: path)
            let hasContents = try mappingErrors {
                try DurableFile(at: url).exists() && url.status().st_size > 0
            }
            guard hasContents else { throw missing }
            let database = try open(file)
            let contents = try file.mappingErrors {
                try waitWhileBusy(upTo: limit) {
                    try database.unsafeReentrantRead { try DatabasePlace.Contents($0) }
                }
            }
            if contents.isEmpty {
                try database.close()
                throw missing
            }
            return database
        }
    }

    /// True if opening looks at the files itself, and not only SQLite.
    private var mayChangeFiles: Bool {
        if case .salvage = damagedRule { return true }
        return rule == .refuse || !oldPaths.isEmpty
    }

    private var missing: MigrationError {
        MigrationError(
            .notYetMigrated, at: .file(URL(fileURLWithPath: path).lastPathComponent),
            "the app has not created the database yet, or has not moved it here",
            remedy: "Leave the data alone until the app has been launched.")
    }
}
