import GRDB
import MigrationTesting
import MigrationTools

/// Makes rollback journals (fileformat2.html, 3).
struct JournalDamage {
    var random: RandomNumbers

    /// Leaves a journal of a transaction that has not written to the file.
    func cold(_ stage: inout SalvageStage) throws -> SalvageInput {
        try stage.execute("PRAGMA journal_mode = DELETE")
        let files = try stage.filesOfOpenTransaction(isSpilling: false) { writer, db in try writer.change(db)
        }
        return try stage.input(files)
    }

    /// Leaves a journal of a transaction that has changed pages of the file.
    func hot(_ stage: inout SalvageStage) throws -> SalvageInput {
        try stage.execute("PRAGMA journal_mode = DELETE")
        let files = try stage.filesOfOpenTransaction { writer, db in
            for _ in 1...3 { try writer.change(db) }
        }
        return try stage.input(files)
    }

    /// Leaves a journal of a transaction that has added pages to the file.
    func growing(_ stage: inout SalvageStage) throws -> SalvageInput {
        try stage.execute("PRAGMA journal_mode = DELETE")
        let files = try stage.filesOfOpenTransaction { writer, db in
            try writer.fill(db, writer.shape.scale * 2)
        }
        return try stage.input(files)
    }

    /// Leaves the journal of a transaction that was committed, with others after it.
    mutating func old(_ stage: inout SalvageStage) throws -> SalvageInput {
        try stage.execute("PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1; PRAGMA cache_spill = 1")
        var journals: [String: [UInt8]] = [:]
        let file = stage.file
        try stage.commit { writer, db in
            for _ in 1...2 { try writer.change(db) }
            journals = try SalvageFiles(at: file).journals
        }
        for _ in 1...Int.random(in: 1...3, using: &random) {
            try stage.commit { writer, db in try writer.change(db) }
        }
        return try stage.mixture(SalvageFiles(main: stage.files().main, journals: journals))
    }
}
