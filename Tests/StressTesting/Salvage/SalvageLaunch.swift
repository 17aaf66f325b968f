import AppMigrations
import Foundation
import GRDB

/// The launch of the app after a salvage: no step may run again, and none may be left out.
struct SalvageLaunch {
    let template: SalvageTemplate
    let file: URL
    let folder: URL
    /// The rows that were saved.
    let rows: SalvageSnapshot

    /// Launches the latest release.
    ///
    /// - Parameter isRecordWhole: true if the record is in the database that was saved, or outside of it: then the launch
    ///   has to succeed.
    func run(isRecordWhole: Bool, _ verdict: inout SalvageVerdict) {
        let runs = SalvageApp.Runs()
        do {
            verdict.launch = try launch(isRecordWhole: isRecordWhole, runs, &verdict)
            try judge(runs, &verdict)
        } catch {
            verdict.launch = (error as? MigrationError).map { "\($0.code)" } ?? "error"
            verdict.add(.launch, "\(error)")
        }
    }

    private func launch(
        isRecordWhole: Bool, _ runs: SalvageApp.Runs, _ verdict: inout SalvageVerdict
    ) throws -> String {
        let queue = try SalvageConnection.open(file)
        defer { try? queue.close() }
        let record = folder.appendingPathComponent("record.json")
        if FileManager.default.fileExists(atPath: template.record.path) {
            try FileManager.default.copyItem(at: template.record, to: record)
        }
        let app = SalvageApp(shape: template.shape, schema: template.schema, record: record)
        do {
            return "\(try app.manager(of: SalvageSchema.latest, queue, runs).migrate().launch)"
        } catch let error as MigrationError where error.code == .damagedStore {
            if isRecordWhole { verdict.add(.launch, "the record is whole: \(error.message)") }
            // The way out that a recovery screen shows: the version with its sub-migration.
            let release = template.shape.release
            try app.manager(of: SalvageSchema.latest, queue, runs)
                .replaceRecord(assuming: release == 2 ? "2.0-1" : SalvageApp.version(release))
            _ = try app.manager(of: SalvageSchema.latest, queue, runs).migrate()
            return "damagedStore"
        }
    }

    /// Compares each row with what the steps that were pending make of it.
    private func judge(_ runs: SalvageApp.Runs, _ verdict: inout SalvageVerdict) throws {
        let queue = try SalvageConnection.open(file)
        defer { try? queue.close() }
        let now = try queue.read { try SalvageSnapshot($0, template.tables, at: SalvageSchema.latest) }
        let pending = (template.shape.release + 1)...(SalvageSchema.latest + 1)
        let marks = pending.compactMap { SalvageApp.marks[$0] }.joined()
        for (table, key, row) in rows.entries {
            let expected = table == "note" ? Self.note(row, marked: marks) : row
            let found = now[table, key]
            guard found != expected else { continue }
            let detail = "\(table) \(found.map { "\($0)" } ?? "nothing") in place of \(expected)"
            verdict.add(Self.length(found) > Self.length(expected) ? .stepTwice : .stepMissing, detail)
        }
        switch template.runs + runs.count {
        case ..<1: verdict.add(.stepMissing, "the step outside of the database")
        case 2...: verdict.add(.stepTwice, "the step outside of the database, \(runs.count) times")
        default: break
        }
    }

    private static func note(_ row: SalvageRow, marked marks: String) -> SalvageRow {
        var row = row
        guard let index = SalvageTable.note.index(of: "title"), case .text(let bytes) = row[index] else {
            return row
        }
        row[index] = .text(bytes + Array(marks.utf8))
        return row
    }

    /// The length of a row's texts.
    private static func length(_ row: SalvageRow?) -> Int {
        (row ?? []).reduce(0) { sum, value in
            if case .text(let bytes) = value { sum + bytes.count } else { sum }
        }
    }
}
