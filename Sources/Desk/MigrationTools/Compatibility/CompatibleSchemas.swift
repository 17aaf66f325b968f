package import GRDB
import SchemaMigrations
import TextOutput

/// Compares two schemas, to find out whether an app that knows only the older one can use the newer one.
///
/// It can if the newer one only has more: tables, columns that are nullable or have a default, indexes that are not
/// unique, and views. Everything else is a problem.
package struct CompatibleSchemas {
    /// The reasons why an older app may fail, a clause each; empty if it does not.
    package private(set) var problems: [String] = []

    private let old: [SQLName: TableLayout]
    private let new: [SQLName: TableLayout]
    /// The tables in which a row that an older app inserts may take the place of another one.
    private var replacing: Set<SQLName> = []

    /// Compares the schemas of two databases.
    package init(from before: Database, to after: Database) throws {
        func layouts(_ db: Database) throws -> [SQLName: TableLayout] {
            db.clearSchemaCache()
            return try Dictionary(
                TableLayout.fetchAll(db).map { ($0.name, $0) }, uniquingKeysWith: { $1 })
        }
        (old, new) = (try layouts(before), try layouts(after))
        let (earlier, later) = (try SchemaDescription(before), try SchemaDescription(after))
        let names = earlier.names.union(later.names)
        let (olds, news) = (earlier.byKey, later.byKey)
        for key in olds.keys.sorted(by: { $0.title < $1.title }) where news[key] == nil {
            problems.append("\(key.title) is gone")
        }
        for (key, object) in news.sorted(by: { $0.key.title < $1.key.title }) {
            guard let earlier = olds[key] else {
                judge(object)
                continue
            }
            let outline =
                key.type == "table" && !earlier.isVirtual && !object.isVirtual
                ? TableOutline(earlier, names: names) : nil
            if outline?.replacesRows == true { replacing.insert(key.name) }
            if earlier.isSame(as: object, names: names), !isReordered(key) { continue }
            if let outline {
                compare(outline, TableOutline(object, names: names))
            } else {
                problems.append("\(key.title) is different")
            }
        }
        try judgeForeignKeys(after)
        for setting in ["application_id", "user_version", "encoding"] {
            let values = try [before, after].map {
                try String.fetchOne($0, sql: "PRAGMA main.\(setting)") ?? ""
            }
            if values[0] != values[1] { problems.append("PRAGMA \(setting) is another") }
        }
    }

    // MARK: Objects

    /// Judges an object that only the newer schema has.
    private mutating func judge(_ object: SchemaObject) {
        switch object.type {
        case "trigger": problems.append("\(object.key.title) is new, and acts on what an older app writes")
        case "index":
            // An older app writes nothing to a table that it does not know.
            guard let table = new[object.table], old[object.table] != nil else { return }
            let index = table.indexes.first { $0.name == object.name }
            if index?.isUnique != false {
                problems.append("\(object.key.title) is unique, and refuses rows that an older app may write")
            } else if index?.isPartial != false || index?.columns.contains(where: { $0 == nil }) != false {
                problems.append(
                    "\(object.key.title) has an expression, which may fail for a value of an older app")
            }
        default: break
        }
    }

    private func isReordered(_ key: DatabaseSchema.Key) -> Bool {
        guard key.type == "table", let old = old[key.name], let new = new[key.name] else { return false }
        return old.columns.map(\.name) != new.columns.map(\.name)
    }

    /// Compares a table that both schemas have.
    private mutating func compare(_ old: TableOutline, _ new: TableOutline) {
        let table = "table \(old.name.text.quoted)"
        if !old.hasSameConstraints(as: new) { problems.append("\(table) has other constraints") }
        for column in old.columns {
            let title = "column \(column.name.text.quoted) of \(table)"
            guard let kept = new.column(column.name) else {
                problems.append("\(title) is gone")
                continue
            }
            if kept.clauses != column.clauses { problems.append("\(title) is different") }
        }
        let kept = old.columns.map(\.name).filter { new.column($0) != nil }
        if kept != new.columns.map(\.name).filter({ old.column($0) != nil }) {
            problems.append("the columns of \(table) are in another order")
        } else if let last = old.columns.last, new.columns.count >= old.columns.count,
            new.columns[old.columns.count - 1].name != last.name
        {
            problems.append("\(table) has a new column between others")
        }
        for column in new.columns where old.column(column.name) == nil {
            judge(column, in: table)
            if old.replacesRows {
                problems.append(
                    "column \(column.name.text.quoted) of \(table) loses its value where an older app replaces the row, as ON CONFLICT REPLACE says"
                )
            }
        }
    }

    /// Judges a new column of a table that an older app writes to.
    private mutating func judge(_ column: ColumnOutline, in table: String) {
        let title = "column \(column.name.text.quoted) of \(table)"
        if (["rowid", "_rowid_", "oid"] as [SQLName]).contains(column.name) {
            problems.append("\(title) hides the row's id")
        }
        if column.generation != nil {
            problems.append("\(title) is generated, and its expression may fail for a value of an older app")
        }
        if column.isPrimaryKey || column.isUnique || column.constraints["CHECK"] != nil {
            problems.append("\(title) has a constraint, which may refuse rows of an older app")
        }
        if column.isNotNull, column.defaultValue == nil, column.generation == nil {
            problems.append("\(title) is NOT NULL and has no default, so an older app cannot insert rows")
        }
        if column.constraints["REFERENCES"] != nil, column.defaultValue != nil {
            problems.append("\(title) refers to a row by default, which an older app may delete")
        }
    }

    // MARK: Foreign keys

    /// Judges the new foreign keys: what an older app deletes must not be held by rows that it does not know.
    private mutating func judgeForeignKeys(_ db: Database) throws {
        // The tables that change when an older app changes its own.
        var touched = Set(old.keys)
        var isComplete = false
        while !isComplete {
            let reached = new.values.filter { table in
                !touched.contains(table.name) && table.references.contains { touched.contains($0.parent) }
            }.map(\.name)
            isComplete = reached.isEmpty
            touched.formUnion(reached)
        }
        for table in new.values.sorted(by: { $0.name.text < $1.name.text }) {
            let known = old[table.name]?.references ?? []
            for key in table.references
            where touched.contains(key.parent)
                && !known.contains(where: { $0.columns == key.columns && $0.parent == key.parent })
            {
                judge(key, of: table)
            }
            do {
                _ = try Row.fetchOne(
                    db, sql: "SELECT 1 FROM pragma_foreign_key_check(?, 'main')", arguments: [table.name])
            } catch let error as DatabaseError where old[table.name] == nil {
                problems.append(error.message ?? "a foreign key of table \(table.name.text.quoted) is wrong")
            }
        }
    }

    private mutating func judge(_ key: TableLayout.Reference, of table: TableLayout) {
        let columns = key.columns.compactMap { table.column(named: $0) }
        let mayBeNull = columns.allSatisfy { !$0.isRequired && table.checks(of: $0).isEmpty }
        // Rows that an older app knows must not go with the row that it deletes.
        let isNew = old[table.name] == nil
        func isHandled(_ event: String) -> Bool {
            (isNew || event == "ON UPDATE") && key.actions.contains("\(event) CASCADE")
                || mayBeNull && key.actions.contains("\(event) SET NULL")
        }
        let remedy = isNew ? "CASCADE or SET NULL" : "SET NULL"
        let parent = new[key.parent]
        // SQLite gives a row its id, and apps do not change it.
        let isRowID =
            key.parentColumns.count == 1
            && key.parentColumns.allSatisfy { parent?.column(named: $0)?.isRowID == true }
        let title =
            "foreign key \(key.columns.map(\.text.quoted).joined(separator: ", ")) of table \(table.name.text.quoted)"
        if replacing.contains(key.parent) {
            problems.append(
                "\(title) loses rows, or what they refer to, where an older app replaces a row of table \(key.parent.text.quoted), as ON CONFLICT REPLACE says"
            )
        }
        if !isHandled("ON DELETE") {
            problems.append(
                "\(title) keeps an older app from deleting rows of table \(key.parent.text.quoted): it needs ON DELETE \(remedy)"
            )
        }
        if !isRowID, !isHandled("ON UPDATE") {
            problems.append(
                "\(title) keeps an older app from updating rows of table \(key.parent.text.quoted): it needs ON UPDATE CASCADE or SET NULL"
            )
        }
    }
}
