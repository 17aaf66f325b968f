import SchemaMigrations
import TextOutput

/// The table that a migration makes of an old one: the wanted one, as far as no data is lost.
struct TableMerge {
    /// The table as the migration leaves it.
    private(set) var object: SchemaObject
    private(set) var questions: [SchemaQuestion] = []
    /// The columns of the wanted table that are left out.
    private(set) var missing: Set<SQLName> = []
    /// The changes that rows may not fit, in words.
    private(set) var tightened: [String] = []
    /// The columns that compare other values as equal.
    private(set) var recollated: Set<SQLName> = []

    private let old: TableOutline
    private let wanted: TableOutline
    private let losses: GeneratedMigration.Losses

    init(
        _ old: TableOutline, _ wanted: TableOutline, _ losses: GeneratedMigration.Losses, names: Set<SQLName>,
        dropping drops: Set<SQLName> = []
    ) {
        self.old = old
        self.wanted = wanted
        self.losses = losses
        object = wanted.object
        var texts: [(name: SQLName, text: String)] = []
        var isEdited = false
        for column in wanted.columns {
            if let before = old.column(column.name) {
                let keeps = keepsOld(before, column)
                isEdited = isEdited || keeps
                texts.append((column.name, keeps ? before.text : column.text))
            } else if canBeAdded(column) {
                texts.append((column.name, column.text))
            } else {
                missing.insert(column.name)
                isEdited = true
            }
        }
        for (index, column) in old.columns.enumerated()
        where losses == .ask && column.generation == nil && wanted.column(column.name) == nil
            && !drops.contains(column.name)
        {
            askAboutDropping(column)
            let place = old.columns[..<index].last { before in texts.contains { $0.name == before.name } }
            let position = place.flatMap { before in texts.firstIndex { $0.name == before.name } }
            texts.insert((column.name, column.text), at: position.map { $0 + 1 } ?? 0)
            isEdited = true
        }
        if isEdited { object = object.with(sql: wanted.sql(columns: texts.map(\.text))) }
        let merged = TableOutline(object, names: names)
        if isEdited, let reason = conflict(in: merged) {
            stay(reason, remedy: "Answer the questions about its columns, or rebuild it by hand.")
        } else if let column = inventedIDs(in: merged) {
            stay(
                "column \(column.text.quoted) becomes the row's id, and SQLite would make one up where it is NULL",
                remedy: "Make the column NOT NULL in a migration before, or rebuild the table by hand.")
        } else {
            noteTightenedConstraints(of: merged)
        }
    }

    /// Leaves the table as it is.
    private mutating func stay(_ reason: String, remedy: String) {
        object = old.object
        missing = Set(wanted.columns.map(\.name)).subtracting(old.columns.map(\.name))
        tightened = []
        questions.append(
            SchemaQuestion(
                "table \(wanted.name.text.quoted)", "It stays as it is, because \(reason). \(remedy)"))
    }

    /// Returns the column that becomes the row's id though it may be null; nil if there is none.
    private func inventedIDs(in merged: TableOutline) -> SQLName? {
        guard losses == .ask, let name = merged.rowIDAlias, let before = old.column(name),
            let after = merged.column(name), !old.isRequired(before),
            !after.isNotNull || after.defaultValue == nil
        else { return nil }
        return name
    }

