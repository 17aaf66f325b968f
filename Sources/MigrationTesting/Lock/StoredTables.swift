import Foundation
import GRDB
import MigrationDiagnostics
import MigrationTools
import SchemaMigrations

/// The rows of all tables at one moment.
struct StoredTables {
    /// The rows of a table, or of a full-text table's index.
    struct Table: Equatable {
        let columns: [SQLName]
        let rows: [[StoredValue]]
    }

    private(set) var tables: [SQLName: Table] = [:]

    init(_ db: Database) throws {
        db.clearSchemaCache()
        for object in try SchemaObject.fetchAll(db) where object.type == "table" {
            // A virtual table may not be readable: its module decides.
            let read = Result { try StoredRows(db, table: object.name) }
            guard let stored = object.isVirtual ? try? read.get() : try read.get() else { continue }
            // A row's number is the order of the inserts, if the app did not name it.
            let hasNumber = stored.columns.first == "rowid"
            tables[object.name] = Table(
                columns: Array(stored.columns.dropFirst(hasNumber ? 1 : 0)),
                rows: stored.rows.map { Array($0.dropFirst(hasNumber ? 1 : 0)) })
        }
    }

    /// Returns a short text for the digests of several runs.
    static func digest(of digests: [String]) -> String {
        let text = String(digests.joined(separator: "\n").utf8.fnv1a(after: FNV1a.start), radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
    }

    /// The values of all rows.
    var values: Set<StoredValue> { Set(tables.values.flatMap(\.rows).joined()) }
}

extension StoredTables.Table {
    /// Returns a digest that is the same in each run.
    ///
    /// It leaves out columns that chance or time fills.
    ///
    /// - Parameters:
    ///   - other: the table after another run over the same rows.
    ///   - known: the values before the runs, which no run has made.
    func digest(besides other: StoredTables.Table?, knowing known: Set<StoredValue>) -> UInt64 {
        let stable = columns.indices.filter { column in
            let values = rows.map { $0[column] }
            return values.counts == other?.rows.map { $0[column] }.counts
                && !values.contains { !known.contains($0) && $0.isNow }
        }
        let lines = rows.map { row in stable.map { row[$0].sql }.joined(separator: ",") }.sorted()
        let text = stable.map { columns[$0].folded }.joined(separator: ",") + "\n"
        return (text + lines.joined(separator: "\n")).utf8.fnv1a(after: FNV1a.start)
    }
}

extension StoredValue {
    /// True if the value is about the time at which the test runs.
    fileprivate var isNow: Bool {
        switch self {
        case .null, .blob: false
        case .integer(let number): PresentTime.isNamed(by: Double(number))
        case .real(let bits): PresentTime.isNamed(by: Double(bitPattern: bits))
        case .text(let bytes): PresentTime.isNamed(by: String(decoding: bytes, as: UTF8.self))
        }
    }
}

extension Array where Element: Hashable {
    fileprivate var counts: [Element: Int] { reduce(into: [:]) { $0[$1, default: 0] += 1 } }
}
