import Foundation
import GRDB
import MigrationTesting
import MigrationTools
import SchemaMigrations

/// Makes write-ahead logs (fileformat2.html, 4).
struct LogScene {
    var random: RandomNumbers

    func make(_ damage: JournalDamage, _ stage: inout SalvageStage) throws -> SalvageInput {
        var scene = self
        if damage == .shrinkingLog, stage.template.shape.vacuum == .none { try scene.setVacuum(&stage) }
        try stage.execute("PRAGMA journal_mode = WAL; PRAGMA wal_checkpoint(TRUNCATE)")
        switch damage {
        case .openLog: return try scene.openLog(&stage)
        case .cutLog, .badLog: return try scene.brokenLog(&stage, isCut: damage == .cutLog)
        case .reusedLog: return try scene.reusedLog(&stage)
        case .olderLog: return try scene.olderLog(&stage)
        case .foreignLog: return try scene.foreignLog(&stage, stage.template.shape.pageSize)
        case .foreignLogOfOtherPages:
            let size = stage.template.shape.pageSize
            return try scene.foreignLog(&stage, size < 65_536 ? size * 2 : size / 2)
        case .shrinkingLog: return try scene.shrinkingLog(&stage)
        case .wholeLog: return try scene.wholeLog(&stage)
        case .firstPageInLog: return try scene.firstPageInLog(&stage)
        default: return try scene.log(&stage)
        }
    }

    private mutating func commitSome(_ stage: inout SalvageStage) throws {
        for number in 1...Int.random(in: 1...4, using: &random) {
            try stage.commit { writer, db in
                try db.execute(sql: "PRAGMA user_version = \(number)")
                try writer.change(db)
                if writer.random.chance(40) { try writer.fill(db, writer.shape.scale) }
            }
        }
    }

    private mutating func log(_ stage: inout SalvageStage) throws -> SalvageInput {
        try commitSome(&stage)
        return try stage.input(stage.files())
    }

    /// Lets a transaction write to the log that never ends.
    private mutating func openLog(_ stage: inout SalvageStage) throws -> SalvageInput {
        try commitSome(&stage)
        let files = try stage.filesOfOpenTransaction { writer, db in
            try writer.fill(db, writer.shape.scale * 2)
            try writer.change(db)
        }
        return try stage.input(files)
    }

    private mutating func brokenLog(_ stage: inout SalvageStage, isCut: Bool) throws -> SalvageInput {
        try commitSome(&stage)
        try commitSome(&stage)
        var files = try stage.files()
        guard var log = files.journals["-wal"], log.count > 40 else { return try stage.input(files) }
        if isCut {
            log.removeLast(Int.random(in: 1..<log.count - 32, using: &random))
        } else {
            log[Int.random(in: 33..<log.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        }
        files.journals["-wal"] = log
        return try stage.input(files)
    }

    /// Lets the log begin anew: the frames behind the new ones are of older salts.
    private mutating func reusedLog(_ stage: inout SalvageStage) throws -> SalvageInput {
        try commitSome(&stage)
        try stage.execute("PRAGMA wal_checkpoint(RESTART)")
        try stage.commit { writer, db in try writer.delete(3, from: writer.random.pick(writer.tables), db) }
        try stage.commit { writer, db in
            try writer.update(writer.random.pick(writer.tables), db, isInPlace: true)
        }
        return try stage.input(stage.files())
    }

    private mutating func olderLog(_ stage: inout SalvageStage) throws -> SalvageInput {
        try commitSome(&stage)
        let log = try stage.files().journals["-wal"]
        try stage.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        try commitSome(&stage)
        try stage.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        var files = try SalvageFiles(main: stage.files().main)
        files.journals["-wal"] = log
        return try stage.mixture(files)
    }

    private mutating func shrinkingLog(_ stage: inout SalvageStage) throws -> SalvageInput {
        try stage.commit { writer, db in
            try writer.fill(db, writer.shape.scale)
        }
        try stage.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        try stage.commit { _, db in
            try db.execute(
                sql: "DELETE FROM note WHERE id % 20 <> 1; PRAGMA user_version = 9; PRAGMA incremental_vacuum")
        }
        return try stage.input(stage.files())
    }

    /// Lets the file become shorter when rows are deleted.
    private func setVacuum(_ stage: inout SalvageStage) throws {
        try stage.execute("PRAGMA journal_mode = DELETE; PRAGMA auto_vacuum = FULL; VACUUM")
        // Rows without a key of their own have other ids now.
        stage.note(try stage.queue.read(stage.rows))
    }

    /// Writes every page to the log, beside a file that has none: SQLite would take it for a new database.
    private mutating func wholeLog(_ stage: inout SalvageStage) throws -> SalvageInput {
        try stage.execute("VACUUM")
        stage.note(try stage.queue.read(stage.rows))
        var files = try stage.files()
        var input = try stage.input(files)
        files.main = []
        input.files = files
        return input
    }

    private mutating func firstPageInLog(_ stage: inout SalvageStage) throws -> SalvageInput {
        try commitSome(&stage)
        var input = try stage.input(stage.files())
        for index in 0..<stage.template.shape.pageSize { input.files.main[index] = 0 }
        return input
    }

    /// Takes the log of another database of the same app.
    private mutating func foreignLog(_ stage: inout SalvageStage, _ pageSize: Int) throws -> SalvageInput {
        let template = stage.template
        let other = stage.file.appendingPathExtension("other")
        SalvageFiles.remove(other)
        defer { SalvageFiles.remove(other) }
        let queue = try SalvageConnection.open(other)
        defer { try? queue.close() }
        try queue.writeWithoutTransaction { db in
            try db.execute(
                sql: """
                    PRAGMA page_size = \(pageSize); PRAGMA encoding = '\(template.shape.encoding.rawValue)';
                    VACUUM; PRAGMA journal_mode = WAL
                    """)
        }
        try template.schema.migrator(template.shape.migrations).migrate(queue, upTo: template.version)
        try queue.write { db in
            try db.execute(sql: "INSERT INTO note(title, body, number) VALUES ('foreign#', 'foreign#', 1)")
        }
        // A log of all pages would be a whole database.
        try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
        try queue.write { db in
            for id in 2...Int.random(in: 3...150, using: &random) {
                try db.execute(
                    sql: "INSERT INTO note(id, title, body, number) VALUES (?, 'foreign#', 'foreign#', ?)",
                    arguments: [id, id])
            }
        }
        stage.past.add(try queue.read(stage.rows), as: .foreign)
        return try stage.inputIgnoringJournal(
            SalvageFiles(main: stage.files().main, journals: ["-wal": SalvageFiles(at: other).journals["-wal"] ?? []]))
    }
}
