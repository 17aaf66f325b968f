import CMigrationSQLite
package import GRDB
package import SchemaMigrations
import TextOutput

/// The state of filling a table with generated rows.
package struct TableFilling {
    /// The kind of rows to generate.
    package enum Style: Sendable {
        /// Rows as users write them.
        case typical
        /// Rows that the schema accepts, and few authors expect.
        ///
        /// Values repeat wherever they may, every column that may be null is null in some row, and texts look like
        /// numbers. The first rows are distinct, so that a migration cannot exchange them unnoticed, and in the last two for each
        /// column that may be null, it alone is. Others have one of the values that a migration's conditions name.
        case awkward
        /// Rows that differ in every value, without nulls and with gaps between their ids.
        case distinct
        /// Distinct rows, and two more with each value that may decide a condition.
        case deciding
        /// Distinct rows whose ids come in pairs of neighbours, such as 2 and 3.
        case paired
        /// Awkward rows whose texts are JSON, for migrations that read some of them so.
        case documents

        /// True for rows that few authors expect.
        fileprivate var isAwkward: Bool { [.awkward, .documents].contains(self) }
    }

    /// Adds rows to tables, and fills a table before those that refer to it.
    ///
    /// - Parameter tables: the tables, with those that they refer to; nil for all.
    /// - Returns: a sentence for each table that accepted no row, which says why.
    @discardableResult
    package static func fillAll(
        _ db: Database, rowsPerTable: Int, seed: UInt64, style: Style = .typical,
        tables: Set<SQLName>? = nil
    ) throws -> [String] {
        guard rowsPerTable > 0 else { return [] }
        db.clearSchemaCache()
        return try fill(
            TableLayout.fetchAll(db, of: tables), rowsPerTable: rowsPerTable, seed: seed, style: style, db
        ).map(\.sentence)
    }

    /// A table that accepted no row.
    struct Refusal {
        let table: SQLName
        let reason: String
        /// The sentence that says so, without its end.
        var sentence: String { "table \(table.text.quoted) was given no rows: \(reason)" }
    }

    /// Adds rows to tables, of which each stands after those that it refers to.
    ///
    /// - Parameter values: the values that two awkward rows each have.
    @discardableResult
    static func fill(
        _ tables: [TableLayout], rowsPerTable: Int, seed: UInt64, style: Style,
        including values: ConditionValues = ConditionValues(), _ db: Database
    ) throws -> [Refusal] {
        try tables.compactMap { table in
            func insert(_ style: Style, hasDocuments: Bool) throws -> String? {
                var filling = TableFilling(table, seed: seed, style: style, hasDocuments: hasDocuments)
                filling.choose(from: values)
                return try filling.insert(rowsPerTable, db)
            }
            var refusal = try insert(style, hasDocuments: style == .documents)
            // An index or a generated column may read a text as JSON.
            if refusal == "malformed JSON" {
                refusal = try insert(style == .awkward ? .documents : style, hasDocuments: true)
            }
            return refusal.map { Refusal(table: table.name, reason: $0) }
        }
    }

    /// Returns the number of attempts for a row.
    ///
    /// The first row has to find values that satisfy the constraints; later rows use them again.
    private func attempts(_ index: Int) -> Int { index == 0 && !table.checks.isEmpty ? 1_000 : 60 }

    private let table: TableLayout
    /// The kind of values of each column.
    private let kinds: [GeneratedValue]
    private let style: Style
    private var random: RandomNumbers
    /// The parent rows that each foreign key can refer to.
    private var parents: [[[DatabaseValue]]] = []
    private var nextID: Int64 = 1
    /// The id of the last row of many, where no column is one; nil if SQLite chooses it.
    private var hiddenID: Int64?
    /// The highest id after which there is room for others.
    private static let highestID = Int64.max - 1_000_000
    /// The number of rows before those in which one column alone is null.
    private var ordinaryRows = Int.max
    /// The values that satisfied the constraints on a column, by its position.
    private var accepted: [Int: [DatabaseValue]] = [:]

    /// The row before, for rows that repeat its values.
    private var previous: [DatabaseValue] = []

    /// The values that two rows each have, where they are otherwise distinct.
    private var exceptions: [ConditionValues.Assignment] = []
    /// True if rows of every kind that others can refer to are referred to.
    private var usesAllParents = false

    /// - Parameter hasDocuments: whether texts are JSON.
    private init(_ table: TableLayout, seed: UInt64, style: Style, hasDocuments: Bool) {
        self.table = table
        kinds = table.columns.map { column in
            let kind = GeneratedValue(column)
            return hasDocuments && [.text, .blob].contains(kind) ? .json : kind
        }
        self.style = style
        random = RandomNumbers(seed: seed, subject: table.name.text)
    }

    /// - Returns: the reason if the table has no rows; otherwise nil.
    private mutating func insert(_ count: Int, _ db: Database) throws -> String? {
        var refusal = "none was tried"
        var inserted = 0
        do {
            try prepare(db)
            // Two rows at a time refer to the same one.
            let mostParents = usesAllParents ? 2 * (parents.map(\.count).max() ?? 0) : 0
            let count = max(count, min(mostParents, Self.mostRows))
            ordinaryRows = count
            // Deferred foreign keys are checked in the end; if rows violate them, the table stays as it was.
            let couldCommit = !db.hasUnresolvedKeys
            try db.inSavepoint {
                var insertion = try RowInsertion(
                    db, into: table.name, table.columns.map(\.name) + (hiddenID == nil ? [] : ["rowid"]))
                rows: for index in 0..<(count + 2 * exceptions.count) {
                    for attempt in 0..<attempts(index) {
                        guard let row = row(index, attempt: attempt, of: count) else {
                            refusal = "it refers to rows of a table that has none"
                            break rows
                        }
                        let id = hiddenID.map {
                            index < count - 1 ? .null : ($0 + Int64(index)).databaseValue
                        }
                        guard let error = try insertion.insert(row + [id].compactMap(\.self)) else {
                            remember(row)
                            inserted += 1
                            continue rows
                        }
                        refusal = error.message ?? "a constraint failed"
                    }
                    if index < count { break rows }
                }
                let isWhole =
                    try Row.fetchOne(
                        db, sql: "SELECT 1 FROM pragma_foreign_key_check(?, 'main')", arguments: [table.name])
                    == nil && !(couldCommit && db.hasUnresolvedKeys)
                if !isWhole {
                    refusal = "a foreign key failed"
                    inserted = 0
                }
                return isWhole ? .commit : .rollback
            }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            refusal = error.message ?? "SQLite refused it"
            inserted = 0
        }
        return inserted > 0 ? nil : refusal
    }

    private mutating func prepare(_ db: Database) throws {
        for reference in table.references {
            let isThere = reference.parentColumns.map { "\($0.sql) IS NOT NULL" }.joined(
                separator: " AND ")
            // A parent that does not exist, or has no such key, has no rows to refer to.
            let rows = try? Row.fetchAll(
                db,
                sql: """
                    SELECT \(reference.parentColumns.sql) FROM \(reference.parent.inMain)
                    WHERE \(isThere) LIMIT 500
                    """)
            let found = (rows ?? []).map { Array($0.databaseValues) }
            if !reference.isDeclared {
                // Nothing says that every row is referred to.
                parents.append(Array(found.prefix((found.count + 1) / 2)))
            } else if usesAllParents {
                // A condition may be about rows to which none refers; of those with a value that decides one, two are alike.
                parents.append(found.enumerated().filter { $0.offset % 8 != 7 }.map(\.element))
            } else {
                parents.append(found)
            }
        }
        if style.isAwkward, table.hasHiddenID, !table.columns.isEmpty {
            // Far from the others, as if rows before it had been deleted: a rebuild gives it another one.
            let highest = try Int64.fetchOne(db, sql: "SELECT max(rowid) FROM \(table.name.inMain)") ?? 0
            if highest < Self.highestID { hiddenID = highest + 1_000 }
        }
        if let id = table.columns.first(where: \.isRowID) {
            let highest = try Int64.fetchOne(
                db,
                sql: "SELECT max(\(id.name.sql)) FROM \(table.name.inMain)")
            nextID = min(highest ?? 0, Self.highestID) + 1
        }
    }

    // MARK: Values

    /// Chooses the columns that are null alone, and those that have a value: `WHERE hash IS NULL` and `WHERE state = 2` have
    /// to find rows with two titles.
    private mutating func choose(from values: ConditionValues) {
        guard style.isAwkward || style == .deciding else { return }
        let free = table.columns.indices.filter { table.checks(of: table.columns[$0]).isEmpty }
        let nulls = free.filter { style.isAwkward && !table.columns[$0].isRequired }.map {
            [(column: $0, value: DatabaseValue.null)]
        }
        let declared = table.references.filter(\.isDeclared)
        let named = values.assignments(
            to: free.map { ($0, table.columns[$0]) }.filter { _, column in
                !declared.contains { $0.columns.contains(column.name) }
            }.map { ($0, $1.name, kinds[$0], $1.isUnique) })
        exceptions = nulls.prefix(Self.mostNulls) + named
        usesAllParents = !values.isEmpty
    }

    /// The number of columns that are null alone, of a table that has a great many.
    private static let mostNulls = 24
    /// The number of rows of a table whose parents are many.
    private static let mostRows = 500

    /// Returns the values of a row, by column; nil if it must refer to a row and there is none.
    private mutating func row(_ index: Int, attempt: Int, of count: Int) -> [DatabaseValue]? {
        let number = Int64(index + attempt * count + 1)
        if style.isAwkward, !isDistinct(index), !index.isMultiple(of: 2), attempt <= table.columns.count {
            return repeated(index, attempt, number: number)
        }
        var values = table.columns.indices.map { position in
            if isDistinct(index), attempt <= table.columns.count {
                return distinctValue(at: position, number: number)
            }
            return value(at: position, index: index, number: number)
        }
        for (key, reference) in table.references.enumerated() {
            let positions = reference.columns.map(position)
            guard let found = target(of: key, index, attempt, positions, values) else { return nil }
            for (position, value) in zip(positions, found) {
                if let position { values[position] = value }
            }
        }
        if index >= ordinaryRows {
            for (column, value) in exceptions[(index - ordinaryRows) / 2] { values[column] = value }
        }
        return values
    }

    /// Returns the row before, with as few other values as uniqueness may allow.
    ///
    /// The columns of a key take turns, so that each of them repeats a value in some row.
    private mutating func repeated(_ index: Int, _ attempt: Int, number: Int64) -> [DatabaseValue]? {
        var values = previous
        var changed: Set<Int> = []
        let unique = table.columns.indices.filter { table.columns[$0].isUnique }
        for (turn, position) in unique.enumerated()
        where table.columns[position].isRowID || attempt >= unique.count
            || turn == (index / 2 + attempt) % unique.count
        {
            values[position] = value(at: position, index: index, number: number)
            changed.insert(position)
        }
        for (key, reference) in table.references.enumerated() {
            let positions = reference.columns.map(position)
            guard !changed.isDisjoint(with: positions.compactMap(\.self)) else { continue }
            guard let found = target(of: key, index, attempt, positions, values) else { return nil }
            for (position, value) in zip(positions, found) {
                if let position { values[position] = value }
            }
        }
        return values
    }

    /// The number of distinct rows before those that repeat values.
    private static let distinctRows = 8

    private func isDistinct(_ index: Int) -> Bool {
        switch style {
        case .typical: false
        case .awkward, .documents: index < Self.distinctRows || index >= ordinaryRows
        case .distinct, .deciding, .paired: true
        }
    }

    /// Returns a value that no other column has, as far as the constraints allow.
    private mutating func distinctValue(at position: Int, number: Int64) -> DatabaseValue {
        let column = table.columns[position]
        guard !column.isRowID, table.checks(of: column).isEmpty else {
            return value(at: position, index: 0, number: number)
        }
        let kind = kinds[position]
        if kind == .boolean, !column.isUnique { return (number % 2).databaseValue }
        return kind.value(
            number: number + Int64(position + 1) * 1_000 + offset, isUnique: true, using: &random)
    }

    /// Returns the id of a row.
    ///
    /// Awkward ids have gaps, as if rows had been deleted.
    private func id(_ number: Int64) -> DatabaseValue {
        switch style {
        case .typical: (nextID + number - 1).databaseValue
        case .awkward, .documents, .distinct, .deciding: (nextID + number * 7).databaseValue
        // Far from the ids that migrations give to rows of their own.
        case .paired:
            ((nextID + 4_001) / 2 * 2 + (number - 1) / 2 * 14 + (number - 1) % 2).databaseValue
        }
    }

    /// A number that tells the values of a table's paired rows from another's.
    private var offset: Int64 {
        guard style == .paired else { return 0 }
        return table.name.folded.utf8.reduce(1) { ($0 * 31 + Int64($1)) % 997 } * 10_000
    }

    private mutating func value(at position: Int, index: Int, number: Int64) -> DatabaseValue {
        let column = table.columns[position]
        if column.isRowID { return id(number) }
        if style.isAwkward, !column.isUnique, table.checks(of: column).isEmpty {
            let kind = kinds[position]
            let values =
                kind.awkwardValues
                + (table.isStrict || style == .documents && kind == .json ? [] : kind.surprisingValues)
                + (column.isRequired ? [] : [.null])
            return values[(index / 2 + position) % values.count]
        }
        if !column.isRequired, random.oneIn(6) { return .null }
        let kind = kinds[position]
        let checks = table.checks(of: column)
        if !column.isUnique, let known = accepted[position], !random.oneIn(5),
            let value = random.pick(known)
        {
            return value
        }
        let literals = checks.flatMap(\.literals)
        if !checks.isEmpty, !random.oneIn(4) {
            let known = literals + (random.oneIn(2) ? checks.flatMap(\.examples) + Self.usual : [])
            if let value = random.pick(known) { return value }
        }
        return kind.value(number: number, isUnique: column.isUnique, using: &random)
    }

    /// Values that constraints often require.
    private static let usual: [DatabaseValue] = [
        0.databaseValue, 1.databaseValue, "a".databaseValue, "{}".databaseValue, "[]".databaseValue,
        "2024-05-17".databaseValue, "08:30:00".databaseValue, "2024-05-17 08:30:00".databaseValue,
    ]

    /// Returns a foreign key's values: nulls if it allows them, those of a parent row, or those of the row
    /// itself.
    private mutating func target(
        of key: Int, _ index: Int, _ attempt: Int, _ positions: [Int?], _ values: [DatabaseValue]
    ) -> [DatabaseValue]? {
        let reference = table.references[key]
        // Of four rows, two neighbours refer to none.
        if reference.evidence == .comparison, index < ordinaryRows, !(index / 2).isMultiple(of: 2) {
            return positions.compactMap(\.self).map { values[$0] }
        }
        let turn = index + attempt
        let mayBeNull = positions.contains { $0.map { !table.columns[$0].isRequired } ?? true }
        let choice = parents[key]
        if choice.isEmpty || mayBeNull && random.oneIn(6) {
            if mayBeNull {
                return positions.enumerated().map { index, position in
                    guard let position, table.columns[position].isRequired else { return .null }
                    return choice.first?[index] ?? values[position]
                }
            }
            guard reference.isDeclared else { return positions.compactMap(\.self).map { values[$0] } }
            guard reference.parent == table.name else { return nil }
            return reference.parentColumns.map { name in position(of: name).map { values[$0] } ?? .null }
        }
        // The first key takes the parents in turn, so that a table whose keys are unique together uses them
        // all.
        guard usesAllParents else { return key == 0 ? choice[turn % choice.count] : random.pick(choice) }
        return key == 0 || turn.isMultiple(of: 2) ? choice[turn / 2 % choice.count] : random.pick(choice)
    }

    private func position(of column: SQLName) -> Int? {
        table.columns.firstIndex { $0.name == column }
    }

    /// Remembers a row, so that later rows can refer to it and use values of it that are hard to find.
    private mutating func remember(_ row: [DatabaseValue]) {
        previous = row
        for (position, column) in table.columns.enumerated() where !table.checks(of: column).isEmpty {
            accepted[position, default: []].append(row[position])
        }
        for (key, reference) in table.references.enumerated()
        where reference.parent == table.name {
            parents[key].append(
                reference.parentColumns.map { name in position(of: name).map { row[$0] } ?? .null })
        }
    }
}

extension Database {
    /// True if a foreign key would keep the open transaction from being committed.
    ///
    /// SQLite counts that on its own: in a REAL column that refers to an INTEGER PRIMARY KEY, a deferred key is never
    /// resolved, although `PRAGMA foreign_key_check` finds nothing wrong (measured with SQLite 3.40).
    fileprivate var hasUnresolvedKeys: Bool { app_migrations_has_unresolved_keys(sqliteConnection) != 0 }
}
