import AppMigrations
import DatabaseFiles
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("A backup before migrating", .timed)
struct BackupTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private var copies: URL { folder.url.appendingPathComponent("copies/of databases") }

    private func migrator(_ count: Int, keep: Int = 2) throws -> SchemaMigrator {
        try SchemaMigrator(
            migrations: (1...count).map { version in
                CodeMigration(
                    Int64(version), sql: "CREATE TABLE t\(version)(x); INSERT INTO t1 VALUES (\(version))")
            }, options: SchemaOptions(backupFolder: copies, keptBackups: keep))
    }

    private func manager(_ version: AppVersion) throws -> MigrationManager {
        try MigrationManager(
            name: "Library", currentVersion: version, adopting: .newApp,
            store: .jsonFile(at: folder.file("records.json")),
            options: MigrationOptions(ignoresStepsAboveCurrent: true))
    }

    private func names() throws -> [String] {
        guard FileManager.default.fileExists(atPath: copies.path) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: copies.path).sorted()
    }

    @Test("can be written by its owner, even if the database is read-only")
    func readOnlyOriginal() throws {
        let (original, copy) = (folder.file("original"), folder.file("copy"))
        try Data().write(to: original)
        try FileManager.default.setAttributes([.posixPermissions: 0o440], ofItemAtPath: original.path)
        try CopyFile.create(at: copy, like: original)
        let attributes = try FileManager.default.attributesOfItem(atPath: copy.path)
        #expect(attributes[.posixPermissions] as? NSNumber == 0o640)
    }

    @Test("has the permissions of the database", arguments: [0o600, 0o640])
    func permissions(mode: Int) throws {
        let queue = try folder.queue()
        try migrator(1).migrate(queue)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: queue.path)
        let backup = try #require(try migrator(2).migrate(queue).backup)
        let attributes = try FileManager.default.attributesOfItem(atPath: backup.path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == mode)
    }

    @Test("is made only if the database is not empty and a migration is pending")
    func onlyWhenNeeded() throws {
        let queue = try folder.queue()
        #expect(try migrator(1).migrate(queue).backup == nil)
        #expect(try migrator(1).migrate(queue).backup == nil)
        #expect(try names() == [])
        let backup = try #require(try migrator(3).migrate(queue).backup)
        #expect(backup.deletingLastPathComponent().path == copies.path)
        #expect(try names() == [backup.lastPathComponent])
        let name = backup.lastPathComponent
        #expect(name.wholeMatch(of: #/app\.sqlite-[0-9a-f]{8}-\d{8}T\d{6}\.\d{3}Z\.backup/#) != nil)
        let copy = try DatabaseQueue(path: backup.path)
        #expect(try copy.tables() == ["t1"])
        #expect(try copy.ledger() == [1])
    }

    @Test("is made in a folder whose URL has no scheme")
    func urlWithoutScheme() throws {
        let queue = try folder.queue()
        var schema = try migrator(2)
        schema.options.backupFolder = URL(string: folder.path("copies"))
        try schema.migrate(queue, upTo: 1)
        let backup = try #require(try schema.migrate(queue).backup)
        try schema.restore(backup, to: queue)
        #expect(try queue.ledger() == [1])
    }

    @Test("replaces the oldest ones of the same database only", arguments: [1, 2, 3])
    func kept(keep: Int) throws {
        let other = try folder.queue("app.sqlite-2")
        let queue = try folder.queue()
        for database in [other, queue] { try migrator(1).migrate(database) }
        let others = try #require(try migrator(2).migrate(other).backup)
        try Data("kept".utf8).write(to: copies.appendingPathComponent("app.sqlite-notes.txt"))
        var made: [String] = []
        for count in 2...5 {
            made.append(try #require(try migrator(count, keep: keep).migrate(queue).backup).lastPathComponent)
        }
        #expect(
            try names()
                == (made.suffix(keep) + [others.lastPathComponent, "app.sqlite-notes.txt"]).sorted())
    }

    @Test("from before an update stays, however often launches fail", arguments: [1, 2])
    func failingLaunches(keep: Int) throws {
        let queue = try folder.queue()
        try migrator(1).migrate(queue)
        func update(_ version: AppVersion?, failing: Bool) throws -> SchemaMigrator {
            try SchemaMigrator(
                migrations: [
                    CodeMigration(1, sql: ""), CodeMigration(2, sql: "DELETE FROM t1"),
                    CodeMigration(3, sql: failing ? "SELECT nothing" : ""),
                ],
                options: SchemaOptions(
                    backupFolder: copies, keptBackups: keep, appVersion: version))
        }
        for _ in 0..<4 {
            #expect(throws: MigrationError.self) { try update(nil, failing: true).migrate(queue) }
        }
        let made = try names().filter { $0.hasSuffix(".backup") }
        #expect(made.count == 2)
        func rows(_ name: String) throws -> [Int64] {
            let copy = try DatabaseQueue(path: copies.appendingPathComponent(name).path)
            return try copy.integers("SELECT x FROM t1")
        }
        #expect(try made.map(rows) == [[1], []])
        // What succeeds at last reports the one from before the update. Then the next update may replace it.
        let report = try update(nil, failing: false).migrate(queue)
        #expect(report.backup?.lastPathComponent == made[0])
        #expect(try names().contains(made[0]))
        #expect(try names().allSatisfy { $0.hasSuffix(".backup") })
        let more = try SchemaMigrator(
            migrations: (1...4).map { CodeMigration(Int64($0), sql: "") },
            options: SchemaOptions(backupFolder: copies, keptBackups: keep))
        try more.migrate(queue)
        #expect(try names().count == keep)
        #expect(try !names().contains(made[0]))
    }

    @Test("that is reported is that from before the version of the app whose launches have failed")
    func failingVersions() throws {
        let queue = try folder.queue()
        try migrator(1).migrate(queue)
        func update(_ version: AppVersion, _ sql: String) throws -> SchemaReport {
            try SchemaMigrator(
                migrations: [CodeMigration(1, sql: ""), CodeMigration(2, sql: sql)],
                options: SchemaOptions(backupFolder: copies, keptBackups: 1, appVersion: version)
            ).migrate(queue)
        }
        #expect(throws: MigrationError.self) { try update("2.0", "SELECT nothing") }
        // The app goes on.
        try queue.execute("INSERT INTO t1 VALUES (7)")
        for _ in 0..<2 { #expect(throws: MigrationError.self) { try update("2.1", "SELECT nothing") } }
        let backup = try #require(try update("2.1", "DELETE FROM t1").backup)
        #expect(try DatabaseQueue(path: backup.path).integers("SELECT x FROM t1") == [1, 7])
    }

    @Test("from before a second update of the same version stays, however often its launches fail")
    func failingBuilds() throws {
        let queue = try folder.queue()
        try migrator(1).migrate(queue)
        func update(_ sql: [String]) throws -> SchemaReport {
            try SchemaMigrator(
                migrations: ([""] + sql).enumerated().map { CodeMigration(Int64($0 + 1), sql: $1) },
                options: SchemaOptions(backupFolder: copies, keptBackups: 1, appVersion: "2.0")
            ).migrate(queue)
        }
        _ = try update([""])
        try queue.execute("INSERT INTO t1 VALUES (7)")
        for _ in 0..<2 {
            #expect(throws: MigrationError.self) { try update(["", "DELETE FROM t1", "SELECT nothing"]) }
        }
        let rows = try names().filter { $0.hasSuffix(".backup") }.map { name in
            try DatabaseQueue(path: copies.appendingPathComponent(name).path).integers("SELECT x FROM t1")
        }
        #expect(rows == [[1], [1, 7], []])
    }

    @Test("from before an update stays, and is the only one, if another process has applied what was pending")
    func overtaken() throws {
        struct Overtaken: SchemaMigration {
            let version: SchemaVersion = 2
            let overtake: @Sendable () -> Void
            // It is asked before the lock is taken.
            var foreignKeys: ForeignKeys {
                overtake()
                return .deferred
            }
            func migrate(_ db: Database) throws {}
        }
        let queue = try folder.queue()
        try migrator(1).migrate(queue)
        let options = SchemaOptions(backupFolder: copies, keptBackups: 1)
        let path = queue.path
        let late = Overtaken {
            let update = [CodeMigration(1, sql: ""), CodeMigration(2, sql: "DELETE FROM t1")]
            _ = try? SchemaMigrator(migrations: update, options: options).migrate(path: path)
        }
        let report = try SchemaMigrator(migrations: [CodeMigration(1, sql: ""), late], options: options)
            .migrate(queue)
        #expect(report.applied == [])
        #expect(report.backup == nil)
        let made = try names().filter { $0.hasSuffix(".backup") }
        #expect(made.count == 1)
        let copy = try DatabaseQueue(path: copies.appendingPathComponent(made[0]).path)
        #expect(try copy.integers("SELECT x FROM t1") == [1])
    }

    @Test("from before an update stays while the same version of the app makes others")
    func severalMoves() throws {
        let queue = try folder.queue()
        try migrator(1).migrate(queue)
        var made: [String] = []
        for count in 2...4 {
            var migrator = try migrator(count, keep: 1)
            migrator.options.appVersion = "2.0"
            made.append(try #require(try migrator.migrate(queue).backup).lastPathComponent)
        }
        #expect(try names().filter { $0.hasSuffix(".backup") } == [made[0], made[2]])
    }

    @Test("from before an update stays while the version of the app that completes the update makes others")
    func severalMovesByLaterVersion() throws {
        let queue = try folder.queue()
        try migrator(1).migrate(queue)
        func update(_ version: AppVersion, _ steps: [String]) throws -> SchemaMigrator {
            try SchemaMigrator(
                migrations: ([""] + steps).enumerated().map { CodeMigration(Int64($0 + 1), sql: $1) },
                options: SchemaOptions(backupFolder: copies, keptBackups: 1, appVersion: version))
        }
        #expect(throws: MigrationError.self) { try update("2.0", ["SELECT nothing"]).migrate(queue) }
        let first = try #require(try names().first { $0.hasSuffix(".backup") })
        for steps in [["DELETE FROM t1"], ["DELETE FROM t1", ""], ["DELETE FROM t1", "", ""]] {
            try update("2.1", steps).migrate(queue)
        }
        #expect(try names().first { $0.hasSuffix(".backup") } == first)
    }

    @Test("from before an update stays until a launch is complete, though migrations have succeeded")
    func failingSteps() throws {
        let queue = try folder.queue()
        func launch(_ version: AppVersion, _ count: Int, failing: Bool = false) throws {
            let manager = try manager(version)
            manager.whenMigratingToVersion("1.0", migrate: try migrator(count, keep: 1), in: queue)
            manager.whenMigratingToVersion("2.0", in: queue, onFreshInstall: .run) { db in
                if failing { try db.execute(sql: "SELECT nothing") }
            }
            try manager.migrate()
        }
        try launch("1.9", 1)
        for (version, count) in [("2.0", 2), ("2.1", 3), ("2.2", 4)] as [(AppVersion, Int)] {
            #expect(throws: MigrationError.self) { try launch(version, count, failing: true) }
        }
        let first = try #require(try names().first { $0.hasSuffix(".backup") })
        let copy = try DatabaseQueue(path: copies.appendingPathComponent(first).path)
        #expect(try copy.ledger() == [1])
        try launch("2.3", 4)
        try launch("2.4", 5)
        #expect(try !names().contains(first))
    }

    @Test("from before an update stays, though one before it was complete, and the app was sent back")
    func afterDowngrade() throws {
        let queue = try folder.queue()
        func launch(_ version: AppVersion, _ count: Int, failing: Bool = false) throws {
            let manager = try manager(version)
            let files = (1...count).map { number in
                failing && number == count
                    ? SQLMigration(version: SchemaVersion(number), name: "m", sql: "SELECT nothing")
                    : SQLMigration(
                        version: SchemaVersion(number), name: "m",
                        sql: "-- migrations: compatible\nCREATE TABLE t\(number)(x)")
            }
            let options = SchemaOptions(backupFolder: copies, keptBackups: 1)
            manager.whenMigratingToVersion(
                "1.0", migrate: try SchemaMigrator(migrations: files, options: options), in: queue)
            try manager.migrate()
        }
        try launch("1.0", 1)
        try launch("2.0", 2)
        let old = try #require(try names().first { $0.hasSuffix(".backup") })
        try launch("1.0", 1)
        for _ in 0..<2 { #expect(throws: MigrationError.self) { try launch("2.1", 4, failing: true) } }
        let made = try names().filter { $0.hasSuffix(".backup") }
        #expect(made.count == 2)
        #expect(!made.contains(old))
    }

    @Test(
        "from before an update stays, even if the one before it failed and was taken back",
        arguments: [true, false])
    func takenBack(isDamaged: Bool) throws {
        var queue = try folder.queue()
        try migrator(1).migrate(queue)
        func update(_ version: AppVersion) throws -> SchemaMigrator {
            try SchemaMigrator(
                migrations: [
                    CodeMigration(1, sql: ""), CodeMigration(2, sql: "DELETE FROM t1"),
                    CodeMigration(3, sql: "SELECT nothing"),
                ], options: SchemaOptions(backupFolder: copies, keptBackups: 1, appVersion: version))
        }
        func fail(_ version: AppVersion) throws {
            for _ in 0..<2 {
                #expect(throws: MigrationError.self) { try update(version).migrate(queue) }
            }
        }
        try fail("2.0")
        let first = try #require(try names().first { $0.hasSuffix(".backup") })
        let backup = copies.appendingPathComponent(first)
        if isDamaged {
            let path = queue.path
            try queue.close()
            try DatabaseFile(path: path).restore(fromBackup: backup.path)
            queue = try DatabaseQueue(path: path)
        } else {
            try update("1.0").restore(backup, to: queue)
        }
        // The app of old goes on for a while.
        try queue.execute("INSERT INTO t1 VALUES (7)")
        try fail("2.1")
        let made = try names().filter { $0.hasSuffix(".backup") }
        #expect(made.count == 2)
        let copy = try DatabaseQueue(path: copies.appendingPathComponent(made[0]).path)
        #expect(try copy.integers("SELECT x FROM t1") == [1, 7])
    }

    @Test("has a shorter name where the database's is too long for it")
    func longName() throws {
        let name = String(repeating: "é", count: 118) + ".sqlite"
        #expect(name.utf8.count == 243)
        let queue = try folder.queue(name)
        try migrator(1).migrate(queue)
        let backup = try #require(try migrator(2).migrate(queue).backup)
        #expect(backup.lastPathComponent.utf8.count + ".partial-journal".utf8.count <= 255)
        #expect(try DatabaseQueue(path: backup.path).ledger() == [1])
        for count in 3...5 { try migrator(count).migrate(queue) }
        #expect(try names().count == 2)
    }

    @Test("of one account's database leaves those of other accounts alone, in a folder that all share")
    func accounts() throws {
        func database(of account: String) throws -> DatabaseQueue {
            let url = folder.url.appendingPathComponent(account)
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            return try DatabaseQueue(path: url.appendingPathComponent("mail.sqlite").path)
        }
        let databases = try ["anna", "ben", "carla", "dora"].map(database)
        for database in databases { try migrator(1).migrate(database) }
        for database in databases { try migrator(2, keep: 1).migrate(database) }
        #expect(try names().count == 4)
        let mails = folder.url.appendingPathComponent("ben/mail.sqlite")
        #expect(BackupMaker.copies(of: [mails], in: copies).count == 1)
    }

    @Test("is no unfinished one because the database has such a name")
    func nameOfUnfinishedCopy() throws {
        let queue = try folder.queue("old.backup.partial.sqlite")
        for count in 1...3 { try migrator(count).migrate(queue) }
        #expect(try names().count == 2)
    }

    @Test("is removed with the files that SQLite has left beside it")
    func openedCopy() throws {
        let queue = try folder.queue()
        try migrator(1).migrate(queue)
        let oldest = try #require(try migrator(2, keep: 1).migrate(queue).backup)
        for end in ["-journal", "-wal", "-shm"] { try Data().write(to: oldest.appending(end: end)) }
        let backup = try #require(try migrator(3, keep: 1).migrate(queue).backup)
        #expect(try names() == [backup.lastPathComponent])
    }

    @Test("is removed before the next one if a crash left it unfinished")
    func unfinished() throws {
        let queue = try folder.queue()
        try migrator(1).migrate(queue)
        let prefix = BackupMaker.prefix(of: folder.url.appendingPathComponent("app.sqlite"))
        let (left, other) = ("\(prefix)20260101T000000.000Z", "app.sqlite-0badcafe-20260101T000000.000Z")
        try FileManager.default.createDirectory(at: copies, withIntermediateDirectories: true)
        for name in ["\(left).backup.partial", "\(left).backup.partial-journal", "\(other).backup.partial"] {
            try Data().write(to: copies.appendingPathComponent(name))
        }
        let backup = try #require(try migrator(2).migrate(queue).backup)
        #expect(try names() == ["\(other).backup.partial", backup.lastPathComponent].sorted())
    }

    @Test("includes the write-ahead log, and can be restored")
    func wal() throws {
        let pool = try folder.pool()
        try migrator(1).migrate(pool)
        try pool.execute("PRAGMA wal_autocheckpoint = 0; INSERT INTO t1 VALUES (100)")
        let report = try migrator(2).migrate(pool)
        let backup = try #require(report.backup)
        #expect(try pool.tables() == ["t1", "t2"])

        try migrator(2).restore(backup, to: pool)
        #expect(try pool.tables() == ["t1"])
        #expect(try pool.integers("SELECT x FROM t1") == [1, 100])
        #expect(try pool.ledger() == [1])
        #expect(try pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t1") } == 2)
        #expect(try migrator(2).migrate(pool).applied == [2])
        #expect(try names().allSatisfy { $0.hasSuffix(".backup") })
    }

    @Test("is kept if an older one has a later date, because the clock was ahead")
    func clock() throws {
        let queue = try folder.queue()
        try migrator(1).migrate(queue)
        try FileManager.default.createDirectory(at: copies, withIntermediateDirectories: true)
        let prefix = BackupMaker.prefix(of: folder.url.appendingPathComponent("app.sqlite"))
        let later = "\(prefix)20990101T120000.000Z.backup"
        try Data().write(to: copies.appendingPathComponent(later))
        let first = try #require(try migrator(2, keep: 2).migrate(queue).backup)
        #expect(try names() == [first.lastPathComponent, later])
        let second = try #require(try migrator(3, keep: 1).migrate(queue).backup)
        #expect(try names() == [second.lastPathComponent])
    }

    // SQLCipher misreads the pages of a database after `PRAGMA page_size`.
    @Test(
        "can be restored if the app's configuration turns on the write-ahead log",
        arguments: TemporaryFolder.encryptsDatabases ? [4096] : [1024, 4096])
    func walConfiguration(pageSize: Int) throws {
        let plain = try folder.queue()
        try plain.execute("PRAGMA page_size = \(pageSize)")
        try migrator(1).migrate(plain)
        try plain.close()
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA journal_mode = WAL") }
        let queue = try folder.queue("app.sqlite", configuration)
        let backup = try #require(try migrator(2).migrate(queue).backup)
        try migrator(2).restore(backup, to: queue)
        #expect(try queue.tables() == ["t1"])
        #expect(try queue.integers("SELECT x FROM t1") == [1])
    }

    @Test("is made beside a file in WAL mode that the app attaches")
    func attached() throws {
        let catalog = try folder.pool("catalog.sqlite")
        var configuration = Configuration()
        configuration.prepareDatabase { [folder] in
            try $0.execute(sql: "ATTACH ? AS catalog", arguments: [folder.path("catalog.sqlite")])
        }
        let pool = try folder.pool("app.sqlite", configuration)
        var first = try migrator(1)
        first.options.backupFolder = nil
        try first.migrate(pool)
        let backup = try #require(try migrator(2).migrate(pool).backup)
        try migrator(2).restore(backup, to: pool)
        #expect(try pool.integers("SELECT x FROM t1") == [1])
        try catalog.close()
    }

    @Test("says what keeps it from being read", .needs(.clearText))
    func exclusive() throws {
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA locking_mode = EXCLUSIVE") }
        let pool = try folder.queue("app.sqlite", configuration)
        try migrator(1).migrate(pool)
        let error = try failure { try migrator(2).migrate(pool) }
        #expect(error.code == .locked)
        #expect(
            error.remedy == """
                Another connection has it alone, or this one, by `PRAGMA locking_mode = EXCLUSIVE`: end that, then migrate again. \
                Nothing was changed.
                """)
    }

    @Test("says that the app must not write when it prepares a connection that only reads")
    func preparedByWriting() throws {
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA user_version = 7") }
        let queue = try folder.queue("app.sqlite", configuration)
        try migrator(1).migrate(queue)
        let error = try failure { try migrator(2).migrate(queue) }
        #expect(error.code == .unwritable)
        #expect(
            error.remedy == """
                In `prepareDatabase`, write only if `db.configuration.readonly` is false. Nothing was changed.
                """)
        #expect(try queue.tables() == ["t1"])
    }

    @Test(
        "can be restored into a database whose page size has changed since, and keeps the numbers of rows",
        .enabled(if: !TemporaryFolder.encryptsDatabases), arguments: ["WAL", "DELETE"])
    func otherPageSize(journal: String) throws {
        let queue = try folder.queue()
        try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = \(journal)") }
        try migrator(1).migrate(queue)
        try queue.execute(
            """
            CREATE TABLE note(text); INSERT INTO note VALUES ('a'), ('b'), ('c');
            DELETE FROM note WHERE text = 'b'
            """)
        let backup = try #require(try migrator(2).migrate(queue).backup)
        try queue.writeWithoutTransaction {
            try $0.execute(
                sql: """
                    PRAGMA journal_mode = DELETE; PRAGMA page_size = 8192; VACUUM; PRAGMA journal_mode = \(journal)
                    """)
        }
        try migrator(2).restore(backup, to: queue)
        #expect(try queue.integers("SELECT x FROM t1") == [1])
        #expect(try queue.integers("SELECT rowid FROM note") == [1, 3])
        #expect(try queue.integers("PRAGMA page_size") == [journal == "WAL" ? 8192 : 4096])
    }

    @Test(
        "can be restored into a database in memory with another page size",
        .enabled(if: !TemporaryFolder.encryptsDatabases))
    func intoMemory() throws {
        let queue = try folder.queue()
        try queue.execute("PRAGMA page_size = 8192")
        try migrator(1).migrate(queue)
        let backup = try #require(try migrator(2).migrate(queue).backup)
        let preview = try DatabaseQueue()
        try migrator(2).migrate(preview)
        try migrator(2).restore(backup, to: preview)
        #expect(try preview.tables() == ["t1"])
    }

    @Test("is restored durably, and GRDB's observers are told")
    func durable() throws {
        var configuration = Configuration()
        let statements = Locked<[String]>([])
        configuration.prepareDatabase { db in
            db.trace { event in statements.withLock { $0.append("\(event)") } }
        }
        let queue = try folder.queue("app.sqlite", configuration)
        try migrator(1).migrate(queue)
        let backup = try #require(try migrator(2).migrate(queue).backup)
        let observer = CountingObserver()
        queue.add(transactionObserver: observer)
        statements.withLock { $0 = [] }
        try migrator(2).restore(backup, to: queue)
        #expect(statements.withLock { $0 }.contains { $0.contains("main.synchronous = 3") })
        #expect(observer.committedChanges > 0)
    }

    private final class CountingObserver: TransactionObserver {
        private var changes = 0
        private(set) var committedChanges = 0

        func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
        func databaseDidChange() { changes += 1 }
        func databaseDidChange(with event: DatabaseEvent) {}
        func databaseDidCommit(_ db: Database) { committedChanges = changes }
        func databaseDidRollback(_ db: Database) {}
    }

    @Test("is not restored if it is empty, and not in a transaction")
    func refused() throws {
        let queue = try folder.queue()
        try migrator(1).migrate(queue)
        let url = folder.url.appendingPathComponent("empty.backup")
        try Data().write(to: url)
        let empty = try failure { try migrator(1).restore(url, to: queue) }
        #expect(
            empty.description == "empty.backup: holds no table. Restore another copy. Nothing was changed.")
        #expect(try queue.integers("SELECT x FROM t1") == [1])
        let nested = try failure {
            try queue.write { _ in try migrator(1).restore(url, to: queue) }
        }
        #expect(nested.code == .misuse)
    }

    @Test("is made before a migration that fails, and can be restored")
    func failing() throws {
        let queue = try folder.queue()
        try migrator(1).migrate(queue)
        var schema = try SchemaMigrator(migrations: [
            CodeMigration(1, sql: ""), CodeMigration(2, sql: "DELETE FROM t1"),
            CodeMigration(3, sql: "SELECT nonsense"),
        ])
        schema.options.backupFolder = copies
        _ = try failure { try schema.migrate(queue) }
        #expect(try queue.integers("SELECT x FROM t1") == [])
        let backup = copies.appendingPathComponent(
            try #require(try names().first { $0.hasSuffix(".backup") }))
        try schema.restore(backup, to: queue)
        #expect(try queue.integers("SELECT x FROM t1") == [1])
        #expect(try queue.ledger() == [1])
    }

    @Test("is an error if it cannot be written, and nothing changes")
    func unwritable() throws {
        let queue = try folder.queue()
        try migrator(1).migrate(queue)
        try Data("a file".utf8).write(to: folder.url.appendingPathComponent("copies"))
        let error = try failure { try migrator(2).migrate(queue) }
        #expect(error.code == .stepFailed)
        #expect(error.message.hasPrefix("app.sqlite cannot be copied to \(copies.path): "))
        #expect(
            error.remedy
                == "Free some space or make the folder writable, then migrate again. Nothing was changed.")
        #expect(error.committed == [])
        #expect(try queue.tables() == ["t1"])
        #expect(try queue.ledger() == [1])
        try FileManager.default.removeItem(at: folder.url.appendingPathComponent("copies"))
        #expect(try migrator(2).migrate(queue).applied == [2])
    }

    @Test("is not made of a database in memory, which has no file to go back to")
    func inMemory() throws {
        let queue = try DatabaseQueue()
        #expect(try migrator(1).migrate(queue).applied == [1])
        let report = try migrator(2).migrate(queue)
        #expect(report.applied == [2])
        #expect(report.backup == nil)
    }

    @Test("is not restored if it is missing or not a database", arguments: [true, false])
    func notABackup(exists: Bool) throws {
        let queue = try folder.queue()
        try migrator(1).migrate(queue)
        let url = folder.url.appendingPathComponent("bad.backup")
        if exists { try Data(repeating: 0x41, count: 8192).write(to: url) }
        let error = try failure { try migrator(1).restore(url, to: queue) }
        #expect(error.code == .databaseFailed)
        #expect(
            error.message.hasPrefix(
                exists ? "file is not a database (SQLite 26)." : "bad.backup: cannot be copied: "))
        #expect(try queue.integers("SELECT x FROM t1") == [1])
        #expect(FileManager.default.fileExists(atPath: url.path) == exists)
    }

    @Test("is restored with rows that broke a constraint before")
    func brokenConstraint() throws {
        let queue = try folder.queue()
        try migrator(1).migrate(queue)
        try queue.execute(
            """
            CREATE TABLE a(x CHECK (x > 0)); PRAGMA ignore_check_constraints = 1; INSERT INTO a VALUES (-1);
            PRAGMA ignore_check_constraints = 0
            """)
        let backup = try #require(try migrator(2).migrate(queue).backup)
        try queue.execute("DELETE FROM a")
        try migrator(2).restore(backup, to: queue)
        #expect(try queue.integers("SELECT x FROM a") == [-1])
    }

    @Test(
        "is not restored if SQLite finds it damaged",
        .needs(.clearText))
    func damaged() throws {
        let schema = try migrator(1)
        let queue = try folder.queue()
        try schema.migrate(queue)
        let copy = try folder.queue("copy.sqlite")
        try copy.execute("CREATE TABLE a(x); INSERT INTO a VALUES (1)")
        let size = try Int(#require(try copy.integer("PRAGMA page_size")))
        try copy.close()
        let url = folder.file("copy.sqlite")
        var bytes = try Data(contentsOf: url)
        bytes.replaceSubrange(size..<2 * size, with: Data(count: size))
        try bytes.write(to: url)
        let error = try failure { try schema.restore(url, to: queue) }
        #expect(error.message.hasPrefix("copy.sqlite: is damaged: "))
        #expect(error.message.contains("btreeInitPage() returns error code 11"))
        #expect(error.remedy == "Restore another copy. Nothing was changed.")
        #expect(try queue.tables() == ["t1"])
    }
}
