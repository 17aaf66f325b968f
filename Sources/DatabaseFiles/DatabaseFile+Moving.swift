import AppMigrations
import CMigrationSystem
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

extension DatabaseFile {
    /// Returns the files at the database's path and its old paths that exist, with what they hold.
    ///
    /// For the app's recovery screen, after the error `SchemaMigrationError.Code.twoDatabases`. Changes nothing.
    ///
    /// - Throws: `SchemaMigrationError`, when one of them cannot be read.
    public func foundDatabases() throws -> [FoundDatabase] {
        try mappingErrors { try found(try places()).map(\.database) }
    }

    /// Settles which of several databases the app goes on with.
    ///
    /// The others stay where they are, under a dated name, with what they hold. The next call of ``openQueue()`` or
    /// ``openPool()`` opens the one that is kept, and moves it here if it is at an old path.
    ///
    /// - Parameter kept: the path of one of the ``foundDatabases()``.
    /// - Throws: `SchemaMigrationError`, when there is no such database, or another one cannot be set aside.
    public func keep(_ kept: String) throws {
        try moving { interrupter in
            let places = try places()
            guard let kept = try realPath(kept), places.contains(where: { $0.path == kept.path }) else {
                throw SchemaMigrationError(
                    .invalidRequest, "\(kept) is no place of this database with a file",
                    remedy: "Pass the path of one of the foundDatabases().")
            }
            for other in places where other.path != kept.path { try setAside(other, interrupter) }
        }
    }

    /// Brings the database here if it is still at an old path.
    ///
    /// Nearly always there is nothing at the old paths: then it looks at nothing else.
    func moveHere() throws {
        guard try mappingErrors({ try hasOldFile() }) else { return }
        try moving { interrupter in
            try? FileManager.default.removeItem(at: try unfinishedCopy())
            let places = try places()
            try removeSecondNames(of: places)
            let found = try found(places)
            switch MoveDecision(found.map(\.database)) {
            case .two(let indices): throw twoDatabases(indices.map { found[$0].database })
            case .keep(let kept, let empty, let leftovers, let ignored):
                for index in empty { try setAside(found[index].url, interrupter) }
                for index in leftovers { try remove(found[index].url) }
                let new = try newPlace()
                if found.indices.contains(kept), found[kept].url.path != new.path {
                    let old = found[kept].url
                    // No manager of an older version migrates it meanwhile.
                    try FileLock.withLocks(beside: old, except: moveLock(), waitingFor: limit) {
                        try move(old, to: new, interrupter)
                    }
                }
                for index in ignored { onEvent?(.ignored(found[index].url.path)) }
            }
        }
    }

    // MARK: Places

    private func hasOldFile() throws -> Bool {
        let new = URL(fileURLWithPath: path)
        return try oldPaths.contains { old in
            guard let url = try realPath(old) else { return false }
            // Two names of one file: nothing has to be moved, unless a power cut has left both.
            return try !url.isSameFile(as: new) || url.status().st_nlink > 1
        }
    }

    /// The files that exist at the database's path and its old ones, without a second name of the same file.
    private func places() throws -> [URL] {
        var places: [URL] = []
        for path in [path] + oldPaths {
            guard let url = try realPath(path) else { continue }
            if !places.contains(where: { $0.isSameFile(as: url) }) { places.append(url) }
        }
        return places
    }

    /// Removes the old names of a file that has two: the power failed while it was renamed, and both were kept.
    private func removeSecondNames(of places: [URL]) throws {
        for path in oldPaths {
            guard let url = try realPath(path), let same = places.first(where: { $0.isSameFile(as: url) }),
                same.path != url.path, try url.status().st_nlink > 1
            else { continue }
            try DurableFile(at: url).remove()
        }
    }

    private func found(_ places: [URL]) throws -> [(url: URL, database: FoundDatabase)] {
        try places.map { url in
            (url, try at(url) { try FoundDatabase(at: url, configuration, waitingFor: limit) })
        }
    }

