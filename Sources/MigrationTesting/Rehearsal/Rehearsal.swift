import GRDB
package import MigrationTools
public import SchemaMigrations
import TextOutput

/// The result of a dry run, which migrates a copy of a database and reports the effects.
///
/// ```swift
/// let rehearsal = try schema.rehearse(dbQueue)
/// print(rehearsal.summary)
/// #expect(rehearsal.losses == [])
/// ```
public struct Rehearsal: Sendable {
    /// A migration that was applied to the copy.
    public struct Step: Sendable, Hashable {
        /// The migration's version.
        public let version: SchemaVersion
        /// The migration's name.
        public let name: String
        /// The time that it took.
        public let duration: Duration
    }

    /// The number of rows of a table.
    public struct RowCount: Sendable, Hashable {
        /// The table's name, before a rename.
        public let table: String
        /// The number before; nil if the table did not exist.
        public let before: Int?
        /// The number after; nil if the table no longer exists.
        public let after: Int?
        /// The number of rows before that no row after is, in a table that still exists.
        package var gone = 0
        /// The number of rows after that no row before was, in a table that existed.
        package var new = 0
    }

    /// Rows that refer to missing rows.
    public struct Violation: Sendable, Hashable {
        /// The table whose rows refer to others, after a rename.
        public let table: String
        /// The table that lacks the rows, after a rename.
        public let parent: String
        /// The number of such rows before.
        public let before: Int
        /// The number of such rows after.
        public let after: Int
    }

    /// The rows of a table in which the value of a column changed, or a foreign key came to refer to another row.
    public struct ValueChange: Sendable, Hashable {
        /// The table's name before.
        public let table: String
        /// The column's name before.
        public let column: String
        /// The number of rows before that are still there.
        public let rows: Int
        /// The number of them in which the value changed.
        public let changed: Int
        /// The number of them in which the value is null, and was not.
        public let lost: Int
        /// True if the values are the same, and refer to other rows, which have got other keys.
        public let refersToOtherRows: Bool
        /// One of the changes in a sentence, if the rehearsal shows values: `where id = 3, 'a' becomes NULL`.
        public let example: String?
    }

    /// The rows of a table that a type of ``OldSchemas`` cannot read, because of the values in one of its columns.
    public struct UnreadableRows: Sendable, Hashable {
        /// The version of the schema at which the rows were read.
        public let version: SchemaVersion
        /// The table's name.
        public let table: String
        /// The column's name.
        public let column: String
        /// The type of the column in Swift.
        public let type: String
        /// The number of such rows.
        public let rows: Int
        /// The key of the first of them, as `id = 17`, if the rehearsal shows values.
        public let firstKey: String?
    }

    /// The details of changed values that a rehearsal shows.
    public enum ShownValues: Sendable {
        /// The number of changed values in each column.
        case none
        /// One of the changed values in each column as well.
        case examples
    }

    /// The unknown migrations that were undone first, newest first.
    public let undone: [SchemaVersion]
    /// The migrations that were applied, in order.
    public let steps: [Step]
    /// The time that all migrations took together, with their commits but without making the copy.
    public let duration: Duration
    /// The changes of the schema.
    package let schema: SchemaDifference
    /// The tables that may give the ids of deleted rows again, a sentence each.
    package let lostSequences: [String]
    /// The columns that are gone with their values, a sentence each.
    package let lostColumns: [String]
    /// The number of rows in each table, by name.
    public let rows: [RowCount]
    /// The columns whose values changed, by table.
    public let values: [ValueChange]
    /// The foreign keys that are violated, before or after.
    public let violations: [Violation]
    /// The rows that types of old schemas cannot read, at each version that has types and that the migration met.
    public let unreadableRows: [UnreadableRows]
    /// Pre-existing problems in the database, a sentence each.
    public let warnings: [String]
    /// The size of the database before, in bytes.
    public let sizeBefore: Int64
    /// The size of the database after, in bytes.
    public let sizeAfter: Int64
    /// The most space that the database took while it was migrated, in bytes, with its journal or write-ahead log, and on
    /// Linux with SQLite's temporary files.
    ///
    /// A device needs the difference to ``sizeBefore`` as free space.
    public let sizeAtMost: Int64

    /// The changes of the schema, a sentence each.
    ///
    ///     table `entry`: column `mood` was added: TEXT
    public var schemaChanges: [String] { schema.changes.map(\.sentence) }
}