    /// Returns why the columns that are kept or left out do not fit the wanted table; nil if they do.
    private func conflict(in merged: TableOutline) -> String? {
        if let column = missing.first(where: { merged.uses($0) }) {
            return "the rest of its definition needs column \(column.text.quoted)"
        }
        if merged.columns.count(where: \.isPrimaryKey) > 1
            || merged.columns.contains(where: \.isPrimaryKey)
                && Set(merged.primaryKey) != Set(wanted.primaryKey)
            || merged.primaryKey.contains(where: { merged.column($0) == nil })
        {
            return "it would have two primary keys"
        }
        let types: Set<String> = ["INT", "INTEGER", "REAL", "TEXT", "BLOB", "ANY"]
        if merged.isStrict,
            let column = merged.columns.first(where: { !types.contains($0.type.uppercasedASCII) })
        {
            return "STRICT does not allow the type of column \(column.name.text.quoted)"
        }
        if losses == .ask, merged.isStrict, !old.isStrict,
            let column = merged.columns.first(where: { column in
                wanted.column(column.name).map { SQLName($0.type) != SQLName(column.type) } ?? false
            })
        {
            return "STRICT goes with the new type of column \(column.name.text.quoted)"
        }
        if losses == .ask,
            let column = merged.columns.first(where: { column in
                old.column(column.name).map {
                    column.generation == nil && !old.keepsValues(of: $0, as: column, in: merged)
                } ?? false
            })
        {
            return "the values of column \(column.name.text.quoted), which would stay, may change in it"
        }
        let gone = old.columns.filter { merged.column($0.name) == nil }
        if let column = merged.columns.first(where: { column in gone.contains { column.uses($0.name) } }) {
            return "column \(column.name.text.quoted) needs a column that is no longer generated"
        }
        return nil
    }

    /// Notes the new constraints that rows may break.
    private mutating func noteTightenedConstraints(of merged: TableOutline) {
        let title = "table \(wanted.name.text.quoted)"
        if merged.isStrict, !old.isStrict { tightened.append("\(title) becomes STRICT") }
        if !Set(merged.constraints).isSubset(of: old.constraints) {
            tightened.append("\(title) gets other constraints")
        }
        if let key = merged.rowIDAlias, old.rowIDAlias != key, old.column(key) != nil {
            tightened.append("\(self.title(key)) becomes the row's id, and takes only integers")
        }
        for column in merged.columns {
            guard let before = old.column(column.name) else {
                noteConstraints(ofNew: column, in: merged)
                continue
            }
            let isComputedAnew =
                column.generation != nil
                && column.constraints["GENERATED"] ?? column.constraints["AS"]
                    != before.constraints["GENERATED"] ?? before.constraints["AS"]
            let words = Self.restrictions(of: column).filter { word in
                isComputedAnew
                    || column.constraints[word]?.isSubset(of: before.constraints[word] ?? []) == false
            }
            note(words.filter { isComputedAnew || $0 != "NOT" }, of: column, "gets")
            if column.constraints["COLLATE"] != before.constraints["COLLATE"] {
                recollated.insert(column.name)
                if merged.isUnique(column) || column.words.contains("CHECK") || merged.uses(column.name) {
                    tightened.append("\(self.title(column.name)) compares other values as equal")
                }
            }
        }
    }

    /// Notes the constraints of a new column that the value breaks which it gets in every row.
    private mutating func noteConstraints(ofNew column: ColumnOutline, in merged: TableOutline) {
        if column.generation != nil {
            return note(Self.restrictions(of: column), of: column, "is generated, and gets")
        }
        guard column.defaultValue != nil, merged.rowIDAlias != column.name else { return }
        if merged.isUnique(column) {
            tightened.append("\(title(column.name)) takes its default in every row, and is unique")
        }
        note(
            Self.restrictions(of: column).filter { ["CHECK", "REFERENCES"].contains($0) }, of: column,
            "takes its default in every row, and gets")
    }

    private mutating func note(_ words: [String], of column: ColumnOutline, _ verb: String) {
        guard !words.isEmpty else { return }
        let names = words.map { ["PRIMARY": "PRIMARY KEY", "NOT": "NOT NULL"][$0] ?? $0 }
        tightened.append("\(title(column.name)) \(verb) \(names.asList)")
    }

    /// The keywords of the constraints that may refuse a value.
    private static func restrictions(of column: ColumnOutline) -> [String] {
        ["PRIMARY", "UNIQUE", "NOT", "CHECK", "REFERENCES"].filter { column.constraints[$0] != nil }
    }

    // MARK: Columns

    private func title(_ column: SQLName) -> String { "column " + "\(wanted.name).\(column)".quoted }

