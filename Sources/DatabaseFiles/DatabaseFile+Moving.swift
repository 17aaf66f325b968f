import AppMigrations
import CMigrationSystem
import Foundation
import GRDB
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

// What changes files. Nothing here decides which file the database is.
extension DatabaseFile {
    func move(_ old: URL, to new: URL, _ interrupter: Interrupter) throws {
        try at(old) {
            try protect(old, asIn: new.deletingLastPathComponent())
            try willChange(.mark)
            let connection = try SoleConnection(
                to: old, configuration, movingTo: new, waitingFor: limit, interrupter)
            defer { connection.close() }
            // What is left there of a database that is gone is not this one's.
            try setOrphansAside(of: new)
            try willChange(.rename)
            let isCopy = try rename(old, to: new) == .otherVolume
            if isCopy {
                try copy(old, connection, to: new, interrupter)
                // From here on the copy is the database. An old file that stays is one that the mark rules out.
                try willChange(.removeOld)
                try? DurableFile(at: old).remove()
            } else {
                try DurableFile(at: new).syncName()
                try DurableFile(at: old).syncName()
            }
            connection.close()
            try? unlinkLinks(to: old)
            if connection.wasWAL {
                restoreWAL(at: new)
            }
            onEvent?(.moved(from: old.path, to: new.path, isCopy: isCopy))
            if isCopy, DatabasePlace(old.path) != nil { onEvent?(.ignored(old.path)) }
        }
    }

    enum Renaming { case done, otherVolume }

    /// Renames the database, unless it has to be copied.
    ///
    /// - Throws: ``ChangedMeanwhile`` if another process has made a file at the new path.
    func rename(_ old: URL, to new: URL) throws -> Renaming {
        if copiesAlways { return .otherVolume }
        if app_migrations_rename(old.path, new.path) == 0 { return .done }
        switch errno {
        case EXDEV: return .otherVolume
        case EEXIST: throw ChangedMeanwhile()
        default: throw POSIXError.current
        }
    }

    /// Puts a moved database back into WAL mode, unless another connection has followed it here: the mode concerns speed
    /// alone.
    func restoreWAL(at new: URL) {
        try? waitWhileBusy(upTo: .seconds(1)) {
            let queue = try DatabaseQueue(path: new.path, configuration: configuration.forCopying())
            defer { try? queue.close() }
            try queue.inDatabase { try $0.execute(sql: "PRAGMA main.journal_mode = WAL") }
        }
    }

    /// Copies a database to another volume; the copy has its name once it is complete, checked and on the disk.
    func copy(_ old: URL, _ connection: SoleConnection, to new: URL, _ interrupter: Interrupter)
        throws
    {
        let partial = try unfinishedCopy()
        do {
            try willChange(.copy)
            let copy = try CopyFile.open(at: partial, like: old, configuration)
            defer { try? copy.close() }
            try copy.withDurableCommits(waitingUpTo: limit) {
                try connection.queue.backup(to: copy, pagesPerStep: 1_000) { _ in try interrupter.check() }
                try copy.write { db in
                    try MoveMark.write(movedTo: new, from: old, source: FileIdentity(of: old), db)
                }
            }
            try check(copy, against: connection.queue)
            try copy.close()
            try willChange(.nameCopy)
            guard app_migrations_rename(partial.path, new.path) == 0 else {
                throw errno == EEXIST ? ChangedMeanwhile() : POSIXError.current
            }
            try DurableFile(at: new).syncName()
        } catch {
            // It is the new place that is full.
            let error = error.explained(beside: new)
            try? FileManager.default.removeItem(at: partial)
            throw Obstacle(error)?.code == .diskFull ? failure(error, at: new.path) : error
        }
    }

    /// Throws if a copy is damaged in a way in which the original is not.
    func check(_ copy: DatabaseQueue, against original: DatabaseQueue) throws {
        func problems(_ queue: DatabaseQueue) throws -> [String] {
            try queue.inDatabase { try IntegrityCheck($0, .quick, limit: 10).findings }
        }
        let found = try problems(copy)
        guard let problem = found.first, try found != problems(original) else { return }
        throw MigrationError(
            .databaseFailed, "the copy of the database is damaged: \(problem)",
            remedy: "The database is where it was. Check the disk, then try again.")
    }

