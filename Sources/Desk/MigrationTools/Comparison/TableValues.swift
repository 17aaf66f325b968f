package import GRDB
package import SchemaMigrations

/// The values of a table, by which a later look recognizes its rows and finds out which values have changed.
///
/// It keeps a number for each value, so that the rows of a large database fit into memory.
struct TableValues: Sendable {
    let layout: TableLayout
    /// The columns, generated ones included.
    let columns: [SQLName]
    private(set) var count = 0
    /// A number for each value, row by row (`StoredValue.meaning`).
    private(set) var meanings: [Int] = []
    /// The values themselves, row by row; empty if only the numbers are kept.
    private(set) var rows: [[StoredValue]] = []

    init(_ db: Database, _ layout: TableLayout, keepingValues: Bool) throws {
        self.layout = layout
        columns = layout.columns.map(\.name) + layout.generatedColumns
        guard !columns.isEmpty else { return }
        try StoredRows.forEach(db, layout.name, columns) { row in
            count += 1
            for value in row { meanings.append(value.meaning) }
            if keepingValues { rows.append(row) }
        }
    }

    /// Returns the positions of columns; nil if one of them does not exist.
    func positions(of names: [SQLName]) -> [Int]? {
        let found = names.compactMap { columns.firstIndex(of: $0) }
        return found.count == names.count ? found : nil
    }

    func meaning(_ row: Int, _ column: Int) -> Int { meanings[row * columns.count + column] }

    /// Returns the numbers of a column's values, without nulls.
    func values(of column: Int) -> [Int] { (0..<count).map { meaning($0, column) }.filter { $0 != 0 } }

    /// Returns a number for the values of a row in some columns; nil if one of them is null.
    func key(_ row: Int, _ columns: [Int]) -> Int? {
        if columns.count == 1 {
            let meaning = meaning(row, columns[0])
            return meaning == 0 ? nil : meaning
        }
        var hasher = Hasher()
        for column in columns {
            let meaning = meaning(row, column)
            if meaning == 0 { return nil }
            hasher.combine(meaning)
        }
        return hasher.finalize()
    }

    /// Returns the rows by their values in some columns, without those that are not unique in them.
    func rows(by columns: [Int]) -> [Int: Int] {
        var rows: [Int: Int] = [:]
        rows.reserveCapacity(count)
        for row in 0..<count {
            guard let key = key(row, columns) else { continue }
            rows[key] = rows[key] == nil ? row : -1
        }
        return rows
    }

    /// Returns the table with other numbers in some columns.
    func replacing(_ columns: [Int], _ values: (_ row: Int) -> [Int]?) -> TableValues {
        var copy = self
        for row in 0..<count {
            guard let found = values(row) else { continue }
            for (column, value) in zip(columns, found) {
                copy.meanings[row * self.columns.count + column] = value
            }
        }
        return copy
    }
}

/// The values of a database's tables at one moment.
package struct DatabaseValues: Sendable {
    /// The tables, each after those that it refers to if possible.
    let tables: [TableValues]

    /// Reads the tables of a database, of virtual ones only full-text tables with texts of their own.
    ///
    /// - Parameters:
    ///   - wanted: the tables to read; nil for all.
    ///   - keepingValues: whether to keep the values, and not only numbers by which they can be compared.
    package init(_ db: Database, of wanted: Set<SQLName>? = nil, keepingValues: Bool) throws {
        let texts = try SchemaObject.fetchAll(db).filter { object in
            FullTextTable(object)?.content == .own && wanted?.contains(object.name) ?? true
        }
        tables =
            try TableLayout.fetchAll(db, of: wanted).map {
                try TableValues(db, $0, keepingValues: keepingValues)
            }
            + texts.compactMap {
                // Leave out a table whose tokenizer is not registered.
                try? TableValues(db, TableLayout(db, $0), keepingValues: keepingValues)
            }
    }

    init(_ db: Database, _ layouts: [TableLayout], keepingValues: Bool) throws {
        tables = try layouts.map { try TableValues(db, $0, keepingValues: keepingValues) }
    }

    func table(_ name: SQLName) -> TableValues? { tables.first { $0.layout.name == name } }
}
