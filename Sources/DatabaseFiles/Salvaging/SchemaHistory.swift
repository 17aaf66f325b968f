import AppMigrations
import Foundation
import GRDB
import MigrationDiagnostics
import SchemaMigrations

/// The tables that the app's migrations make, version by version, found out in a database in memory.
///
/// The ledger says which migrations were applied, and the damaged schema what the tables are: a migration may have run out of order,
/// and something else may have changed them.
struct SchemaHistory {
    /// The tables of a version.
    struct Entry {
        let version: String
        /// The number of migrations that make the tables; nil if only the damaged schema says how to.
        var count: Int?
        var layouts: [TableLayout] = []
        /// The last id of the rows that are in a table once there is one, by the table's name.
        ///
        /// Rows that a later migration inserts may have other ids in a database with rows of the app.
        var lastIDs: [SQLName: Int64] = [:]
        var definitions: [SQLName: SchemaObject] = [:]
        /// The objects that the damaged database has in another form, or no longer.
        var replaced: [SchemaObject] = []
        /// The versions that the damaged database names; nil if it never had a ledger.
        var ledger: SavedLedger?
        /// The migrations, if some of all are not among the first ones.
        var migrations: (any MigrationSet)?

        /// Returns a table's layout with what is known of shorter rows.
        func completing(_ layout: TableLayout) -> TableLayout {
            let known = layouts.first { $0.name == layout.name && $0.isIndex == layout.isIndex }
            // One that no migration makes may have got columns.
            return layout.withFewest(known?.fewestColumns ?? layout.fewestAtFirst)
        }
    }

    private(set) var migrations: any MigrationSet
    private(set) var entries: [Entry] = []

    private init(_ migrations: any MigrationSet) { self.migrations = migrations }

    /// Runs the first migrations, one after the other.
    private mutating func replay(
        first count: Int, _ configuration: Configuration, _ interrupter: Interrupter
    ) throws {
        try configuration.withScratchDatabase { scratch in
            entries = []
            let added = AddedColumns(on: scratch)
            for (index, version) in migrations.versions.prefix(count).enumerated() {
                try interrupter.check()
                try migrations.migrate(scratch, byFirst: index + 1)
                let last = entries.last
                let entry = try scratch.read { db in
                    let layouts = try TableLayout.fetchAll(db).map { layout in
                        layout.withFewest(max(1, layout.columns.count - added.count(layout.name)))
                    }
                    return try Entry(
                        version: version, count: index + 1, layouts: layouts,
                        lastIDs: Self.lastIDs(of: layouts, after: last, db),
                        definitions: SchemaObject.definitions(db))
                }
                entries.append(entry)
            }
        }
    }

    /// Returns the last ids of the rows that tables begin with.
    private static func lastIDs(
        of layouts: [TableLayout], after previous: Entry?, _ db: Database
    ) throws -> [SQLName: Int64] {
        let ids = previous?.lastIDs ?? [:]
        let old = Set((previous?.layouts ?? []).filter { !$0.isIndex }.map(\.name))
        let gone = old.subtracting(layouts.map(\.name))
        // A new table may be one of these with another name.
        let last = gone.isEmpty ? Int64.max : gone.compactMap { ids[$0] }.max() ?? .min
        return try layouts.reduce(into: ids) { ids, layout in
            guard !old.contains(layout.name), !layout.isIndex, let rowid = layout.rowid else { return }
            let id = try Int64.fetchOne(db, sql: "SELECT max(\(rowid)) FROM \(layout.name.inMain)")
            ids[layout.name] = id.map { min($0, last) }
        }
    }

