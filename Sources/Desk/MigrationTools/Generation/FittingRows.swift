import GRDB
import SchemaMigrations

/// Removes the rows that the new schema does not accept, which no migration could keep.
///
/// A new `UNIQUE`, `CHECK`, `NOT NULL` or foreign key makes a migration fail on rows that break it. Generated rows know
/// only the old schema.
struct FittingRows {
    private let generated: GeneratedMigration
    private let names: Set<SQLName>

    init(_ generated: GeneratedMigration) {
        self.generated = generated
        names = generated.result.names
    }

    /// The rows of a table that do not fit.
    struct Misfits: Sendable {
        let table: SQLName
        var count = 0
        /// The reason why the first of them does not fit.
        let reason: String
    }

    /// Deletes rows until both schemas accept all that are left, and returns the tables that lose some.
    func keep(in db: Database) throws -> [Misfits] {
        var found: [SQLName: Misfits] = [:]
        // Each round deletes rows, or is the last.
        for _ in 0..<1_000 {
            var misfits = try misfits(among: db)
            misfits += try Self.orphans(in: db).compactMap { orphan in
                orphan.id.map {
                    Misfit(table: orphan.table, condition: "rowid = ?", values: [$0.databaseValue])
                }
                    ?? Misfit(table: orphan.table, condition: "1", values: [])
            }
            if misfits.isEmpty { break }
            for misfit in misfits {
                // A trigger may object.
                try? db.execute(
                    sql: "DELETE FROM \(misfit.table.inMain) WHERE \(misfit.condition)",
                    arguments: StatementArguments(misfit.values))
                found[misfit.table, default: Misfits(table: misfit.table, reason: misfit.reason)].count +=
                    db.changesCount
            }
        }
        return found.values.sorted { $0.table < $1.table }
    }

    private struct Misfit {
        let table: SQLName
        let condition: String
        let values: [DatabaseValue]
        var reason = "FOREIGN KEY constraint failed"
    }

    /// Inserts the rows into an empty database of the new schema, and returns those that it refuses.
    private func misfits(among db: Database) throws -> [Misfit] {
        var configuration = db.configuration
        configuration.foreignKeysEnabled = false
        let scratch = try configuration.scratchDatabase()
        return try scratch.writeWithoutTransaction { scratch in
            for object in generated.result.objects where object.type == "table" && !object.isVirtual {
                try scratch.execute(sql: object.sql)
            }
            for object in generated.result.objects where object.type == "index" {
                try? scratch.execute(sql: object.sql)
            }
            var misfits: [Misfit] = []
            var inserted: [SQLName: [Int64: Misfit]] = [:]
            for object in generated.result.objects where object.type == "table" && !object.isVirtual {
                guard let copies = generated.copies[object.name] else { continue }
                let sql = """
                    INSERT OR ABORT INTO \(object.name.inMain)(\(copies.map(\.column).sql)) \
                    VALUES (\(copies.map { _ in "?" }.joined(separator: ", ")))
                    """
                var insertion = try scratch.makeStatement(sql: sql)
                for (var row, values) in try rows(of: object.name, copies, db) {
                    do {
                        try insertion.execute(arguments: StatementArguments(values))
                        inserted[object.name, default: [:]][scratch.lastInsertedRowID] = row
                    } catch let error as DatabaseError
                        where error.resultCode == .SQLITE_CONSTRAINT || error.resultCode == .SQLITE_MISMATCH
                    {
                        row.reason = error.message ?? "a constraint failed"
                        misfits.append(row)
                        // GRDB does not run a statement again that has failed.
                        insertion = try scratch.makeStatement(sql: sql)
                    }
                }
            }
            for orphan in try Self.orphans(in: scratch) {
                let rows = inserted[orphan.table] ?? [:]
                misfits += orphan.id.map { id in rows[id].map { [$0] } ?? [] } ?? Array(rows.values)
            }
            return misfits
        }
    }

    /// Returns the rows of a table, with the values that the migration gives them.
    private func rows(
        of table: SQLName, _ copies: [TableRebuild.Copy], _ db: Database
    ) throws -> [(row: Misfit, values: [DatabaseValue])] {
        let hasRowID =
            try Bool.fetchOne(
                db,
                sql: "SELECT NOT wr FROM pragma_table_list(?) WHERE schema = 'main'",
                arguments: [table]) ?? true
        let keys =
            hasRowID
            ? [SQLName("rowid")]
            : try SQLName.fetchAll(
                db, sql: "SELECT name FROM pragma_table_info(?, 'main') WHERE pk > 0", arguments: [table])
        let condition = keys.map { "\(hasRowID ? $0.text : $0.sql) IS ?" }.joined(separator: " AND ")
        let columns = keys.map { hasRowID ? $0.text : $0.sql } + copies.map(\.expression)
        return try Row.fetchAll(db, sql: "SELECT \(columns.joined(separator: ", ")) FROM \(table.inMain)").map
        { row in
            let values = Array(row.databaseValues)
            return (
                Misfit(table: table, condition: condition, values: Array(values.prefix(keys.count))),
                Array(values.dropFirst(keys.count))
            )
        }
    }

    /// Returns the rows that refer to missing rows; the id of one in a table without row ids is nil.
    private static func orphans(in db: Database) throws -> [(table: SQLName, id: Int64?)] {
        // A key that matches no unique columns of its parent is an error of its own.
        let rows = (try? Row.fetchAll(db, sql: "PRAGMA main.foreign_key_check")) ?? []
        return rows.map { (table: $0["table"], id: $0["rowid"]) }
    }
}
