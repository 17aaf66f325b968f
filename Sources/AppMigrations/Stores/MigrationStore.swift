public import Foundation

/// Where managers keep their records: a JSON file, a database, or memory.
///
/// ```swift
/// let store = try MigrationStore.jsonFile(at: folder.appendingPathComponent("migrations.json"))
/// ```
///
/// One store serves any number of managers. A store in a database is made by `database(_:)`, in SchemaMigrations.
public struct MigrationStore: Sendable {
    package let storage: any RecordStorage

    package init(_ storage: any RecordStorage) {
        self.storage = storage
    }

    /// Returns a store in a JSON file, for machines and people to read.
    ///
    /// The file need not exist yet, but create its folder before you migrate, and before this call if the file moves. Until
    /// then, the store is like one that was never used: an extension whose role is `.waitsForApp` waits, and a manager that
    /// would write throws `misuse`.
    ///
    /// The store replaces the file as a whole, so that it is never seen half-written, and survives a power cut. Beside
    /// the file are lock files, `<file>.lock` and one for each manager, which you may remove while no app is running, and
    /// `<file>.history`, a line of JSON for each settled step, which ``MigrationManager/history()`` returns. The file's first line
    /// is a checksum; whoever edits the file by hand removes that line.
    ///
    /// - Parameters:
    ///   - url: the file. Not in a folder that the system may clear, such as Caches: an install whose record is gone looks
    ///     like a fresh one.
    ///   - oldURLs: where older versions of the app had the file, the newest first. If it is still there, it is moved
    ///     here, with its history, so that the store begins where the old one ends.
    /// - Throws: ``MigrationError`` with the code `twoPlaces`, when two of the files hold records; with the code `misuse`,
    ///   when the folder for a file that moves does not exist; the error of a file that cannot be moved. Nothing is lost then. If an
    ///   old file stays unreadable, a manager whose store is that file can replace its record.
    public static func jsonFile(at url: URL, movedFrom oldURLs: [URL] = []) throws -> MigrationStore {
        MigrationStore(try JSONStore(at: url, movedFrom: oldURLs))
    }

    /// Returns a store that forgets everything with the process, for tests and previews.
    ///
    /// ```swift
    /// let manager = try MigrationManager(currentVersion: "2.0", adopting: .newApp, store: .inMemory())
    /// ```
    public static func inMemory() -> MigrationStore {
        MigrationStore(InMemoryStore())
    }

    /// Settles which of two JSON files the app goes on with, after the error `twoPlaces`.
    ///
    /// - Parameters:
    ///   - kept: the file to go on with.
    ///   - other: the other file, which stays where it is, under a dated name, with its history.
    /// - Throws: ``MigrationError``, when both are one file, there is none to keep, or the other one cannot be renamed.
    public static func keep(_ kept: URL, settingAside other: URL) throws {
        try JSONStore.keep(kept, settingAside: other)
    }
}