    /// Finds the version that a damaged database had: by its ledger, or else by its tables.
    ///
    /// Migrations in Swift may do more than change a database. So none runs above the version that a whole ledger says.
    ///
    /// - Returns: nil if nothing is known of the schema.
    /// - Throws: `MigrationError`, if a newer version of the app has migrated it.
    static func version(
        of damaged: DamagedDatabase, _ migrations: any MigrationSet, _ configuration: Configuration,
        _ interrupter: Interrupter
    ) throws -> (Entry, OwnSchema)? {
        let ledger = try SavedLedger(migrations.traces(in: damaged), of: migrations)
        var history = SchemaHistory(migrations)
        if let newer = try migrations.newer(in: ledger) {
            throw history.newerThanThisProcess("to \(newer)")
        }
        let own = try OwnSchema(damaged, configuration)
        // The app's next launch adopts a database without a ledger.
        let hasLedger = damaged.entries.contains(where: migrations.isLedger) && !ledger.isSurelyEmpty
        if own.hasAllTables, ledger.versions.isEmpty, !hasLedger {
            return (Entry(version: "none"), own)
        }
        if !own.isComplete { history.migrations = try migrations.withoutPending(in: ledger) }
        do {
            try history.replay(first: history.countToReplay(own, ledger), configuration, interrupter)
        } catch  where own.hasAllTables && ledger.completeness == .whole {
            // The damaged database says by itself what was made there.
            try interrupter.check()
        } catch let error as MigrationError where error.code == .undecided {
            throw Self.undecided(error)
        }
        guard
            var entry = try history.sureVersion(own, ledger)
                ?? history.likelyVersion(of: damaged, own, ledger)
        else { return nil }
        (entry.ledger, entry.migrations) = (ledger, history.migrations)
        entry.replaced = history.replaced(in: entry, by: own, try entry.tablesWithLooseRows(own, damaged))
        return (entry, own)
    }

    private func newerThanThisProcess(_ change: String) -> MigrationError {
        let remedies = [
            "Update the app, and salvage the database then.", migrations.remedyForRemoved,
            "Nothing was changed.",
        ]
        return MigrationError(
            .newerThanThisProcess, "a newer version of the app has migrated the database \(change)",
            remedy: remedies.compactMap(\.self).joined(separator: " "))
    }

    private static func undecided(_ error: MigrationError) -> MigrationError {
        MigrationError(
            .undecided, at: error.diagnostic.place,
            "\(error.diagnostic.problem): only a trial can say what the damaged schema or ledger was",
            remedy: """
                Pass salvage(into:) the same migrations, but in the place of this one a migration in Swift that makes its tables \
                without the attached database. Nothing was changed.
                """, underlyingError: error)
    }

    // MARK: By the ledger

    /// Returns the number of migrations to run for what their tables say.
    private func countToReplay(_ own: OwnSchema, _ ledger: SavedLedger) -> Int {
        guard ledger.completeness == .whole else { return migrations.versions.count }
        let applied = Set(ledger.versions)
        if own.hasAllTables { return migrations.versions.prefix(while: applied.contains).count }
        return migrations.versions.lastIndex(where: applied.contains).map { $0 + 1 }
            ?? migrations.versions.count
    }

    /// Returns the version that the ledger says, if nothing of it is lost.
    private func sureVersion(_ own: OwnSchema, _ ledger: SavedLedger) throws -> Entry? {
        guard ledger.completeness == .whole else { return nil }
        let applied = migrations.versions.filter(Set(ledger.versions).contains)
        if !applied.isEmpty, applied.count <= entries.count, migrations.versions.starts(with: applied),
            try !migrations.isHalfDone(after: applied.count, ledger)
        {
            return entries[applied.count - 1]
        }
        // Migrations that are out of order, or a part of one that has merged others, are still to come.
        guard own.hasAllTables, let last = applied.last ?? ledger.versions.last else { return nil }
        return Entry(version: last, layouts: own.layouts.map(withFewestColumns))
    }

    private func withFewestColumns(_ layout: TableLayout) -> TableLayout {
        let known = entries.flatMap(\.layouts).filter {
            $0.name == layout.name && $0.isIndex == layout.isIndex
        }
        return layout.withFewest(known.map(\.fewestColumns).min() ?? layout.fewestAtFirst)
    }

    // MARK: What is no migration's

    /// Returns the objects of a version that something else than the migrations, in their order, has changed or removed.
    ///
    /// An object as it was in an earlier version says that a page of the schema is out of date. So do rows that only a missing
    /// table can have had: it was not removed. Without such rows, a step may have dropped what a later version has.
    private func replaced(
        in entry: Entry, by own: OwnSchema, _ tablesWithLooseRows: Set<SQLName>
    ) -> [SchemaObject] {
        let earlier = entries.prefix { $0.version != entry.version }
        let isSame = entry.isSame
        let isOlder = earlier.contains { version in
            version.definitions.values.count(where: own.hasAll)
                == own.definitions.values.count(where: own.hasAll)
                && own.definitions.allSatisfy { isSame(version.definitions[$0.key], $0.value) }
        }
        return entry.definitions.values.filter { object in
            guard let its = own.definitions[object.name] else {
                guard own.hasAll(like: object) else { return false }
                return tablesWithLooseRows.isEmpty || !isOlder && !tablesWithLooseRows.contains(object.name)
            }
            return !isSame(object, its) && !its.sql.isNearly(object.sql)
                && !earlier.contains { isSame($0.definitions[object.name], its) }
        }
    }

