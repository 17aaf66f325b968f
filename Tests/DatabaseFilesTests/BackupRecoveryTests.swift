import AppMigrations
import DatabaseFiles
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("The copies of a damaged database", .timed)
struct BackupRecoveryTests {
    let backups: TemporaryFolder
    let notes: NotesDatabase
    var file: DatabaseFile { DatabaseFile(path: notes.path) }

    init() throws {
        backups = try TemporaryFolder()
        notes = try NotesDatabase(options: SchemaOptions(backupFolder: backups.url))
        let queue = try file.openQueue()
        try notes.schema.migrate(queue)
        try queue.execute("DELETE FROM note WHERE id > 10")
        try queue.close()
        try notes.change { $0.replaceSubrange(0..<100, with: Data(count: 100)) }
    }

    @Test("are found, with version, date and counts, and stay unchanged")
    func found() throws {
        try Data("no copy".utf8).write(
            to: backups.file("app.sqlite-0badcafe-20260101T000000.000Z.backup"))
        let before = try backups.fileNames.map { try Data(contentsOf: backups.file($0)) }
        let found = try file.foundBackups(in: backups.url)
        #expect(found.count == 1)
        #expect(found.first?.schemaVersion == "1")
        #expect(found.first?.rowCounts == ["note": 40, "folder": 4])
        #expect(found.first?.problem == nil)
        #expect(abs(try #require(found.first).changed.timeIntervalSinceNow) < 3_600)
        #expect(try backups.fileNames.map { try Data(contentsOf: backups.file($0)) } == before)
    }

    @Test("are counted beside a table whose module or tokenizer only the app's own connections have")
    func unknownModule() throws {
        let name = try #require(try backups.fileNames.first { $0.hasSuffix(".backup") })
        let copy = try DatabaseQueue(path: backups.file(name).path)
        try copy.execute(
            """
            PRAGMA writable_schema = 1;
            INSERT INTO sqlite_master VALUES ('table', 'search', 'search', 0, 'CREATE VIRTUAL TABLE search USING app(title)')
            """)
        try copy.close()
        let found = try #require(try file.foundBackups(in: backups.url).first)
        #expect(found.rowCounts == ["note": 40, "folder": 4])
        #expect(found.problem == nil)
        #expect(!found.isEmpty)
    }

    @Test("are counted although another tool has made the table `schema_migrations`")
    func otherLedger() throws {
        let name = try #require(try backups.fileNames.first { $0.hasSuffix(".backup") })
        let copy = try DatabaseQueue(path: backups.file(name).path)
        try copy.execute(
            """
            DROP TABLE schema_migrations; DROP TABLE schema_migrations_details;
            CREATE TABLE schema_migrations(version TEXT); INSERT INTO schema_migrations VALUES ('001_init')
            """)
        try copy.close()
        let found = try #require(try file.foundBackups(in: backups.url).first)
        #expect(found.rowCounts == ["note": 40, "folder": 4])
        #expect(found.schemaVersion == nil)
        #expect(found.problem == nil)
    }

