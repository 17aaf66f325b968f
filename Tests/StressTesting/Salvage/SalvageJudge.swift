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
    /// True if nothing shows whether the database is damaged, or has rows that are older than a constraint.
    let mayBeIntact: Bool

    // MARK: Refusals

    /// Judges a salvage that has thrown an error.
    func judge(_ error: MigrationError, _ verdict: inout SalvageVerdict) {
        let text = "\(error.code): \(error.message)"
        switch error.code {
        case .misuse where error.message.contains("is not damaged"):
            verdict.refusal = "not damaged"
            if !isIntact, !mayBeIntact { verdict.add(.refused, text) }
        case .newerThanThisProcess:
            verdict.refusal = "newer"
            if !mayBeNewer { verdict.add(.refused, text) }
        case .databaseFailed, .damagedDatabase:
            verdict.refusal = "no rows"
            verdict.rows = input.truth.rows.count
            judgeEmptyHands(text, &verdict)
        default:
            verdict.refusal = "\(error.code)"
            verdict.add(.unknownError, text)
        }
        if isIntact, verdict.refusal != "not damaged", !mayBeNewer || verdict.refusal != "newer" {
            verdict.add(.refusedIntact, text)
        }
    }

    /// True if a newer app has migrated the database, or if its header says that a newer SQLite has written it.
    private var mayBeNewer: Bool {
        // fileformat2.html, 1.3: the versions of the file's format.
        input.isNewer || input.files.main.prefix(20).suffix(2).contains { $0 > 2 }
    }

    /// Judges an error that says that no row can be read.
    private func judgeEmptyHands(_ text: String, _ verdict: inout SalvageVerdict) {
        let reachable = template.tables.reduce(0) { sum, table in
            let keys = input.reachableKeys(of: table.name(at: input.version) ?? "")
            // Rows whose parent is lost are not saved.
            return sum + keys.count { hasParent($0, of: table, SalvageSnapshot()) }
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
        try judgeDamagedFile(report, &verdict)
        let queue = try SalvageConnection.open(file)
        defer { try? queue.close() }
        return try queue.writeWithoutTransaction { db in
            try judgeFile(db, migrator, &verdict)
            try judgeSequences(db, &verdict)
            let rows = try SalvageSnapshot(db, template.tables, at: SalvageSchema.latest)
            judgeCounts(report, rows, &verdict)
            judgeRows(rows, &verdict)
            judgePending(rows, &verdict)
            // What migrations have inserted again is not saved.
            verdict.right -= max(0, verdict.putBack - verdict.seeds)
            if input.isNewer {
                judgeNewer(report, &verdict)
            } else {
                judgeLosses(rows, &verdict)
            }
            return rows
        }
    }

    /// Judges a salvage into the older schema, which has no place for what the newer app has added.
    private func judgeNewer(
        _ report: SalvageReport, _ verdict: inout SalvageVerdict
    ) {
        let traces = ["schema_migrations", "schema_migrations_details", "grdb_migrations"]
        if traces.contains(where: input.has) {
            verdict.add(.newer, report.description)
        } else if verdict.right < verdict.rows {
            verdict.add(.newer, "without a ledger; \(report.description)")
        }
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
        if try !migrator.isComplete(db) {
            verdict.add(.check, "a migration is pending")
        }
        let isEncodingKnown = input.map != nil && input.touched.isDisjoint(with: [1])
        if isEncodingKnown, try TextEncoding(db) != template.shape.encoding {
            verdict.add(
                .encoding, "\(try TextEncoding(db).rawValue), not \(template.shape.encoding.rawValue)")
        }
    }

    private func judgeSequences(_ db: Database, _ verdict: inout SalvageVerdict) throws {
        guard input.has("sqlite_sequence") else { return }
        let sequences = try SalvageSequences.read(db)
        for (table, last) in input.sequences where (sequences[table] ?? 0) < last {
            verdict.add(.sequence, "\(table) has given \(last), and goes on from \(sequences[table] ?? 0)")
        }
    }

    private func judgeCounts(
        _ report: SalvageReport, _ rows: SalvageSnapshot, _ verdict: inout SalvageVerdict
    ) {
        for table in template.tables {
            let names = (1...SalvageSchema.latest).compactMap { table.name(at: $0) }
            let counted = report.tables.first { names.contains($0.name) }?.saved ?? 0
            let found = rows.tables[table.mark] ?? [:]
            let count = found.count - found.count { isPending($0.value, in: table.mark) }
            verdict.putBack += count - counted
            // Rows that migrations insert may be back where their page is lost, as nobody has saved them.
            let most = counted == count ? 0 : found.count { mayBePutBack($0.value, $0.key, in: table.mark) }
            if !(0...most).contains(count - counted) {
                verdict.add(
                    .count,
                    "\(table.mark) has \(count), \(most) of which may be seeds, and the report \(counted)")
            }
        }
    }
}
