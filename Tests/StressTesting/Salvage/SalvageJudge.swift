import AppMigrations
import DatabaseFiles
import Foundation
import GRDB

/// Judges a salvage by the values of rows.
struct SalvageJudge {
    let input: SalvageInput
    let template: SalvageTemplate
    let file: URL
    /// True if SQLite can read the database, with its journals, without a fault.
    let isIntact: Bool

    // MARK: Refusals

    /// Judges a salvage that has thrown an error.
    func judge(_ error: MigrationError, _ verdict: inout SalvageVerdict) {
        let text = "\(error.code): \(error.message)"
        switch error.code {
        case .invalidCall where error.message.contains("is not damaged"):
            verdict.refusal = "not damaged"
            if !isIntact { verdict.add(.refused, text) }
        case .newerThanThisProcess:
            verdict.refusal = "newer"
            // fileformat2.html, 1.3: the versions of the file's format.
            let hasNewerFormat = input.files.main.prefix(20).suffix(2).contains { $0 > 2 }
            if !input.isNewer, !hasNewerFormat { verdict.add(.refused, text) }
        case .databaseFailed:
            verdict.refusal = "no rows"
            verdict.rows = input.truth.rows.count
            judgeEmptyHands(text, &verdict)
        default:
            verdict.refusal = "\(error.code)"
            verdict.add(.unknownError, text)
        }
        if isIntact, verdict.refusal != "not damaged", !input.isNewer || verdict.refusal != "newer" {
            verdict.add(.refusedIntact, text)
        }
    }

    /// Judges an error that says that no row can be read.
    private func judgeEmptyHands(_ text: String, _ verdict: inout SalvageVerdict) {
        let reachable = template.tables.reduce(0) {
            $0 + input.reachableKeys(of: $1.name(at: input.version) ?? "").count
        }
        if reachable > 0 { verdict.add(.refused, "\(reachable) rows can be reached: \(text)") }
        if let recovered = verdict.recovered, recovered.right > 0 {
            verdict.add(.fewerRows, "none, and .recover has \(recovered.right)")
        }
    }

    // MARK: Results

    /// Judges a salvage that has replaced the file.
    ///
    /// - Returns: the rows of the new database.
    func judge(
        _ report: SalvageReport, _ migrator: any SalvageMigrator, _ verdict: inout SalvageVerdict
    ) throws -> SalvageSnapshot {
        verdict.rows = input.truth.rows.count
        if isIntact { verdict.add(.replacedIntact, report.description) }
        if report.saved == 0, !report.isComplete { verdict.add(.emptyResult, report.description) }
        if input.isNewer, migrator.isTakenBySalvage, hasTraceOfNewer {
            verdict.add(.newer, report.description)
        }
        try judgeDamagedFile(report, &verdict)
        let queue = try SalvageConnection.open(file)
        defer { try? queue.close() }
        return try queue.writeWithoutTransaction { db in
            try judgeFile(db, migrator, &verdict)
            let rows = try SalvageSnapshot(db, template.tables, at: SalvageSchema.latest)
            judgeCounts(report, rows, &verdict)
            judgeRows(rows, &verdict)
            judgeLosses(rows, &verdict)
            return rows
        }
    }

    /// True if the ledger, or what is beside it, says that a newer app has migrated the database.
    private var hasTraceOfNewer: Bool {
        input.isWhole("schema_migrations") || input.isWhole("schema_migrations_details")
    }

    private func judgeDamagedFile(_ report: SalvageReport, _ verdict: inout SalvageVerdict) throws {
        guard let aside = report.setAside else { return verdict.add(.setAside, "there is none") }
        if try SalvageFiles(at: aside) != input.files { verdict.add(.setAside, "its bytes differ") }
    }

    private func judgeFile(
        _ db: Database, _ migrator: any SalvageMigrator, _ verdict: inout SalvageVerdict
    ) throws {
        let problems = try String.fetchAll(db, sql: "PRAGMA integrity_check").filter { $0 != "ok" }
        if let problem = problems.first { verdict.add(.check, problem) }
        let orphans = try Row.fetchAll(db, sql: "PRAGMA foreign_key_check").count
        if orphans > 0 { verdict.add(.check, "\(orphans) rows without parent") }
        if template.tables.contains(where: \.isVirtual) {
            do {
                try db.execute(sql: "INSERT INTO words(words) VALUES ('integrity-check')")
            } catch {
                verdict.add(.check, "words: \(error)")
            }
        }
        if migrator.isTakenBySalvage, try !migrator.isComplete(db) {
            verdict.add(.check, "a migration is pending")
        }
        let isEncodingKnown = input.map != nil && input.touched.isDisjoint(with: [1])
        if isEncodingKnown, try TextEncoding(db) != template.shape.encoding {
            verdict.add(.encoding, "\(try TextEncoding(db).rawValue), not \(template.shape.encoding.rawValue)")
        }
    }

