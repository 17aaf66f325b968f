import GRDB
import MigrationTools

extension FleetDevice {
    /// Writes a row, or another value into a row, as the release does.
    ///
    /// - Returns: a sentence; nil if there was nothing to write.
    func write(at time: Int, seed: UInt64) throws -> String? {
        guard let release, isRunning else { return nil }
        var random = RandomNumbers(seed: seed)
        guard let table = release.tables.randomElement(using: &random),
            var sample = table.samples.randomElement(using: &random)
        else { return nil }
        do {
            return try open().write { db in
                for (column, parent) in table.parents.sorted(by: { $0.key < $1.key }) {
                    sample[column] = try Self.key(db, of: release.table(parent), &random) ?? .null
                }
                let old = try Self.key(db, of: table, &random)
                guard let key = old, Bool.random(using: &random) else {
                    return try insert(db, table, sample, at: time)
                }
                let column = table.columns.randomElement(using: &random)
                return try update(db, table, key, sample, column, at: time)
            }
        } catch let error as DatabaseError
            where [.SQLITE_CONSTRAINT, .SQLITE_ERROR].contains(error.resultCode)
        {
            // There is no row to refer to, or a newer schema does not take what an older release writes, or lacks a column
            // that it names.
            return nil
        }
    }

    /// Returns the key of a random row.
    private static func key(
        _ db: Database, of table: FleetRelease.Table?, _ random: inout RandomNumbers
    ) throws -> DatabaseValue? {
        guard let table else { return nil }
        let (key, name) = (table.key.quotedDatabaseIdentifier, table.name.quotedDatabaseIdentifier)
        return try DatabaseValue.fetchAll(db, sql: "SELECT \(key) FROM \(name) ORDER BY \(key)")
            .randomElement(using: &random)
    }

    private func insert(
        _ db: Database, _ table: FleetRelease.Table, _ sample: [String: DatabaseValue], at time: Int
    ) throws -> String? {
        let isNumber = sample[table.key].map { Int64.fromDatabaseValue($0) != nil } ?? false
        let key = isNumber ? time.databaseValue : "row \(time)".databaseValue
        let columns = [table.key] + table.columns
        try db.execute(
            sql: """
                INSERT INTO \(table.name.quotedDatabaseIdentifier)
                (\(columns.map(\.quotedDatabaseIdentifier).joined(separator: ", ")))
                VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))
                """,
            arguments: StatementArguments([key] + table.columns.map { sample[$0] ?? .null }))
        // What is NULL in a new row is not sent.
        try edit(db, table, key, columns, at: time) { !$0.isNull }
        return "\(name) writes \(key.words) into \(table.name)."
    }

    private func update(
        _ db: Database, _ table: FleetRelease.Table, _ key: DatabaseValue, _ sample: [String: DatabaseValue],
        _ column: String?, at time: Int
    ) throws -> String? {
        guard let column else { return nil }
        // Where one value alone would leave the new form, the release writes all.
        for columns in [[column], table.columns] {
            var isNew = false
            try db.inSavepoint {
                try set(db, table, key, columns, sample)
                isNew = try count(db, table, key, "(\(table.form))") == 1
                return isNew ? .commit : .rollback
            }
            guard isNew else { continue }
            try edit(db, table, key, columns, at: time) { _ in true }
            let fields = columns.count == 1 ? "\(table.name).\(column) of" : "\(table.name)"
            return "\(name) edits \(fields) \(key.words)."
        }
        return nil
    }

    private func set(
        _ db: Database, _ table: FleetRelease.Table, _ key: DatabaseValue, _ columns: [String],
        _ sample: [String: DatabaseValue]
    ) throws {
        let values = columns.map { "\($0.quotedDatabaseIdentifier) = ?" }.joined(separator: ", ")
        try db.execute(
            sql: """
                UPDATE \(table.name.quotedDatabaseIdentifier) SET \(values)
                WHERE \(table.key.quotedDatabaseIdentifier) = ?
                """,
            arguments: StatementArguments(columns.map { sample[$0] ?? .null } + [key]))
    }

    private func count(
        _ db: Database, _ table: FleetRelease.Table, _ key: DatabaseValue, _ condition: String
    ) throws -> Int {
        try Int.fetchOne(
            db,
            sql: """
                SELECT count(*) FROM \(table.name.quotedDatabaseIdentifier)
                WHERE \(table.key.quotedDatabaseIdentifier) = ? AND \(condition)
                """, arguments: [key]) ?? 0
    }

    /// Notes the values that a row has now as edits.
    private func edit(
        _ db: Database, _ table: FleetRelease.Table, _ key: DatabaseValue, _ columns: [String], at time: Int,
        where isSent: (DatabaseValue) -> Bool
    ) throws {
        guard let version = release?.version,
            let row = try Row.fetchOne(
                db,
                sql: """
                    SELECT * FROM \(table.name.quotedDatabaseIdentifier)
                    WHERE \(table.key.quotedDatabaseIdentifier) = ?
                    """, arguments: [key])
        else { return }
        for column in columns {
            let value: DatabaseValue = row[column]
            guard isSent(value) else { continue }
            let field = FleetField(table: table.name, key: key, column: column)
            known[field] = FleetEdit(time: time, value: value, device: number, version: version)
            stored[field] = time
        }
    }
}
