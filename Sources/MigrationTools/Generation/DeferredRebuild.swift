import AppMigrations
package import GRDB
package import SchemaMigrations
import TextOutput

/// A rebuild of a table that an app registers as a deferred step, instead of making a migration of it.
package struct DeferredRebuild: Sendable {
    /// The table that the step rebuilds.
    package let table: SQLName
    /// The expressions of the columns that are not copied as they are.
    package private(set) var expressions: [(column: SQLName, text: String)]
    /// The columns that the new table leaves out with their values.
    package let dropped: [SQLName]
    /// The indexes that get new names, because the old table keeps its own until the end.
    package private(set) var renamedIndexes: [(wanted: SQLName, name: SQLName)] = []
    /// The new table and its indexes.
    private(set) var objects: [SchemaObject]

    /// The statements that create the new table and its indexes, a line or more each.
    package var schema: String { objects.map(\.statement).joined(separator: "\n") }

    /// - Parameters:
    ///   - old: the schema before.
    ///   - taken: the names that no index can be given; the given ones are added.
    init(
        _ rebuild: TableRebuild, in wanted: SchemaDescription, old: SchemaDescription,
        taken: inout Set<SQLName>
    ) {
        table = rebuild.table
        expressions = rebuild.copies.filter { $0.expression != $0.column.plain }.map {
            ($0.column, $0.expression)
        }
        objects = wanted.objects.filter { $0.type == "table" && $0.name == rebuild.table }
        let columns = [old, wanted].map { schema in
            schema.byKey[.init(type: "table", name: rebuild.table)].map {
                TableOutline($0, names: schema.names).columns.filter { $0.generation == nil }.map(\.name)
            } ?? []
        }
        dropped = columns[0].filter { !columns[1].contains($0) }
        let names = Set(old.objects.map(\.name))
        for index in wanted.objects where index.type == "index" && index.table == rebuild.table {
            guard names.contains(index.name) else {
                objects.append(index)
                continue
            }
            let name = Self.freeName(for: index.name, taken)
            taken.insert(name)
            renamedIndexes.append((index.name, name))
            objects.append(index.named(name, names: wanted.names))
        }
    }

    /// Returns the name with the next number that is free, such as `photo_by_title_2`.
    private static func freeName(for name: SQLName, _ taken: Set<SQLName>) -> SQLName {
        let digits = name.text.reversed().prefix { $0.isASCII && $0.isNumber }
        let end = String(name.text.dropLast(digits.count))
        let known = end.hasSuffix("_") && digits.count < 10 ? Int(String(digits.reversed())) : nil
        let stem = known == nil ? "\(name.text)_" : end
        var number = max(1, known ?? 1) + 1
        while taken.contains(SQLName("\(stem)\(number)")) { number += 1 }
        return SQLName("\(stem)\(number)")
    }

    /// Runs rebuilds to their end, as a launch does for a step that is `finishing:` them.
    ///
    /// - Throws: `SchemaMigrationError`, if one of them is refused or fails.
    static func run(_ rebuilds: [DeferredRebuild], in database: DatabaseQueue) throws {
        let manager = try MigrationManager(
            currentVersion: "2.0", adopting: Adoption { "1.0" }, store: InMemoryStore())
        let versions = try rebuilds.indices.map { try AppVersion(parsing: "1.\($0 + 1)") }
        for (rebuild, version) in zip(rebuilds, versions) {
            manager.whenMigratingToVersion(
                version, rebuilding: rebuild.table.text, deferredIn: database, as: rebuild.schema,
                copying: Dictionary(
                    rebuild.expressions.map { ($0.column.text, $0.text) }, uniquingKeysWith: { $1 }),
                dropping: rebuild.dropped.map(\.text))
        }
        manager.whenMigratingToVersion("2.0", finishing: versions, in: database) { _ in }
        do {
            try manager.migrate()
        } catch let error as MigrationError {
            let cause = error.underlyingError as? MigrationError
            let table = zip(versions, rebuilds).first { $0.0 == error.version }?.1.table
            throw SchemaMigrationError(
                .invalidRequest,
                """
                \(table.map { "Table \($0.text.quoted) cannot be rebuilt in a deferred step" } ?? "The rebuilds fail"): \
                \(cause?.message ?? error.underlyingError.map { "\($0)" } ?? error.message)
                """,
                remedy: cause?.remedy ?? "Write a migration with `new --from`, without `--deferred`.")
        }
    }
}

