import Foundation
import GRDB
import MigrationTesting
import MigrationTools

/// Makes rollback journals (fileformat2.html, 3).
struct JournalScene {
    var random: RandomNumbers

    func make(_ damage: JournalDamage, _ stage: inout SalvageStage) throws -> SalvageInput {
        try stage.execute("PRAGMA journal_mode = DELETE")
        var scene = self
        switch damage {
        case .hotJournal: return try scene.hot(&stage)
        case .growingJournal: return try scene.growing(&stage)
        case .oldJournal: return try scene.old(&stage)
        default: return try scene.cold(&stage)
        }
    }

    /// Leaves a journal of a transaction that has not written to the file.
    private func cold(_ stage: inout SalvageStage) throws -> SalvageInput {
        let files = try stage.filesOfOpenTransaction(isSpilling: false) { writer, db in try writer.change(db) }
        return try stage.input(files)
    }

    private func hot(_ stage: inout SalvageStage) throws -> SalvageInput {
        let files = try stage.filesOfOpenTransaction { writer, db in
            for _ in 1...3 { try writer.change(db) }
        }
        return try stage.input(files)
    }

    private func growing(_ stage: inout SalvageStage) throws -> SalvageInput {
        let files = try stage.filesOfOpenTransaction { writer, db in
            try writer.fill(db, writer.shape.scale * 2)
        }
        return try stage.input(files)
    }

    /// Leaves the journal of a transaction that was committed, with others after it.
    private mutating func old(_ stage: inout SalvageStage) throws -> SalvageInput {
        var journal: [UInt8]?
        try stage.execute("PRAGMA cache_size = 1; PRAGMA cache_spill = 1")
        let file = stage.file
        try stage.commit { writer, db in
            for _ in 1...2 { try writer.change(db) }
            journal = try SalvageFiles(at: file).journals["-journal"]
        }
        for _ in 1...Int.random(in: 1...3, using: &random) {
            try stage.commit { writer, db in try writer.change(db) }
        }
        return try stage.mixture(
            SalvageFiles(main: stage.files().main, journals: journal.map { ["-journal": $0] } ?? [:]))
    }
}

extension SalvageStage {
    /// Returns the files in the middle of a transaction, which is rolled back.
    ///
    /// - Parameter isSpilling: true to write changed pages before the end.
    mutating func filesOfOpenTransaction(
        isSpilling: Bool = true, _ change: (inout SalvageWriter, Database) throws -> Void
    ) throws -> SalvageFiles {
        // pragma.html: a full cache writes to the file, or to the log, before the commit.
        if isSpilling { try execute("PRAGMA cache_size = 1; PRAGMA cache_spill = 1") }
        var writer = writer
        let (files, open) = try queue.inDatabase { db -> (SalvageFiles, SalvageSnapshot) in
            try db.beginTransaction(.immediate)
            defer { try? db.rollback() }
            try change(&writer, db)
            return try (self.files(), rows(db))
        }
        self.writer = writer
        past.add(open, as: .uncommitted)
        return files
    }

    /// Returns files with the journal of another database, which does not count unless SQLite reads it without a fault.
    func inputIgnoringJournal(_ files: SalvageFiles) throws -> SalvageInput {
        let look = try look(at: files)
        if look.isIntact { return input(files, look) }
        var input = try input(SalvageFiles(main: files.main))
        input.files = files
        return input
    }
}
