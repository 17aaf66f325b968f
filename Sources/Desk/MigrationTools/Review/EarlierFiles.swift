import GRDB
import SchemaMigrations

/// The files before one that loses rows or values, which may have copied them.
struct EarlierFiles {
    let looks: [MigrationRun.Look]
    let migrator: any MigrationRunner
    /// The trial of the file.
    let trial: LossTrial

    /// The number of earlier files that are tried until one can be, and the number of those after it.
    private static let (most, mostLater) = (12, 4)

    /// A file that may have copied rows of a table.
    private struct Place {
        let index: Int
        let table: EarlierTable
    }

    /// Returns what is lost even of rows that were there before an earlier file.
    ///
    /// A release that copies rows for the next one, which drops their table, writes the new table. But the rows of a table that
    /// stays may have been written since.
    ///
    /// - Parameter isHidden: whether triggers keep rows that are written now, so that only those tell which came before these.
    /// - Returns: nil if no earlier file tells.
    func remaining(_ loss: LossTrial.Loss, isHidden: Bool = false) -> [LossTrial.Loss]? {
        if loss.rows > 0, !trial.outline.dropsForGood(loss.table) { return nil }
        let places = places(of: loss, isHidden)
        // The first one tells, since those after it run as well.
        let first = places.prefix(Self.most).firstResult { place in
            losses(loss, at: place).map { (place.index, $0) }
        }
        guard let (index, losses) = first else { return nil }
        // Of rows that came later, what an earlier file has lost itself is kept.
        let others =
            losses.isEmpty || isHidden ? [] : places.filter { $0.index > index }.suffix(Self.mostLater)
        let kept = others.reversed().reduce([loss]) { remaining, place in
            remaining.isEmpty
                ? [] : self.losses(loss, at: place).map(remaining.remainders) ?? remaining
        }
        return kept.remainders(losses)
    }

    /// Returns the files that may have copied what is lost, in the order in which they run.
    private func places(of loss: LossTrial.Loss, _ isHidden: Bool) -> [Place] {
        let targets = Set(trial.outline.statements.compactMap { $0.target(of: loss.table) })
        var places: [Place] = []
        var table: EarlierTable? = EarlierTable(loss.table)
        for index in looks.indices.dropFirst().reversed() {
            let (outline, schema) = (looks[index].outline, looks[index - 1].schema)
            table = table?.before(outline)
            guard let table, schema.hasTable(table.name) else { break }
            let earlier = table.earlier(loss)
            let hasTrigger =
                isHidden
                && outline.statements.contains {
                    $0.tokens.opens(with: "CREATE", "TRIGGER") && $0.mentions(earlier.table)
                }
            if hasTrigger || outline.mayCopy(earlier, to: targets) {
                places.append(Place(index: index, table: table))
            }
        }
        return places.reversed()
    }

    /// Returns what is lost of the rows that were there before an earlier file, under the present names; nil if it cannot be tried.
    private func losses(_ loss: LossTrial.Loss, at place: Place) -> [LossTrial.Loss]? {
        let known = place.table.earlier(loss)
        let found =
            looks.allSatisfy { migrator.isFile($0.version) } && !trial.scripts.isEmpty
            ? losses(known, before: place.index) : lossesByMigrator(known, before: place.index)
        return found?.map(place.table.present)
    }

    /// Runs the files that have to do with the table, or else all.
    private func losses(_ loss: LossTrial.Loss, before index: Int) -> [LossTrial.Loss]? {
        let schema = looks[index - 1].schema
        let tables = schema.tables(concernedBy: [loss.table])
        var names = tables
        let all = looks[index...].map(\.outline)
        let related = looks[index...].filter { look in
            guard !look.names.isDisjoint(with: names) else { return false }
            names.formUnion(look.outline.writtenTables)
            return true
        }.map(\.outline)
        return (related.count < all.count ? [related, all] : [all]).firstResult { files in
            let outlines = files + [trial.outline]
            // What a file only names has to be there, and loses nothing.
            let named = outlines.reduce(into: tables) { $0.formUnion($1.names) }
            let changed = outlines.reduce(into: tables) { names, outline in
                names.formUnion(outline.names(in: { !$0.onlyDeclares }))
            }
            let concerned = schema.tables(concernedBy: changed)
                .union(named.intersection(schema.tables.keys))
            guard
                let earlier = try? schema.database(
                    without: schema.tables(unconcernedBy: concerned), rowsOf: nil)
            else { return nil }
            defer { try? earlier.close() }
            let scripts = files.map(\.script) + trial.scripts
            // With rows in the tables that get the copies, as in one file; and without, where these are in the way.
            let filled = schema.tables(concernedBy: changed)
            return (filled == tables ? [filled] : [filled, tables]).firstResult { filled in
                try? losses(
                    loss,
                    in: trial.since(earlier, scripts, tables: schema.layouts(of: filled), for: loss))
            }
        }
    }

