import GRDB
import SchemaMigrations

/// The rows of a database after a migration.
struct LossOutcome: Equatable {
    struct Table: Equatable {
        let columns: [SQLName]
        var rows: [[StoredValue]: Int] = [:]

        /// Returns the rows without a column.
        func without(_ column: Int) -> [[StoredValue]: Int] {
            rows.reduce(into: [:]) { rows, row in
                rows[row.key.indices.filter { $0 != column }.map { row.key[$0] }, default: 0] += row.value
            }
        }
    }

    private(set) var tables: [SQLName: Table] = [:]

    init(_ db: Database, without unconcerned: Set<SQLName>) throws {
        for object in try SchemaObject.fetchAll(db)
        where object.type == "table" && !unconcerned.contains(object.name) {
            if object.isVirtual, FullTextTable(object)?.content != .own { continue }
            let statement = try db.makeStatement(sql: "SELECT * FROM \(object.name.inMain)")
            var table = Table(columns: statement.columnNames.map { SQLName($0) })
            try StoredRows.forEach(statement) { table.rows[$0, default: 0] += 1 }
            tables[object.name] = table
        }
    }

    // MARK: Chance

    /// The columns that chance or time fills, by their table.
    struct Chance {
        fileprivate enum Kind {
            /// No value is there without it: each stands for the row that has it.
            case made
            /// It chooses from few values, or from those that are there: what it chooses tells nothing.
            case chosen, chosenFromRows
        }

        fileprivate struct Column {
            let kind: Kind
            /// The values that are not made or chosen.
            let others: Set<StoredValue>
        }

        fileprivate var columns: [SQLName: [Int: Column]] = [:]

        var isEmpty: Bool { columns.isEmpty }
    }

    /// Returns the columns in which two outcomes of the same rows differ.
    ///
    /// - Parameters:
    ///   - rows: the values of the rows.
    ///   - known: what chance fills with other rows: of few values, it may have chosen the same ones twice.
    func differences(from other: LossOutcome, of rows: Set<StoredValue>, besides known: Chance?) -> Chance {
        var chance = Chance()
        let ownValues = rows.filter { !$0.isShort }
        for (name, table) in tables {
            guard let others = other.tables[name] else { continue }
            let known = known?.columns[name]?.filter { $1.kind != .made } ?? [:]
            guard table != others || !known.isEmpty else { continue }
            func values(_ table: Table, _ column: Int) -> [StoredValue: Int] {
                table.rows.reduce(into: [:]) { $0[$1.key[column], default: 0] += $1.value }
            }
            for column in table.columns.indices {
                let (mine, theirs) = (values(table, column), values(others, column))
                let same = Set(mine.filter { theirs[$0.key] == $0.value }.keys)
                let changed = mine.keys.filter { !same.contains($0) }
                let isExchanged =
                    mine == theirs && table != others && table.without(column) == others.without(column)
                let exchanged =
                    isExchanged
                    ? table.rows.filter { others.rows[$0.key] != $0.value }.keys.map { $0[column] } : []
                let kind: Chance.Kind
                if known[column]?.kind == .chosenFromRows
                    || (changed + exchanged).contains(where: ownValues.contains)
                {
                    kind = .chosenFromRows
                } else if known[column] != nil || isExchanged
                    || changed.contains(where: { theirs[$0] != nil || rows.contains($0) })
                {
                    kind = .chosen
                } else if mine != theirs {
                    kind = .made
                } else {
                    continue
                }
                let spared: Set<StoredValue> =
                    switch kind {
                    case .made: rows
                    case .chosen: ownValues
                    case .chosenFromRows: []
                    }
                chance.columns[name, default: [:]][column] = Chance.Column(
                    kind: kind, others: spared.intersection(same))
            }
        }
        return chance
    }

    /// Returns the outcome with other values in columns that chance or time fills: what they stand beside.
    ///
    /// A random key means the row that has it, and those that refer to it.
    func replacing(_ chance: Chance) -> LossOutcome {
        guard !chance.isEmpty else { return self }
        // A number for what each value stands beside, in whatever order.
        var meanings: [StoredValue: Int] = [:]
        func filling(_ column: Int, of row: [StoredValue], in table: SQLName) -> Chance.Kind? {
            chance.columns[table]?[column].flatMap { $0.others.contains(row[column]) ? nil : $0.kind }
        }
        for (name, table) in tables {
            for row in table.rows.keys {
                for column in row.indices where filling(column, of: row, in: name) == .made {
                    if row[column] != .null { meanings[row[column]] = 0 }
                }
            }
        }
        for (name, table) in tables {
            for (row, count) in table.rows {
                let places = row.indices.filter { meanings[row[$0]] != nil }
                guard !places.isEmpty else { continue }
                let rest = row.indices.map { column in
                    places.contains(column) || filling(column, of: row, in: name) != nil ? nil : row[column]
                }
                for column in places {
                    var hasher = Hasher()
                    hasher.combine(name)
                    hasher.combine([column, count])
                    hasher.combine(rest)
                    meanings[row[column]]? &+= hasher.finalize()
                }
            }
        }
        let labels = meanings.mapValues { StoredValue.text(Array("chance \($0)".utf8)) }
        var copy = self
        for (name, table) in tables {
            copy.tables[name]?.rows = table.rows.reduce(into: [:]) { rows, row in
                let values = row.key.enumerated().map { column, value -> StoredValue in
                    switch filling(column, of: row.key, in: name) {
                    case .chosen, .chosenFromRows: .null
                    case .made, nil: labels[value] ?? value
                    }
                }
                rows[values, default: 0] += row.value
            }
        }
        return copy
    }
}

