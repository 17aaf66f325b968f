import AppMigrations
import CMigrationSQLite
public import Foundation
import GRDB
import MigrationDiagnostics
import SchemaMigrations

// What opening does about a damaged file, and how it is told from one that is only out of reach.
extension DatabaseFile {
    /// Checks every page of the database.
    ///
    /// Opening reads only a few pages, so it misses most damage. `check()` runs SQLite's `PRAGMA quick_check`, which reads
    /// the whole file: call it in the background, and rarely, as after a crash. It opens a connection of its own, so the app
    /// may use the database meanwhile.
    ///
    /// ```swift
    /// do {
    ///     try DatabaseFile(path: url.path).check()
    /// } catch let error as MigrationError where error.advice == .repair {
    ///     print("Close the database, and salvage it.")
    /// }
    /// ```
    ///
    /// - Parameter progress: cancelling it stops the check.
    /// - Throws: `MigrationError` with the code `damagedDatabase` and SQLite's first finding, when the database is
    ///   damaged; `CancellationError`.
    public func check(progress: Progress? = nil) throws {
        try checkPath()
        // Opening would create a missing file.
        guard let place = places().first?.url else { return }
        let file = SQLiteFile(path: place.path, configuration: configuration, waitingFor: limit)
        try throwingDamage {
            let interrupter = Interrupter(observing: progress)
            let queue = try file.openQueue()
            defer { try? queue.close() }
            let problems = try file.mappingErrors {
                try queue.inDatabase { db in
                    var problems: [String] = []
                    // After its first findings, SQLite may end with an error that says less.
                    try interrupter.allowInterrupts(of: db) {
                        problems = try IntegrityCheck(db, .quick, limit: 1).problems
                    }
                    return problems + (isUnwritable(db, at: place) ? [Self.unwritable] : [])
                }
            }
            if let problem = problems.first { throw damage(problem, at: place) }
        }
    }

    /// Opens the file; if it is damaged, acts by the app's rule.
    func openingDamaged<Writer: DatabaseWriter>(_ open: () throws -> Writer) throws -> Writer {
        do {
            return try openingCurrent { try throwingDamage { try throwingUnwritable(open) } }
        } catch let error as MigrationError where error.code == .damagedDatabase {
            guard case .salvage(let schema) = damagedRule else { throw error }
            let damaged = fileNumber
            do {
                if let report = try salvageIfDamaged(into: schema) { onEvent?(.salvaged(report)) }
            } catch let error as MigrationError where error.code == .locked {
                // Another process has salvaged it since, and uses the new file.
                guard let damaged, let now = fileNumber, now != damaged else { throw error }
            }
            return try openingCurrent(open)
        }
    }

    private static let unwritable = "has a header with an impossible format, so SQLite refuses to write"

    /// Opens the file, unless SQLite only reads it, because its header is damaged.
    private func throwingUnwritable<Writer: DatabaseWriter>(_ open: () throws -> Writer) throws -> Writer {
        let database = try open()
        guard let place = places().first?.url,
            database.unsafeReentrantWrite({ isUnwritable($0, at: place) })
        else { return database }
        try database.close()
        throw damage(Self.unwritable, at: place)
    }

    /// Returns true if SQLite refuses to write a file that can be written.
    ///
    /// A file that it opens for reading alone, as in a sandbox, is not damaged, whatever the file's permissions say.
    func isUnwritable(_ db: Database, at place: URL) -> Bool {
        isToBeWritten(place) && app_migrations_has_read_only_format(db.sqliteConnection) == 1
    }

    /// Returns true if neither the system nor the app says that a file is only to be read.
    private func isToBeWritten(_ place: URL) -> Bool {
        !configuration.readonly && FileManager.default.isWritableFile(atPath: place.path)
    }

    /// Opens the file that has the name, and not one that another process is just setting aside.
    private func openingCurrent<Writer: DatabaseWriter>(_ open: () throws -> Writer) throws -> Writer {
        while true {
            try undoUnfinishedSalvage()
            let before = fileNumber
            let database = Result { try open() }
            // A connection that waits for the lock of a salvage gets the damaged file in the end, or fails to read it.
            guard let before, let after = fileNumber, before != after else { return try database.get() }
            if case .success(let database) = database { try database.close() }
        }
    }

    /// The number of the file that has the name: another one once a process has put a new file there.
    private var fileNumber: ino_t? { try? URL(fileURLWithPath: path).status().st_ino }

    /// How long to wait for a process that only looks at the damaged file.
    var patienceForLooks: Duration { min(limit, .milliseconds(500)) }

    /// Gives a damaged file its journals back that an interrupted salvage has taken from it.
    ///
    /// The file has two names only then, so nearly always one look at it is enough.
    private func undoUnfinishedSalvage() throws {
        guard let place = places().first?.url, let status = try? place.status() else { return }
        if status.st_size == 0, DatabasePlace.isEmptyBesideLog(place) {
            throw damage("is empty, and its write-ahead log is not", at: place)
        }
        guard status.st_nlink > 1, damagedFiles(of: place).contains(where: { $0.isSameFile(as: place) })
        else {
            return
        }
        try moving { _ in try putJournalsBack(at: place) }
    }

