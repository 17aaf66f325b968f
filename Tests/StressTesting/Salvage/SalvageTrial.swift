import AppMigrations
import DatabaseFiles
import Foundation
import GRDB
import MigrationTesting
import MigrationTools
import SchemaMigrations
import TestSupport

/// One database that is damaged, salvaged and judged.
struct SalvageTrial {
    private let seed: UInt64
    private let folder: URL
    private let template: SalvageTemplate
    private let damage: SalvageDamage
    private var random: RandomNumbers
    private var file: URL { folder.appendingPathComponent("app.sqlite") }

    init(seed: UInt64, _ templates: [SalvageTemplate], in folder: TemporaryFolder) {
        self.seed = seed
        self.folder = folder.file("\(seed)")
        random = RandomNumbers(seed: seed)
        damage = SalvageDamage.allCases[Int(seed % UInt64(SalvageDamage.allCases.count))]
        template = templates[Int(seed / UInt64(SalvageDamage.allCases.count)) % templates.count]
    }

    func run() throws -> SalvageVerdict {
        var trial = self
        return try trial.damageAndSalvage()
    }

    private mutating func damageAndSalvage() throws -> SalvageVerdict {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.copyItem(at: template.file, to: file)
        try damage.damage(file, template, &random)
        var verdict = SalvageVerdict(damage: damage)
        verdict.rows = template.rows.values.reduce(0) { $0 + $1.count }
        verdict.recovered = try recover()
        let before = try Data(contentsOf: file)
        do {
            let report = try DatabaseFile(path: file.path).salvage(into: SalvageTemplate.schema())
            try judge(report, &verdict)
        } catch let error as MigrationError
            where [.invalidCall, .newerThanThisProcess].contains(error.code)
            || error.message.contains("holds no row that can be read")
        {
            verdict.refusal = String(error.message.prefix(90))
            // Nothing was wrong that a salvage could set right.
            (verdict.rows, verdict.recovered) = (0, nil)
            if try Data(contentsOf: file) != before { verdict.failure = "the file was changed: \(error)" }
        } catch {
            verdict.failure = "\(error)"
        }
        verdict.failure = verdict.failure.map { "seed \(seed) (\(damage), \(template.pageSize)): \($0)" }
        return verdict
    }

    private func judge(_ report: SalvageReport, _ verdict: inout SalvageVerdict) throws {
        let queue = try DatabaseQueue(path: file.path)
        defer { try? queue.close() }
        try queue.inDatabase { db in
            let problems = try String.fetchAll(db, sql: "PRAGMA integrity_check").filter { $0 != "ok" }
            let orphans = try Row.fetchAll(db, sql: "PRAGMA foreign_key_check").count
            if !problems.isEmpty || orphans > 0 {
                verdict.failure = "\(orphans) rows without parent, \(problems)"
            }
            let saved = try SalvageTemplate.rows(db)
            for (table, rows) in saved {
                let originals = template.rows[table] ?? [:]
                let counted = report.tables.first { $0.name == table }?.saved ?? 0
                if counted != rows.count {
                    verdict.failure = "\(rows.count) rows of \(table), and the report says \(counted)"
                }
                for (key, row) in rows {
                    if originals[key] == row {
                        verdict.right += 1
                        continue
                    }
                    verdict.wrong += 1
                    let isOther = template.rows.contains { other, rows in
                        other != table && row.contains("'\(other) ")
                    }
                    let isDeleted = template.deleted[table]?[key] == row
                    let isHidden =
                        damage == .swappedPages && (isDeleted || isOnLaterPages(table, row, originals[key]))
                    if isOther || !isHidden && (isDeleted || !damage.changesValues) {
                        verdict.failure =
                            "\(table) has \(row.prefix(120)), and had \(originals[key]?.prefix(120) ?? "no such row")"
                    }
                }
            }
        }
        // What nothing can see, `.recover` does not see either: the end of a long text, and a page of deleted rows with
        // keys that the table's parents expect.
        if damage == .swappedPages, let recovered = verdict.recovered, verdict.wrong > recovered.wrong {
            verdict.failure = "\(verdict.wrong) rows are changed, and \(recovered.wrong) by .recover"
        }
    }

    /// Returns true if a note differs from the original in what lies on other pages than its beginning alone.
    ///
    /// Nothing on a page on which a long text goes on says whose it is (fileformat2.html, 1.6), so when two of them change
    /// places, the values change: those of the text, and of the number behind it.
    private func isOnLaterPages(_ table: String, _ row: String, _ original: String?) -> Bool {
        let fields = row.split(separator: "|")
        let originals = original?.split(separator: "|") ?? []
        return table == "note" && fields.count == 4 && originals.count == 4 && fields[..<2] == originals[..<2]
            && fields[2].utf8.count == originals[2].utf8.count && fields[2].utf8.count > template.pageSize
    }

    /// Gives the file to SQLite's own `.recover`, and counts the rows that it puts into their tables.
    private func recover() throws -> SalvageVerdict.Recovered? {
        guard let shell = ProcessInfo.processInfo.environment["SHELL_WITH_RECOVER"] else { return nil }
        let copy = folder.appendingPathComponent("copy.sqlite")
        for end in ["", "-wal"] where FileManager.default.fileExists(atPath: file.path + end) {
            try FileManager.default.copyItem(atPath: file.path + end, toPath: copy.path + end)
        }
        let recovered = folder.appendingPathComponent("recovered.sqlite")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = [
            "-c", "\"$0\" \"$1\" .recover 2>/dev/null | \"$0\" \"$2\" >/dev/null 2>&1", shell, copy.path,
            recovered.path,
        ]
        try process.run()
        process.waitUntilExit()
        var counts = SalvageVerdict.Recovered()
        guard FileManager.default.fileExists(atPath: recovered.path) else { return counts }
        // What it makes of a damaged schema may be none.
        guard let queue = try? DatabaseQueue(path: recovered.path) else { return counts }
        defer { try? queue.close() }
        guard let saved = try? queue.read(SalvageTemplate.rows) else { return counts }
        for (table, rows) in saved {
            for (key, row) in rows {
                if template.rows[table]?[key] == row { counts.right += 1 } else { counts.wrong += 1 }
            }
        }
        // It keeps children whose parent is lost, and these are left out here.
        let orphans = try? queue.read { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM child WHERE twin NOT IN (SELECT id FROM twin_a)")
        }
        counts.orphaned = orphans ?? 0
        return counts
    }
}