    /// Gives a database another name in the same folder.
    ///
    /// - Parameter state: the state in which it gives way, which is looked at again under its lock; nil for any.
    /// - Throws: ``ChangedMeanwhile`` if it is not in this state any more.
    func setAside(
        _ place: DatabasePlace, _ interrupter: Interrupter, if state: PlaceState? = nil
    ) throws {
        let url = place.url
        try at(url) {
            try willChange(.setAside)
            var connection: SoleConnection?
            defer { connection?.close() }
            do {
                if let obstruction = place.obstruction { throw obstruction }
                connection = try SoleConnection(to: url, configuration, waitingFor: limit, interrupter)
            } catch let error where error.saysThatFileIsUnreadable && state == nil {
                // It cannot be opened, and is kept as it is.
            }
            if let state, let connection {
                // Another process may have written to it since the decision.
                let found = try connection.queue.inDatabase { try DatabasePlace.Contents($0).state(at: url) }
                guard found == state || (found, state) == (.data, .older) else { throw ChangedMeanwhile() }
            }
            let aside = Self.asideName(of: url)
            // Those of one that cannot be opened hold what was committed last: where the file system can do it, each is beside the
            // database under one of its names at any time.
            let haveSecondNames = connection == nil && giveJournalsSecondNames(of: url, beside: aside)
            if !haveSecondNames { try setSideFilesAside(of: url, as: aside) }
            try willChange(.nameAside)
            guard app_migrations_rename(url.path, aside.path) == 0 else { throw POSIXError.current }
            let file = try? FileHandle.opening(aside, O_RDWR | O_NONBLOCK)
            for end in Self.sideFileEnds where haveSecondNames { unlink(url.path + end) }
            try DurableFile(at: url).syncName()
            connection?.close()
            file.map { DatabaseFileLock(handle: $0).keep() }
            onEvent?(.setAside(url.path, as: aside.path))
        }
    }

    /// Gives the journals at a path without a database other names.
    ///
    /// - Throws: ``ChangedMeanwhile`` if another process makes a database there, whose journals they then are.
    func setOrphansAside(of url: URL) throws {
        var status = stat()
        let hasOrphans = Self.sideFileEnds.contains { lstat(url.path + $0, &status) == 0 }
        guard hasOrphans else { return }
        guard lstat(url.path, &status) != 0 else { throw ChangedMeanwhile() }
        let aside = Self.asideName(of: url)
        try setSideFilesAside(of: url, as: aside)
        guard lstat(url.path, &status) == 0 else { return }
        try setSideFilesAside(of: aside, as: url)
        throw ChangedMeanwhile()
    }

    /// Gives the journals beside a database's path other names.
    ///
    /// Before the database itself gets another one: SQLite takes a journal for that of the database beside it, whatever
    /// database that is by then (howtocorrupt.html, 1.4).
    func setSideFilesAside(of url: URL, as aside: URL) throws {
        for end in Self.sideFileEnds {
            guard app_migrations_rename(url.path + end, aside.path + end) != 0 else { continue }
            guard errno == ENOENT else { throw POSIXError.current }
        }
    }

    /// Returns false where that is not possible.
    private func giveJournalsSecondNames(of url: URL, beside aside: URL) -> Bool {
        let ends = ["-journal", "-wal"]
        let isDone = ends.allSatisfy { end in
            // Of a link itself, too.
            linkat(AT_FDCWD, url.path + end, AT_FDCWD, aside.path + end, 0) == 0 || errno == ENOENT
        }
        if !isDone { for end in ends { unlink(aside.path + end) } }
        return isDone
    }

    static let sideFileEnds = ["-journal", "-wal", "-shm"]

    /// Returns the name of what is set aside, after which the end of a journal's may follow.
    static func asideName(of url: URL) -> URL {
        let end = ".aside-\(Date().inFileName)-\(UUID().uuidString.prefix(4))"
        return url.deletingLastPathComponent().appendingPathComponent(
            url.lastPathComponent.shortenedFileName(leaving: end.utf8.count + 8) + end)
    }

    /// Removes a database that has been copied.
    func remove(_ url: URL) throws {
        try at(url) {
            try willChange(.removeOld)
            try DurableFile(at: url).remove()
            try unlinkLinks(to: url)
        }
    }

    /// Removes old paths that are links, and now lead nowhere.
    func unlinkLinks(to url: URL) throws {
        for path in oldPaths where path != url.path {
            var status = stat()
            guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK, stat(path, &status) != 0
            else { continue }
            try DurableFile(at: URL(fileURLWithPath: path)).remove()
        }
    }
}
