public import Foundation
public import GRDB
import MigrationDiagnostics
import SchemaMigrations

/// Makes a small database from a real one, without what people wrote in it.
///
/// For the fixtures of an ``UpgradeMatrix``, which a project keeps in its repository: one for each release, made from
/// a database that the release has left.
///
/// ```swift
/// try FixtureMaker(rowsPerTable: 50).write(dbQueue, to: folder.appendingPathComponent("1.0.sqlite"))
/// ```
///
/// Some rows of each table are taken, spread over the whole, and the rows that they refer to. Every text and every
/// blob is replaced by noise of the same shape: letters by letters, digits by digits, dates by dates, of the same
/// length, and equal values by equal ones. The file is written anew, so that no page of the real one is in it. The
/// tables in which this package and GRDB keep their records are copied as they are.
///
/// Numbers stay as they are, unless you say otherwise: look at what your tables hold.
public struct FixtureMaker: Sendable {
    /// Whether the fixture has a kind of values as they are.
    public enum Treatment: String, Sendable, CaseIterable {
        /// The values stay as they are.
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
    ///   - rowsPerTable: the number of rows to take of each table, besides those that other rows refer to.
    ///   - columns: columns whose texts stay, as `table.column`: those that the app fills, not people.
    ///   - jsonKeys: whether the keys of objects in JSON texts stay. People may have written them, so by default they are
    ///     replaced.
    ///   - numbers: whether numbers stay. `.replaced` replaces those of two digits and more, but not keys, nor numbers that
    ///     a `CHECK` is about.
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
    ///   - database: the real database, which is only read.
    ///   - url: the fixture, which must not be there yet.
    /// - Returns: how much was taken, and what to know of it.
    /// - Throws: ``FixtureError``; then there is no file.
    @discardableResult
    public func write(_ database: any DatabaseReader, to url: URL) throws -> FixtureReport {
        guard !FileManager.default.fileExists(atPath: url.path) else {
            throw FixtureError(
                "\(url.path) exists already", remedy: "Remove it, or give the fixture another name.")
        }
        let part = url.deletingLastPathComponent()
            .appendingPathComponent(".\(url.lastPathComponent)-\(UUID().uuidString)")
        defer {
            for suffix in ["", "-journal"] { try? FileManager.default.removeItem(atPath: part.path + suffix) }
        }
        do {
            var configuration = Configuration()
            configuration.foreignKeysEnabled = false
            // Old views and triggers may hold "text" (quirks.html, section 8).
            configuration.acceptsDoubleQuotedStringLiterals = true
            let target = try DatabaseQueue(path: part.path, configuration: configuration)
            var report = try database.read { source in
                try target.writeWithoutTransaction { db in
                    var copy = try FixtureCopy(self, source, to: db)
                    return try copy.make()
                }
            }
            try target.close()
            try FileManager.default.moveItem(at: part, to: url)
            let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
            report.size = (attributes[.size] as? NSNumber)?.int64Value ?? 0
            return report
        } catch let error as FixtureError {
            throw error
        } catch {
            let cause = Diagnostic(
                error, remedy: "Check that the database can be read, and the fixture's folder written.")
            throw FixtureError(
                "The fixture cannot be made: \(cause.clause)", remedy: cause.remedy, underlyingError: error)
        }
    }
}