    private func lossesByMigrator(_ loss: LossTrial.Loss, before index: Int) -> [LossTrial.Loss]? {
        let schema = looks[index - 1].schema
        let layouts = schema.layouts(of: schema.tables(concernedBy: [loss.table]))
        guard let earlier = try? trial.database.configuration.scratchDatabase() else { return nil }
        defer { try? earlier.close() }
        return try? {
            _ = try migrator.run(earlier, upTo: looks[index - 1].version)
            return try losses(loss, in: trial.since(earlier, [], tables: layouts, for: loss))
        }()
    }

    /// Returns what is lost of one table; nil if it has accepted no rows.
    private func losses(_ loss: LossTrial.Loss, in trial: LossTrial) throws -> [LossTrial.Loss]? {
        let judgement = try trial.judge(only: loss)
        guard judgement.tables.contains(loss.table) else { return nil }
        return judgement.losses.filter { $0.table == loss.table }
            .map { loss in trial.explained(loss) { try $0.judge(only: loss, .rows) } }
    }
}

/// A table before an earlier file.
private struct EarlierTable {
    /// Its name then.
    private(set) var name: SQLName
    private let presentName: SQLName
    /// The present names of its columns, by those that they had then, where these differ.
    private var columns: [SQLName: SQLName] = [:]

    init(_ name: SQLName) { (self.name, presentName) = (name, name) }

    /// Returns the table before a file that comes before; nil if the file makes it.
    func before(_ outline: ScriptOutline) -> EarlierTable? {
        if outline.rebuilds.contains(where: { $0.table == name }) { return self }
        var table = self
        for statement in outline.statements.reversed() {
            if statement.createdTable == table.name {
                if statement.tokens.contains(where: { $0.isWord("EXISTS") }) { continue }
                return outline.script.settings.redefines ? self : nil
            } else if let rename = statement.rename, rename.to == table.name {
                table.name = rename.from
            } else if let column = statement.renamedColumn, column.table == table.name {
                let present = table.columns.removeValue(forKey: column.to) ?? column.to
                table.columns[column.from] = present
            }
        }
        return table
    }

    /// Returns a loss with the names that the table had then.
    func earlier(_ loss: LossTrial.Loss) -> LossTrial.Loss {
        let names = Dictionary(columns.map { ($1, $0) }, uniquingKeysWith: { $1 })
        return loss.renamed(name, names)
    }

    /// Returns a loss with the present names.
    func present(_ loss: LossTrial.Loss) -> LossTrial.Loss { loss.renamed(presentName, columns) }
}

extension ScriptOutline {
    /// The names of the tables that the file makes, renames or writes.
    fileprivate var writtenTables: [SQLName] {
        statements.flatMap { [$0.createdTable, $0.rename?.to, $0.writtenTable].compactMap(\.self) }
    }

    /// Returns whether a statement may keep what another file loses: copies it, or changes it.
    fileprivate func mayCopy(_ loss: LossTrial.Loss, to targets: Set<SQLName>) -> Bool {
        statements.contains { statement in
            statement.mentions(loss.table) && (statement.copies || statement.updatedTable != nil)
                && (loss.isWhole || statement.selectsAll
                    || loss.rows > 0 && !loss.kind.isMany
                        && statement.target(of: loss.table).map(targets.contains) == true
                    || loss.columns.keys.contains(where: statement.mentions))
        }
    }

    /// Returns what the file drops of tables that have triggers, which may keep what the app writes now, but not older rows.
    func lossesHiddenByTriggers(
        _ schema: ReviewedSchema, besides known: [LossTrial.Loss]
    ) -> [LossTrial.Loss] {
        let count = GeneratedRows.rowsPerTable
        return Set(schema.triggers.values.map(\.table)).sorted().compactMap { table in
            guard !known.contains(where: { $0.table == table }) else { return nil }
            if dropsForGood(table) {
                return LossTrial.Loss(table: table, count: count, rows: count)
            }
            let loss = LossTrial.Loss(table: table, count: count, columns: droppedColumns(of: table))
            return loss.isNothing ? nil : loss
        }
    }

    /// Returns whether the file drops a table without a rebuild: a table of its name in the end is another one.
    fileprivate func dropsForGood(_ table: SQLName) -> Bool {
        droppedTables.contains(table) && !rebuilds.contains { $0.table == table }
    }
}

extension ScriptOutline.Statement {
    /// Returns the table into which the statement copies rows of another one.
    func target(of table: SQLName) -> SQLName? {
        guard copies, tokens.outside.tablesByName[table] != nil else { return nil }
        let target = writtenTable ?? createdTable
        return target == table ? nil : target
    }
}

extension MigrationRunner {
    /// Returns whether a migration is a file.
    func isFile(_ version: SchemaVersion) -> Bool {
        (self as? SchemaMigrator)?.migration(version: version) is any SQLSource
    }
}