    @Test("say why they cannot be read")
    func unreadable() throws {
        let name = try #require(try backups.fileNames.first { $0.hasSuffix(".backup") })
        try Data("no database, but some text that fills a page".utf8).write(to: backups.file(name))
        let found = try file.foundBackups(in: backups.url)
        #expect(found.first?.problem == "file is not a database (SQLite 26)")
        let error = try #require(throws: MigrationError.self) {
            try file.restore(fromBackup: backups.file(name).path)
        }
        #expect(error.code == .databaseFailed)
        #expect(try notes.names() == ["app.sqlite"])
    }

    @Test("cannot take its place without a table", arguments: ["", "PRAGMA user_version = 1"])
    func empty(sql: String) throws {
        let queue = try DatabaseQueue(path: backups.path("empty.backup"))
        try queue.execute(sql)
        try queue.close()
        let error = try #require(throws: MigrationError.self) {
            try file.restore(fromBackup: backups.path("empty.backup"))
        }
        #expect(error.message.hasSuffix("empty.backup: holds no table."))
        #expect(try notes.names() == ["app.sqlite"])
    }

    @Test("can take its place, and the damaged file stays")
    func restored() throws {
        let backup = try #require(try file.foundBackups(in: backups.url).first)
        let damaged = try Data(contentsOf: notes.url)
        let aside = try file.restore(fromBackup: backup.path)
        #expect(try Data(contentsOf: aside) == damaged)
        let queue = try file.openQueue()
        #expect(try queue.integers("SELECT count(*) FROM note") == [40])
        try notes.schema.migrate(queue)
        #expect(try queue.integers("SELECT count(*) FROM note WHERE stars = 3") == [40])
        // Both can be had: what only the damaged file has is added.
        try queue.execute("DELETE FROM note WHERE id = 5")
        #expect(try file.salvage(from: aside, into: notes.schema, of: queue).saved == 1)
        #expect(FileManager.default.fileExists(atPath: backup.path))
        try queue.close()
    }

    @Test("leave the damaged file as it is, through a connection that was open before")
    func openBefore() throws {
        let backup = try #require(try file.foundBackups(in: backups.url).first)
        let notes = try NotesDatabase()
        let idle = try DatabaseQueue(path: notes.path)
        try notes.change { $0.replaceSubrange(0..<100, with: Data(count: 100)) }
        let damaged = try Data(contentsOf: notes.url)
        let file = DatabaseFile(path: notes.path)
        let aside = try file.restore(fromBackup: backup.path)
        let queue = try file.openQueue()
        try queue.inDatabase { db in
            try db.execute(sql: "PRAGMA cache_size = 2; BEGIN; UPDATE note SET title = 'new'")
            _ = try? idle.integers("SELECT count(*) FROM note")
            try db.execute(sql: "COMMIT")
        }
        #expect(try Data(contentsOf: aside) == damaged)
        try queue.close()
        try idle.close()
    }

    @Test("keep their rows beside a connection that was open before, and finds their log")
    func openBeforeLog() throws {
        let backup = try #require(try file.foundBackups(in: backups.url).first)
        let notes = try NotesDatabase()
        let idle = try DatabaseQueue(path: notes.path)
        let replaced = try Data(contentsOf: notes.url)
        let file = DatabaseFile(path: notes.path)
        let aside = try file.restore(fromBackup: backup.path)
        let pool = try file.openPool()
        try pool.execute("UPDATE note SET title = 'new'")
        #expect(throws: DatabaseError.self) { try idle.execute("UPDATE note SET title = 'old' WHERE id > 2") }
        try idle.close()
        #expect(try pool.integers("SELECT count(*) FROM note WHERE title = 'new'") == [40])
        try pool.close()
        #expect(try file.openQueue().integers("SELECT count(*) FROM note WHERE title = 'new'") == [40])
        #expect(try Data(contentsOf: aside) == replaced)
    }

    @Test("can take its place, and give it back to the damaged file, which is salvaged then")
    func movedBack() throws {
        let backup = try #require(try file.foundBackups(in: backups.url).first)
        let aside = try file.restore(fromBackup: backup.path)
        try FileManager.default.removeItem(at: notes.url)
        try FileManager.default.moveItem(at: aside, to: notes.url)
        #expect(try file.salvage(into: notes.schema).saved > 0)
    }

    @Test("leave the file that they replace readable by its own journal")
    func ownJournal() throws {
        let backup = try #require(try file.foundBackups(in: backups.url).first)
        let notes = try NotesDatabase()
        let writer = try DatabaseQueue(path: notes.path)
        try writer.inDatabase { db in
            try db.execute(sql: "PRAGMA cache_size = 2; BEGIN; UPDATE note SET title = 'never'")
            for end in ["", "-journal"] {
                try FileManager.default.copyItem(atPath: notes.path + end, toPath: notes.path + ".copy" + end)
            }
            try db.execute(sql: "ROLLBACK")
        }
        try writer.close()
        let aside = try DatabaseFile(path: notes.path + ".copy").restore(fromBackup: backup.path)
        let queue = try DatabaseFile(path: aside.path).openQueue()
        #expect(try queue.integers("SELECT count(*) FROM note WHERE title = 'never'") == [0])
        try queue.close()
    }

    @Test("can take its place where the app sets WAL mode on each connection, and keep their dates")
    func preparedConnection() throws {
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA journal_mode = WAL") }
        let file = DatabaseFile(path: notes.path, configuration: configuration)
        let name = try #require(try backups.fileNames.first { $0.hasSuffix(".backup") })
        let made = try #require(try self.file.foundBackups(in: backups.url).first).changed
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 0)], ofItemAtPath: backups.file(name).path)
        try file.restore(fromBackup: backups.file(name).path)
        let queue = try file.openQueue()
        #expect(try queue.integers("SELECT count(*) FROM note") == [40])
        try queue.close()
        for _ in 1...2 { #expect(try file.foundBackups(in: backups.url).map(\.changed) == [made]) }
        #expect(try backups.fileNames.filter { $0.hasPrefix(name) } == [name])
    }

    @Test("can take its place unchanged where the app chooses WAL mode on connections that can write")
    func unchanged() throws {
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            if !db.configuration.readonly { try db.execute(sql: "PRAGMA journal_mode = WAL") }
        }
        let file = DatabaseFile(path: notes.path, configuration: configuration)
        let name = try #require(try backups.fileNames.first { $0.hasSuffix(".backup") })
        let contents = try Data(contentsOf: backups.file(name))
        try file.restore(fromBackup: backups.file(name).path)
        #expect(try Data(contentsOf: backups.file(name)) == contents)
        #expect(try backups.fileNames.filter { $0.hasPrefix(name) } == [name])
    }

    @Test("cannot take its place if they are missing, and none is created")
    func missing() throws {
        let error = try #require(throws: MigrationError.self) {
            try file.restore(fromBackup: backups.file("missing.backup").path)
        }
        #expect(
            error.description.hasSuffix(
                "missing.backup: No such file or directory. Restore another copy. Nothing was changed."),
            "\(error)")
        #expect(try !backups.fileNames.contains("missing.backup"))
        #expect(try notes.names() == ["app.sqlite"])
    }

    #if os(Linux)
        @Test("cannot take its place on a full disk, which the error names", .needs(.smallDisk))
        func fullDisk() throws {
            let disk = try SmallDisk(at: notes.folder.path("disk"))
            defer { disk.remove() }
            let path = notes.folder.path("disk/app.sqlite")
            try FileManager.default.copyItem(atPath: notes.path, toPath: path)
            let backup = try #require(try file.foundBackups(in: backups.url).first)
            func restore() throws {
                let error = try #require(throws: MigrationError.self) {
                    try DatabaseFile(path: path).restore(fromBackup: backup.path)
                }
                #expect(error.code == .diskFull)
                #expect(error.message == "\(path): database or disk is full (SQLite 13).")
                #expect(FileManager.default.contentsEqual(atPath: path, andPath: notes.path))
            }
            try disk.leave(8_192)
            try restore()
            try disk.mount(size: "16m")
            // For the copy, and not for its journal.
            try disk.leaveFiles(1)
            try restore()
        }
    #endif

    @Test("can take its place with rows that broke a constraint before, which are no damage")
    func brokenConstraint() throws {
        let backup = try #require(try file.foundBackups(in: backups.url).first)
        let copy = try DatabaseQueue(path: backup.path)
        try copy.execute(
            """
            CREATE TABLE odd(x CHECK (x > 0)); PRAGMA ignore_check_constraints = 1; INSERT INTO odd VALUES (-1)
            """)
        try copy.close()
        try file.restore(fromBackup: backup.path)
        let queue = try file.openQueue()
        #expect(try queue.integers("SELECT x FROM odd") == [-1])
        try queue.close()
        try file.check()
        let error = try #require(throws: MigrationError.self) { try file.salvage(into: notes.schema) }
        #expect(error.message == "app.sqlite: is not damaged.")
    }

    @Test("are found once each, the newest first, while the database is still at an old path")
    func beforeMove() throws {
        let new = notes.folder.path("moved.sqlite")
        // A build that was at the new path before.
        let queue = try DatabaseQueue(path: new)
        try notes.schema.migrate(queue, upTo: 1)
        try notes.schema.migrate(queue)
        try queue.close()
        for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: new + end) }
        let moved = DatabaseFile(path: new, movedFrom: [notes.path])
        let found = try moved.foundBackups(in: backups.url)
        #expect(found.map { $0.rowCounts["note"] ?? 0 } == [0, 40])
    }

    @Test("can take its place after a move, whatever an older version has made at the old path since")
    func restoredAfterMove() throws {
        let old = notes.path
        let new = notes.folder.path("moved.sqlite")
        let backup = try #require(try file.foundBackups(in: backups.url).first)
        try file.restore(fromBackup: backup.path)
        let moved = DatabaseFile(path: new, movedFrom: [old])
        try moved.openQueue().close()
        let older = try DatabaseQueue(path: old)
        try older.execute("CREATE TABLE note(id INTEGER PRIMARY KEY); INSERT INTO note VALUES (1)")
        try older.close()
        try DatabasePages(path: new).change { $0.replaceSubrange(0..<100, with: Data(count: 100)) }
        // It was made at the old path.
        try moved.restore(fromBackup: try #require(try moved.foundBackups(in: backups.url).first).path)
        let queue = try moved.openQueue()
        #expect(try queue.integers("SELECT count(*) FROM note") == [40])
        try queue.close()
    }
    @Test("are found after a move from a folder to which a link leads")
    func behindLink() throws {
        try file.restore(fromBackup: try #require(try file.foundBackups(in: backups.url).first).path)
        let link = notes.folder.path("link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: notes.folder.url.path)
        let moved = DatabaseFile(
            path: notes.folder.path("moved.sqlite"), movedFrom: [link + "/app.sqlite"])
        try moved.openQueue().close()
        #expect(try moved.foundBackups(in: backups.url).count == 1)
    }

    @Test("can be restored into the open database after a move, which keeps its mark")
    func restoredIntoMoved() throws {
        let backup = try #require(try file.foundBackups(in: backups.url).first)
        try file.restore(fromBackup: backup.path)
        let moved = DatabaseFile(path: notes.folder.path("moved.sqlite"), movedFrom: [notes.path])
        let queue = try moved.openQueue()
        try notes.schema.restore(URL(fileURLWithPath: backup.path), to: queue)
        try queue.close()
        let older = try DatabaseQueue(path: notes.path)
        try older.execute("CREATE TABLE note(id INTEGER PRIMARY KEY)")
        try older.close()
        #expect(try moved.openQueue().integers("SELECT count(*) FROM note") == [40])
    }
}