    /// Where the database belongs, as SQLite names it: with the links in its path resolved.
    private func newPlace() throws -> URL {
        if let url = try realPath(path) { return url }
        let url = URL(fileURLWithPath: path)
        guard let folder = try realPath(url.deletingLastPathComponent().path) else {
            throw SchemaMigrationError(
                .databaseFailed, at: .file(url.lastPathComponent),
                "the folder \(url.deletingLastPathComponent().path) does not exist",
                remedy: "Create the folder before opening the database. Nothing was changed.")
        }
        return folder.appendingPathComponent(url.lastPathComponent)
    }

    /// The name of a copy on its way here.
    private func unfinishedCopy() throws -> URL {
        let new = try newPlace()
        return new.deletingLastPathComponent().appendingPathComponent(".\(new.lastPathComponent).moving")
    }

    /// Returns a path without links; nil if there is no such file.
    ///
    /// - Throws: `POSIXError`, when that cannot be said, as for a link that leads nowhere.
    private func realPath(_ path: String) throws -> URL? {
        if let real = realpath(path, nil) {
            defer { free(real) }
            return URL(fileURLWithPath: String(cString: real))
        }
        guard errno == ENOENT || errno == ENOTDIR else { throw POSIXError.current }
        var status = stat()
        guard lstat(path, &status) != 0 else { throw POSIXError(.ENOENT) }
        return nil
    }

    // MARK: Moving

    private func move(_ old: URL, to new: URL, _ interrupter: Interrupter) throws {
        try at(old) {
            guard app_migrations_protect(old.path, new.deletingLastPathComponent().path) == 0 else {
                throw POSIXError.current
            }
            let connection = try SoleConnection(
                to: old, configuration, marking: true, waitingFor: limit, interrupter)
            defer { connection.close() }
            // What is left there of a database that is gone is not this one's.
            try setSideFilesAside(of: new, as: new.appending(end: Self.asideEnd))
            var isCopy = false
            if !copiesAlways, app_migrations_rename(old.path, new.path) == 0 {
                try DurableFile(at: new).syncName()
                try DurableFile(at: old).syncName()
            } else if copiesAlways || errno == EXDEV {
                isCopy = true
                try copy(old, connection, to: new, interrupter)
                try DurableFile(at: old).remove()
            } else {
                throw POSIXError.current
            }
            connection.close()
            try unlinkLinks(to: old)
            if connection.wasWAL {
                restoreWAL(at: new)
            }
            onEvent?(.moved(from: old.path, to: new.path, isCopy: isCopy))
        }
    }

    /// Puts a moved database back into WAL mode, unless another connection has followed it here: the mode concerns speed
    /// alone.
    private func restoreWAL(at new: URL) {
        try? waitWhileBusy(upTo: .seconds(1)) {
            let queue = try DatabaseQueue(path: new.path, configuration: configuration.forCopying())
            defer { try? queue.close() }
            try queue.inDatabase { try $0.execute(sql: "PRAGMA main.journal_mode = WAL") }
        }
    }

    /// Copies a database to another volume; the copy has its name once it is complete, checked and on the disk.
    private func copy(_ old: URL, _ connection: SoleConnection, to new: URL, _ interrupter: Interrupter)
        throws
    {
        let partial = try unfinishedCopy()
        do {
            let copy = try CopyFile.open(at: partial, like: old, configuration)
            defer { try? copy.close() }
            try copy.withDurableCommits(waitingUpTo: limit) {
                try connection.queue.backup(to: copy, pagesPerStep: 1_000) { _ in try interrupter.check() }
                try copy.write { db in try MoveMark.write(source: FileIdentity(of: old), db) }
            }
            try check(copy, against: connection.queue)
            try copy.close()
            guard app_migrations_rename(partial.path, new.path) == 0 else { throw POSIXError.current }
            try DurableFile(at: new).syncName()
        } catch {
            try? FileManager.default.removeItem(at: partial)
            throw error
        }
    }

    /// Throws if a copy is damaged in a way in which the original is not.
    private func check(_ copy: DatabaseQueue, against original: DatabaseQueue) throws {
        func problems(_ queue: DatabaseQueue) throws -> [String] {
            try queue.inDatabase { try IntegrityCheck($0, .quick, limit: 10).problems }
        }
        let found = try problems(copy)
        guard let problem = found.first, try found != problems(original) else { return }
        throw SchemaMigrationError(
            .databaseFailed, "the copy of the database is damaged: \(problem)",
            remedy: "The database is where it was. Check the disk, then try again.")
    }

