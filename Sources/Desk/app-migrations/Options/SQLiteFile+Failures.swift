import AppMigrations
import Foundation
import GRDB
import MigrationDiagnostics
import MigrationTools
import SchemaMigrations
import TextOutput

// Opens a database for one command, with failures in this tool's words.
extension SQLiteFile {
    /// Reads the database, which must exist, and leaves the file as it is.
    ///
    /// Only a transaction that a crash has interrupted is rolled back first, as every program does that opens the
    /// database: until then, the file holds half of it.
    func reading<Result>(_ body: (DatabaseQueue) throws -> Result) throws -> Result {
        try checkFile(mayBeMissing: false)
        try rollBackInterruptedTransaction()
        return try using(body) { try openReadOnly() }
    }

    /// Changes the database, which must exist.
    func writing<Result>(_ body: (DatabaseQueue) throws -> Result) throws -> Result {
        try checkFile(mayBeMissing: false)
        return try using(body) { try openQueue() }
    }

    /// Changes the database, and creates it if it does not exist.
    ///
    /// A new file stays when the body fails: a process that has opened it meanwhile would write into a removed file.
    func creating<Result>(_ body: (DatabaseQueue) throws -> Result) throws -> Result {
        try checkFile(mayBeMissing: true)
        return try using(body) { try openQueue() }
    }

    private func rollBackInterruptedTransaction() throws {
        let file = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        guard FileKind(file + "-journal") == .regular else { return }
        func look(_ queue: DatabaseQueue) throws {
            _ = try queue.read { try Int.fetchOne($0, sql: "PRAGMA schema_version") }
            try queue.close()
        }
        do {
            try look(openReadOnly())
        } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_READONLY_ROLLBACK {
            do {
                try look(openQueue())
            } catch {
                throw Failure(
                    "A crash has interrupted a transaction of \(path), which has to be rolled back before it can be read",
                    remedy: "Make the file and its folder writable, and try again; or let the app open it.")
            }
            FileHandle.standardError.writeIfPossible(
                "Rolled back a transaction of \(path) that a crash has interrupted.\n")
        } catch {
            // What reads the database says what is wrong with it.
        }
    }

    /// Refuses what SQLite would open and forget, and what it would wait for.
    private func checkFile(mayBeMissing: Bool) throws {
        let problem: String?
        // uri.html and inmemorydb.html: these are no paths of files, or not only.
        if path.isEmpty || path.hasPrefix(":memory:") || path.hasPrefix("file:") {
            problem = path.isEmpty ? "The path of the database is empty" : "\(path) is not the path of a file"
        } else {
            switch FileKind(path) {
            case .regular: problem = nil
            case .missing: problem = mayBeMissing ? nil : "There is no database \(path)"
            case .folder: problem = "\(path) is a folder"
            case .other: problem = "\(path) is not a regular file"
            }
        }
        guard let problem else { return }
        throw Failure(
            problem,
            remedy:
                "Pass the path of a SQLite database as --database; only `app-migrations migrate` creates one."
        )
    }

    private func using<Result>(
        _ body: (DatabaseQueue) throws -> Result, opening: () throws -> DatabaseQueue
    ) throws -> Result {
        do {
            return try MigrationError.mapErrors {
                let database = try opening()
                let result = Swift.Result { try body(database) }
                try database.close()
                return try result.get()
            }
        } catch let error as MigrationError
            where [.databaseFailed, .damagedDatabase].contains(error.code)
            || error.code == .unwritable && error.diagnostic.place == nil
        {
            var diagnostic = error.diagnostic
            diagnostic.place = .file(path)
            throw Failure(diagnostic)
        }
    }
}
