package import GRDB
package import SchemaMigrations
import TextOutput

/// A database's schema at one moment, for comparing it with another.
///
/// It leaves out SQLite's own tables and this package's.
package struct DatabaseSchema: Sendable {
    /// The objects by type and name.
    let objects: [Key: SchemaObject]
    private let shapes: [SQLName: TableShape]
    /// The settings that a database file keeps, such as `user_version`, by title.
    private let settings: [String: String]

    /// The type and the name of an object.
    struct Key: Hashable {
        let type: String
        let name: SQLName

        /// The object in a sentence, such as ``table `entry` ``.
        var title: String { "\(type) \(name.text.quoted)" }
    }

    /// True if the database has no table, index, view or trigger of its own.
    package var isEmpty: Bool { objects.isEmpty }

    /// Reads the schema of a database.
    package init(_ db: Database) throws {
        let objects = try SchemaObject.fetchAll(db)
        self.objects = Dictionary(
            objects.map { (Key(type: $0.type, name: $0.name), $0) }, uniquingKeysWith: { $1 })
        shapes = try Dictionary(
            objects.filter { $0.type == "table" }.map { ($0.name, try TableShape(db, table: $0.name)) },
            uniquingKeysWith: { $1 })
        settings = try Dictionary(
            ["application_id", "encoding", "user_version"].map { name in
                ("PRAGMA \(name)", try String.fetchOne(db, sql: "PRAGMA main.\(name)") ?? "")
            }, uniquingKeysWith: { $1 })
    }

    /// The names that the SQL of an object may mean.
    ///
    /// In a table and its indexes, a column of another table is none, as it is in SQLite.
    private func names(in object: SchemaObject) -> Set<SQLName> {
        let isTable = object.type == "table" || object.type == "index"
        let tables = isTable ? [object.table] : Array(shapes.keys)
        let columns = tables.flatMap { shapes[$0]?.columns.map { SQLName($0.name) } ?? [] }
        return Set(columns + (isTable ? [] : objects.values.map(\.name)))
    }

    /// The full-text tables that index the texts of other tables.
    package var externalFullTextTables: [(name: SQLName, table: FullTextTable)] {
        objects.values.compactMap { object in
            FullTextTable(object).map { (name: object.name, table: $0) }
        }.filter { $0.table.content == .external }.sorted { $0.name.text < $1.name.text }
    }

    /// Returns whether a table exists, and never gives the id of a deleted row again.
    func hasSequence(_ table: SQLName) -> Bool {
        objects[Key(type: "table", name: table)]?.hasSequence == true
    }

    /// Compares the schema with a later or another one.
    package func difference(to other: DatabaseSchema) -> SchemaDifference {
        var changes: [SchemaDifference.Change] = []
        let keys = Set(objects.keys).union(other.objects.keys).map { (key: $0, title: $0.title) }
        for (key, title) in keys.sorted(by: { $0.title < $1.title }) {
            switch (objects[key], other.objects[key]) {
            case (let old?, let new?):
                guard old.meaning(names(in: old)) != new.meaning(other.names(in: new)) else { continue }
                let finer =
                    columnChanges(of: old.name, in: other, title)
                    + constraintChanges(from: old, to: new, names(in: old).union(other.names(in: new)), title)
                changes += finer.isEmpty ? [.init(subject: title, before: old.sql, after: new.sql)] : finer
            case (let old, let new):
                changes.append(.init(subject: title, before: old?.sql, after: new?.sql, isObject: true))
            }
        }
        changes += Self.changes(
            settings.sorted { $0.key < $1.key }.map { ($0.key, $0.value) },
            other.settings.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
        return SchemaDifference(changes: changes)
    }

    /// Compares the columns and foreign keys of a table that both schemas have.
    private func columnChanges(
        of table: SQLName, in other: DatabaseSchema, _ title: String
    ) -> [SchemaDifference.Change] {
        guard let old = shapes[table], let new = other.shapes[table] else { return [] }
        var changes = Self.changes(
            old.columns.map { ("\(title): column \($0.name.quoted)", $0.definition) },
            new.columns.map { ("\(title): column \($0.name.quoted)", $0.definition) })
        changes += Self.changes(
            old.foreignKeys.map { ("\(title): foreign key (\($0.columns))", $0.reference) },
            new.foreignKeys.map { ("\(title): foreign key (\($0.columns))", $0.reference) })
        let names = (old.columns.map(\.name), new.columns.map(\.name))
        let shared = Set(names.0).intersection(names.1)
        let (before, after) = (names.0.filter(shared.contains), names.1.filter(shared.contains))
        if before != after {
            changes.append(
                .init(
                    subject: "\(title): order of the columns", before: before.joined(separator: ", "),
                    after: after.joined(separator: ", ")))
        }
        return changes
    }

    /// Compares what the columns' types, defaults and foreign keys do not show.
    private func constraintChanges(
        from old: SchemaObject, to new: SchemaObject, _ names: Set<SQLName>, _ title: String
    ) -> [SchemaDifference.Change] {
        guard old.type == "table", !old.isVirtual, !new.isVirtual else { return [] }
        let (one, other) = (TableOutline(old, names: names), TableOutline(new, names: names))
        let shown: Set<String> = ["PRIMARY", "NOT", "DEFAULT", "REFERENCES", "NULL"]
        func hidden(_ column: ColumnOutline) -> [String: Set<[[UInt8]]>] {
            column.constraints.filter { !shown.contains($0.key) }
        }
        var changes = one.columns.compactMap { column -> SchemaDifference.Change? in
            guard let found = other.column(column.name), hidden(column) != hidden(found) else { return nil }
            return .init(
                subject: "\(title): definition of column \(column.name.text.quoted)", before: column.text,
                after: found.text)
        }
        func texts(_ table: TableOutline, of object: SchemaObject) -> [String: String] {
            var texts = Dictionary(
                table.constraintTexts.filter { !$0.isForeignKey }.map { ($0.key, $0.text) },
                uniquingKeysWith: { $1 })
            for option in table.options { texts[option] = option == "WITHOUT" ? "WITHOUT ROWID" : option }
            if object.hasSequence { texts["AUTOINCREMENT"] = "AUTOINCREMENT" }
            return texts
        }
        let (before, after) = (texts(one, of: old), texts(other, of: new))
        changes += before.merging(after) { $1 }.sorted { $0.key < $1.key }
            .filter { before[$0.key] == nil || after[$0.key] == nil }.map { key, text in
                .init(
                    subject: "\(title): \(text.quoted)", before: before[key], after: after[key],
                    isObject: true)
            }
        return changes
    }

    private static func changes(
        _ old: [(subject: String, text: String)], _ new: [(subject: String, text: String)]
    ) -> [SchemaDifference.Change] {
        let before = Dictionary(old, uniquingKeysWith: { "\($0); \($1)" })
        let after = Dictionary(new, uniquingKeysWith: { "\($0); \($1)" })
        var subjects = old.map(\.subject)
        subjects += new.map(\.subject).filter { before[$0] == nil }
        var seen: Set<String> = []
        // Swift takes two spellings of a character for the same, and SQLite does not.
        return subjects.filter {
            seen.insert($0).inserted && before[$0].map { Array($0.utf8) } != after[$0].map { Array($0.utf8) }
        }
        .map { .init(subject: $0, before: before[$0], after: after[$0]) }
    }
}

extension SchemaObject {
    /// True if it is a table with `AUTOINCREMENT`.
    fileprivate var hasSequence: Bool {
        type == "table" && comparable([]).contains(Array("autoincrement".utf8))
    }
}
