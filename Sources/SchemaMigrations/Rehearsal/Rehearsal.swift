public import Foundation
public import GRDB

/// What migrating a database would do to it, found out on a copy.
///
/// ```swift
/// let rehearsal = try schema.rehearse(dbQueue)
/// rehearsal.steps.map(\.seconds)
/// ```
public struct Rehearsal: Sendable {
    /// A migration that was applied to the copy.
    public struct Step: Sendable, Hashable {
        /// The migration's version.
        public let version: SchemaVersion
        /// The migration's name.
        public let name: String
        /// How long it ran, in seconds.
        public let seconds: Double
    }

    /// How many rows a table has.
    public struct RowCount: Sendable, Hashable {
        /// The table's name.
        public let table: String
        /// How many it had before; nil where there was no such table.
        public let before: Int?
        /// How many it has after; nil where there is no such table any more.
        public let after: Int?
    }

    /// Rows that refer to rows that do not exist.
    public struct Violation: Sendable, Hashable {
        /// The table whose rows refer to others.
        public let table: String
        /// The table that lacks the rows.
        public let parent: String
        /// How many such rows there were before.
        public let before: Int
        /// How many such rows there are after.
        public let after: Int
    }

    /// The migrations that were applied, in order.
    public let steps: [Step]
    /// How long everything took, in seconds, commits included, and without making the copy.
    public let seconds: Double
    /// What has become different in the schema.
    public let schema: SchemaDifference
    /// The number of rows in each table, by name.
    public let rows: [RowCount]
    /// The foreign keys that are violated, before or after.
    public let violations: [Violation]
    /// What was found to be wrong with the database from before, a sentence each.
    public let warnings: [String]
    /// The size of the database before, in bytes.
    public let sizeBefore: Int64
    /// The size of the database after, in bytes.
    public let sizeAfter: Int64
}

extension SchemaMigrator {
    /// Migrates a copy of a database, and reports what that did.
    ///
    /// The database is only read, by SQLite's backup. The copy stands in the temporary folder, or where you say,
    /// and is removed in the end; it needs as much room as the database, and more while it is migrated.
    ///
    /// - Parameters:
    ///   - database: the database, which may be open for reading only.
    ///   - version: the version of a known migration, that included; nil for the latest.
    ///   - folder: where the copy is made; nil for the temporary folder.
    ///   - progress: as for `migrate(_:upTo:progress:)`.
    /// - Throws: ``SchemaMigrationError``, as `migrate(_:upTo:progress:)` does.
    public func rehearse(
        _ database: any DatabaseReader, upTo version: SchemaVersion? = nil, in folder: URL? = nil,
        progress: Progress? = nil
    ) throws -> Rehearsal {
        try SchemaMigrationError.mapErrors {
            let copy = (folder ?? FileManager.default.temporaryDirectory)
                .appendingPathComponent("rehearsal-\(UUID().uuidString)", isDirectory: true)
            try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: copy) }
            let queue = try DatabaseQueue(path: copy.appendingPathComponent("copy.sqlite").path)
            try database.backup(to: queue)
            let result = Result { try rehearse(on: queue, upTo: version, progress: progress) }
            try queue.close()
            return try result.get()
        }
    }

    private func rehearse(
        on copy: DatabaseQueue, upTo version: SchemaVersion?, progress: Progress?
    ) throws -> Rehearsal {
        let before = try copy.read(Inventory.init)
        var report = SchemaReport()
        let seconds = try ContinuousClock().measureSeconds {
            do {
                report = try with(snapshot: snapshotURL).migrate(copy, upTo: version, progress: progress)
            } catch var error as SchemaMigrationError where error.version != nil {
                error.remedy = "The database itself was not changed. Mend it, and rehearse again."
                throw error
            }
        }
        let after = try copy.read(Inventory.init)
        let applied = Set(report.applied)
        let steps = try copy.read(history).filter { applied.contains($0.version) }
        return Rehearsal(
            steps: steps.map { .init(version: $0.version, name: $0.name ?? "", seconds: $0.seconds ?? 0) },
            seconds: seconds, schema: before.schema.difference(to: after.schema),
            rows: before.rowCounts(to: after), violations: before.violations(to: after),
            warnings: report.warnings, sizeBefore: before.size, sizeAfter: after.size)
    }
}

/// What there is in a database at one moment.
package struct Inventory: Sendable {
    /// The schema.
    package let schema: DatabaseSchema
    /// The number of rows of each table.
    package let rows: [String: Int]
    /// The number of rows that refer to none, by foreign key.
    package let orphans: [Key: Int]
    let size: Int64

    /// Two tables, of which one refers to the other.
    package struct Key: Hashable, Sendable {
        /// The one that refers.
        package let table: String
        /// The one referred to.
        package let parent: String
    }

    /// Reads a database.
    package init(_ db: Database) throws {
        schema = try DatabaseSchema(db)
        var rows: [String: Int] = [:]
        for object in schema.objects.values where object.type == "table" {
            // A virtual table may need a module that is not here, and then nothing can be said about it.
            rows[object.name] = try? Int.fetchOne(
                db, sql: "SELECT count(*) FROM main.\(object.name.quotedDatabaseIdentifier)")
        }
        self.rows = rows
        var orphans: [Key: Int] = [:]
        for row in try Row.fetchAll(db, sql: "PRAGMA main.foreign_key_check") {
            orphans[Key(table: row["table"], parent: row["parent"]), default: 0] += 1
        }
        self.orphans = orphans
        size = Int64(try db.pragma("main.page_count")) * Int64(try db.pragma("main.page_size"))
    }

    func rowCounts(to other: Inventory) -> [Rehearsal.RowCount] {
        Set(rows.keys).union(other.rows.keys).sorted().map {
            .init(table: $0, before: rows[$0], after: other.rows[$0])
        }
    }

    func violations(to other: Inventory) -> [Rehearsal.Violation] {
        Set(orphans.keys).union(other.orphans.keys).sorted { ($0.table, $0.parent) < ($1.table, $1.parent) }
            .map {
                .init(
                    table: $0.table, parent: $0.parent, before: orphans[$0, default: 0],
                    after: other.orphans[$0, default: 0])
            }
    }
}
