import Foundation
import GRDB
import MigrationTools
import SchemaMigrations

/// The rows that migrations insert into a fresh install.
struct SeedRows {
    private struct Rows {
        let columns: [SQLName]
        let rows: [[StoredValue]]
        /// The indexes of the columns that are the same in every fresh install.
        var compared: [Int]
    }

    private var tables: [SQLName: Rows] = [:]

    /// Reads the rows of a database.
    init(_ db: Database) throws {
        for object in try SchemaObject.fetchAll(db) where object.type == "table" && !object.isVirtual {
            let found = try StoredRows(db, table: object.name)
            // The id is SQLite's, and says nothing.
            let hidden = found.columns.first == "rowid" ? 1 : 0
            let columns = Array(found.columns.dropFirst(hidden))
            tables[object.name] = Rows(
                columns: columns, rows: found.rows.map { Array($0.dropFirst(hidden)) },
                compared: Array(columns.indices))
        }
    }

    /// Returns the rows without what differs from one fresh install to the next: the time, and random values.
    func common(with other: SeedRows) -> SeedRows {
        var common = self
        for (name, seeds) in tables {
            guard let others = other.tables[name]?.rows, others.count == seeds.rows.count else {
                common.tables[name] = nil
                continue
            }
            common.tables[name]?.compared = seeds.columns.indices.filter { index in
                zip(seeds.rows, others).allSatisfy { $0[index] == $1[index] && !Self.isTimeOfNow($0[index]) }
            }
        }
        return common
    }

    /// Returns the number of rows, by table, that a database does not have as they are here.
    func missing(in database: SeedRows) -> [(table: SQLName, count: Int)] {
        tables.sorted { $0.key.text < $1.key.text }.compactMap { name, seeds in
            guard let found = database.tables[name], found.columns == seeds.columns else { return nil }
            let known = Set(found.rows.map { row in seeds.compared.map { row[$0] } })
            let count = seeds.rows.count { row in !known.contains(seeds.compared.map { row[$0] }) }
            return count == 0 ? nil : (table: name, count: count)
        }
    }

    /// Returns whether a value is about the present time, which differs from one run to the next.
    private static func isTimeOfNow(_ value: StoredValue) -> Bool {
        switch value {
        case .null, .blob: return false
        case .integer(let number): return PresentTime.isNamed(by: Double(number))
        case .real(let bits): return PresentTime.isNamed(by: Double(bitPattern: bits))
        case .text(let bytes): return PresentTime.isNamed(by: String(decoding: bytes, as: UTF8.self))
        }
    }
}
