import AppMigrations
public import Foundation
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
    /// Saves every row that can be read from a damaged file into a new database, which takes its place.
    ///
    /// Call it for the app's recovery screen, in the background, since it reads the whole file, and with every connection to the
    /// file closed:
    ///
    /// ```swift
    /// let report = try DatabaseFile(path: url.path).salvage(into: schema)
    /// print(report.description)
    /// ```
    ///
    /// The tables are as in the damaged database, at the version that it had. The app's next launch brings them to the
    /// latest version, with the steps of managers in between. The damaged file and its journals stay beside the new one, under
    /// a dated name. A process that is killed meanwhile leaves either the damaged file where it was, or the new one, complete.
    ///
    /// - Parameters:
    ///   - target: the app's migrations: a `SchemaMigrator`, or GRDB's `DatabaseMigrator`.
    ///   - count: the number of damaged files to keep; the oldest are removed.
    ///   - progress: counts the pages that were read. Cancelling it stops salvaging, and nothing is changed.
    /// - Returns: what was saved, and what was not.
    /// - Throws: `MigrationError`, when the file is intact, encrypted, or of a newer version of the app,
    ///   or when the disk is full. Nothing is changed then. `CancellationError`.
    public func salvage(
        into target: some SalvageTarget, keepingDamagedFiles count: Int = 3, progress: Progress? = nil
    ) throws -> SalvageReport {
        let report = try salvageIfDamaged(into: target, keepingDamagedFiles: count, progress: progress)
        guard let report else {
            throw refusal(.misuse, try damagedPlace(), "is not damaged", "Open it instead.")
        }
        return report
    }

    /// Salvages the file.
    ///
    /// - Returns: nil if it is not damaged, because another process has salvaged it, for instance.
    func salvageIfDamaged(
        into target: some SalvageTarget, keepingDamagedFiles count: Int = 3, progress: Progress? = nil
    ) throws -> SalvageReport? {
        let interrupter = Interrupter(observing: progress)
        let migrations = target.salvageMigrations.set
        return try mappingErrors {
            try interrupter.whileActive {
                try moveLock().withLock(waitingFor: limit) {
                    let place = try damagedPlace()
                    try putJournalsBack(at: place)
                    let result = try at(place) { try salvage(place, migrations, interrupter, progress) }
                    guard let (report, aside) = result else { return nil }
                    removeDamagedFiles(of: place, except: count, latest: aside)
                    return report
                }
            }
        }
    }

    /// The file that is opened: the one here, or else the one that would be moved here.
    func damagedPlace() throws -> URL { try places().first?.url ?? newPlace() }

    /// The place, if what is made there is to be marked as moved; one at an old path is marked when it is moved.
    func home(at place: URL) throws -> URL? {
        try place.path == newPlace().path && !oldPaths.isEmpty ? place : nil
    }

    private func salvage(
        _ place: URL, _ migrations: any MigrationSet, _ interrupter: Interrupter, _ progress: Progress?
    ) throws -> (SalvageReport, aside: URL)? {
        let file = try DamagedFile.locked(at: place, waitingFor: patienceForLooks)
        // The lock lasts until the new file has its name.
        defer { withExtendedLifetime(file) {} }
        guard let (damaged, version, schema) = try readDamaged(file, at: place, migrations, interrupter)
        else { return nil }
        progress?.totalUnitCount = Int64(damaged.trees.values.reduce(0) { $0 + $1.leaves.count } + 1)
        let build = SalvageBuild(
            damaged: damaged, schema: schema, migrations: migrations, version: version,
            interrupter: interrupter, progress: progress)
        let home = try home(at: place)
        return try withUnfinishedFile(for: place) { new in
            var report = try build.make(at: new, like: place, configuration, home: home) {
                try protect(new, asIn: place.deletingLastPathComponent())
                // Closing the file takes SQLite's locks away (howtocorrupt.html, 2.2), which guard it against nobody.
                try DurableFile(at: new).syncContents()
            }
            guard report.saved > 0 || !report.mayHaveHadRows else {
                throw nothingToRead(place, unassigned: report.unassigned)
            }
            try DurableFile(at: new).syncName()
            try interrupter.check()
            let aside = try replace(place, by: new)
            file.stayLocked()
            progress.map { $0.completedUnitCount = $0.totalUnitCount }
            report.setAside = aside
            onEvent?(.setAside(place.path, as: aside.path))
            return (report, aside)
        }
    }

    func refusal(
        _ code: MigrationError.Code, _ place: URL, _ problem: String, _ remedy: String
    ) -> MigrationError {
        MigrationError(
            code, at: .file(place.lastPathComponent), problem, remedy: "\(remedy) Nothing was changed.")
    }
}

extension SalvageReport {
    /// True if rows of the app were found, or may be lost.
    fileprivate var mayHaveHadRows: Bool {
        unassigned > 0 || hasLostRecord || hasUnusedJournal
            || tables.contains { $0.name != "sqlite_sequence" && !OwnTables.contains(SQLName($0.name)) }
    }
}
