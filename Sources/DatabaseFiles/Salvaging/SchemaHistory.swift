import AppMigrations
import Foundation
import GRDB
import SchemaMigrations

/// The tables that the app's migrations make, version by version, found out in a database in memory.
struct SchemaHistory {
    /// The tables of a version.
    struct Entry {
        let version: String
        /// The number of migrations that make the tables; nil if only the damaged schema says how to.
        let count: Int?
        let layouts: [TableLayout]
        /// The last id of the rows that are in a table once there is one, by the table's name.
        ///
        /// Rows that a later migration inserts may have other ids in a database with rows of the app.
        var lastIDs: [SQLName: Int64] = [:]
        /// The definitions of tables and other objects, by name.
        var definitions: [SQLName: String] = [:]
        /// The statements that make the tables, if no number of migrations does.
        var statements: [String] = []
        /// The versions that the damaged database names.
        var ledger: SavedLedger?
    }

    let migrations: any MigrationSet
    private let configuration: Configuration
    private(set) var entries: [Entry] = []

    init(_ migrations: any MigrationSet, _ configuration: Configuration, _ interrupter: Interrupter) throws {
        (self.migrations, self.configuration) = (migrations, configuration)
        let scratch = try DatabaseQueue(configuration: configuration.forCopying())
        defer { try? scratch.close() }
        let added = AddedColumns(on: scratch)
        for (index, version) in migrations.versions.enumerated() {
            try interrupter.check()
            try migrations.migrate(scratch, byFirst: index + 1)
            let last = entries.last
            let entry = try scratch.read { db in
                let layouts = try TableLayout.fetchAll(db).map { layout in
                    var layout = layout
                    layout.fewestColumns = max(1, layout.columns.count - added.count(layout.name))
                    return layout
                }
                let rows = try Row.fetchAll(
                    db, sql: "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
                return Entry(
                    version: version, count: index + 1, layouts: layouts,
                    lastIDs: try Self.lastIDs(of: layouts, after: last, db),
                    definitions: Dictionary(
                        rows.map { ($0["name"] as SQLName, $0["sql"] as String) }, uniquingKeysWith: { $1 }))
            }
            entries.append(entry)
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

    /// Returns the version that a damaged database had: by its ledger, or else by its tables.
    ///
    /// - Throws: `MigrationError`, if a newer version of the app has migrated it.
    func version(of damaged: DamagedDatabase) throws -> Entry? {
        let ledger = try SavedLedger(migrations.traces(in: damaged), of: migrations)
        if let newer = try migrations.newer(in: ledger) { throw newerThanThisProcess("to \(newer)") }
        var entry = try sureVersion(of: damaged, ledger) ?? likelyVersion(of: damaged, ledger)
        entry?.ledger = ledger
        return entry
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

    // MARK: By the ledger

    /// Returns the version that the ledger says, if nothing of it is lost.
    private func sureVersion(of damaged: DamagedDatabase, _ ledger: SavedLedger) throws -> Entry? {
        guard ledger.completeness == .whole else { return nil }
        let applied = migrations.versions.filter(Set(ledger.versions).contains)
        if let last = applied.last, migrations.versions.starts(with: applied),
            try !migrations.isHalfDone(after: applied.count, ledger)
        {
            return entries.last { $0.version == last }
        }
        // Migrations that are out of order, or a part of one that has merged others, are still to come.
        let own = try OwnSchema(damaged, configuration)
        guard own.isComplete, damaged.hasWholeSchema, let last = applied.last ?? ledger.versions.last
        else {
            return nil
        }
        return Entry(
            version: last, count: nil, layouts: own.layouts.map(withFewestColumns), statements: own.statements
        )
    }

    private func withFewestColumns(_ layout: TableLayout) -> TableLayout {
        let known = entries.flatMap(\.layouts).filter {
            $0.name == layout.name && $0.isIndex == layout.isIndex
        }
        var layout = layout
        layout.fewestColumns = min(layout.columns.count, known.map(\.fewestColumns).min() ?? .max)
        return layout
    }

    // MARK: By the tables

    /// Returns the version whose tables fit best, and not one below those that were surely applied.
    ///
    /// Of several, it is the one that the ledger says, or if later versions may be lost there, the latest, so that no
    /// migration runs twice.
    private func likelyVersion(of damaged: DamagedDatabase, _ ledger: SavedLedger) throws -> Entry? {
        let last = migrations.versions.lastIndex(where: Set(ledger.versions).contains)
        let isLatest = ledger.completeness > .partial
        let hasTables = damaged.entries.contains { $0.type == "table" }
        // Rows alone say little.
        if isLatest, !hasTables, let last { return entries[last] }
        if !isLatest, let (table, column) = try strangeColumn(in: damaged) {
            throw newerThanThisProcess("with a column \(column) of \(table)")
        }
        let isWhole = !isLatest && damaged.hasWholeSchema
        var best: (entry: Entry, score: Int)?
        for entry in entries.dropFirst(last ?? 0) {
            let score =
                try hasTables
                ? fit(of: damaged.entries, isWhole, to: entry)
                : fit(of: damaged.loose, in: damaged, to: entry)
            if score > best?.score ?? .min || score == best?.score && !isLatest { best = (entry, score) }
        }
        return best?.entry
    }

    /// Returns the number of objects that a version has, too, and if the damaged schema is whole, without those that only
    /// the version has.
    private func fit(of objects: [DamagedDatabase.Entry], _ isWhole: Bool, to entry: Entry) -> Int {
        let same = objects.count { $0.sql != nil && entry.definitions[$0.name] == $0.sql }
        let names = Set(objects.map(\.name))
        return isWhole ? same - entry.definitions.keys.count { !names.contains($0) } : same
    }

    /// Returns the number of trees whose rows fit a table of a version.
    private func fit(of trees: [DamagedTree], in damaged: DamagedDatabase, to entry: Entry) throws -> Int {
        try trees.prefix(1_000).count { try !damaged.layouts(fitting: $0, among: entry.layouts).isEmpty }
    }

    /// Returns a column that the damaged schema describes, and that a known table has in no version.
    private func strangeColumn(in damaged: DamagedDatabase) throws -> (SQLName, SQLName)? {
        var known: [SQLName: Set<SQLName>] = [:]
        for layout in entries.flatMap(\.layouts) where !layout.isIndex {
            known[layout.name, default: []].formUnion(layout.columns.map(\.name))
        }
        let texts = Dictionary(damaged.entries.map { ($0.name, $0.sql ?? "") }) { first, _ in first }
        for layout in try OwnSchema(damaged, configuration).layouts where !layout.isIndex {
            guard let names = known[layout.name], !migrations.ledgerTables.contains(layout.name),
                !isNearlyKnown(texts[layout.name] ?? "", layout.name)
            else { continue }
            if let column = layout.columns.first(where: { !names.contains($0.name) }) {
                return (layout.name, column.name)
            }
        }
        return nil
    }

    /// Returns true if a definition differs from a known one in a single character: then a bit in it has flipped.
    private func isNearlyKnown(_ text: String, _ table: SQLName) -> Bool {
        entries.compactMap { $0.definitions[table] }.contains { known in
            known.utf16.count == text.utf16.count && zip(known.utf16, text.utf16).count { $0 != $1 } == 1
        }
    }
}

extension DamagedDatabase {
    /// Returns the layouts that nearly all rows of a loose tree fit.
    func layouts(
        fitting tree: DamagedTree, among layouts: [TableLayout],
        _ strictness: TableLayout.Strictness = .typical
    ) throws -> [TableLayout] {
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
        return layouts.indices.filter { total > 0 && fits[$0] * 10 >= total * 9 }.map { layouts[$0] }
    }
}
