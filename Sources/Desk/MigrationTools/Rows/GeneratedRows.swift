package import GRDB
package import SchemaMigrations

/// Distinct rows of some tables, as values that a trial changes before it inserts them.
package struct GeneratedRows {
    /// The rows of a table.
    package struct Table {
        package let name: SQLName
        package let columns: [SQLName]
        /// The positions of the primary key.
        package let key: [Int]
        /// True if the primary key is the rows' id.
        let hasRowID: Bool
        /// The kind of the primary key, if it is one column that no `CHECK` limits, and refers to no table.
        let kindOfKey: GeneratedValue?
        /// The columns that change together: those of a foreign key, and each of the others.
        let groups: [[Int]]
        /// The kind of values that a column takes; nil if a constraint limits them.
        let kinds: [GeneratedValue?]
        /// The values that a constraint names for a column alone.
        let choices: [[DatabaseValue]]
        /// The columns of which a `CHECK` alone limits the values, with their kind.
        let checked: [(column: Int, kind: GeneratedValue)]
        /// The columns that may be null, and those that may repeat a value.
        let nullable: Set<Int>
        let repeatable: Set<Int>
        typealias Reference = (parent: SQLName, own: [Int], parentColumns: [SQLName], isDeclared: Bool)

        /// The columns that refer to another table's.
        let references: [Reference]
        /// The columns of the primary key and of each unique index.
        let uniqueKeys: [Set<Int>]
        /// The columns of each foreign key that may be null.
        let optionalKeys: [[Int]]
        var rows: [[DatabaseValue]]

        /// Returns a function that tells whether a row of another table refers to one of this table.
        func isReferred(by reference: Reference, of row: [DatabaseValue]) -> ([DatabaseValue]) -> Bool {
            let key = reference.parentColumns.compactMap(columns.firstIndex)
            return { parent in zip(reference.own, key).allSatisfy { row[$0] == parent[$1] } }
        }

        /// Returns whether two rows differ in every value that is theirs alone.
        func differ(_ first: Int, _ second: Int) -> Bool {
            let free = kinds.indices.filter { kinds[$0] != nil }
            return free.isEmpty
                ? rows[first] != rows[second] : free.allSatisfy { rows[first][$0] != rows[second][$0] }
        }
    }

    /// A column of a table.
    package struct Column: Equatable, Sendable {
        let table: SQLName
        let name: SQLName
    }

    /// The kinds of values that texts and numbers may have: a text that is parsed as a date is NULL for any other.
    package indirect enum Kind: Equatable, Sendable {
        /// What the names and types of the columns suggest.
        case natural
        case numbers
        case dates
        /// JSON with the keys that the migration names.
        case json
        /// The values that the migration names.
        case literals
        /// Values that decide conditions or constraints of the migration, of which each part has others.
        case deciding(ConditionValues, part: Int, among: Kind)
        /// Texts of which two differ in their case, or in a space at the end.
        case twins
        /// Values of columns that have a `CHECK`: those that it names, and those that decide the migration's conditions.
        case checked(part: Int)
        /// Keys that decide the migration's conditions, in their tables and in those that refer to them.
        case keys
        /// Columns of several tables, of which two rows of each table have the same values.
        case shared([[Column]])
        /// Foreign keys that are null in some rows, wherever they may be.
        case withoutParents
        /// Rows to which none refers, in each table that others refer to.
        case childless(among: Kind)
        /// Rows of which two refer to the same one, by each key.
        case siblings(among: Kind)
        /// A great many rows, with more than a statement copies.
        case many(Int, among: Kind)
        /// Texts that differ only after so many characters.
        case long(SQLName, Int)
        /// A column that is null in two rows.
        case null(SQLName, of: SQLName, among: Kind)

        /// The kinds whose values suggest a meaning.
        static let suggested: [Kind] = [.natural, .numbers, .dates, .json, .literals]
    }

    /// The number of rows of a table that may have values which a condition names: the others have none of them.
    static let rowsOfConditions = rowsPerTable - 2

    package static let rowsPerTable = 8

    /// The most rows of a table where a statement copies a number of rows.
    static let mostRows = 2_000

    package private(set) var tables: [Table]
    /// The tables that have no rows because none was accepted.
    private(set) var refusals: [TableFilling.Refusal]

    /// Generates rows for tables of a database, which stays as it is.
    ///
    /// - Parameters:
    ///   - layouts: those of the tables, each after those that it refers to; nil to read them.
    ///   - count: the number of rows of a table.
    package init(
        for names: Set<SQLName>, _ layouts: [TableLayout]? = nil, in database: DatabaseQueue,
        count: Int = rowsPerTable
    ) throws {
        let copy = try database.configuration.scratchDatabase()
        defer { try? copy.close() }
        try database.backup(to: copy)
        (tables, refusals) = try copy.writeWithoutTransaction { db in
            let objects = try SchemaObject.fetchAll(db)
            let triggers = objects.filter { $0.type == "trigger" }
            // What a trigger adds to a table, it adds again when a trial inserts the rows.
            for trigger in triggers { try db.execute(sql: "DROP TRIGGER \(trigger.name.inMain)") }
            let layouts = try layouts ?? TableLayout.fetchAll(db, of: names)
            let before = try layouts.map { try Self.rows(db, $0.name, $0.columns.map(\.name)) }
            let refusals = try TableFilling.fill(
                layouts, rowsPerTable: count, seed: 1, style: .paired, db)
            let parents = Set(
                layouts.flatMap(\.references).flatMap { key in
                    key.parentColumns.map { [key.parent, $0] }
                })
            let tables = try zip(layouts, before).map { layout, before in
                var rows = try Self.rows(db, layout.name, layout.columns.map(\.name))
                for row in before { rows.firstIndex(of: row).map { _ = rows.remove(at: $0) } }
                return Table(layout, rows, parents)
            }
            let indexed = Set(triggers.flatMap(\.names))
            let fullText = objects.filter { names.contains($0.name) && !indexed.contains($0.name) }
                .compactMap(Table.init(fullText:))
            return (tables + fullText, refusals)
        }
    }

    private static func rows(
        _ db: Database, _ table: SQLName, _ columns: [SQLName]
    ) throws -> [[DatabaseValue]] {
        guard !columns.isEmpty else { return [] }
        return try Row.fetchAll(db, sql: "SELECT \(columns.sql) FROM \(table.inMain)")
            .map { Array($0.databaseValues) }
    }

    /// Returns whether a table has other values in other rows.
    package func differs(from other: GeneratedRows, in name: SQLName) -> Bool {
        table(name)?.rows != other.table(name)?.rows
    }

    func table(_ name: SQLName) -> Table? { tables.first { $0.name == name } }

    /// The values of all rows.
    var values: Set<StoredValue> { Set(tables.flatMap(\.rows).joined().map { StoredValue($0) }) }

    /// Inserts the rows into an empty schema, whose triggers run.
    ///
    /// - Returns: the rows that the schema accepts.
    @discardableResult
    package func insert(into database: DatabaseQueue) throws -> GeneratedRows {
        var accepted = self
        try database.writeWithoutTransaction { db in
            let hasKeys = try Bool.fetchOne(db, sql: "PRAGMA foreign_keys") ?? false
            try db.execute(sql: "PRAGMA foreign_keys = OFF")
            try db.inTransaction {
                for (index, table) in tables.enumerated()
                where !table.columns.isEmpty && !table.rows.isEmpty {
                    accepted.tables[index].rows = []
                    var insertion = try RowInsertion(db, into: table.name, table.columns)
                    var refusal: String?
                    // No user has a row that a constraint refuses.
                    for row in table.rows {
                        if let error = try insertion.insert(row) {
                            refusal = error.message
                        } else {
                            accepted.tables[index].rows.append(row)
                        }
                    }
                    if accepted.tables[index].rows.isEmpty {
                        accepted.refusals.append(
                            .init(table: table.name, reason: refusal ?? "a constraint failed"))
                    }
                }
                return .commit
            }
            if hasKeys { try db.execute(sql: "PRAGMA foreign_keys = ON") }
        }
        return accepted
    }

    // MARK: Changes

    /// Returns the rows with other values, where the schema leaves a choice.
    ///
    /// - Parameters:
    ///   - literals: the values that the migration names.
    ///   - conditions: the values that decide the migration's conditions.
    func of(
        _ kind: Kind, naming literals: SQLLiterals, deciding conditions: ConditionValues
    ) -> GeneratedRows {
        switch kind {
        case .deciding(let values, let part, let others):
            of(others, naming: literals).assigning(assignments(deciding: values), part: part)
        case .checked(let part): assigning(choices(deciding: conditions), part: part)
        case .twins: withTwins(in: [.text, .identifier])
        case .many(_, let others): of(others, naming: literals)
        case .keys: renamed(conditions)
        case .shared(let groups): groups.reduce(self) { $0.sharing($1) }
        case .withoutParents: withoutParents
        case .childless(let others): of(others, naming: literals).childless
        case .siblings(let others): of(others, naming: literals).siblings
        case .long(let column, let length): lengthened(column, by: length)
        case .null(let column, let table, let others):
            of(others, naming: literals).null(in: column, of: table)
        default: of(kind, naming: literals)
        }
    }

    /// Returns the rows with other values, where the schema leaves a choice.
    ///
    /// - Parameters:
    ///   - literals: the values that the migration names.
    ///   - isForCode: whether code reads the rows, which ends the process over a date that is none.
    package func of(
        _ kind: Kind, naming literals: SQLLiterals, isForCode: Bool = false
    ) -> GeneratedRows {
        let (texts, numbers) = (literals.texts, literals.numbers)
        let keys = Set(texts.flatMap(\.jsonKeys)).sorted()
        let offsets = Dictionary(zip(tables.map(\.name), 1...), uniquingKeysWith: { $1 })
        let changed = mapTables { table in
            for (column, kindOfColumn) in table.kinds.enumerated() {
                guard let kindOfColumn else {
                    let choices = table.choices[column]
                    guard isForCode, kind == .literals, !choices.isEmpty else { continue }
                    for row in table.rows.indices { table.rows[row][column] = choices[row % choices.count] }
                    continue
                }
                for row in table.rows.indices {
                    let number = (row + 1) * 137 + (column + 1) * 1_000 + (offsets[table.name] ?? 0) * 100_000
                    let value: DatabaseValue? =
                        switch (kind, kindOfColumn) {
                        case (.numbers, .json), (.numbers, .moment), (.numbers, .day):
                            isForCode ? nil : "\(number)".databaseValue
                        case (.numbers, .text): "\(number)".databaseValue
                        case (.dates, .text), (.dates, .moment):
                            "\(GeneratedValue.day(Int64(number))) 08:30:00".databaseValue
                        case (.dates, .integer), (.dates, .real):
                            (1_700_000_000 + number * 86_400).databaseValue
                        case (.json, .text), (.json, .json):
                            "{\((keys + ["number"]).map { "\"\($0)\":\"\(number)\"" }.joined(separator: ","))}"
                                .databaseValue
                        case (.literals, _) where !isForCode && row >= Self.rowsOfConditions: nil
                        case (.literals, .text):
                            texts.element(row + column, of: row)?.databaseValue
                        case (.literals, .integer), (.literals, .real):
                            numbers.element(row + column, of: row)?.databaseValue
                        default: nil
                        }
                    if let value { table.rows[row][column] = value }
                }
            }
        }
        return kind == .literals ? changed.renumbered(numbers.filter { $0 > 0 }) : changed
    }

    private func assignments(deciding conditions: ConditionValues) -> [[ConditionValues.Assignment]] {
        tables.map { table in
            let free = table.kinds.indices.compactMap { column in
                table.kinds[column].map {
                    (column, table.columns[column], $0, !table.repeatable.contains(column))
                }
            }
            return conditions.assignments(to: free)
        }
    }

    /// Returns the values that a `CHECK` names for a column, and those that conditions name, each for a row.
    private func choices(deciding conditions: ConditionValues) -> [[ConditionValues.Assignment]] {
        tables.map { table in
            conditions.singles(
                table.checked.map { column, kind in
                    let choices = table.choices[column]
                    let others = conditions.values(of: table.columns[column], kind)
                    return (column, choices + others.filter { !choices.contains($0) })
                })
        }
    }

    /// Returns the kinds of values that decide conditions, of which a part of the rows has some.
    ///
    /// - Parameter kind: the kind of the other values.
    func kinds(deciding conditions: ConditionValues, among kind: Kind) -> [Kind] {
        Self.parts(assignments(deciding: conditions)).map {
            .deciding(conditions, part: $0, among: kind)
        }
    }

    /// Returns the kinds of values that the schema limits: those that a `CHECK` names, keys, and keys of other tables.
    func limitedKinds(deciding conditions: ConditionValues) -> [Kind] {
        Self.parts(choices(deciding: conditions)).map { .checked(part: $0) }
            + [.withoutParents] + (conditions.isEmpty ? [] : [.keys])
    }

    /// Returns the kinds of rows that are related in other ways than one to one; none where no table refers to another.
    ///
    /// - Parameter kind: the kind of their values.
    func relatedKinds(among kind: Kind) -> [Kind] {
        tables.allSatisfy(\.references.isEmpty) ? [] : [.childless(among: kind), .siblings(among: kind)]
    }

    private static func parts(_ assignments: [[ConditionValues.Assignment]]) -> Range<Int> {
        let most = assignments.map(\.count).max() ?? 0
        return 0..<(most + rowsOfConditions - 1) / rowsOfConditions
    }

    private func assigning(_ all: [[ConditionValues.Assignment]], part: Int) -> GeneratedRows {
        var copy = self
        for (table, assignments) in all.enumerated() {
            let chosen = assignments.dropFirst(part * Self.rowsOfConditions).prefix(Self.rowsOfConditions)
            for (row, assignment) in zip(tables[table].rows.indices, chosen) {
                for (column, value) in assignment { copy.tables[table].rows[row][column] = value }
            }
        }
        return copy
    }

    /// Returns the rows of which every other has the texts of the one before it but for their case, or a space at the end.
    func withTwins(in kinds: [GeneratedValue]) -> GeneratedRows {
        mapTables { table in
            for column in table.kinds.indices where table.kinds[column].map(kinds.contains) == true {
                for row in stride(from: 1, to: table.rows.count, by: 2) {
                    guard let text = String.fromDatabaseValue(table.rows[row - 1][column]) else { continue }
                    // SQLite knows the case of ASCII letters only, and not every text has one.
                    if row % 4 == 1, table.kinds[column] == .text {
                        table.rows[row - 1][column] = (text + "x").databaseValue
                        table.rows[row][column] = (text + "X").databaseValue
                    } else {
                        table.rows[row][column] =
                            (row % 4 == 1 ? text.uppercased() : text + " ").databaseValue
                    }
                }
            }
        }
    }

    /// The rows, of which two refer to none, and one more does not by each key.
    private var withoutParents: GeneratedRows {
        mapTables { table in
            for (place, key) in table.optionalKeys.enumerated() {
                for row in [1, 2, 3 + place] where row < table.rows.count - 2 {
                    for column in key { table.rows[row][column] = .null }
                }
            }
        }
    }

    /// The rows without those that refer to the second or third one of a table, and without those that refer to them.
    private var childless: GeneratedRows {
        var copy = self
        for (index, table) in tables.enumerated() {
            copy.tables[index].rows = table.rows.filter { row in
                table.references.allSatisfy { reference in
                    guard reference.parent != table.name, let all = self.table(reference.parent),
                        let kept = copy.table(reference.parent)
                    else { return true }
                    let refers = all.isReferred(by: reference, of: row)
                    return !all.rows.contains(where: refers)
                        || (kept.rows.prefix(1) + kept.rows.dropFirst(3)).contains(where: refers)
                }
            }
        }
        return copy
    }

    /// The rows, of which one refers to what the row before it refers to, by each key in turn.
    ///
    /// All keys still hold: the table's own, those that share a column, and those of tables that refer to it.
    private var siblings: GeneratedRows {
        let references = tables.flatMap(\.references)
        return mapTables { table in
            let name = table.name
            let referredTo = Set(references.filter { $0.parent == name }.flatMap(\.parentColumns))
            for (place, reference) in table.references.enumerated() {
                let (own, row) = (Set(reference.own), 2 * place + 1)
                guard row < table.rows.count, !table.uniqueKeys.contains(where: own.isSuperset),
                    table.references.allSatisfy({ own.isDisjoint(with: $0.own) || own.isSuperset(of: $0.own) }
                    ),
                    !own.contains(where: { referredTo.contains(table.columns[$0]) })
                else { continue }
                for column in own { table.rows[row][column] = table.rows[row - 1][column] }
            }
        }
    }

    /// Returns the rows with longer texts in the columns of a name, of which neither the beginning nor the end tells them apart.
    private func lengthened(_ column: SQLName, by length: Int) -> GeneratedRows {
        let filling = String(repeating: "x", count: length)
        return mapTables { table in
            guard let position = table.columns.firstIndex(of: column), table.kinds[position] == .text else {
                return
            }
            for row in table.rows.indices {
                guard let text = String.fromDatabaseValue(table.rows[row][position]) else { continue }
                table.rows[row][position] = (filling + text + filling).databaseValue
            }
        }
    }

    /// Returns the rows with a null in a column of two neighbours.
    private func null(in column: SQLName, of name: SQLName) -> GeneratedRows {
        mapTables { table in
            guard table.name == name, let column = table.columns.firstIndex(of: column) else { return }
            for row in table.rows.indices.dropFirst(2).prefix(2) { table.rows[row][column] = .null }
        }
    }

    /// The rows, of which one has nulls, and one the values of another, wherever the schema lets them.
    var surprising: GeneratedRows {
        mapTables { table in
            let count = table.rows.count
            guard count > 3 else { return }
            for column in table.nullable { table.rows[count - 1][column] = .null }
            for column in table.repeatable { table.rows[count - 2][column] = table.rows[count - 3][column] }
        }
    }

    /// Returns the rows with these ids, in their tables and in those that refer to them.
    private func renumbered(_ ids: [Int64]) -> GeneratedRows {
        var copy = self
        for table in tables where table.key.count == 1 && table.hasRowID {
            copy = copy.giving(ids.map(\.databaseValue), toRowsFrom: 0, of: table)
        }
        return copy
    }

    /// Returns the rows with keys that conditions name, beside the key or a column that refers to it.
    private func renamed(_ conditions: ConditionValues) -> GeneratedRows {
        let references = tables.flatMap { table in table.references.map { (table, $0) } }
        func isReferredTo(_ table: SQLName, _ column: SQLName) -> Bool {
            references.contains { $1.parent == table && $1.parentColumns.contains(column) }
        }
        var copy = self
        for table in tables {
            guard let kind = table.kindOfKey else { continue }
            let key = table.columns[table.key[0]]
            let referring = references.filter { $1.parent == table.name && $1.parentColumns.contains(key) }
            // The keys of a table whose key is another one's, too, would be left behind.
            let isAlone = referring.allSatisfy { other, reference in
                reference.own.count == 1 && !isReferredTo(other.name, other.columns[reference.own[0]])
            }
            guard isAlone, table.hasRowID || !referring.isEmpty else { continue }
            let names = [key] + referring.map { $0.columns[$1.own[0]] }
            let values = names.flatMap { conditions.values(of: $0, kind) }
            copy = copy.giving(values, toRowsFrom: 1, of: table)
        }
        return copy
    }

    /// Returns the rows of which two in each table have the values that two of the first column's table have.
    private func sharing(_ columns: [Column]) -> GeneratedRows {
        guard let first = columns.first, let source = table(first.table),
            let position = source.columns.firstIndex(of: first.name)
        else { return self }
        let values = source.rows.dropFirst().prefix(2).map { $0[position] }
        return columns.dropFirst().reduce(self) { rows, column in
            guard column.table != first.table, let table = rows.table(column.table),
                let position = table.columns.firstIndex(of: column.name)
            else { return rows }
            if table.key == [position] { return rows.giving(values, toRowsFrom: 1, of: table) }
            guard table.kinds[position] != nil else { return rows }
            return zip(table.rows.indices.dropFirst(), values).reduce(rows) {
                $0.setting(position, to: $1.1, in: $1.0, of: column.table)
            }
        }
    }

    /// Returns the rows with these keys, in their table and in those that refer to it.
    ///
    /// - Parameter first: the first row that gets one.
    private func giving(
        _ keys: [DatabaseValue], toRowsFrom first: Int, of table: Table
    ) -> GeneratedRows {
        let old = table.rows.map { $0[table.key[0]] }
        let others = keys.reduce(into: [DatabaseValue]()) { found, key in
            if !old.contains(key), !found.contains(key) { found.append(key) }
        }
        let new = Dictionary(zip(old.dropFirst(first), others), uniquingKeysWith: { $1 })
        return mapTables { other in
            let key = table.columns[table.key[0]]
            let referring = other.references.filter {
                $0.parent == table.name && $0.parentColumns == [key]
            }
            let columns = referring.flatMap(\.own) + (other.name == table.name ? table.key : [])
            for row in other.rows.indices {
                for column in Set(columns) {
                    other.rows[row][column] = new[other.rows[row][column]] ?? other.rows[row][column]
                }
            }
        }
    }

    /// Returns the rows with each value of a column in another row; nil if all are alike.
    package func rotating(_ column: SQLName, of name: SQLName) -> GeneratedRows? {
        let changed = mapTables { table in
            guard table.name == name, let position = table.columns.firstIndex(of: column) else { return }
            let values = table.rows.map { $0[position] }
            for row in values.indices {
                table.rows[row][position] = values[(row + 1) % values.count]
            }
        }
        return differs(from: changed, in: name) ? changed : nil
    }

    /// Returns the rows without one.
    func leavingOut(_ row: Int, of name: SQLName) -> GeneratedRows { leavingOut([row], of: name) }

    /// Returns the rows without some.
    func leavingOut(_ rows: Set<Int>, of name: SQLName) -> GeneratedRows {
        mapTables { table in
            guard table.name == name else { return }
            table.rows = table.rows.indices.filter { !rows.contains($0) }.map { table.rows[$0] }
        }
    }

    /// Returns the rows with the values of some columns exchanged between two of them; nil if that changes nothing.
    func exchanging(_ columns: [Int], _ first: Int, _ second: Int, of name: SQLName) -> GeneratedRows? {
        let changed = mapTables { table in
            guard table.name == name else { return }
            for column in columns {
                let value = table.rows[first][column]
                table.rows[first][column] = table.rows[second][column]
                table.rows[second][column] = value
            }
        }
        guard let (old, new) = table(name).flatMap({ old in changed.table(name).map { (old, $0) } }),
            Set(old.rows) != Set(new.rows)
        else { return nil }
        return changed
    }

    /// Returns the rows with another value in a column of one of them.
    func setting(_ column: Int, to value: DatabaseValue, in row: Int, of name: SQLName) -> GeneratedRows {
        mapTables { if $0.name == name { $0.rows[row][column] = value } }
    }

    /// Returns the rows of a table to which none refers.
    func unreferredRows(of name: SQLName) -> Set<Int> {
        guard let parent = table(name) else { return [] }
        return Set(
            parent.rows.indices.filter { index in
                !tables.contains { table in
                    table.references.contains { reference in
                        reference.parent == name
                            && table.rows.contains {
                                parent.isReferred(by: reference, of: $0)(parent.rows[index])
                            }
                    }
                }
            })
    }

    /// Returns the rows with every reference to a table's rows made one to its first; nil if there is none.
    func referringToFirst(of name: SQLName) -> GeneratedRows? {
        guard let parent = table(name), let first = parent.rows.first else { return nil }
        var isChanged = false
        let changed = mapTables { table in
            for reference in table.references where reference.parent == name && reference.isDeclared {
                let key = reference.parentColumns.compactMap { parent.columns.firstIndex(of: $0) }
                guard key.count == reference.own.count else { continue }
                for row in table.rows.indices
                where !reference.own.contains(where: { table.rows[row][$0].isNull }) {
                    isChanged = true
                    for (own, other) in zip(reference.own, key) { table.rows[row][own] = first[other] }
                }
            }
        }
        return isChanged ? changed : nil
    }

    private func mapTables(_ change: (inout Table) -> Void) -> GeneratedRows {
        var copy = self
        for index in tables.indices { change(&copy.tables[index]) }
        return copy
    }
}