    // MARK: By the tables

    /// Returns the version whose tables fit best, and not one below those that were surely applied.
    ///
    /// Of several, it is the one that the ledger says, or if later versions may be lost there, the latest, so that no
    /// migration runs twice. Versions whose tables have other columns come last.
    private func likelyVersion(
        of damaged: DamagedDatabase, _ own: OwnSchema, _ ledger: SavedLedger
    ) throws -> Entry? {
        let last = migrations.versions.lastIndex(where: Set(ledger.versions).contains)
        let isLatest = ledger.completeness > .partial
        let hasTables = damaged.entries.contains { $0.type == "table" }
        // Rows alone say little.
        if isLatest, !hasTables, let last { return entries[last] }
        if !isLatest, let (table, column) = strangeColumn(in: own) {
            throw newerThanThisProcess("with a column \(column) of \(table)")
        }
        let isWhole = !isLatest && damaged.hasWholeSchema
        var best: (entry: Entry, score: (Int, Int))?
        let fits = hasTables ? [] : try fits(of: damaged.loose, in: damaged)
        let columns = knownColumns
        for (index, entry) in entries.enumerated().dropFirst(last ?? 0) {
            let fit = hasTables ? fit(of: damaged.entries, own, isWhole, to: entry) : fits[index]
            let score = (entry.hasColumns(of: own, among: columns) ? 1 : 0, fit)
            guard let known = best?.score else {
                best = (entry, score)
                continue
            }
            if score > known || score == known && !isLatest { best = (entry, score) }
        }
        return best?.entry
    }

    /// Returns the number of objects that a version has, too, and if the damaged schema is whole, without those that only
    /// the version has.
    private func fit(
        of objects: [DamagedDatabase.Entry], _ own: OwnSchema, _ isWhole: Bool, to entry: Entry
    ) -> Int {
        let isSame = entry.isSame
        let same = objects.count { object in
            guard object.sql != nil, let definition = entry.definitions[object.name] else { return false }
            return definition.sql == object.sql || isSame(own.definitions[object.name], definition)
        }
        let names = Set(objects.map(\.name))
        return isWhole ? same - entry.definitions.keys.count { !names.contains($0) } : same
    }

    /// Returns for each version the number of trees whose rows fit a table of it.
    ///
    /// Each tree is read once, as its rows may be long.
    private func fits(of trees: [DamagedTree], in damaged: DamagedDatabase) throws -> [Int] {
        let layouts = entries.indices.flatMap { index in entries[index].layouts.map { (index, $0) } }
        var counts = [Int](repeating: 0, count: entries.count)
        for tree in trees.prefix(1_000) {
            let fits = try damaged.places(fitting: tree, among: layouts.map(\.1))
            for index in Set(fits.map { layouts[$0].0 }) { counts[index] += 1 }
        }
        return counts
    }

    /// Returns a column that the damaged schema describes, and that a known table has in no version.
    private func strangeColumn(in own: OwnSchema) -> (SQLName, SQLName)? {
        let known = knownColumns
        for layout in own.layouts where !layout.isIndex {
            guard let names = known[layout.name], !migrations.ledgerTables.contains(layout.name),
                !isNearlyKnown(own.definitions[layout.name])
            else { continue }
            if let column = layout.columns.first(where: { !names.contains($0.name) }) {
                return (layout.name, column.name)
            }
        }
        return nil
    }

    /// The columns that tables have in some version.
    private var knownColumns: [SQLName: Set<SQLName>] {
        entries.flatMap(\.layouts).filter { !$0.isIndex }.reduce(into: [:]) { columns, layout in
            columns[layout.name, default: []].formUnion(layout.columns.map(\.name))
        }
    }

    private func isNearlyKnown(_ object: SchemaObject?) -> Bool {
        guard let object else { return false }
        return entries.compactMap { $0.definitions[object.name]?.sql }.contains(where: object.sql.isNearly)
    }
}

