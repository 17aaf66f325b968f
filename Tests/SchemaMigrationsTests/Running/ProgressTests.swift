import AppMigrations
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("Progress", .timed)
struct ProgressTests {
    let folder: TemporaryFolder
    let queue: DatabaseQueue

    init() throws {
        folder = try TemporaryFolder()
        queue = try folder.queue()
    }

    @Test("counts the work of each migration, and names the last finished one")
    func weights() throws {
        let progress = Progress(totalUnitCount: 10)
        let seen = Locked<[String]>([])
        func look(_ version: SchemaVersion) -> CodeMigration {
            CodeMigration(version, "Code\(version)") { [progress] _ in
                let name = progress.userInfo[.migrationName] as? String
                seen.withLock { $0.append("\(Int(progress.fractionCompleted * 100)) \(name ?? "none")") }
            }
        }
        let files = try folder.folder([
            "1_a.sql": "CREATE TABLE a(x); CREATE TABLE b(x); CREATE TABLE c(x);", "2_b.sql": "-- Nothing.",
            "4_d.sql": (1...4).map { "CREATE TABLE t\($0)(x);" }.joined(),
        ])
        let schema = try SchemaMigrator(directories: [files], migrations: [look(3), look(5)])
        try schema.migrate(queue, progress: progress)
        #expect(seen.withLock { $0 } == ["40 2_b.sql", "90 4_d.sql"])
        #expect(progress.isFinished)
        #expect(progress.totalUnitCount == 10)
        #expect(progress.completedUnitCount == 10)
        #expect(progress.userInfo[.migrationName] as? String == "Code5")
    }

    @Test("grows within a migration in Swift that reports its own")
    func within() throws {
        let progress = Progress(totalUnitCount: 10)
        let seen = Locked<[Double]>([])
        let code = CodeMigration(2, "count") { [progress] db in
            db.migrationProgress.totalUnitCount = 4
            for _ in 1...4 {
                seen.withLock { $0.append(progress.fractionCompleted) }
                db.migrationProgress.completedUnitCount += 1
            }
        }
        let schema = try SchemaMigrator(migrations: [CodeMigration(1, sql: ""), code])
        try schema.migrate(queue, progress: progress)
        #expect(seen.withLock { $0 } == [0.5, 0.625, 0.75, 0.875])
        #expect(progress.isFinished)
        #expect(progress.completedUnitCount == 10)
        try queue.read { #expect($0.migrationProgress.completedUnitCount == 0) }
    }

    @Test("can be part of another progress")
    func parent() throws {
        let whole = Progress(totalUnitCount: 4)
        let part = Progress(totalUnitCount: 1, parent: whole, pendingUnitCount: 1)
        try SchemaMigrator(migrations: [CodeMigration(1, sql: ""), CodeMigration(2, sql: "")]).migrate(
            queue, progress: part)
        #expect(part.isFinished)
        #expect(whole.fractionCompleted == 0.25)
    }

    /// Calls a closure whenever a migration is named.
    private final class WatchedProgress: Progress, @unchecked Sendable {
        var onChange: () -> Void = {}

        override func setUserInfoObject(_ object: Any?, forKey key: ProgressUserInfoKey) {
            super.setUserInfoObject(object, forKey: key)
            onChange()
        }
    }

    @Test(
        "whose observer ends the transaction leaves no row in the ledger without its work",
        arguments: ["ROLLBACK", "COMMIT"])
    func endedTransaction(sql: String) throws {
        let schema = try folder.migrator(["1_a.sql": "CREATE TABLE a(x);", "2_b.sql": "CREATE TABLE b(x);"])
        let progress = WatchedProgress(parent: nil)
        progress.onChange = { [queue, progress] in
            guard progress.userInfo[.migrationName] as? String == "2_b.sql" else { return }
            try? queue.unsafeReentrantWrite { try $0.execute(sql: sql) }
        }
        let error = try failure { try schema.migrate(queue, progress: progress) }
        #expect(error.message == "2_b.sql: ended the transaction that it ran in.")
        #expect(try queue.strings("SELECT name FROM sqlite_master WHERE name IN ('a', 'b')") == ["a"])
        #expect(try queue.ledger() == [1])
        #expect(try schema.migrate(queue).applied == [2])
    }

    @Test("stops at a failing migration")
    func failing() throws {
        let progress = Progress(totalUnitCount: 0)
        let schema = try SchemaMigrator(migrations: [
            CodeMigration(1, sql: ""), CodeMigration(2, sql: ""), CodeMigration(3, sql: ""),
            CodeMigration(4, sql: "SELECT nonsense"),
        ])
        _ = try failure { try schema.migrate(queue, progress: progress) }
        #expect(progress.fractionCompleted == 0.75)
        #expect(progress.userInfo[.migrationName] as? String == "Code3")
        #expect(!progress.isFinished)
    }

    @Test("is finished even if another process does part of the work")
    func meantime() throws {
        let other = try folder.queue()
        let progress = Progress(totalUnitCount: 0)
        let plan = try SchemaMigrator(
            migrations: (1...3).map { CodeMigration($0, sql: "CREATE TABLE t\($0)(x)") })
        let schema = try SchemaMigrator(migrations: [
            CodeMigration(1, "Code1", foreignKeys: .immediate) { db in
                db.afterNextTransaction { _ in _ = try? plan.migrate(other) }
            },
            CodeMigration(2, sql: ""), CodeMigration(3, sql: ""), CodeMigration(4, sql: ""),
        ])
        #expect(try schema.migrate(queue, progress: progress).applied == [1, 4])
        #expect(progress.isFinished)
        #expect(progress.fractionCompleted == 1)
    }

    @Test("is finished if nothing is pending", arguments: [0, 7])
    func nothing(total: Int64) throws {
        let schema = try SchemaMigrator(migrations: [CodeMigration(1, sql: "")])
        try schema.migrate(queue)
        let progress = Progress(totalUnitCount: total)
        try schema.migrate(queue, progress: progress)
        #expect(progress.isFinished)
        #expect(progress.fractionCompleted == 1)
    }
}
