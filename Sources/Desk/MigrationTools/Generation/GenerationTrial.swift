import GRDB
import SchemaMigrations
import TextOutput

/// Runs a generated migration on rows, before anybody else does.
struct GenerationTrial {
    private let queue: DatabaseQueue
    private let before: SchemaDescription
    private let rows: [SQLName: Rows]
    /// The number of rows that the migration ran on.
    let count: Int
    /// The rows that were left out, because the new schema does not accept them.
    let misfits: [FittingRows.Misfits]
    /// The number of tables with rows.
    var tableCount: Int { rows.values.count { $0.count > 0 } }

    private struct Rows {
        let columns: [SQLName]
        /// How often each row is there.
        let rows: [[StoredValue]: Int]
        let count: Int
    }

    /// Creates a database that the migrations before have made, with rows that both schemas accept.
    ///
    /// - Parameters:
    ///   - migrator: the migrations before; nil if there are none.
    ///   - renames: what is renamed first.
    ///   - configuration: how to open the database.
    ///   - fill: adds rows to every table.
    init(
        _ migrator: SchemaMigrator?, _ generated: GeneratedMigration, renames: [SchemaAlteration],
        _ configuration: Configuration, fill: (Database) throws -> Void
    ) throws {
        var configuration = configuration
        configuration.foreignKeysEnabled = false
        queue = try configuration.scratchDatabase()
        try migrator?.migrate(queue)
        (before, rows, misfits) = try queue.writeWithoutTransaction { db in
            try fill(db)
            // The renames are tried with the migration; here they only give the rows their new names.
            var found: [SQLName: Rows] = [:]
            let before = try SchemaDescription(db)
            try db.execute(sql: GeneratedSQL(renames).text)
            let misfits = try FittingRows(generated).keep(in: db)
            for table in generated.copies.keys { found[table] = try Self.rows(db, table) }
            try db.execute(sql: GeneratedSQL(renames.reversed().map(\.reversed)).text)
            return (before, found, misfits)
        }
        count = rows.values.reduce(0) { $0 + $1.count }
    }

    private static func rows(_ db: Database, _ table: SQLName) throws -> Rows {
        let found = try StoredRows(db, table: table)
        return Rows(
            columns: found.columns, rows: Dictionary(found.rows.map { ($0, 1) }, uniquingKeysWith: +),
            count: found.rows.count)
    }

    /// Migrates, and returns what is wrong with the result, a sentence each.
    func migrate(with migrator: SchemaMigrator, _ generated: GeneratedMigration) throws -> [String] {
        try migrator.migrate(queue)
        return try queue.read { db in
            try Self.differences(SchemaDescription(db), generated.result, "the schema that it should be")
                + generated.copies.sorted { $0.key.text < $1.key.text }.compactMap { table, copies in
                    try lostRows(of: table, copies, db)
                }
        }
    }

    /// Rolls back with the rows that both schemas accept, and returns what is wrong with the result, a sentence each.
    func rollBack(
        with migrator: SchemaMigrator, to version: SchemaVersion, _ generated: GeneratedMigration
    ) throws -> [String] {
        // The migration has changed values: two nulls are one default now, which may have to be unique again.
        try queue.writeWithoutTransaction { _ = try FittingRows(generated).keep(in: $0) }
        try migrator.rollback(queue, to: version)
        return try queue.read { db in
            try Self.differences(SchemaDescription(db), before, "the schema before")
        }
    }

    private static func differences(
        _ found: SchemaDescription, _ expected: SchemaDescription, _ name: String
    ) -> [String] {
        found.differences(from: expected).map { "\($0) is not that of \(name)" }
    }

    /// Compares the values that the migration should keep as they are.
    private func lostRows(of table: SQLName, _ copies: [TableRebuild.Copy], _ db: Database) throws -> String?
    {
        guard let before = rows[table] else { return nil }
        let after = try Self.rows(db, table)
        guard before.count == after.count else {
            return "table \(table.text.quoted) has \(after.count.counting("row")), and had \(before.count)"
        }
        let kept = copies.filter { !$0.converts }.map(\.column)
        func values(_ found: Rows) -> [[StoredValue]: Int] {
            let places = kept.compactMap { column in found.columns.firstIndex(of: column) }
            return Dictionary(
                found.rows.map { row, count in (places.map { row[$0] }, count) }, uniquingKeysWith: +)
        }
        return values(before) == values(after)
            ? nil : "table \(table.text.quoted) has other values than before"
    }
}
