import Foundation
import GRDB
import MigrationTesting
import MigrationTools

/// What has happened to the files of a database before its pages are damaged.
enum SalvageScene: String, CaseIterable, Sendable {
    /// Nothing: the file is alone.
    case none
    /// A newer app has migrated the database.
    case newer
    /// Rows have changed, so that ``PageDamage/olderLeaves`` can put older pages back.
    case older

    /// A log with several transactions.
    case log
    /// A log that ends with an open transaction.
    case openLog
    /// A log that was cut off.
    case cutLog
    /// A log with a byte that is another one.
    case badLog
    /// A log that begins anew, with frames of its last time behind the new ones.
    case reusedLog
    /// A log from before the last checkpoint.
    case olderLog
    /// A log of another database of the same app, and one with other pages.
    case foreignLog, foreignLogOfOtherPages
    /// A log that makes the file shorter.
    case shrinkingLog
    /// A log with all pages, beside an empty file.
    case wholeLog
    /// A log that has the only first page.
    case firstPageInLog

    /// A journal of a transaction that had not yet written to the file.
    case journal
    /// A journal of a transaction that had written to pages of the file, or had added pages.
    case hotJournal, growingJournal
    /// A journal of a transaction that was committed, before others.
    case oldJournal

    /// Makes the files.
    ///
    /// - Parameter folder: where to make them.
    func make(
        from template: SalvageTemplate, in folder: URL, _ random: inout RandomNumbers
    ) throws -> SalvageInput {
        var stage = try SalvageStage(template, at: folder.appendingPathComponent("stage.sqlite"), &random)
        defer { stage.close() }
        var (log, journal) = (LogDamage(random: random), JournalDamage(random: random))
        switch self {
        case .none: return try stage.input(stage.files())
        case .newer: return try newer(&stage)
        case .older: return try older(&stage)
        case .log: return try log.whole(&stage)
        case .openLog: return try log.open(&stage)
        case .cutLog: return try log.broken(&stage, isCut: true)
        case .badLog: return try log.broken(&stage, isCut: false)
        case .reusedLog: return try log.reused(&stage)
        case .olderLog: return try log.older(&stage)
        case .foreignLog: return try log.foreign(&stage, isOfOtherPages: false)
        case .foreignLogOfOtherPages: return try log.foreign(&stage, isOfOtherPages: true)
        case .shrinkingLog: return try log.shrinking(&stage)
        case .wholeLog: return try log.ofAllPages(&stage)
        case .firstPageInLog: return try log.ofFirstPage(&stage)
        case .journal: return try journal.cold(&stage)
        case .hotJournal: return try journal.hot(&stage)
        case .growingJournal: return try journal.growing(&stage)
        case .oldJournal: return try journal.old(&stage)
        }
    }

    /// Lets a newer app migrate the database.
    private func newer(_ stage: inout SalvageStage) throws -> SalvageInput {
        let (template, latest) = (stage.template, SalvageSchema.latest)
        let migrator = try template.schema.migrator(template.shape.migrations, upTo: SalvageSchema.newer)
        try migrator.migrate(stage.queue, upTo: SalvageSchema.newer)
        try stage.execute(
            """
            UPDATE note SET newer = 'newer#' || id; INSERT INTO newest(text) VALUES ('newest#');
            PRAGMA wal_checkpoint(TRUNCATE)
            """)
        stage.note(try stage.queue.read { try SalvageSnapshot($0, template.tables, at: latest) })
        let files = SalvageFiles(main: try stage.files().main)
        var input = stage.input(files, try stage.look(at: files, latest))
        input.isNewer = true
        input.version = latest
        return input
    }

    /// Changes rows where they are, or so that they move to other leaves.
    private func older(_ stage: inout SalvageStage) throws -> SalvageInput {
        let before = try stage.files().main
        for number in 1...3 {
            try stage.commit { writer, db in
                let isInPlace = writer.random.chance(70)
                for table in writer.tables { try writer.update(table, db, isInPlace: isInPlace) }
                if number == 1 { try writer.change(db) }
            }
        }
        try stage.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        var input = try stage.input(SalvageFiles(main: stage.files().main))
        input.older = before
        input.truth.earlier = [stage.states[0]]
        input.truth.earlierKeys = [:]
        return input
    }
}
