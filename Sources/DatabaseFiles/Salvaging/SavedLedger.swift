import GRDB
import SchemaMigrations

/// The versions that a damaged database names as applied.
struct SavedLedger {
    enum Completeness: Comparable {
        /// A part of the place is lost, and with it maybe later versions.
        case partial
        /// Later versions would be there, unless the place is out of date.
        case latest
        /// Every version is there.
        case whole
    }

    /// A place that names versions: the ledger's table, the index of that, or a page to which nothing leads.
    struct Trace {
        /// The number of the row that names each version.
        var rows: [String: Int64] = [:]
        /// True if the damaged schema leads to it.
        let isRooted: Bool
        var completeness: Completeness
    }

    /// The versions, in the order in which they were recorded.
    let versions: [String]
    let completeness: Completeness
    /// True if the ledger is there, whole, and names nothing.
    let isSurelyEmpty: Bool

    /// Joins traces.
    ///
    /// A page of another table may be in a ledger's place, so unknown versions count only beside known ones, or where two
    /// places name them.
    init(_ all: [Trace], of migrations: any MigrationSet) throws {
        isSurelyEmpty = !all.isEmpty && all.allSatisfy { $0.rows.isEmpty && $0.completeness > .partial }
        var traces = try all.filter { try !migrations.known(among: Set($0.rows.keys)).isEmpty }
        if traces.isEmpty { traces = Self.agreeing(all.filter(\.isRooted)) }
        try Self.removeForeign(from: &traces, migrations)
        // Other pages may be out of date.
        if traces.contains(where: { $0.completeness == .whole }) { traces.removeAll { !$0.isRooted } }
        let rows = traces.reduce(into: [:]) { rows, trace in rows.merge(trace.rows) { max($0, $1) } }
        versions = rows.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map(\.key)
        completeness = rows.isEmpty ? .partial : traces.map(\.completeness).max() ?? .partial
    }

    /// Removes unknown versions that not every whole place names: another table's page may be in one of them.
    private static func removeForeign(from traces: inout [Trace], _ migrations: any MigrationSet) throws {
        let whole = traces.filter { $0.isRooted && $0.completeness == .whole }
        guard whole.count > 1 else { return }
        let all = Set(traces.flatMap(\.rows.keys))
        let foreign = try all.subtracting(migrations.known(among: all)).filter { version in
            whole.contains { $0.rows[version] == nil }
        }
        for index in traces.indices {
            traces[index].rows = traces[index].rows.filter { !foreign.contains($0.key) }
        }
    }

    /// Returns what several traces say, without what only one of them does.
    private static func agreeing(_ traces: [Trace]) -> [Trace] {
        guard let first = traces.first, traces.count > 1 else { return [] }
        return traces.map { trace in
            var trace = trace
            trace.rows = first.rows.filter { row in traces.allSatisfy { $0.rows[row.key] != nil } }
            return trace
        }
    }
}

extension DamagedDatabase {
    /// Reads a row that names a version: from the id and the record of a row, or from an entry of an index.
    typealias LedgerRow = (Int64?, SavedRecord) -> (version: String, row: Int64)?

    /// Reads a ledger's table and its indexes.
    ///
    /// Pages of other tables may be in their place, whose rows mostly have more values.
    ///
    /// - Parameter completeness: how much they say if no part of them is lost.
    func traces(
        of table: SQLName, _ completeness: SavedLedger.Completeness, _ row: LedgerRow
    ) throws -> [SavedLedger.Trace] {
        let layouts = try layouts(of: table)
        let trees = entries.filter { $0.name == table || $0.type == "index" && $0.table == table }.compactMap
        { entry in
            tree(of: entry.name).flatMap { $0.isTable == (entry.type == "table") ? (entry.name, $0) : nil }
        }
        // Large tables are none.
        return try trees.filter { $0.1.leaves.count < 1_000 }.map { name, tree in
            let layout = layouts.first { $0.name == name }
            var trace = SavedLedger.Trace(
                isRooted: true,
                completeness: tree.missing.isEmpty ? completeness : .partial)
            for leaf in tree.leaves {
                let lost = try forEachRow(in: leaf) { rowid, record in
                    if layout?.fits(record, rowid: rowid, tree.isTable ? .stored : .typical) ?? true,
                        let (version, row) = row(rowid, record)
                    {
                        trace.rows[version] = row
                    } else {
                        trace.completeness = .partial
                    }
                }
                if lost > 0 { trace.completeness = .partial }
            }
            return trace
        }
    }

    /// Returns the layouts of a table and its indexes, as the damaged schema defines it; none if its text is damaged.
    private func layouts(of table: SQLName) throws -> [TableLayout] {
        let entry = entries.first { $0.type == "table" && $0.name == table }
        guard let sql = entry?.sql, sql.hasPrefix("CREATE TABLE ") else { return [] }
        let scratch = try DatabaseQueue()
        defer { try? scratch.close() }
        return try scratch.inDatabase { db in
            // It must be one statement.
            guard (try? db.makeStatement(sql: sql).execute()) != nil else { return [] }
            return try TableLayout.fetchAll(db)
        }
    }

    /// Finds pages of a ledger among those that nothing leads to: each row names a version, and most of them a known one.
    func looseTraces(of known: Set<String>, _ row: LedgerRow) throws -> [SavedLedger.Trace] {
        try loose.compactMap { tree in
            var trace = SavedLedger.Trace(
                isRooted: false, completeness: tree.missing.isEmpty ? .latest : .partial)
            var count = 0
            for leaf in tree.leaves {
                do {
                    let lost = try forEachRow(in: leaf) { rowid, record in
                        // An index of texts may be large, and its entries look alike.
                        guard let (version, row) = row(rowid, record), count > 0 || trace.rows.count < 16
                        else { throw OtherRow() }
                        trace.rows[version] = row
                        if known.contains(version) { count += 1 }
                    }
                    if lost > 0 { trace.completeness = .partial }
                } catch is OtherRow {
                    return nil
                }
                guard count * 2 > trace.rows.count else { return nil }
            }
            return trace
        }
    }
}

/// A row that is none of a ledger.
private struct OtherRow: Error {}
