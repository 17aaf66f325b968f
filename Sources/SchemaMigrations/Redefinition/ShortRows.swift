import AppMigrations
import Foundation
import GRDB

/// The rows that have no value of their own for a column that `ALTER TABLE` once added, and so show its default.
private struct ShortRows {
    /// The key of one of them.
    let key: Row
    let count: Int
    /// Their row ids, if the table has these.
    let rowIDs: ClosedRange<Int64>?
}

extension TableChange {
    /// Gives a value of their own to the rows that show a default which is about to change.
    ///
    /// - Returns: false if this SQLite does not let its schema be edited.
    func writeShortRows(_ db: Database) throws -> Bool {
        // A row that is short of one column is short of those after it.
        let changed = old.columns.indices.last { index in
            let (column, new) = (old.columns[index], new.columns[index])
            let isSame = column.defaultValue.map { Array($0.utf8) } == new.defaultValue.map { Array($0.utf8) }
            return !isSame && !column.isGenerated && column.keyPlace == 0
        }
        guard let changed else { return true }
        let column = old.columns[changed].name
        var rows: ShortRows?
        var isEdited = false
        // Only short rows show a default that no value can be equal to.
        let mark = "x'\(UUID().uuidString.filter { $0 != "-" })'"
        guard let sql = old.text.settingDefault(mark, ofColumn: changed) else { return false }
        try db.inSavepoint {
            isEdited = try db.edit(table, to: sql)
            // An index would hold the default that was.
            if isEdited {
                rows = try shortRows(
                    "\(table.inMain) \(old.withoutIndexes) WHERE \(column.sql) IS \(mark)", db)
            }
            return .rollback
        }
        db.clearSchemaCache()
        guard isEdited, let rows else { return isEdited }
        try write(rows, column, db)
        return true
    }

    private func shortRows(_ rows: String, _ db: Database) throws -> ShortRows? {
        let names = old.rowID.map { [$0] } ?? old.keyNames
        let rowID = old.rowID?.sql ?? "NULL"
        // Without a key that can be named, every row is written.
        guard
            let key = try Row.fetchOne(
                db, sql: "SELECT \(names.isEmpty ? "1" : names.sql) FROM \(rows) LIMIT 1"),
            let found = try Row.fetchOne(
                db, sql: "SELECT count(*), min(\(rowID)), max(\(rowID)) FROM \(rows)")
        else { return nil }
        let (first, last): (Int64?, Int64?) = (found[1], found[2])
        return ShortRows(
            key: names.isEmpty ? Row() : key, count: found[0],
            rowIDs: first.flatMap { first in last.map { first...$0 } })
    }

    /// Writes the value that short rows show, which triggers and foreign keys are not to notice.
    private func write(_ rows: ShortRows, _ column: SQLName, _ db: Database) throws {
        try refuseTemporaryTriggers(db)
        var conditions: [String] = []
        var arguments: [DatabaseValue] = []
        if rows.key.count > 0 {
            let isIt = (old.rowID.map { [$0] } ?? old.keyNames).map { "\($0.sql) IS ?" }
            let shown = try DatabaseValue.fetchOne(
                db,
                sql: """
                    SELECT \(column.sql) FROM \(table.inMain) \(old.withoutIndexes) WHERE \(isIt.joined(separator: " AND "))
                    """,
                arguments: StatementArguments(rows.key.databaseValues))
            conditions.append("\(column.sql) IS ?")
            arguments.append(shown ?? .null)
        }
        if let rowID = old.rowID?.sql, let rowIDs = rows.rowIDs {
            conditions.append("\(rowID) BETWEEN ? AND ?")
            arguments += [rowIDs.lowerBound.databaseValue, rowIDs.upperBound.databaseValue]
        }
        // UPDATE writes a row with all its columns, whatever it sets. An index may hold what no row shows.
        let update = "UPDATE \(table.inMain) \(old.withoutIndexes) SET \(column.sql) = \(column.sql)"
        let filter = conditions.isEmpty ? "" : " WHERE \(conditions.joined(separator: " AND "))"
        try db.with(pragma: "ignore_check_constraints", 1) {
            try db.with([(.triggers, false), (.foreignKeys, false)]) {
                try db.execute(sql: "\(update)\(filter)", arguments: StatementArguments(arguments))
                // A value that is not equal to itself must not be lost.
                if db.changesCount < rows.count { try db.execute(sql: update) }
                // A row that showed the number of TRUE in a column of texts holds the text now, and an index the number.
                if old.columns.contains(where: \.isTextWithTruth) {
                    try db.execute(sql: "REINDEX \(table.inMain)")
                }
            }
        }
    }

    /// Throws an error if a temporary trigger watches the table: no setting turns it off.
    func refuseTemporaryTriggers(_ db: Database) throws {
        let trigger = try String.fetchOne(
            db,
            sql: "SELECT name FROM sqlite_temp_master WHERE type = 'trigger' AND tbl_name = ? COLLATE NOCASE",
            arguments: [table])
        guard let trigger else { return }
        throw MigrationError(
            .invalidMigration,
            "The temporary trigger \(trigger) would see rows of table \(table) being written that do not change",
            remedy: "Drop it first. Nothing was changed.")
    }
}

extension TableShape.Column {
    /// True if the default of a column of texts is TRUE or FALSE, which SQLite shows as a number where a row is short.
    fileprivate var isTextWithTruth: Bool {
        affinity == .text && ["true", "false"].contains(defaultValue?.lowercased())
    }
}