extension String {
    /// Returns true if a text differs from another one in a single character: then a bit in it has flipped.
    fileprivate func isNearly(_ other: String) -> Bool {
        utf16.count == other.utf16.count && zip(utf16, other.utf16).count { $0 != $1 } == 1
    }
}

extension MigrationSet {
    /// Returns true for a table in which applied migrations are recorded.
    fileprivate func isLedger(_ entry: DamagedDatabase.Entry) -> Bool { ledgerTables.contains(entry.name) }

    /// Returns the migrations without those that a whole ledger lacks, also below others that were applied.
    ///
    /// They run later, on the rows. Those below the first one of the ledger may never have to.
    fileprivate func withoutPending(in ledger: SavedLedger) throws -> any MigrationSet {
        let applied = Set(ledger.versions)
        let count = versions.prefix(while: applied.contains).count
        guard ledger.completeness == .whole, count > 0, try !isHalfDone(after: count, ledger) else {
            return self
        }
        return try leavingOut(Set(versions).subtracting(applied))
    }
}

extension SchemaHistory.Entry {
    /// The comparison of two objects by their tokens, whatever their layout.
    ///
    /// Take it once for many objects.
    fileprivate var isSame: (SchemaObject?, SchemaObject) -> Bool {
        let names = Set(layouts.flatMap { [$0.name] + $0.columns.map(\.name) })
        return { $0 == $1 || $0?.comparable(names) == $1.comparable(names) }
    }

    /// Returns true if the damaged database's own tables have here the columns that they have there.
    ///
    /// - Parameter known: the columns of tables in all versions. What is in none was added by something else.
    fileprivate func hasColumns(of own: OwnSchema, among known: [SQLName: Set<SQLName>]) -> Bool {
        own.layouts.filter { !$0.isIndex }.allSatisfy { its in
            guard let known = known[its.name] else { return true }
            guard let layout = layouts.first(where: { !$0.isIndex && $0.name == its.name }) else {
                return false
            }
            // A bit may have flipped in the name of a column.
            if let text = definitions[its.name]?.sql, own.definitions[its.name]?.sql.isNearly(text) == true {
                return true
            }
            return Set(layout.columns.map(\.name)) == known.intersection(its.columns.map(\.name))
        }
    }

    /// Returns the tables that the damaged database's own schema lacks, and that alone can have had rows to which nothing leads.
    fileprivate func tablesWithLooseRows(
        _ own: OwnSchema, _ damaged: DamagedDatabase
    ) throws -> Set<SQLName> {
        let known = Set(own.layouts.map(\.name))
        // A whole table has its rows.
        let others = own.layouts.filter { damaged.tree(of: $0.name)?.missing.isEmpty != true }
            .map { $0.withFewest($0.fewestAtFirst) }
        let layouts = others + self.layouts.filter { !known.contains($0.name) }
        guard layouts.count > others.count else { return [] }
        return try damaged.loose.prefix(1_000).reduce(into: []) { names, tree in
            let places = try damaged.places(fitting: tree, among: layouts, .possible)
            guard places.allSatisfy({ $0 >= others.count }) else { return }
            names.formUnion(places.map { layouts[$0].name })
        }
    }
}

extension DamagedDatabase {
    /// Returns the layouts that nearly all rows of a loose tree fit.
    func layouts(
        fitting tree: DamagedTree, among layouts: [TableLayout],
        _ strictness: TableLayout.Strictness = .typical
    ) throws -> [TableLayout] {
        try places(fitting: tree, among: layouts, strictness).map { layouts[$0] }
    }

    /// Returns the places of these layouts among all of them.
    fileprivate func places(
        fitting tree: DamagedTree, among layouts: [TableLayout],
        _ strictness: TableLayout.Strictness = .typical
    ) throws -> [Int] {
        var fits = [Int](repeating: 0, count: layouts.count)
        var total = 0
        // A sample is enough to tell.
        for leaf in tree.leaves.prefix(50) {
            try forEachRow(in: leaf) { rowid, record in
                total += 1
                for (index, layout) in layouts.enumerated()
                where layout.fits(record, rowid: rowid, strictness) { fits[index] += 1 }
            }
        }
        // A few rows may be damaged.
        return layouts.indices.filter { total > 0 && fits[$0] * 10 >= total * 9 }
    }
}