extension SchemaObject {
    /// Returns an index with another name.
    fileprivate func named(_ new: SQLName, names: Set<SQLName>) -> SchemaObject {
        let tokens = SQLTokens(self, names: names)
        let place = tokens.tokens.firstIndex { $0.word == "INDEX" }.map { $0 + 1 }
        return SchemaObject(
            type: type, name: new, table: table,
            sql: tokens.text(replacing: place.map { [$0: new.plain] } ?? [:]))
    }
}

extension MigrationGenerator {
    /// The tables that have to be rebuilt, as deferred steps.
    package var deferredRebuilds: [DeferredRebuild] {
        var taken = Set((old.objects + generated.result.objects).map(\.name))
        return tableRebuilds.map {
            DeferredRebuild($0, in: generated.result, old: old, taken: &taken)
        }
    }

    /// The changes that are not part of a deferred rebuild, in words.
    package var summaryOfOthers: [String] {
        let rebuilt = Set(tableRebuilds.map(\.table))
        let own = (old.objects + generated.result.objects).filter {
            $0.type == "table" && rebuilt.contains($0.name)
                || $0.type == "index" && rebuilt.contains($0.table)
        }
        let titles = Set(own.map(\.key.title))
        let texts = generated.changes.compactMap { change in
            if case .reindex(let table) = change { "~ the full-text index \(table.text.quoted)" } else { nil }
        }
        return summary.filter { line in
            !titles.contains { line.dropFirst(2) == $0 || line.dropFirst(2).hasPrefix("\($0), rebuilt: ") }
        } + texts
    }

    /// Runs the deferred rebuilds on rows, after what needs no rebuild, and compares the result with the wanted schema.
    ///
    /// - Parameter fill: adds rows to the tables of a database.
    /// - Throws: `SchemaMigrationError`, if a rebuild is refused, or does not do what it should.
    package func checkDeferredRebuilds(fill: (Database) throws -> Void) throws -> Trial {
        let trial = try GenerationTrial(migrator, generated, renames: renames, fill: fill)
        let problems = try trial.rebuild(
            deferredRebuilds, after: GeneratedSQL(renames + changesBefore).text, generated)
        guard problems.isEmpty else {
            throw SchemaMigrationError(
                .invalidRequest,
                "The deferred rebuild failed on generated rows: \(problems.joined(separator: "; "))",
                remedy: "Write a migration with `new --from`, without `--deferred`.")
        }
        return Trial(trial)
    }

    private var tableRebuilds: [TableRebuild] {
        generated.changes.compactMap { change in
            guard case .rebuild(let rebuild) = change,
                old.byKey[.init(type: "table", name: rebuild.table)]?.isVirtual == false
            else { return nil }
            return rebuild
        }
    }

    /// The changes of other tables that the new ones may refer to.
    private var changesBefore: [SchemaAlteration] {
        let dropped = generated.changes.compactMap { change in
            if case .drop(let object) = change, object.type == "table" { object.name } else { nil }
        }
        let away = Set(tableRebuilds.map(\.table) + dropped)
        return generated.changes.filter { change in
            switch change {
            case .addColumn: true
            case .create(let object):
                object.type == "table" && !object.isVirtual && !away.contains(object.name)
                    || object.type == "index" && !away.contains(object.table)
            case .drop(let object): object.type == "index" && !away.contains(object.table)
            default: false
            }
        }
    }
}