    /// Returns whether a column can be added to rows that exist, and asks if it cannot.
    private mutating func canBeAdded(_ column: ColumnOutline) -> Bool {
        if column.generation != nil || wanted.rowIDAlias == column.name { return true }
        let isKey = wanted.primaryKey.contains(column.name)
        guard column.isNotNull || isKey, column.defaultValue == nil else { return true }
        questions.append(
            SchemaQuestion(
                title(column.name),
                """
                \(isKey ? "It is part of the primary key" : "It is NOT NULL"), and has no default for the rows that exist. \
                Give it a DEFAULT, or \(isKey ? "leave it out of the key" : "allow NULL"), in the schema.
                """))
        return false
    }

    /// Returns whether a column stays as it was, and asks if something would be lost otherwise.
    private mutating func keepsOld(_ before: ColumnOutline, _ after: ColumnOutline) -> Bool {
        if after.generation != nil {
            guard before.generation == nil, losses == .ask else { return false }
            questions.append(
                SchemaQuestion(
                    title(after.name),
                    "It would be generated: the values that it has would be lost. Give the generated column another name."
                ))
            return true
        }
        if !old.keepsValues(of: before, as: after, in: wanted) {
            if losses == .ask {
                questions.append(
                    SchemaQuestion(
                        title(after.name),
                        """
                        \(before.type.isEmpty ? "A column without a type" : before.type) becomes \
                        \(after.type.isEmpty ? "one without a type" : after.type), which may change values. \
                        Add a column of the new type, or rebuild the table by hand.
                        """))
                return true
            }
            tightened.append("\(title(after.name)) becomes \(after.type)")
        }
        let isRequired =
            after.isNotNull || wanted.primaryKey.contains(after.name) && wanted.rowIDAlias != after.name
        guard isRequired, !old.isRequired(before) else { return false }
        if after.defaultValue != nil, after.isNotNull {
            if wanted.isUnique(after) {
                tightened.append("\(title(after.name)) takes its default where it is NULL, and is unique")
            }
            return false
        }
        guard losses == .ask, after.isNotNull else {
            tightened.append("\(title(after.name)) takes no NULL")
            return false
        }
        questions.append(
            SchemaQuestion(
                title(after.name),
                """
                It becomes NOT NULL, and has no default for rows in which it is NULL. Give it a DEFAULT in the schema, or \
                fill it in a file of your own, and redefine the table in the next one (`-- migrations: redefine`).
                """))
        return true
    }

    private mutating func askAboutDropping(_ column: ColumnOutline) {
        let path = "\(old.name).\(column.name)"
        // A column that keeps its values as texts, and one that keeps numbers, are two columns.
        let isText = old.affinity(of: column) == .text
        let added = wanted.columns.filter { other in
            let affinity = wanted.affinity(of: other)
            return old.column(other.name) == nil
                && (isText == (affinity == .text) || [affinity, old.affinity(of: column)].contains(.blob))
        }
        let rename =
            added.first.map {
                " If it is \($0.name.text.quoted) now, pass --rename \("\(path)=\($0.name)".shellWord)."
            } ?? ""
        questions.append(
            SchemaQuestion(
                title(column.name),
                "The schema has no such column. It stays, because dropping it loses its values.\(rename)",
                missing: .init(path: path, isTable: false, newNames: added.map(\.name.text))))
    }
}

extension TableOutline {
    /// Returns whether the values of a column stay what they are in another table's column.
    ///
    /// A column that is not `STRICT` holds values of any type, so that an `INTEGER` may hold reals, which lose digits as
    /// texts.
    fileprivate func keepsValues(
        of column: ColumnOutline, as newColumn: ColumnOutline, in new: TableOutline
    ) -> Bool {
        switch (affinity(of: column), new.affinity(of: newColumn)) {
        case (let old, let new) where old == new: true
        case (_, .blob), (.integer, .numeric), (.numeric, .integer): true
        case (.integer, .text): isStrict
        default: false
        }
    }
}

extension SchemaObject {
    func with(sql: String) -> SchemaObject { SchemaObject(type: type, name: name, table: table, sql: sql) }
}