extension StoredValue {
    /// True if a statement may make the value as well, so that it does not stand for a row.
    fileprivate var isShort: Bool {
        switch self {
        case .null: true
        case .integer(let number): number.magnitude < 1_000
        case .real(let bits): Double(bitPattern: bits).magnitude < 1_000
        case .text(let bytes): bytes.count < 4
        case .blob(let data): data.count < 4
        }
    }
}

extension LossOutcome {
    /// The part of a table that is there afterwards as it was, beside its key.
    struct Kept {
        var rows = false
        /// The positions of the columns.
        var columns: Set<Int> = []
        var isAll = false
    }

    /// Returns whether some table has other values in the row of each of the keys.
    func differs(from other: LossOutcome, inEachOf rows: Set<Int>, of table: GeneratedRows.Table) -> Bool {
        guard !table.key.isEmpty else { return false }
        let keys = rows.map { row in table.key.map { StoredValue(table.rows[row][$0]) } }
        return tables.contains { name, found in
            guard let others = other.tables[name], found.columns == others.columns else { return false }
            let positions = table.key.compactMap { found.columns.firstIndex(of: table.columns[$0]) }
            guard positions.count == table.key.count else { return false }
            func byKey(_ rows: [[StoredValue]: Int]) -> [[StoredValue]: Set<[StoredValue]>] {
                Dictionary(grouping: rows.keys) { row in positions.map { row[$0] } }.mapValues(Set.init)
            }
            let (mine, theirs) = (byKey(found.rows), byKey(others.rows))
            return keys.allSatisfy { mine[$0] != nil && theirs[$0] != nil && mine[$0] != theirs[$0] }
        }
    }

    /// Finds the rows of a table in those with the same columns, which needs no trial.
    ///
    /// - Parameter dropped: the tables that are dropped: one of the name of such a table is another one.
    func keeps(_ table: GeneratedRows.Table, dropping dropped: Set<SQLName>) -> Kept {
        var kept = Kept()
        let stored = table.rows.map { $0.map { StoredValue($0) } }
        for (name, other) in tables {
            let positions = table.columns.map { other.columns.firstIndex(of: $0) }
            let key = table.key.isEmpty ? Array(positions.indices) : table.key
            guard key.allSatisfy({ positions[$0] != nil }) else { continue }
            func values(_ row: [StoredValue]) -> [StoredValue] {
                key.compactMap { positions[$0] }.map { row[$0] }
            }
            let found = Dictionary(other.rows.keys.map { (values($0), $0) }, uniquingKeysWith: { $1 })
            // Rows without a key may be alike.
            if table.key.isEmpty, Set(stored).count < stored.count {
                let counts = other.rows.reduce(into: [:]) { $0[values($1.key), default: 0] += $1.value }
                let wanted = stored.reduce(into: [:]) { $0[$1, default: 0] += 1 }
                guard wanted.allSatisfy({ counts[$0.key, default: 0] >= $0.value }) else { continue }
            }
            let pairs = stored.map { row in (row, found[key.map { row[$0] }]) }
            guard pairs.allSatisfy({ $1 != nil }) else { continue }
            let columns = Set(
                positions.enumerated().filter { column, position in
                    position.map { position in pairs.allSatisfy { $0[column] == $1?[position] } } == true
                }.map(\.offset))
            // Another table may have the same ids, and some of the same values.
            let isSame = name == table.name && !dropped.contains(name)
            let telling = columns.subtracting(table.key).filter { column in
                Set(stored.map { $0[column] }).count >= min(3, stored.count)
            }
            let isKey = name == table.name && table.columns.count == table.key.count
            guard isSame || isKey || !telling.isEmpty else { continue }
            kept.rows = true
            kept.columns.formUnion(columns)
        }
        kept.isAll = kept.rows && kept.columns.count == table.columns.count
        return kept
    }
}