    private func judgeCounts(
        _ report: SalvageReport, _ rows: SalvageSnapshot, _ verdict: inout SalvageVerdict
    ) {
        for table in template.tables {
            let names = (1...SalvageSchema.latest).compactMap { table.name(at: $0) }
            let counted = report.tables.first { names.contains($0.name) }?.saved ?? 0
            let count = rows.tables[table.mark]?.count ?? 0
            if counted != count { verdict.add(.count, "\(table.mark) has \(count), and the report \(counted)") }
        }
    }

    // MARK: Rows

    private func judgeRows(_ rows: SalvageSnapshot, _ verdict: inout SalvageVerdict) {
        rows.forEach { table, key, row in
            switch input.truth.judge(row, key, in: table) {
            case .right, .earlier: verdict.right += 1
            case .gone(let fate):
                verdict.changed += 1
                if fate != .deleted || !mayComeBack { verdict.add(Self.kind(of: fate), "\(table) \(row)") }
            case .unknown:
                verdict.changed += 1
                judgeUnknown(row, key, in: table, &verdict)
            }
        }
        if let recovered = verdict.recovered, verdict.changed > recovered.wrong, !verdict.kind.page.changesValues {
            verdict.add(.moreChanged, "\(verdict.changed), and .recover \(recovered.wrong)")
        }
    }

    private static func kind(of fate: SalvagePast.Fate) -> SalvageFault.Kind {
        switch fate {
        case .deleted: .deletedRow
        case .changed: .replacedRow
        case .uncommitted: .uncommittedRow
        case .lost: .lostTransaction
        case .foreign: .foreignDatabase
        }
    }

    private func judgeUnknown(
        _ row: SalvageRow, _ key: SalvageRow, in table: String, _ verdict: inout SalvageVerdict
    ) {
        let was = input.truth.rows[table, key].map { "\($0)" } ?? "no such row"
        let detail = "\(table) has \(row), and had \(was)"
        if let other = owner(of: row), other != table {
            verdict.add(other == "foreign" ? .foreignDatabase : .foreignRow, detail)
        } else if !verdict.kind.page.changesValues, !mayGoOnElsewhere(key, in: table) {
            verdict.add(.unknownRow, detail)
        }
    }

    /// The table that a row names in one of its texts.
    private func owner(of row: SalvageRow) -> String? {
        for case .text(let bytes) in row {
            guard let end = bytes.firstIndex(of: UInt8(ascii: "#")) else { continue }
            let mark = String(decoding: bytes[..<end], as: UTF8.self)
            if mark == "foreign" || template.tables.contains(where: { $0.mark == mark }) { return mark }
        }
        return nil
    }

    /// True if a page of deleted rows has changed places with another one, or if neither the header nor the list of free
    /// pages says that it is one: nothing in the file does then.
    private var mayComeBack: Bool {
        guard let map = input.map else { return false }
        let isMoved = !map.free.union(map.trunks).isDisjoint(with: input.touched)
        let isUnlisted = input.touched.contains(1) && !map.trunks.isDisjoint(with: input.touched)
        return isUnlisted || isMoved && input.isSwapped
    }

    /// True if the damage has hit the pages on which a row goes on.
    ///
    /// Nothing on such a page says whose it is (fileformat2.html, 1.6), or what was on it.
    private func mayGoOnElsewhere(_ key: SalvageRow, in table: String) -> Bool {
        let name = template.tables.first { $0.mark == table }?.name(at: input.version) ?? table
        guard let tree = input.map?.trees[name] ?? input.map?.trees["\(name)_content"] else { return false }
        let chains = tree.leaves.flatMap(\.rows).filter { [.integer($0.id)] == key }.map(\.chain)
        let pages = chains.isEmpty ? tree.overflow : Set(chains.joined())
        return !pages.isDisjoint(with: input.touched)
    }

    // MARK: Losses

    private func judgeLosses(_ rows: SalvageSnapshot, _ verdict: inout SalvageVerdict) {
        for table in template.tables where table.hasRowid && !table.isVirtual {
            for key in input.reachableKeys(of: table.name(at: input.version) ?? "")
            where rows[table.mark, key] == nil && hasParent(key, of: table, rows) {
                verdict.add(table.hasOddTexts ? .lostText : .lostRow, "\(table.mark) \(key)")
            }
        }
        if let recovered = verdict.recovered, recovered.right > verdict.right {
            verdict.add(.fewerRows, "\(verdict.right), and .recover has \(recovered.right)")
        }
    }

    /// Returns true if a row refers to no row, or to one that was saved.
    private func hasParent(_ key: SalvageRow, of table: SalvageTable, _ rows: SalvageSnapshot) -> Bool {
        guard table.mark == "child", let row = input.truth.rows[table.mark, key] else { return true }
        return rows["twin_a", [row[row.count - 1]]] != nil
    }
}
