import AppMigrations
import Foundation
import GRDB
import MigrationDiagnostics
import SchemaMigrations

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#endif

/// One of the places of a database at which there is something.
struct DatabasePlace {
    /// The file, without links in its path; the link itself if it leads nowhere.
    let url: URL
    /// The reason for which nothing there can be read, as far as the path alone tells; nil if there is a file.
    let obstruction: (any SystemError)?

    /// Looks at a path.
    ///
    /// - Returns: nil if there is nothing.
    init?(_ path: String) {
        if let real = realpath(path, nil) {
            defer { free(real) }
            url = URL(fileURLWithPath: String(cString: real))
            obstruction = Self.obstruction(at: url)
            return
        }
        let error = POSIXError.current
        var status = stat()
        // A link that leads nowhere is not an absent file: what it leads to may be on a disk that is not mounted.
        if [.ENOENT, .ENOTDIR].contains(error.code), lstat(path, &status) != 0 { return nil }
        url = URL(fileURLWithPath: path)
        obstruction = error
    }

    /// SQLite would wait for the other end of a pipe, for instance, and remove the log of an empty file.
    private static func obstruction(at url: URL) -> (any SystemError)? {
        do {
            switch try url.status().st_mode & S_IFMT {
            case S_IFREG:
                return isEmptyBesideLog(url)
                    ? DatabaseError(
                        resultCode: .SQLITE_CORRUPT, message: "is empty, and its write-ahead log is not")
                    : nil
            case S_IFDIR: return POSIXError(.EISDIR)
            default: return POSIXError(.ENODEV)
            }
        } catch {
            return error.systemError
        }
    }

    /// Returns true if a file is empty whose log has pages: SQLite would take it for a new database.
    ///
    /// SQLite writes the file of a new database before the log: only a second look says that it is empty beside one.
    static func isEmptyBesideLog(_ url: URL) -> Bool {
        func isEmpty() -> Bool { (try? url.status().st_size) == 0 }
        return isEmpty() && hasLog(url) && isEmpty()
    }

    /// Returns true if a file has a write-ahead log with a page in it.
    static func hasLog(_ url: URL) -> Bool {
        // fileformat2.html, 4.1: the header of the log and that of a page.
        ((try? url.appending(end: "-wal").status().st_size) ?? 0) > 32 + 24
    }

    /// Returns true if the file has not changed since it was copied, and has no journal beside it, which could hold more.
    func isSource(of mark: MoveMark?) -> Bool {
        guard let source = mark?.source, let identity = try? FileIdentity(of: url), identity == source else {
            return false
        }
        return ["-wal", "-journal"].allSatisfy { end in
            var status = stat()
            return lstat(url.path + end, &status) != 0 || status.st_size == 0
        }
    }
}

extension DatabasePlace {
    /// What is in a database, as far as it decides which file the database is.
    struct Contents: Equatable {
        let mark: MoveMark?
        /// True if it has no table, no ledger and no record.
        let isEmpty: Bool

        /// Returns the state of the database at a place.
        func state(at url: URL) -> PlaceState {
            switch (mark, isEmpty) {
            case (let mark?, false): mark.isComplete(at: url) ? .moved : .marked
            case (_?, true): .markedEmpty
            case (nil, true): .empty
            case (nil, false): .data
            }
        }

        init(_ db: Database) throws {
            mark = try MoveMark(db)
            isEmpty = try
                !(Bool.fetchOne(
                    db, sql: "SELECT EXISTS (SELECT 1 FROM main.sqlite_master WHERE tbl_name <> ?)",
                    arguments: [MoveMark.table.text]) ?? true)
        }

        private init() { (mark, isEmpty) = (nil, true) }

        /// What is in a file of no bytes.
        static let none = Contents()
    }

    /// Reads the contents through a connection of its own.
    ///
    /// - Throws: `POSIXError`, `DatabaseError`; `MigrationError` if it is a store of Core Data or SwiftData, in which
    ///   a move must not write a mark.
    func contents(_ configuration: Configuration, waitingFor limit: Duration) throws -> Contents {
        try reading(configuration, waitingFor: limit) { db in
            guard try !db.hasTable("Z_METADATA") else {
                throw MigrationError(
                    .misuse, at: .file(url.lastPathComponent),
                    "is a store of Core Data or SwiftData, which DatabaseFile does not move",
                    remedy: "Move it with NSPersistentStoreCoordinator. Nothing was changed.")
            }
            return try Contents(db)
        } ?? .none
    }

    /// Reads the database through a connection of its own.
    ///
    /// - Returns: nil if the file has no bytes.
    func reading<Value>(
        _ configuration: Configuration, waitingFor limit: Duration, _ body: (Database) throws -> Value
    ) throws -> Value? {
        if let obstruction { throw obstruction }
        let log = try? url.appending(end: "-wal").status()
        guard try url.status().st_size + (log?.st_size ?? 0) > 0 else { return nil }
        let queue = try waitWhileBusy(upTo: limit) {
            try DatabaseQueue(path: url.path, configuration: configuration.forCopying())
        }
        defer { try? queue.close() }
        return try queue.readSnapshot(waitingUpTo: limit, body)
    }

    /// Reads the state, or tells that nothing can be read there.
    ///
    /// - Throws: an error that passes by itself, such as one of a database that is locked.
    func state(
        _ configuration: Configuration, waitingFor limit: Duration
    ) throws -> (state: PlaceState, mark: MoveMark?, problem: (any Error)?) {
        do {
            let contents = try contents(configuration, waitingFor: limit)
            return (contents.state(at: url), contents.mark, nil)
        } catch let error where error.saysThatFileIsUnreadable {
            return (.unreadable, nil, error)
        }
    }
}

extension Error {
    /// True if the file itself is the reason for the error, and not something that passes, or that the app can change.
    var saysThatFileIsUnreadable: Bool {
        if Obstacle(self) != nil { return false }
        return switch self {
        case let error as DatabaseError:
            [.SQLITE_NOTADB, .SQLITE_CORRUPT, .SQLITE_CANTOPEN, .SQLITE_IOERR, .SQLITE_PERM, .SQLITE_AUTH]
                .contains(error.resultCode)
        case is POSIXError: true
        default: false
        }
    }
}
