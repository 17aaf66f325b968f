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
    /// What becomes of the keys of objects in JSON texts.
    public enum JSONKeys: String, Sendable, CaseIterable {
        /// They are replaced, as people may have written them. The default.
        case replaced
        /// They stay: the app alone has named them.
        case kept
    }

    /// What becomes of numbers.
    public enum Numbers: String, Sendable, CaseIterable {
        /// They stay. The default.
        case kept
        /// Those of two digits and more are replaced, but for keys, and what a `CHECK` is about.
        case replaced
    }

    let rowsPerTable: Int
    let keptColumns: [String]
    let jsonKeys: JSONKeys
    let numbers: Numbers

    /// Creates a maker of fixtures.
    ///
    /// - Parameters:
    ///   - rowsPerTable: how many rows of each table are taken; there are more where others refer to them.
    ///   - columns: columns whose texts stay, as `table.column`: those that the app fills, and not people.
    ///   - jsonKeys: what becomes of the keys of objects in JSON texts.
    ///   - numbers: what becomes of numbers.
    public init(
        rowsPerTable: Int = 20, keeping columns: [String] = [], jsonKeys: JSONKeys = .replaced,
        numbers: Numbers = .kept
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