/// The effects of one run of migrations on a copy.
struct RehearsedRun {
    var undone: [SchemaVersion] = []
    let steps: [Rehearsal.Step]
    /// The statements of the migrations, as far as they are known.
    let scripts: [SQLScript]
    var warnings: [String] = []
}

extension Rehearsal {
    /// Migrates a copy, and compares its contents before and after.
    ///
    /// - Parameters:
    ///   - stops: where to stop and read rows.
    ///   - migrate: migrates the copy up to a version, or to the latest.
    init(
        on copy: DatabaseQueue, showing shown: ShownValues, stopping stops: OldSchemaStops?,
        migrate: (_ version: SchemaVersion?) throws -> RehearsedRun, upTo target: SchemaVersion? = nil
    ) throws {
        let before = try copy.read(Inventory.init)
        let keepsValues = shown == .examples
        let oldValues = try copy.read { try DatabaseValues($0, keepingValues: keepsValues) }
        var runs: [RehearsedRun] = []
        var unreadable = try stops?.unreadableRows() ?? []
        var duration = Duration.zero
        let peak = try SpaceWatch.peak(of: copy) {
            for version in stops?.versions ?? [target] {
                duration += try ContinuousClock().measure { runs.append(try migrate(version)) }
                unreadable += try stops?.unreadableRows() ?? []
            }
        }
        self.duration = duration
        unreadableRows = unreadable.map {
            UnreadableRows(
                version: SchemaVersion($0.version) ?? 0, table: $0.table, column: $0.column, type: $0.type,
                rows: $0.count, firstKey: keepsValues ? $0.firstKey : nil)
        }
        let after = try copy.read(Inventory.init)
        undone = runs.flatMap(\.undone)
        steps = runs.flatMap(\.steps)
        let renames = ScriptRenames(runs.flatMap(\.scripts))
        let newValues = try copy.read { try DatabaseValues($0, keepingValues: keepsValues) }
        let comparison = ValueComparison(from: oldValues, to: newValues, renames)
        values = comparison.changes.map { change in
            ValueChange(
                table: change.table.text, column: change.column.text, rows: change.compared,
                changed: change.count, lost: change.nulled,
                refersToOtherRows: change.renumberedParent != nil,
                example: comparison.example(of: change)?.sentence)
        }.sorted { ($0.table, $0.column) < ($1.table, $1.column) }
        schema = before.schema.difference(to: after.schema)
        lostColumns = comparison.lostColumns.map {
            "column \("\($0.table.text).\($0.column.text)".quoted) is gone, and had \($0.values.counting("value"))"
        }
        func name(_ table: SQLName) -> SQLName? {
            if let new = renames.table(table), after.rows[new] != nil { return new }
            return renames.isTaken(table, by: before.rows.keys) ? nil : table
        }
        let old = before.rows.map { table, count in
            let exchanged = comparison.exchangedRows(of: table) ?? (0, 0)
            return RowCount(
                table: table.text, before: count, after: name(table).flatMap { after.rows[$0] },
                gone: exchanged.gone, new: exchanged.new)
        }
        let new = Set(after.rows.keys).subtracting(before.rows.keys.compactMap(name))
            .map { RowCount(table: $0.text, before: nil, after: after.rows[$0]) }
        rows = (old + new).sorted { SQLName($0.table) < SQLName($1.table) }
        let orphans = Dictionary(
            before.orphans.compactMap { key, count in
                name(key.table).map {
                    (Inventory.Key(table: $0, parent: name(key.parent) ?? key.parent), count)
                }
            }, uniquingKeysWith: +)
        violations = Set(after.orphans.keys).union(orphans.keys).sorted().map {
            Violation(
                table: $0.table.text, parent: $0.parent.text, before: orphans[$0, default: 0],
                after: after.orphans[$0, default: 0])
        }
        lostSequences = after.lostSequences(since: before).map {
            "the AUTOINCREMENT sequence of table \($0.table.text.quoted) is at \($0.after), and was at \($0.before)"
        }
        var known: Set<String> = []
        warnings = runs.flatMap(\.warnings).filter { known.insert($0).inserted }
        sizeBefore = before.size
        sizeAfter = after.size
        sizeAtMost = max(peak, before.size, after.size)
    }
}
