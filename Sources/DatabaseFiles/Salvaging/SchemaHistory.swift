import AppMigrations
import Foundation
import GRDB
import SchemaMigrations

/// The tables that the app's migrations make, version by version, found out in a database in memory.
struct SchemaHistory {
    struct Entry {
        let version: SchemaVersion
        let layouts: [TableLayout]
        /// The definitions of the tables, by name.
        let definitions: [SQLName: String]
    }

    private(set) var entries: [Entry] = []

    init(_ schema: SchemaMigrator, _ configuration: Configuration, _ interrupter: Interrupter) throws {
        let scratch = try DatabaseQueue(configuration: configuration.forCopying())
        defer { try? scratch.close() }
        var columns: [SQLName: Int] = [:]
        for version in schema.migrations.map(\.version) {
            try interrupter.check()
            try schema.forSalvaging.migrate(scratch, upTo: version)
            let entry = try scratch.read { db in
                let layouts = try TableLayout.fetchAll(db).map { layout in
                    columns[layout.name] = min(columns[layout.name] ?? .max, layout.columns.count)
                    var layout = layout
                    layout.fewestColumns = columns[layout.name] ?? layout.columns.count
                    return layout
                }
                let rows = try Row.fetchAll(
                    db, sql: "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND sql IS NOT NULL")
                return Entry(
                    version: version, layouts: layouts,
                    definitions: Dictionary(
                        rows.map { ($0["name"] as SQLName, $0["sql"] as String) }, uniquingKeysWith: { $1 }))
            }
            entries.append(entry)
        }
    }

    /// Returns the version that a damaged database had: by its ledger, or else the one whose tables fit best, the latest of
    /// several.
    ///
    /// - Throws: `MigrationError`, if a newer version of the app has migrated it.
    func version(of damaged: DamagedDatabase) throws -> Entry? {
        let known = Set(entries.map(\.version))
        if let ledger = try damaged.ledgerVersions(), let last = ledger.intersection(known).max() {
            if let newest = known.max(), let newer = ledger.filter({ $0 > newest }).min() {
                throw MigrationError(
                    .newerThanThisProcess, "a newer version of the app has migrated the database to \(newer)",
                    remedy: "Update the app, and salvage the database then. Nothing was changed.")
            }
            return entries.last { $0.version == last }
        }
        var best: (entry: Entry, score: Int)?
        for entry in entries {
            let score = try fit(of: damaged, to: entry)
            if score >= best?.score ?? 0 { best = (entry, score) }
        }
        return best?.entry
    }

    private func fit(of damaged: DamagedDatabase, to entry: Entry) throws -> Int {
        let tables = damaged.entries.filter { $0.type == "table" }
        if !tables.isEmpty { return tables.count { entry.definitions[$0.name] == $0.sql } }
        return try damaged.loose.prefix(1_000).count {
            try !damaged.layouts(fitting: $0, among: entry.layouts).isEmpty
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
