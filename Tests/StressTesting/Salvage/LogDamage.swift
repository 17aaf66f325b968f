import Foundation
import GRDB
import MigrationTesting
import MigrationTools

/// Makes write-ahead logs (fileformat2.html, 4).
struct LogDamage {
    var random: RandomNumbers

    /// Leaves a log in order.
    mutating func whole(_ stage: inout SalvageStage) throws -> SalvageInput {
        try beginLog(stage)
        try commitSome(&stage)
        return try stage.input(stage.files())
    }

    /// Lets a transaction write to the log that never ends.
    mutating func open(_ stage: inout SalvageStage) throws -> SalvageInput {
        try beginLog(stage)
        try commitSome(&stage)
        let files = try stage.filesOfOpenTransaction { writer, db in
            try writer.fill(db, writer.shape.scale * 2)
            try writer.change(db)
        }
        return try stage.input(files)
    }

    /// Cuts a log off, or changes a bit in it.
    mutating func broken(_ stage: inout SalvageStage, isCut: Bool) throws -> SalvageInput {
        try beginLog(stage)
        for _ in 1...2 { try commitSome(&stage) }
        var files = try stage.files()
        guard var log = files.journals["-wal"], log.count > 40 else { return try stage.input(files) }
        if isCut {
            log.removeLast(Int.random(in: 1..<log.count - 32, using: &random))
        } else {
            log[Int.random(in: 33..<log.count, using: &random)] ^=
                1 << UInt8.random(in: 0..<8, using: &random)
        }
        files.journals["-wal"] = log
        return try stage.input(files)
    }

    /// Lets the log begin anew: the frames behind the new ones are of older salts.
    mutating func reused(_ stage: inout SalvageStage) throws -> SalvageInput {
        try beginLog(stage)
        try commitSome(&stage)
        try stage.execute("PRAGMA wal_checkpoint(RESTART)")
        try stage.commit { writer, db in try writer.delete(3, from: writer.random.pick(writer.tables), db) }
        try stage.commit { writer, db in
            try writer.update(writer.random.pick(writer.tables), db, isInPlace: true)
        }
        return try stage.input(stage.files())
    }

    /// Puts a log back that was checkpointed long ago.
    mutating func older(_ stage: inout SalvageStage) throws -> SalvageInput {
        try beginLog(stage)
        try commitSome(&stage)
        let log = try stage.files().journals["-wal"]
        try stage.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        try commitSome(&stage)
        try stage.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        var files = try SalvageFiles(main: stage.files().main)
        files.journals["-wal"] = log
        return try stage.mixture(files)
    }

    /// Deletes most rows of a table in the log, so that the file is to become shorter.
    mutating func shrinking(_ stage: inout SalvageStage) throws -> SalvageInput {
        if stage.template.shape.vacuum == .none {
            try stage.execute("PRAGMA journal_mode = DELETE; PRAGMA auto_vacuum = FULL; VACUUM")
            // Rows without a key of their own have other ids now.
            stage.note(try stage.queue.read(stage.rows))
        }
        try beginLog(stage)
        try stage.commit { writer, db in try writer.fill(db, writer.shape.scale) }
        try stage.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        try stage.commit { _, db in
            try db.execute(
                sql: "DELETE FROM note WHERE id % 20 <> 1; PRAGMA user_version = 9; PRAGMA incremental_vacuum"
            )
        }
        return try stage.input(stage.files())
    }

    /// Writes every page to the log, beside a file that has none: SQLite would take it for a new database.
    mutating func ofAllPages(_ stage: inout SalvageStage) throws -> SalvageInput {
        try beginLog(stage)
        try stage.execute("VACUUM")
        stage.note(try stage.queue.read(stage.rows))
        var input = try stage.input(stage.files())
        input.files.main = []
        return input
    }

    /// Leaves the first page in the log alone.
    mutating func ofFirstPage(_ stage: inout SalvageStage) throws -> SalvageInput {
        var input = try whole(&stage)
        for index in 0..<stage.template.shape.pageSize { input.files.main[index] = 0 }
        return input
    }

    /// Takes the log of another database of the same app.
    mutating func foreign(_ stage: inout SalvageStage, isOfOtherPages: Bool) throws -> SalvageInput {
        try beginLog(stage)
        let other = stage.file.appendingPathExtension("other")
        defer { SalvageFiles.remove(other) }
        let size = stage.template.shape.pageSize
        let queue = try makeForeign(
            at: other, pageSize: !isOfOtherPages ? size : size < 65_536 ? size * 2 : size / 2, stage.template)
        defer { try? queue.close() }
        stage.past.add(try queue.read(stage.rows), as: .foreign)
        let journals = try SalvageFiles(at: other).journals
        return try stage.inputIgnoringJournal(
            SalvageFiles(main: stage.files().main, journals: ["-wal": journals["-wal"] ?? []]))
    }

    // MARK: Parts

    private func beginLog(_ stage: SalvageStage) throws {
        try stage.execute("PRAGMA journal_mode = WAL; PRAGMA wal_checkpoint(TRUNCATE)")
    }

    private mutating func commitSome(_ stage: inout SalvageStage) throws {
        for number in 1...Int.random(in: 1...4, using: &random) {
            try stage.commit { writer, db in
                // So that the first page is in the log.
                try db.execute(sql: "PRAGMA user_version = \(number)")
                try writer.change(db)
                if writer.random.chance(40) { try writer.fill(db, writer.shape.scale) }
            }
        }
    }

    /// Makes a database of the same app, with a log that does not have all pages.
    private mutating func makeForeign(
        at file: URL, pageSize: Int, _ template: SalvageTemplate
    ) throws -> DatabaseQueue {
        var shape = template.shape
        shape.pageSize = pageSize
        try shape.create(at: file)
        let queue = try SalvageConnection.open(file)
        func execute(_ sql: String) throws { try queue.writeWithoutTransaction { try $0.execute(sql: sql) } }
        try execute("PRAGMA journal_mode = WAL")
        try template.schema.migrator(template.shape.migrations).migrate(queue, upTo: template.version)
        let insert = "INSERT INTO note(title, body, number) VALUES ('foreign#', 'foreign#', 1);"
        try execute(insert)
        try execute("PRAGMA wal_checkpoint(TRUNCATE)")
        let count = Int.random(in: 2...150, using: &random)
        try execute("BEGIN; \(String(repeating: insert, count: count)) COMMIT")
        return queue
    }
}
