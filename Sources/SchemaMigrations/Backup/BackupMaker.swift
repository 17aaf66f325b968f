package import AppMigrations
package import Foundation
package import GRDB
import MigrationDiagnostics

/// A maker of copies of a database before it is changed.
package struct BackupMaker {
    let folder: URL
    /// The number of copies to keep.
    let keep: Int
    /// The version of the app that migrates; nil if unknown.
    package var app: AppVersion?

    package init(folder: URL, keep: Int, app: AppVersion? = nil) {
        // `URL(string: path)` makes a URL that Foundation cannot write to.
        self.folder = folder.scheme == nil ? URL(fileURLWithPath: folder.path) : folder
        (self.keep, self.app) = (keep, app)
    }

    /// Copies the database while its connection keeps others from writing.
    ///
    /// It reads the database through a second connection, because SQLite makes no copy inside a write
    /// transaction.
    ///
    /// - Returns: the copy, or the first one since launches of this version of the app began to fail; nil if there is nothing to
    ///   copy: the database is empty, or in memory, as in previews and tests.
    package func copy(_ db: Database) throws -> URL? {
        guard try db.hasTable(SQLName(OwnTables.ledger)) || Ledger.hasOtherTables(db),
            let file = try db.mainFile()
        else { return nil }
        do {
            try makeFolder(folder)
            removeUnfinishedCopies(of: file)
            try checkSpace(for: file)
            let copy = try write(file, with: db.configuration)
            guard let attempt = try BackupAttempt(of: copy)?.begin(by: app) else { return copy }
            prune(copiesOf: file, except: [copy.lastPathComponent, attempt.first, attempt.ofApp])
            return folder.appendingPathComponent(attempt.ofApp)
        } catch let error as MigrationError {
            throw error
        } catch {
            throw Self.failure(
                "\(file.lastPathComponent) cannot be copied to \(folder.path): \(error.systemError?.reason ?? error.localizedDescription)",
                remedy: Self.remedy(for: error), underlying: error)
        }
    }

    private static func remedy(for error: any Error) -> String {
        switch (error as? DatabaseError, Obstacle(error)) {
        case (_, .inUse):
            "Another connection has it alone, or this one, by `PRAGMA locking_mode = EXCLUSIVE`: end that, then migrate again."
        case (_?, .readOnly): "In `prepareDatabase`, write only if `db.configuration.readonly` is false."
        default: "Free some space or make the folder writable, then migrate again."
        }
    }

    /// Notes that everything was migrated for which copies of a database were made.
    package func finish(_ database: any DatabaseWriter) {
        guard let file = database.file else { return }
        BackupAttempt(of: folder.appendingPathComponent("\(Self.prefix(of: file)).backup"))?.finish()
    }

    /// Creates a folder, and its missing parents, so that they survive a power cut.
    private func makeFolder(_ folder: URL) throws {
        var missing: [String] = []
        var path = folder.path
        // If the process may not look at any folder, even the root seems to be missing.
        while !path.isEmpty, path != "/", !FileManager.default.fileExists(atPath: path) {
            missing.append(path)
            path = (path as NSString).deletingLastPathComponent
        }
        for path in missing.reversed() {
            // Foundation, asked for folders above as well, looks for an end above the root when it cannot
            // look at it. Another process may make it at the same moment, which is no error.
            guard mkdir(path, 0o777) == 0 || errno == EEXIST else { throw POSIXError.current }
            try DurableFile(at: URL(fileURLWithPath: path)).syncName()
        }
    }

    private func checkSpace(for file: URL) throws {
        let size = [file, file.appending(end: "-wal")].reduce(Int64(0)) { sum, file in
            let attributes = try? FileManager.default.attributesOfItem(atPath: file.path)
            return sum + ((attributes?[.size] as? NSNumber)?.int64Value ?? 0)
        }
        let attributes = try FileManager.default.attributesOfFileSystem(forPath: folder.path)
        guard let free = (attributes[.systemFreeSize] as? NSNumber)?.int64Value, free < size else { return }
        throw Self.failure(
            "A copy of \(file.lastPathComponent) needs \(size) bytes, and \(free) are free",
            remedy: "Free some space, then migrate again.", underlying: POSIXError(.ENOSPC))
    }

    /// The date at the end of a copy's name.
    package static var dateFormat: Date.ISO8601FormatStyle {
        .iso8601.year().month().day().timeZone(separator: .omitted).time(includingFractionalSeconds: true)
            .dateSeparator(.omitted).timeSeparator(.omitted)
    }

    /// Writes a copy, through connections that the app's configuration prepares: it knows the passphrase of an
    /// encrypted database, and without it the copy would be in clear text, if SQLite could make one.
    private func write(_ file: URL, with configuration: Configuration) throws -> URL {
        let date = Date().formatted(Self.dateFormat)
        let copy = folder.appendingPathComponent("\(Self.prefix(of: file))\(date).backup")
        let partial = copy.appendingPathExtension("partial")
        do {
            let source = try DatabaseQueue(
                path: file.path, configuration: configuration.forCopying(readOnly: true))
            let destination = try CopyFile.open(at: partial, like: file, configuration)
            try destination.withDurableCommits(waitingUpTo: .zero) { try source.backup(to: destination) }
            // The copy is one file, even if the original has a write-ahead log, so reading it creates no log.
            try destination.writeWithoutTransaction {
                try $0.execute(sql: "PRAGMA main.journal_mode = DELETE")
            }
            try destination.close()
            try source.close()
            try FileManager.default.moveItem(at: partial, to: copy)
            // The migrations will be durable, so the copy that can undo them must be durable too.
            try DurableFile(at: copy).syncName()
        } catch {
            // While the copy still takes the room.
            let error = error.explained(beside: copy)
            removeUnfinishedCopies(of: file)
            throw error
        }
        return copy
    }

    /// Removes older copies, and ignores failures, which must not stop the migration.
    ///
    /// - Parameter kept: the names of the last copy, of the one from before everything that the present attempt has changed, and of
    ///   the one from before this version of the app. They stay, even if the clock was ahead when an older copy was made.
    private func prune(copiesOf file: URL, except kept: Set<String>) {
        let older = Self.copies(of: [file], in: folder).filter { !kept.contains($0.lastPathComponent) }
        for copy in older.dropFirst(max(kept.count, keep) - kept.count) {
            // SQLite may have made files beside one that was opened.
            for end in ["", "-journal", "-wal", "-shm"] {
                try? FileManager.default.removeItem(at: copy.appending(end: end))
            }
        }
    }

    /// Removes unfinished copies, left when a process died, and SQLite's files beside them.
    ///
    /// No other process is making one: making a copy keeps others from writing to the database, and so from
    /// copying it.
    private func removeUnfinishedCopies(of file: URL) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        let prefix = Self.prefix(of: file)
        for name in names
        where name.hasPrefix(prefix) && name.dropFirst(prefix.count).contains(".backup.partial") {
            try? FileManager.default.removeItem(at: folder.appendingPathComponent(name))
        }
    }

    /// Returns the copies of a database in a folder, the newest first.
    ///
    /// - Parameter places: where the database is, and where it was.
    package static func copies(of places: [URL], in folder: URL) -> [URL] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        let prefixes = places.map(prefix)
        func date(_ name: String) -> Substring { name[(name.lastIndex(of: "-") ?? name.startIndex)...] }
        return names.filter { $0.hasSuffix(".backup") && prefixes.contains(where: $0.hasPrefix) }
            .inOrder { date($0) > date($1) }.map(folder.appendingPathComponent)
    }

    /// Returns the beginning of the names of a database's copies.
    ///
    /// A hash of the path tells databases of one name apart, such as those of two accounts.
    package static func prefix(of file: URL) -> String {
        let path = file.resolvingSymlinksInPath().pathInInstall
        let hash = String(path.utf8.fnv1a(after: FNV1a.start), radix: 16).suffix(8)
        // After it come the date and the ends of the copy, of its unfinished form and of SQLite's journal beside that.
        return "\(file.lastPathComponent.shortenedFileName(leaving: 57))-\(hash)-"
    }

    private static func failure(
        _ problem: String, remedy: String, underlying: (any Error)? = nil
    ) -> MigrationError {
        MigrationError(
            underlying.flatMap(Obstacle.init)?.code ?? .stepFailed, problem,
            remedy: "\(remedy) Nothing was changed.",
            underlyingError: underlying)
    }
}
