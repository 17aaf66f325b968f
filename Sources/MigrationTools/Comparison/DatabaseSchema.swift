package import GRDB
import SchemaMigrations
import TextOutput

/// A database's schema at one moment, for comparing it with another.
///
/// It leaves out SQLite's own tables and this package's.
package struct DatabaseSchema: Sendable {
    /// The objects by their titles, such as ``table `entry` ``.
    let objects: [String: SchemaObject]
    private let shapes: [SQLName: TableShape]

    /// Whether the database has no table, index, view or trigger of its own.
    package var isEmpty: Bool { objects.isEmpty }

    /// Reads the schema of a database.
    package init(_ db: Database) throws {
        let objects = try SchemaObject.fetchAll(db)
        self.objects = Dictionary(
            objects.map { ("\($0.type) \($0.name.text.quoted)", $0) }, uniquingKeysWith: { $1 })
        shapes = try Dictionary(
            objects.filter { $0.type == "table" }.map { ($0.name, try TableShape(db, table: $0.name)) },
            uniquingKeysWith: { $1 })
    }

    /// Compares the schema with a later or another one.
    package func difference(to other: DatabaseSchema) -> SchemaDifference {
        var changes: [SchemaDifference.Change] = []
        for title in Set(objects.keys).union(other.objects.keys).sorted() {
            switch (objects[title], other.objects[title]) {
            case (let old?, let new?):
                guard old.comparable != new.comparable else { continue }
                let finer = columnChanges(of: old.name, in: other, title)
                changes += finer.isEmpty ? [.init(subject: title, before: old.sql, after: new.sql)] : finer
            case (let old, let new):
                changes.append(.init(subject: title, before: old?.sql, after: new?.sql, isObject: true))
            }
        }
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

    private static func changes(
        _ old: [(subject: String, text: String)], _ new: [(subject: String, text: String)]
    ) -> [SchemaDifference.Change] {
        let before = Dictionary(old, uniquingKeysWith: { "\($0); \($1)" })
        let after = Dictionary(new, uniquingKeysWith: { "\($0); \($1)" })
        var subjects = old.map(\.subject)
        subjects += new.map(\.subject).filter { before[$0] == nil }
        var seen: Set<String> = []
        return subjects.filter { seen.insert($0).inserted && before[$0] != after[$0] }
            .map { .init(subject: $0, before: before[$0], after: after[$0]) }
    }
}
