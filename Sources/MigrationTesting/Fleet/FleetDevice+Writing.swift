import Foundation
import GRDB
import MigrationTools

extension FleetDevice {
    /// A row that was written, or values in it.
    private struct Written {
        let sentence: String
        let edits: FleetEdits
    }

    /// Writes a row, or another value into a row, as the release does.
    ///
    /// - Returns: a sentence; nil if there was nothing to write.
    func write(at time: Int, seed: UInt64) throws -> String? {
        guard let release, isRunning else { return nil }
        var random = RandomNumbers(seed: seed)
        guard let table = release.tables.randomElement(using: &random),
            let sample = table.samples.randomElement(using: &random)
        else { return nil }
        do {
            let written = try open().write { db -> Written? in
                let sample = try referring(sample, db, table, &random)
                let old = try Self.key(db, of: table, &random)
                guard let key = old, Bool.random(using: &random) else {
                    return try insert(db, table, sample, at: time)
                }
                let column = table.columns.randomElement(using: &random)
                return try update(db, table, key, sample, column, at: time)
            }
            guard let written else { return nil }
            // Not before: the commit checks deferred foreign keys.
            known.take(written.edits)
            stored.merge(written.edits.mapValues(\.time)) { $1 }
            return written.sentence
        } catch let error as DatabaseError
            where [.SQLITE_CONSTRAINT, .SQLITE_ERROR].contains(error.resultCode)
        {
            // There is no row to refer to, or a newer schema does not take what an older release writes, or lacks a column
            // that it names.
            return nil
        }
    }

    /// Writes a row into each table of a new device, or other values into one that is there.
    ///
    /// - Returns: for each table that takes neither of its release, the reason.
    func refusals() throws -> [String: String] {
        guard let release else { return [:] }
        var refusals = Dictionary(
            release.tables.map { ($0.name, "no generated row is in the new form") }, uniquingKeysWith: { $1 })
        var random = RandomNumbers(seed: 0)
        // A row may refer to one in any other table.
        for table in release.tables.flatMap({ _ in release.tables }) where refusals[table.name] != nil {
            for sample in table.samples where refusals[table.name] != nil {
                do {
                    try open().write { db in
                        try tryWriting(referring(sample, db, table, &random), db, table, &random)
                    }
                    refusals[table.name] = nil
                } catch let error as DatabaseError {
                    refusals[table.name] = error.message ?? ""
                }
            }
        }
        return refusals
    }

    private func tryWriting(
        _ sample: [String: DatabaseValue], _ db: Database, _ table: FleetRelease.Table,
        _ random: inout RandomNumbers
    ) throws {
        do {
            // No row that migrations insert has so high a key.
            _ = try insert(db, table, sample, at: Int(Int32.max))
        } catch let error as DatabaseError {
            guard let key = try Self.key(db, of: table, &random),
                try update(db, table, key, sample, table.columns.first, at: 1) != nil
            else { throw error }
        }
    }

    /// Returns a sample that refers to rows of the database.
    private func referring(
        _ sample: [String: DatabaseValue], _ db: Database, _ table: FleetRelease.Table,
        _ random: inout RandomNumbers
    ) throws -> [String: DatabaseValue] {
        var sample = sample
        for (column, parent) in table.parents.sorted(by: { $0.key < $1.key }) {
            sample[column] = try Self.key(db, of: release?.table(parent), &random) ?? .null
        }
        return sample
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
    ) throws -> Written {
        let key = try key(of: sample, table, at: time)
        let columns = [table.key] + table.columns
        try db.execute(
            sql: """
                INSERT INTO \(table.name.quotedDatabaseIdentifier)
                (\(columns.map(\.quotedDatabaseIdentifier).joined(separator: ", ")))
                VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))
                """,
            arguments: StatementArguments([key] + table.columns.map { sample[$0] ?? .null }))
        // What is NULL in a new row is not sent.
        let edits = try edits(db, table, key, columns, at: time) { !$0.isNull }
        return Written(sentence: "\(name) writes \(key.words) into \(table.name).", edits: edits)
    }

    /// Returns the key of a new row.
    private func key(
        of sample: [String: DatabaseValue], _ table: FleetRelease.Table, at time: Int
    ) throws -> DatabaseValue {
        let key = sample[table.key] ?? .null
        guard let parent = table.parents[table.key], release?.table(parent) != nil else {
            // A check may ask for the type and the length.
            func padded(_ opening: String) -> String {
                let zeros = max(0, (table.keyLength ?? 0) - opening.utf8.count - "\(time)".utf8.count)
                return opening + String(repeating: "0", count: zeros) + "\(time)"
            }
            switch key.storage {
            case .int64, .double: return time.databaseValue
            case .blob: return Data(padded("").utf8).databaseValue
            default: return padded("row ").databaseValue
            }
        }
        // SQLite would give a number of its own to an INTEGER PRIMARY KEY.
        guard !key.isNull else {
            throw DatabaseError(
                resultCode: .SQLITE_CONSTRAINT, message: "there is no row that its key refers to")
        }
        return key
    }

    private func update(
        _ db: Database, _ table: FleetRelease.Table, _ key: DatabaseValue, _ sample: [String: DatabaseValue],
        _ column: String?, at time: Int
    ) throws -> Written? {
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
            let edits = try edits(db, table, key, columns, at: time) { _ in true }
            let fields = columns.count == 1 ? "\(table.name).\(column) of" : "\(table.name)"
            return Written(sentence: "\(name) edits \(fields) \(key.words).", edits: edits)
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

    /// Returns the values that a row has now as edits.
    private func edits(
        _ db: Database, _ table: FleetRelease.Table, _ key: DatabaseValue, _ columns: [String], at time: Int,
        where isSent: (DatabaseValue) -> Bool
    ) throws -> FleetEdits {
        guard let version = release?.version,
            let row = try Row.fetchOne(
                db,
                sql: """
                    SELECT * FROM \(table.name.quotedDatabaseIdentifier)
                    WHERE \(table.key.quotedDatabaseIdentifier) = ?
                    """, arguments: [key])
        else { return [:] }
        var edits: FleetEdits = [:]
        for column in columns {
            let value: DatabaseValue = row[column]
            guard isSent(value) else { continue }
            let field = FleetField(table: table.name, key: key, column: column)
            edits[field] = FleetEdit(time: time, value: value, device: number, version: version)
        }
        return edits
    }
}