extension GeneratedRows.Table {
    /// Returns values that a column may hold instead of one, as far as its type and its checks tell: the schema decides.
    func others(than value: DatabaseValue, in column: Int) -> [DatabaseValue] {
        let changed: [DatabaseValue] =
            switch value.storage {
            case .int64(let number): [number &+ 1, number &- 1].map(\.databaseValue)
            case .double(let number): [(number + 1).databaseValue]
            case .string(let text):
                text.isEmpty
                    ? ["x".databaseValue]
                    : ["x", "0", "1"].map { (String(text.dropLast()) + $0).databaseValue }
            case .null, .blob: []
            }
        return (choices[column] + changed).filter { $0 != value }
    }

    fileprivate init(_ layout: TableLayout, _ rows: [[DatabaseValue]], _ parents: Set<[SQLName]>) {
        func positions(_ names: [SQLName]) -> [Int] {
            names.compactMap { name in layout.columns.firstIndex { $0.name == name } }
        }
        name = layout.name
        columns = layout.columns.map(\.name)
        let key = positions(layout.primaryKey)
        self.key = key
        references = layout.references.map {
            ($0.parent, positions($0.columns), $0.parentColumns, $0.isDeclared)
        }
        uniqueKeys =
            ([layout.primaryKey] + layout.indexes.filter(\.isUnique).map { $0.columns.compactMap(\.self) })
            .map { Set(positions($0)) }.filter { !$0.isEmpty }
        optionalKeys = references.filter(\.isDeclared).map { reference in
            reference.own.filter { !layout.columns[$0].isRequired }
        }.filter { !$0.isEmpty }
        let keys = references.map(\.own)
        let together = keys.filter { $0.count > 1 }
        groups =
            together
            + layout.columns.indices.filter { column in !together.contains { $0.contains(column) } }.map {
                [$0]
            }
        let loose = layout.columns.enumerated().filter { position, column in
            !column.isRowID && !keys.contains { $0.contains(position) }
                && !parents.contains([layout.name, column.name])
        }
        checked = loose.filter { !layout.checks(of: $1).isEmpty }.map { ($0, GeneratedValue($1)) }
        let unchecked = Set(loose.map(\.offset)).subtracting(checked.map(\.column))
        let kinds = layout.columns.enumerated().map { unchecked.contains($0) ? GeneratedValue($1) : nil }
        self.kinds = kinds
        let names = Set(layout.columns.map(\.name))
        choices = layout.columns.map { column in
            let checks = layout.checks(of: column).filter { $0.names.intersection(names) == [column.name] }
            return column.isKey ? [] : checks.flatMap(\.literals)
        }
        hasRowID = layout.columns.contains(where: \.isRowID)
        kindOfKey =
            layout.columns.enumerated().first { position, column in
                key == [position] && layout.checks(of: column).isEmpty
                    && !keys.contains { $0.contains(position) }
            }.map { GeneratedValue($1) }
        let free = kinds.indices.filter { kinds[$0] != nil }
        nullable = Set(free.filter { !layout.columns[$0].isRequired })
        repeatable = Set((free + keys.flatMap(\.self)).filter { !layout.columns[$0].isUnique })
        self.rows = rows
    }

    /// The rows of a full-text table that holds its own texts; nil for every other table.
    fileprivate init?(fullText object: SchemaObject) {
        guard let table = FullTextTable(object), table.content == .own else { return nil }
        name = object.name
        let columns = FullTextTable.columns(of: object)
        self.columns = columns
        key = []
        (hasRowID, kindOfKey) = (false, nil)
        (nullable, repeatable, checked) = ([], [], [])
        (references, uniqueKeys, optionalKeys) = ([], [], [])
        groups = columns.indices.map { [$0] }
        kinds = columns.map { _ in .text }
        choices = columns.map { _ in [] }
        rows = (1...GeneratedRows.rowsPerTable).map { row in
            columns.indices.map { "harbour \($0 * 100 + row)".databaseValue }
        }
    }
}

extension Array {
    /// The element at a place in a circle; nil for rows that find every element taken.
    fileprivate func element(_ place: Int, of row: Int) -> Element? {
        row < count ? self[place % count] : nil
    }
}

extension String {
    /// The names in a path into JSON, such as `$.first`.
    var jsonKeys: [String] {
        guard hasPrefix("$") || allSatisfy({ $0.isLetter || $0 == "_" }), count < 40 else { return [] }
        return split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init)
    }
}