    /// Runs the body, and tells a damaged file from an encrypted one, and from one of a newer format.
    private func throwingDamage<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as MigrationError {
            if let refusal = systemRefusal(behind: error) { throw refusal }
            guard let cause = error.underlyingError as? DatabaseError,
                [.databaseFailed, .damagedDatabase].contains(error.code)
                    || cause.resultCode == .SQLITE_READONLY,
                let place = try? damagedPlace(), mayBeDamage(cause, at: place)
            else { throw error }
            // Another process may be looking at it, too, or salvaging it: once that has ended, `openingCurrent` finds the new file.
            guard let file = try? DamagedFile.locked(at: place, waitingFor: patienceForLooks) else {
                try? moveLock().withLock(waitingFor: limit) {}
                throw error
            }
            let header = DatabaseHeader(try mappingErrors { try file.read(at: 0, count: 100) })
            if header.isOfNewerFormat { throw newerFormat(place) }
            if cause.resultCode == .SQLITE_READONLY, !header.hasImpossibleFormat { throw error }
            let found = try mappingErrors { try journals(of: place, file).pages }
            if cause.isAboutAttaching, isIntactUnprepared(place, with: Set(found.keys)) {
                // Without the cause, for which a person would be advised to repair this file.
                throw MigrationError(
                    .databaseFailed, at: .file(place.lastPathComponent),
                    "a database that the app attaches cannot be opened: \(cause.problem)",
                    remedy: "This file is intact. Restore or remove that one. Nothing was changed.")
            }
            let format = try mappingErrors { try PageFormat.find(file, JournalPages.joining(found)) }
            guard format == nil else { throw damage(cause.problem, at: place, cause) }
            guard error.code == .damagedDatabase else { throw error }
            throw MigrationError(
                .databaseFailed, at: .file(place.lastPathComponent),
                "\(cause.problem), and no row can be read",
                remedy: "Restore a backup. Nothing was changed.", underlyingError: cause)
        }
    }

    /// Returns true if SQLite finds no damage on a connection that the app has not prepared.
    ///
    /// It finds some if the file is encrypted, or needs a collation of the app's.
    private func isIntactUnprepared(_ place: URL, with journals: Set<JournalKind>) -> Bool {
        let isIntact = try? isIntact(
            place, with: journals, preparedBy: Configuration(), Interrupter(observing: nil))
        return isIntact == true
    }

    /// Returns true for an error of SQLite's that the bytes of a file can be the cause of.
    private func mayBeDamage(_ error: DatabaseError, at place: URL) -> Bool {
        switch error.resultCode {
        case .SQLITE_NOTADB, .SQLITE_CORRUPT: true
        case .SQLITE_READONLY: isToBeWritten(place)
        // fileformat2.html, 1.3.10: of the schema.
        case .SQLITE_ERROR: error.message == "unsupported file format"
        default: false
        }
    }

    /// Returns the system's own reason for which the file can be neither opened nor salvaged, such as missing rights or a
    /// device that is locked.
    private func systemRefusal(behind error: MigrationError) -> MigrationError? {
        guard let cause = error.underlyingError as? DatabaseError,
            [
                .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_AUTH, .SQLITE_IOERR, .SQLITE_NOTADB, .SQLITE_CORRUPT,
            ].contains(cause.resultCode), let place = try? damagedPlace()
        else { return nil }
        do {
            _ = try DamagedFile.locked(at: place)
        } catch let problem as POSIXError where [.EACCES, .EPERM].contains(problem.code) {
            let obstacle = Obstacle(problem)
            return MigrationError(
                obstacle?.code ?? .databaseFailed, at: .file(place.lastPathComponent),
                "\(problem.reason) (SQLite \(cause.extendedResultCode.rawValue))",
                remedy: obstacle?.remedy
                    ?? "Nothing was changed. Make the file and its folder readable and writable.",
                underlyingError: problem)
        } catch {}
        return nil
    }

    private func damage(_ problem: String, at place: URL, _ cause: DatabaseError? = nil)
        -> MigrationError
    {
        MigrationError(
            .damagedDatabase, at: .file(place.lastPathComponent), problem,
            remedy: """
                Nothing was changed. Close every connection to it, and call salvage(into:), which saves each row that can be \
                read, and keeps the damaged file.
                """, underlyingError: cause)
    }

    func newerFormat(_ place: URL) -> MigrationError {
        refusal(
            .newerThanThisProcess, place, "is in a format that only a newer version of SQLite reads",
            "Update the app.")
    }
}

extension DatabaseError {
    /// True if the database that the statement attaches may be the one that SQLite cannot read.
    fileprivate var isAboutAttaching: Bool { sql?.uppercased().hasPrefix("ATTACH") == true }
}

extension Database {
    /// Throws an error if another process has put a new file in the place of the one that this connection has opened.
    ///
    /// A salvage does so while connections wait for its lock. One in WAL mode would make its log by the file's name: beside the new
    /// one, which would take it for its own. From the first read on, a connection in WAL mode keeps the lock that lets no salvage begin.
    func requireCurrentFile() throws {
        _ = try Row.fetchOne(self, sql: "SELECT * FROM sqlite_master LIMIT 1")
        guard app_migrations_has_moved(sqliteConnection) != 0 else { return }
        throw MigrationError(
            .databaseFailed, "another process has replaced the database while this one was opening it",
            remedy: "Open it again. Nothing was changed.")
    }
}
