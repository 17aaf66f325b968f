import AppMigrations
import Foundation
import GRDB
import MigrationDiagnostics
import SchemaMigrations

// SQLite comes first: what it reads and can write is intact, and is left alone.
extension DatabaseFile {
    /// Reads the structure of the damaged file.
    ///
    /// - Returns: nil if it is not damaged.
    func readDamaged(
        _ file: DamagedFile, at place: URL, _ migrations: any MigrationSet, _ interrupter: Interrupter
    ) throws -> FoundStructure? {
        try read(file, at: place, migrations, interrupter) { try journalsOfDamaged(place, $0, interrupter) }
    }

    /// Reads the structure of a file that was set aside, of which only rows are wanted that the database lacks.
    ///
    /// It need not be damaged any more: SQLite may read now what it could not.
    func readSetAside(
        _ file: DamagedFile, at place: URL, _ migrations: any MigrationSet, _ interrupter: Interrupter
    ) throws -> FoundStructure {
        guard
            let found = try read(
                file, at: place, migrations, interrupter,
                choosing: { all in
                    let own = try journalsOfDamaged(place, all, interrupter)
                    return own.isEmpty ? [all] : own
                })
        else { throw nothingToRead(place) }
        return found
    }

    typealias FoundStructure = (damaged: DamagedDatabase, version: SchemaHistory.Entry, schema: OwnSchema)

    /// - Parameter choose: returns the sets of journals that the file may have, the likeliest first; none if it is not damaged.
    private func read(
        _ file: DamagedFile, at place: URL, _ migrations: any MigrationSet, _ interrupter: Interrupter,
        choosing choose: (Set<JournalKind>) throws -> [Set<JournalKind>]
    ) throws -> FoundStructure? {
        guard file.size > 0 || DatabasePlace.hasLog(place) else {
            throw refusal(
                .misuse, place, "is empty, so there is nothing to salvage", "Open it instead.")
        }
        if DatabaseHeader(try file.read(at: 0, count: 100)).isOfNewerFormat { throw newerFormat(place) }
        let (journals, isCut) = try journals(of: place, file)
        var own = [Set(journals.keys)]
        // SQLite takes an empty file for a new database, and removes its journals.
        if file.size > 0 { own = try choose(own[0]) }
        if own.isEmpty { return nil }
        let choices = own.map { own in JournalPages.joining(journals.filter { own.contains($0.key) }) }
        guard let found = try DamagedDatabase.read(file, withOneOf: choices, interrupter) else {
            throw nothingToRead(place)
        }
        var damaged = found.database
        damaged.hasUnusedJournal = isCut || own[found.choice].count < journals.count
        guard
            let (version, schema) = try SchemaHistory.version(
                of: damaged, migrations, configuration, interrupter)
        else {
            throw refusal(.misuse, place, "has no schema that is known", "Pass the app's migrations.")
        }
        return (damaged, version, schema)
    }

    /// - Parameter unassigned: the number of rows that can be read, and may be of any table.
    func nothingToRead(_ place: URL, unassigned: Int = 0) -> MigrationError {
        guard unassigned == 0 else {
            return refusal(
                .databaseFailed, place,
                "holds rows that can be read (\(unassigned)), and nothing says which tables they are of",
                "Restore a backup.")
        }
        return refusal(
            .databaseFailed, place, "holds no row that can be read: it is encrypted, or was overwritten",
            "If it is encrypted, pass its passphrase; if not, restore a backup.")
    }

    /// Reads the journals in which something counts, by SQLite's rules.
    ///
    /// - Returns: the journals, and true if damage ends one of them, so that the last changes may be missing, or undone in part.
    func journals(
        of place: URL, _ database: DamagedFile
    ) throws -> (pages: [JournalKind: JournalPages], isCut: Bool) {
        var journals: [JournalKind: JournalPages] = [:]
        var isCut = false
        for kind in JournalKind.allCases {
            let url = place.appending(end: kind.rawValue)
            guard let status = try? url.status(), status.st_size > 0 else { continue }
            let file = try DamagedFile(at: url)
            var isCutHere = false
            journals[kind] =
                switch kind {
                case .rollback:
                    try JournalPages(rollbackJournal: file, of: database, isCut: &isCutHere)
                case .log: try JournalPages(log: file, isCut: &isCutHere)
                }
            isCut = isCut || isCutHere
        }
        return (journals, isCut)
    }

    /// Finds out which journals can belong to a damaged database.
    ///
    /// A database that is intact without a journal, and damaged with it, mostly never had it: it is that of another database, or
    /// an older one. Pages do not tell it from a journal in which damage was committed, so the report does.
    ///
    /// - Returns: the possible sets of journals, the largest first; none if the database is intact with all of them.
    private func journalsOfDamaged(
        _ place: URL, _ all: Set<JournalKind>, _ interrupter: Interrupter
    ) throws -> [Set<JournalKind>] {
        if try isIntact(place, with: all, preparedBy: configuration, interrupter) { return [] }
        let fewer = Set(all.map { all.subtracting([$0]) } + [[]]).subtracting([all])
            .sorted { ($0.count, $0.contains(.log) ? 1 : 0) > ($1.count, $1.contains(.log) ? 1 : 0) }
        let own = try fewer.first {
            try isIntact(place, with: $0, preparedBy: configuration, interrupter)
        }
        if let own { return [own] }
        return [all] + fewer
    }

    /// Asks SQLite about a copy of a database with some of its journals.
    ///
    /// - Parameter folder: where the copy is made; the temporary folder if nil.
    func isIntact(
        _ place: URL, with journals: Set<JournalKind>, preparedBy configuration: Configuration,
        in folder: URL? = nil, _ interrupter: Interrupter
    ) throws -> Bool {
        try CopyFile.withPrivateName(in: folder) { copy in
            for end in [""] + journals.map(\.rawValue) {
                guard try copyReadable(place.appending(end: end), to: copy.appending(end: end)) else {
                    return false
                }
            }
            do {
                let queue = try DatabaseQueue(path: copy.path, configuration: configuration.forCopying())
                defer { try? queue.close() }
                return try queue.inDatabase { try isIntact($0, interrupter) && !isUnwritable($0, at: copy) }
            } catch {
                // While the copy still takes the room.
                let error = error.explained(beside: copy)
                guard let code = (error as? DatabaseError)?.resultCode, Obstacle(error) != .diskFull,
                    ![.SQLITE_NOMEM, .SQLITE_INTERRUPT].contains(code)
                else { throw error }
                return false
            }
        }
    }

    private func isIntact(_ db: Database, _ interrupter: Interrupter) throws -> Bool {
        var problems: [String] = []
        try interrupter.allowInterrupts(of: db) {
            // Most damage is found by the first, which is faster; the second one compares indexes with their tables.
            for depth in [IntegrityCheck.Depth.quick, .full] where problems.isEmpty {
                problems = try IntegrityCheck(db, depth, limit: 1).problems
            }
        }
        return problems.isEmpty
    }

    /// Copies a file.
    ///
    /// - Returns: false if the disk cannot read all of it.
    func copyReadable(_ file: URL, to copy: URL) throws -> Bool {
        do {
            try FileManager.default.copyItem(at: file, to: copy)
            return true
        } catch {
            guard let obstacle = Obstacle(error) else { return false }
            throw MigrationError(
                obstacle.code, at: .file(file.lastPathComponent),
                "cannot be copied to the temporary folder, for SQLite to look at the copy",
                remedy: obstacle.remedy, underlyingError: error)
        }
    }
}
