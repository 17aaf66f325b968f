public import Foundation
public import GRDB
import MigrationDiagnostics
import MigrationTools
import SchemaMigrations

/// Makes a small database from a real one, without its users' texts.
///
/// Use it to make the fixtures of an ``UpgradeMatrix``. A project keeps them in its repository: one for each
/// release, made from a database of that release.
///
/// ```swift
/// try FixtureMaker(rowsPerTable: 50).write(dbQueue, to: folder.appendingPathComponent("1.0.sqlite"))
/// ```
///
/// The maker takes some rows from all parts of each table, and the rows that they refer to. It replaces every
/// text and every blob by noise of the same shape and length: letters by letters, digits by digits, dates by
/// dates. No four consecutive letters or digits of a text are in its replacement. Equal values get equal
/// replacements. It writes a new file, which contains no page of the real one. It copies the tables in which
/// this package and GRDB keep their records without changes.
///
/// The file has the permissions of the real database. The fixture of an encrypted database is encrypted with the same
/// passphrase: pass the matrix the app's configuration.
///
/// The maker keeps numbers by default, so check whether your tables hold private ones. It always keeps the
/// schema, with the texts that the SQL of tables, views and triggers contains.
public struct FixtureMaker: Sendable {
    /// The treatment of one kind of values.
    public enum Treatment: String, Sendable, CaseIterable {
        /// The fixture keeps the values.
        case kept
        /// Noise replaces the values.
        case replaced
    }

    let rowsPerTable: Int
    let keptColumns: [String]
    let jsonKeys: Treatment
    let numbers: Treatment

    /// Creates a maker of fixtures.
    ///
    /// - Parameters:
    ///   - rowsPerTable: the number of rows to take from each table, besides those that other rows refer to.
    ///   - columns: columns whose texts to keep, as `table.column`: those that the app fills, not its users.
    ///   - jsonKeys: the treatment of the keys of objects in JSON texts. Users may have written them, so the
    ///     maker replaces them by default.
    ///   - numbers: the treatment of numbers. `.replaced` replaces those of two digits and more, except keys
    ///     and numbers that a `CHECK` is about.
    public init(
        rowsPerTable: Int = 20, keeping columns: [String] = [], jsonKeys: Treatment = .replaced,
        numbers: Treatment = .kept
    ) {
        self.rowsPerTable = max(0, rowsPerTable)
        keptColumns = columns
        self.jsonKeys = jsonKeys
        self.numbers = numbers
    }

    /// Writes a fixture.
    ///
    /// - Parameters:
    ///   - database: the real database, which the maker only reads.
    ///   - url: the fixture's file, which must not exist yet.
    ///   - progress: cancelling it stops the maker, inside a statement too.
    /// - Returns: the numbers of rows, and notes on the fixture.
    /// - Throws: ``FixtureError``, or `CancellationError`; then neither the file nor a part of it exists.
    @discardableResult
    public func write(
        _ database: any DatabaseReader, to url: URL, progress: Progress? = nil
    ) throws -> FixtureReport {
        try write(database, to: url, like: database.originalFile, progress: progress)
    }

    /// Writes a fixture with the permissions of a file.
    @discardableResult
    package func write(
        _ database: any DatabaseReader, to url: URL, like original: URL?, progress: Progress?
    ) throws -> FixtureReport {
        guard !FileManager.default.fileExists(atPath: url.path) else {
            throw FixtureError(
                "\(url.path) exists already", remedy: "Remove it, or give the fixture another name.")
        }
        let folder = url.deletingLastPathComponent()
        guard FileManager.default.fileExists(atPath: folder.path) else {
            throw FixtureError(
                "The folder \(folder.path) does not exist", remedy: "Create it, or name another file.")
        }
        let part =
            folder
            .appendingPathComponent(".\(url.lastPathComponent)-\(UUID().uuidString)")
        defer {
            for suffix in ["", "-journal"] { try? FileManager.default.removeItem(atPath: part.path + suffix) }
        }
        do {
            var configuration = database.configuration.forCopying()
            configuration.foreignKeysEnabled = false
            // Old views and triggers may hold "text" (quirks.html, section 8).
            configuration.acceptsDoubleQuotedStringLiterals = true
            // In memory, so that a process that is killed leaves no file behind.
            let target = try configuration.scratchDatabase()
            let interrupter = Interrupter(observing: progress)
            var report = FixtureReport()
            try database.read { source in
                try target.writeWithoutTransaction { db in
                    // The app's configuration may have turned it on once more.
                    try db.execute(sql: "PRAGMA foreign_keys = OFF")
                    try interrupter.allowInterrupts(of: source) {
                        var copy = try FixtureCopy(self, source, to: db, interrupter)
                        report = try copy.make()
                    }
                }
            }
            try CopyFile.create(at: part, like: original)
            let file = try DatabaseQueue(path: part.path, configuration: database.configuration.forCopying())
            try target.backup(to: file, progress: progress)
            try file.close()
            try target.close()
            try interrupter.check()
            try FileManager.default.moveItem(at: part, to: url)
            let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
            report.size = (attributes[.size] as? NSNumber)?.int64Value ?? 0
            return report
        } catch let error as FixtureError {
            throw error
        } catch let error as CancellationError {
            throw error
        } catch {
            let cause = Diagnostic(
                error, remedy: "Check that the database can be read, and the fixture's folder written.")
            throw FixtureError(
                "The fixture cannot be made: \(cause.clause)", remedy: cause.remedy, underlyingError: error)
        }
    }
}
