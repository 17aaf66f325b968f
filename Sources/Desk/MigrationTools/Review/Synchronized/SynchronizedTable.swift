import SchemaMigrations
import TextOutput

/// A table that a sync engine mirrors, as SQLite and its SQL describe it.
struct SynchronizedTable {
    /// A mistake in the definition of a synchronized table.
    struct Problem: Equatable {
        let rule: ReviewRule
        let sentence: String
    }

    let layout: TableLayout
    private let outline: TableOutline

    init?(_ layout: TableLayout, in schema: ReviewedSchema) {
        guard let object = schema.object(of: layout.name) else { return nil }
        self.layout = layout
        outline = TableOutline(object, names: object.names)
    }

    var name: SQLName { layout.name }

    /// The columns that reject a row without a value.
    var columnsThatRejectNull: [ColumnOutline] {
        outline.columns.filter { column in
            guard column.isNotNull, !layout.primaryKey.contains(column.name), column.generation == nil else {
                return false
            }
            let replaces = column.constraints["NOT"]?.allSatisfy { $0.contains(Array("replace".utf8)) }
            return replaces != true || column.defaultValue == nil
        }
    }

    /// The mistakes in the table's definition, whatever it was before.
    var problems: [Problem] {
        let title = "Table \(name.text.quoted)"
        var found = [keyProblem].compactMap(\.self).map {
            Problem(rule: .syncedKey, sentence: "\(title) \($0).")
        }
        for index in layout.indexes where index.isUnique && index.origin != .primaryKey {
            let columns = index.columns.map { $0?.text ?? "an expression" }.joined(separator: ", ")
            found.append(
                Problem(
                    rule: .syncedUnique,
                    sentence:
                        "\(title) is UNIQUE in \(columns): two devices may each have a row with the same value."
                ))
        }
        for key in layout.references
        where !key.actions.contains(where: { $0.hasPrefix("ON DELETE") && !$0.hasSuffix("RESTRICT") }) {
            found.append(
                Problem(
                    rule: .syncedDelete,
                    sentence:
                        "Foreign key \(key.columns.map(\.text).joined(separator: ", ")) of table \(name.text.quoted) has no ON DELETE action that the sync engine supports."
                ))
        }
        for column in layout.columns where Self.reserved.contains(column.name) {
            found.append(
                Problem(
                    rule: .syncedName,
                    sentence:
                        "Column \(column.name.text.quoted) of table \(name.text.quoted) has a name of CloudKit's."
                ))
        }
        return found
    }

    private var keyProblem: String? {
        guard let key = layout.primaryKey.first, let column = layout.column(named: key) else {
            return "has no primary key"
        }
        if layout.primaryKey.count > 1 { return "has a primary key of several columns" }
        if column.affinity == .integer {
            return "has a number as its key, which two devices give to two rows"
        }
        // "PRIMARY KEY ON CONFLICT REPLACE" is about another row with the same key (lang_conflict.html).
        let replaces = outline.columns.contains { column in
            column.constraints["PRIMARY"]?.contains { $0.contains(Array("replace".utf8)) } == true
        }
        return replaces ? "deletes a row in whose place another one with its key comes" : nil
    }

    /// The names of CloudKit's own fields, which SQLiteData's documents list.
    private static let reserved: Set<SQLName> = [
        "creationDate", "creatorUserRecordID", "etag", "lastModifiedUserRecordID", "modificationDate",
        "modifiedByDevice", "recordChangeTag", "recordID", "recordType",
    ]
}