    /// Gives a database another name in the same folder.
    private func setAside(_ url: URL, _ interrupter: Interrupter) throws {
        try at(url) {
            var connection: SoleConnection?
            do {
                connection = try SoleConnection(to: url, configuration, waitingFor: limit, interrupter)
            } catch let error as DatabaseError
                where [.SQLITE_NOTADB, .SQLITE_CORRUPT].contains(error.resultCode)
            {
                // It cannot be opened, and is kept as it is.
            }
            defer { connection?.close() }
            let aside = url.appending(end: Self.asideEnd)
            try setSideFilesAside(of: url, as: aside)
            guard app_migrations_rename(url.path, aside.path) == 0 else { throw POSIXError.current }
            try DurableFile(at: url).syncName()
            onEvent?(.setAside(url.path, as: aside.path))
        }
    }

    /// Gives the journals beside a database's path other names.
    ///
    /// Before the database itself gets another one: SQLite takes a journal for that of the database beside it, whatever
    /// database that is by then (howtocorrupt.html, 1.4).
    private func setSideFilesAside(of url: URL, as aside: URL) throws {
        for end in ["-journal", "-wal", "-shm"] {
            guard app_migrations_rename(url.path + end, aside.path + end) != 0 else { continue }
            guard errno == ENOENT else { throw POSIXError.current }
        }
    }

    /// The end of the name of what is set aside.
    private static var asideEnd: String {
        ".aside-\(Date().inFileName)-\(UUID().uuidString.prefix(4))"
    }

    /// Removes a database that has been copied.
    private func remove(_ url: URL) throws {
        try at(url) {
            try DurableFile(at: url).remove()
            try unlinkLinks(to: url)
        }
    }

    /// Removes old paths that are links, and now lead nowhere.
    private func unlinkLinks(to url: URL) throws {
        for path in oldPaths where path != url.path {
            var status = stat()
            guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK, stat(path, &status) != 0
            else { continue }
            try DurableFile(at: URL(fileURLWithPath: path)).remove()
        }
    }

    // MARK: Errors

    /// Runs the body while no other process moves the same database, and the system does not suspend this one.
    private func moving(_ body: (Interrupter) throws -> Void) throws {
        try mappingErrors {
            let interrupter = Interrupter(observing: nil)
            try interrupter.whileActive {
                try moveLock().withLock(waitingFor: limit) { try body(interrupter) }
            }
        }
    }

    private func moveLock() throws -> FileLock {
        try FileLock(at: newPlace().appending(end: ".move.lock"))
    }

    /// Runs the body, whose errors are about a file.
    private func at<Result>(_ url: URL, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch {
            throw failure(error, at: url.path)
        }
    }

    func mappingErrors<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch {
            throw failure(error, at: path)
        }
    }

    private func failure(_ error: any Error, at path: String) -> any Error {
        let problem: String
        var remedy = "Nothing was lost: the database is where it was, and the next launch tries again."
        switch error {
        case is SchemaMigrationError, is CancellationError: return error
        case let error as LockTimeout:
            return SchemaMigrationError(
                .locked, at: .file(path),
                "\(error.holder) is moving the database for more than \(error.limit)",
                remedy: "Launch again when that process has resumed or exited.")
        case let error as DatabaseError where error.isBusy:
            problem = "another connection has the database open, so it cannot be moved"
            remedy = "Close that connection, or end the program that has it, and launch again. \(remedy)"
        case let error as any SystemError:
            problem = error.reason
            remedy = [Obstacle(error)?.remedy ?? (error as? DatabaseError)?.remedy, remedy]
                .compactMap(\.self).joined(separator: " ")
        default: return error
        }
        return SchemaMigrationError(
            .init(Obstacle(error)) ?? .databaseFailed, at: .file(path), problem, remedy: remedy,
            underlyingError: error)
    }

    private func twoDatabases(_ found: [FoundDatabase]) -> SchemaMigrationError {
        SchemaMigrationError(
            .twoDatabases,
            "The app's database is in two places, and both hold data: "
                + found.map(\.description).joined(separator: " and "),
            remedy: """
                Nothing was changed. Show both to the person, or decide by their dates, and call keep(_:) with the path of \
                the one to go on with: the other one stays beside it under another name.
                """)
    }
}
