import AppMigrations
import Foundation
import GRDB
import MigrationDiagnostics
import SchemaMigrations

// Locks, and errors that say which file they are about.
extension DatabaseFile {
    /// Runs the body while no other process moves the same database, and the system does not suspend this one.
    func moving(_ body: (Interrupter) throws -> Void) throws {
        try mappingErrors {
            let interrupter = Interrupter(observing: nil)
            try interrupter.whileActive {
                try moveLock().withLock(waitingFor: limit) { try body(interrupter) }
            }
        }
    }

    func moveLock() throws -> FileLock {
        try FileLock(
            at: newPlace().appending(end: ".move.lock"),
            permissions: places().first.flatMap { DurableFile(at: $0.url).permissions })
    }

    /// Runs the body, whose errors are about a file.
    func at<Result>(_ url: URL, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch {
            throw failure(error, at: url.path)
        }
    }

    /// Throws if the path is a URI with a query, of which only SQLite knows which file it means, and how to read it.
    func checkPath() throws {
        guard path.hasPrefix("file:"), path.contains("?") else { return }
        throw MigrationError(
            .misuse, "The path \(path) has a query, with which a database can only be opened",
            remedy: "Pass the path of the file, and say the rest in the configuration. Nothing was changed.")
    }

    func mappingErrors<Result>(_ body: () throws -> Result) throws -> Result {
        try checkPath()
        do {
            return try body()
        } catch {
            throw failure(error, at: path)
        }
    }

    func failure(_ error: any Error, at path: String) -> any Error {
        let error = error.explained(beside: URL(fileURLWithPath: path))
        let problem: String
        var remedy = "Nothing was lost: the database is where it was."
        switch error.systemError ?? error {
        case let error as MigrationError where !error.isOfStoreOrManager: return error
        case is CancellationError: return error
        case let error as LockTimeout:
            return MigrationError(
                .locked, at: .file(path),
                "\(error.holder) has been moving or migrating the database for more than \(error.limit)",
                remedy: "Launch again when that process has resumed or exited.")
        case let error as DatabaseError where error.isBusy:
            problem = "another connection has the database open"
            remedy = "Close that connection, or end the program that has it, then try again. \(remedy)"
        case let error as any SystemError:
            problem = error.reason
            if error.isAboutMissingData { remedy = "Nothing was changed." }
            let own = Obstacle(error)?.remedy ?? (error as? DatabaseError)?.remedy
            let refused =
                error.saysThatFileIsRefused ? "Make the file and its folder readable and writable." : nil
            remedy = [own ?? refused, remedy].compactMap(\.self).joined(separator: " ")
        default: return error
        }
        return MigrationError(
            Obstacle(error)?.code ?? .databaseFailed, at: .file(path), problem, remedy: remedy,
            underlyingError: error)
    }

    func twoDatabases(_ found: [FoundDatabase]) -> MigrationError {
        let (places, them, others) =
            found.count == 2
            ? ("two places, and both", "both", "the other one stays where it is")
            : ("\(found.count) places, and all", "them", "the others stay where they are")
        return MigrationError(
            .twoPlaces,
            "The app's database is in \(places) hold data: "
                + found.map(\.description).joined(separator: " and "),
            remedy: """
                Nothing was changed. Show \(them) to the person, or decide by their dates, and call keep(_:) with the path of \
                the one to go on with: \(others), under another name.
                """)
    }

    /// Returns the error for files that cannot be read: of a file alone, its own.
    func unreadable(
        _ files: [(place: DatabasePlace, problem: (any Error)?)], _ places: [DatabasePlace]
    ) throws -> any Error {
        let (place, problem) = files[0]
        let error = failure(problem ?? POSIXError(.EIO), at: place.url.path)
        guard places.count > 1 else { return error }
        let others = try places.filter { $0.url != place.url }.map { try found($0).description }
        return MigrationError(
            .twoPlaces, at: .file(place.url.path),
            """
            \(problem?.systemError?.reason ?? "cannot be read"), and the database may also be at \
            \(others.joined(separator: " or "))
            """,
            remedy: """
                Nothing was changed. Decide which of them is the database, and call keep(_:) with its path: the others stay \
                where they are, under another name.
                """,
            underlyingError: problem)
    }
}
