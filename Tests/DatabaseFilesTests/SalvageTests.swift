import AppMigrations
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@testable import DatabaseFiles

@Suite("A damaged database", .timed)
struct SalvageTests {
    let folder: TemporaryFolder
    let path: String
    let schema: SchemaMigrator

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("app.sqlite")
        let migrations = folder.file("migrations")
        try FileManager.default.createDirectory(at: migrations, withIntermediateDirectories: true)
        try Data(
            """
            CREATE TABLE folder(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
            CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL,
                folder INTEGER NOT NULL REFERENCES folder(id));
            CREATE INDEX note_title ON note(title);
            CREATE TABLE tag(name TEXT PRIMARY KEY, color BLOB NOT NULL, weight REAL NOT NULL) WITHOUT ROWID;
            """.utf8
        ).write(to: migrations.appendingPathComponent("1_begin.sql"))
        try Data("ALTER TABLE note ADD COLUMN stars INTEGER NOT NULL DEFAULT 3;".utf8)
            .write(to: migrations.appendingPathComponent("2_stars.sql"))
        schema = try SchemaMigrator(directory: migrations)
    }

    private var file: DatabaseFile { DatabaseFile(path: path) }

    /// Makes a database at version 1, with 3,000 notes, one of which is on many pages.
    private func make() throws {
        let queue = try DatabaseQueue(path: path)
        try schema.migrate(queue, upTo: 1)
        try queue.write { db in
            for id in 1...20 {
                try db.execute(sql: "INSERT INTO folder VALUES (?, ?)", arguments: [id, "folder \(id)"])
            }
            for id in 1...3_000 {
                let body = String(repeating: "words ", count: id == 1_500 ? 5_000 : id % 60)
                try db.execute(
                    sql: "INSERT INTO note VALUES (?, ?, ?, ?)",
                    arguments: [id, "note \(id)", body, id % 20 + 1])
            }
            for id in 1...500 {
                try db.execute(
                    sql: "INSERT INTO tag VALUES (?, ?, ?)",
                    arguments: ["tag \(id)", Data("color \(id)".utf8), Double(id) / 3])
            }
        }
        try queue.close()
    }

    private func change(_ body: (inout Data) -> Void) throws {
        try DatabasePages(path: path).change(body)
    }

    /// The number of rows, after the app has migrated them, each of which has to be a row of the original.
    private func rightNotes() throws -> Int {
        let queue = try DatabaseQueue(path: path)
        try schema.migrate(queue)
        #expect(try queue.strings("PRAGMA integrity_check") == ["ok"])
        #expect(try queue.strings("SELECT \"table\" FROM pragma_foreign_key_check") == [])
        let rows = try queue.read { try Row.fetchAll($0, sql: "SELECT * FROM note") }
        for row in rows {
            let id: Int = row["id"]
            #expect(row["title"] as String == "note \(id)")
            #expect(
                row["body"] as String == String(repeating: "words ", count: id == 1_500 ? 5_000 : id % 60))
            #expect(row["folder"] as Int == id % 20 + 1)
            #expect(row["stars"] as Int == 3)
        }
        let tags = try queue.read { try Row.fetchAll($0, sql: "SELECT * FROM tag") }
        for row in tags {
            let name: String = row["name"]
            #expect(row["color"] as Data == Data(name.replacingOccurrences(of: "tag", with: "color").utf8))
        }
        try queue.close()
        return rows.count
    }

    @Test("gets all rows back when its header is lost, and keeps the damaged file")
    func header() throws {
        try make()
        try change { $0.replaceSubrange(0..<100, with: Data(count: 100)) }
        let damaged = try Data(contentsOf: URL(fileURLWithPath: path))
        let report = try file.salvage(into: schema)
        #expect(report.schemaVersion == "1")
        #expect(try rightNotes() == 3_000)
        #expect(report.description == "3,520 entries were saved (note: 3,000, tag: 500, folder: 20).")
        #expect(report.isComplete)
        #expect(try Data(contentsOf: #require(report.setAside)) == damaged)
    }

    @Test("gets rows back into their tables when its first page is lost")
    func schemaPage() throws {
        try make()
        try change { $0.replaceSubrange(0..<4_096, with: Data(count: 4_096)) }
        let report = try file.salvage(into: schema)
        #expect(try rightNotes() == 3_000)
        #expect(report.tables.map(\.name).contains("tag"))
    }

    @Test("gets back what is left of it when its end is cut off")
    func truncated() throws {
        try make()
        try change { $0 = $0.prefix($0.count * 2 / 3) }
        let report = try file.salvage(into: schema)
        let notes = try rightNotes()
        #expect(notes > 1_000)
        #expect(report.tables.first { $0.name == "note" }?.saved == notes)
        #expect(!report.isComplete)
        #expect(report.description.hasSuffix("More may be missing, because a part of the file is lost."))
    }

    @Test("tells the developer which keys are missing, in few words, and the crash reporter only numbers")
    func reports() throws {
        try make()
        let pages = DatabasePages(path: path)
        let root = try pages.root("note")
        // Of pages beside each other, the keys are one range.
        for index in [3, 4, 9] { try pages.erase(pages.child(index, of: root)) }
        let report = try file.salvage(into: schema)
        let table = try #require(report.tables.first { $0.name == "note" })
        #expect(table.missingPages == 3 && table.missingKeys.count == 2)
        let saved = table.missingKeys.reduce(3_000) { $0 - $1.count }
        #expect(try rightNotes() == saved)
        let keys = table.missingKeys.map { "\($0.lowerBound)...\($0.upperBound)" }.joined(separator: ", ")
        #expect(
            report.debugDescription == """
                schema 1, 0 rows of unknown tables
                note: \(saved) saved, 0 unreadable, 0 refused, 0 without parent, 3 pages missing (keys \(keys))
                tag: 500 saved, 0 unreadable, 0 refused, 0 without parent, 0 pages missing
                folder: 20 saved, 0 unreadable, 0 refused, 0 without parent, 0 pages missing
                """)
        let summary = try String(decoding: JSONEncoder().encode(report.summary), as: UTF8.self)
        #expect(!summary.contains("note") && summary.contains("\"missingPages\":3"))
    }

    @Test(
        "says so if the last ids of its tables are lost, which may be given again", arguments: [false, true],
        [false, true])
    func lostSequence(losesPage: Bool, hasRows: Bool) throws {
        let schema = try SchemaMigrator(tables: "CREATE TABLE item(id INTEGER PRIMARY KEY AUTOINCREMENT)")
        let queue = try DatabaseQueue(path: path)
        try schema.migrate(queue)
        try queue.execute(
            "INSERT INTO item VALUES (1), (2), (3); DELETE FROM item WHERE id > \(hasRows ? 2 : 0)")
        try queue.close()
        let pages = DatabasePages(path: path)
        let root = try pages.root("sqlite_sequence")
        if losesPage {
            try pages.erase(root)
        } else {
            try change { data in
                // The length of the text in the record's header, before that of the number.
                let text = data.range(of: Data("item".utf8), in: pages.range(root))
                if let text { data[text.lowerBound - 2] ^= 0x40 }
            }
        }
        let report = try file.salvage(into: schema)
        #expect(report.saved == (hasRows ? 2 : 0) && !report.isComplete)
        let table = report.tables.first { $0.name == "sqlite_sequence" }
        #expect(table?.missingPages == (losesPage ? 1 : 0) && table?.unreadable == (losesPage ? 0 : 1))
    }

    @Test("gets no wrong row back when pages are zeros", arguments: 0..<8)
    func zeroPages(seed: Int) throws {
        try make()
        try change { data in
            let pages = data.count / 4_096
            for number in 0..<3 {
                let start = ((seed * 7 + number * 13 + 3) % (pages - 1) + 1) * 4_096
                data.replaceSubrange(start..<start + 4_096, with: Data(count: 4_096))
            }
        }
        let report = try file.salvage(into: schema)
        // A lost folder leaves its notes without a parent.
        #expect(try report.tables.first { $0.name == "note" }?.saved == rightNotes())
        #expect(!report.isComplete)
    }

    @Test(
        "gets back texts that are no UTF-8, or have NULs, beside blobs of zeros", arguments: [2_000, 20_000])
    func zeroBlobs(size: Int) throws {
        let schema = try SchemaMigrator(
            tables: """
                CREATE TABLE photo(id INTEGER PRIMARY KEY, name TEXT, data BLOB);
                CREATE TABLE other(id INTEGER PRIMARY KEY, t TEXT);
                """)
        let queue = try DatabaseQueue(path: path)
        try schema.migrate(queue)
        try queue.execute(
            """
            INSERT INTO photo(name, data) VALUES (CAST(x'436166e9' AS TEXT), zeroblob(\(size))),
                (CAST(x'6100000000' AS TEXT), x'01'), ('plain', zeroblob(\(size))), (CAST(x'e9' AS TEXT), x'');
            INSERT INTO other(t) VALUES ('x');
            """)
        func rows(_ queue: DatabaseQueue) throws -> [Row] {
            try queue.read { try Row.fetchAll($0, sql: "SELECT id, hex(name), hex(data) FROM photo") }
        }
        let expected = try rows(queue)
        try queue.close()
        let pages = DatabasePages(path: path)
        try pages.erase(try pages.root("other"))
        let report = try file.salvage(into: schema)
        #expect(report.tables.first { $0.name == "photo" }?.unreadable == 0)
        let salvaged = try DatabaseQueue(path: path)
        #expect(try rows(salvaged) == expected)
    }

    @Test("stays as it is if its rows may be of any table, and is not called encrypted")
    func unknownTables() throws {
        let schema = try SchemaMigrator(
            tables: """
                CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT NOT NULL);
                CREATE TABLE folder(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
                """)
        let queue = try DatabaseQueue(path: path)
        try schema.migrate(queue)
        try queue.execute(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
            INSERT INTO note(title) SELECT 'note ' || i FROM n;
            INSERT INTO folder(name) SELECT 'folder ' || title FROM note;
            """)
        try queue.close()
        try change { $0.replaceSubrange(100..<4_096, with: Data(count: 3_996)) }
        let before = try folder.contents(besides: "migrations")
        let error = try #require(throws: MigrationError.self) { try file.salvage(into: schema) }
        #expect(
            error.description == """
                app.sqlite: holds rows that can be read (4000), and nothing says which tables they are of. Restore a \
                backup. Nothing was changed.
                """)
        #expect(try folder.contents(besides: "migrations") == before)
    }

    @Test("is not taken for one when it is intact, empty or encrypted")
    func refusals() throws {
        func message() throws -> String {
            let before = try folder.contents(besides: "migrations")
            let error = try #require(throws: MigrationError.self) { try file.salvage(into: schema) }
            #expect(try folder.contents(besides: "migrations") == before)
            return error.description
        }
        try make()
        #expect(try message() == "app.sqlite: is not damaged. Open it instead. Nothing was changed.")
        var random = SystemRandomNumberGenerator()
        let noise = Data((0..<40_960).map { _ in UInt8.random(in: 0...255, using: &random) })
        try noise.write(to: URL(fileURLWithPath: path))
        #expect(try message().contains("holds no row that can be read: it is encrypted, or was overwritten"))
        try Data().write(to: URL(fileURLWithPath: path))
        #expect(try message().contains("is empty, so there is nothing to salvage"))
    }

    @Test("is left alone while another connection has it open, which keeps its locks")
    func inUse() throws {
        try make()
        let pool = try DatabasePool(path: path)
        try pool.execute("DELETE FROM note WHERE id = 1")
        // The second attempt shows that the first one has left the locks where they were.
        for _ in 0..<2 {
            let error = try #require(throws: MigrationError.self) { try file.salvage(into: schema) }
            #expect(
                error.description == """
                    \(path): another connection has the database open. Close that connection, or end the program that has it, then \
                    try again. Nothing was lost: the database is where it was.
                    """)
        }
        #expect(try pool.integers("SELECT count(*) FROM note") == [2_999])
        try pool.close()
    }

    @Test(
        "stays as it is through a connection that was open before, which leaves the new one's journal alone")
    func openBefore() throws {
        try make()
        try change { $0.replaceSubrange(0..<16, with: Data(count: 16)) }
        let damaged = try Data(contentsOf: URL(fileURLWithPath: path))
        try change { $0.replaceSubrange(0..<16, with: Data("SQLite format 3\0".utf8)) }
        let idle = try DatabaseQueue(path: path)
        #expect(try idle.integers("SELECT count(*) FROM note") == [3_000])
        try change { $0.replaceSubrange(0..<16, with: Data(count: 16)) }
        let aside = try #require(try file.salvage(into: schema).setAside)
        let new = try file.openQueue()
        try new.inDatabase { db in
            try db.execute(sql: "PRAGMA cache_size = 2; BEGIN; UPDATE note SET title = 'new'")
            #expect(FileManager.default.fileExists(atPath: path + "-journal"))
            // The connection reads the damaged file, or finds that it is none.
            _ = try? idle.integers("SELECT count(*) FROM note")
            #expect(FileManager.default.fileExists(atPath: path + "-journal"))
            try db.execute(sql: "COMMIT")
        }
        #expect(try Data(contentsOf: aside) == damaged)
        #expect(try new.integers("SELECT count(*) FROM note WHERE title = 'new'") == [3_000])
        try new.close()
        try idle.close()
    }

    @Test("keeps a connection from writing that was open before, which is told to open the new one")
    func writtenAfterwards() throws {
        try make()
        let idle = try DatabaseQueue(path: path)
        try change { $0.replaceSubrange(0..<16, with: Data(count: 16)) }
        _ = try file.salvage(into: schema)
        let error = try #require(throws: MigrationError.self) { try schema.migrate(idle) }
        #expect(
            error.description == """
                the file of the open database is no longer found at its path (SQLite 1032). If the file was moved, replaced or \
                removed, close the database, and open it at its path again. If not, make its folder readable.
                """)
        try idle.close()
        #expect(try rightNotes() == 3_000)
    }

    @Test("gets its journal back when a process dies before the new database has its name")
    func journalOfAnAttemptThatDied() throws {
        try make()
        try change { $0.replaceSubrange(0..<16, with: Data(count: 16)) }
        let aside = path + ".damaged-20260101T000000Z-0000"
        try FileManager.default.linkItem(atPath: path, toPath: aside)
        try Data("journal".utf8).write(to: URL(fileURLWithPath: aside + "-wal"))
        try Data("half".utf8).write(to: folder.file(".app.sqlite.salvaging"))
        let report = try file.salvage(into: schema)
        #expect(try rightNotes() == 3_000)
        let kept = try #require(report.setAside).path
        #expect(try String(contentsOfFile: kept + "-wal", encoding: .utf8) == "journal")
        #expect(!FileManager.default.fileExists(atPath: aside))
        #expect(!FileManager.default.fileExists(atPath: folder.path(".app.sqlite.salvaging")))
    }

    @Test("keeps the newest damaged files alone")
    func keepsThree() throws {
        for _ in 0..<5 {
            try? FileManager.default.removeItem(atPath: path)
            try make()
            try change { $0.replaceSubrange(0..<16, with: Data(count: 16)) }
            _ = try file.salvage(into: schema)
        }
        #expect(try folder.fileNames.count { $0.contains(".damaged-") } == 3)
    }

    @Test("leaves no copy in the temporary folder, not even that of a process that was killed")
    func copyOfKilledProcess() throws {
        let left = FileManager.default.temporaryDirectory
            .appendingPathComponent("app-migrations-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: left, withIntermediateDirectories: true)
        try Data("copy".utf8).write(to: left.appendingPathComponent("copy.sqlite"))
        let used = try ScratchFolder()
        defer { used.remove() }
        try make()
        try change { $0.replaceSubrange(0..<16, with: Data(count: 16)) }
        _ = try file.salvage(into: schema)
        #expect(!FileManager.default.fileExists(atPath: left.path))
        #expect(FileManager.default.fileExists(atPath: used.url.path))
    }

    @Test("is left as it is when salvaging is cancelled")
    func cancelled() throws {
        try make()
        try change { $0.replaceSubrange(0..<16, with: Data(count: 16)) }
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let progress = Progress(totalUnitCount: 1)
        progress.cancel()
        #expect(throws: CancellationError.self) { try file.salvage(into: schema, progress: progress) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        #expect(try folder.fileNames.filter { !$0.hasSuffix(".lock") } == ["app.sqlite", "migrations"])
    }

    #if os(Linux)
        @Test(
            "is left as it is where a disk has no room for the copy that SQLite looks at", .needs(.smallDisk))
        func noRoomForCopy() throws {
            try make()
            let disk = try SmallDisk(at: folder.path("disk"), size: "64k")
            defer { disk.remove() }
            let error = try #require(throws: MigrationError.self) {
                try file.copyReadable(folder.file("app.sqlite"), to: folder.file("disk/copy.sqlite"))
            }
            #expect(error.code == .diskFull && error.advice == .freeSpace, "\(error)")
            #expect(
                error.message.hasPrefix("app.sqlite: cannot be copied to the temporary folder"), "\(error)")
        }

        @Test(
            "is not taken for damaged where a disk has room for the copy, and none for the index of its log",
            .needs(.smallDisk))
        func noRoomForIndexOfLog() throws {
            let pool = try DatabasePool(path: path)
            try schema.migrate(pool)
            let place = folder.file("app.sqlite")
            func isIntact(onDiskOf size: Int) throws -> Bool {
                let disk = try SmallDisk(at: folder.path("disk"), size: "\(size)")
                defer { disk.remove() }
                return try file.isIntact(
                    place, with: [.log], preparedBy: Configuration(), in: folder.file("disk"),
                    Interrupter(observing: nil))
            }
            var size = 0
            for end in ["", "-wal"] {
                // A disk in memory gives room by pages.
                let pages = (Int(try place.appending(end: end).status().st_size) + 4_095) / 4_096
                size += pages * 4_096
            }
            let error = try #require(throws: (any Error).self) { try isIntact(onDiskOf: size) }
            #expect(Obstacle(error) == .diskFull, "\(error)")
            #expect(try isIntact(onDiskOf: size + 0x8000))
            try pool.close()
        }
    #endif

    @Test("leaves out rows without parents, and rebuilds full-text tables")
    func orphansAndFullText() throws {
        let migrations = folder.file("migrations")
        try Data(
            """
            CREATE VIRTUAL TABLE words USING fts5(title, body);
            CREATE VIRTUAL TABLE titles USING fts5(title, content='note', content_rowid='id');
            CREATE TRIGGER note_added AFTER INSERT ON note BEGIN
                INSERT INTO titles(rowid, title) VALUES (new.id, new.title);
                UPDATE folder SET name = name || '!' WHERE id = new.folder;
            END;
            """.utf8
        ).write(to: migrations.appendingPathComponent("3_words.sql"))
        let schema = try SchemaMigrator(directory: migrations)
        let queue = try DatabaseQueue(path: path)
        try schema.migrate(queue)
        try queue.execute("INSERT INTO folder VALUES (1, 'one'), (2, 'two')")
        try queue.execute("INSERT INTO note VALUES (1, 'red rose', '', 1, 5), (2, 'blue sky', '', 2, 4)")
        try queue.execute("PRAGMA foreign_keys = OFF; INSERT INTO note VALUES (3, 'lost', '', 9, 1)")
        try queue.execute("INSERT INTO words(rowid, title, body) VALUES (7, 'green', 'grass grows')")
        try queue.close()
        try change { $0.replaceSubrange(0..<16, with: Data(count: 16)) }
        let report = try file.salvage(into: schema)
        #expect(report.tables.first { $0.name == "note" }?.orphaned == 1)
        let saved = try DatabaseQueue(path: path)
        #expect(try saved.integers("SELECT id FROM note ORDER BY id") == [1, 2])
        #expect(try saved.strings("SELECT name FROM folder") == ["one!", "two!"])
        #expect(try saved.integers("SELECT rowid FROM titles WHERE titles MATCH 'sky'") == [2])
        #expect(try saved.strings("SELECT title FROM titles WHERE titles MATCH 'lost'") == [])
        #expect(try saved.integers("SELECT rowid FROM words WHERE words MATCH 'grass'") == [7])
        try saved.close()
    }

    @Test("gets rows back whose id shares its name with a computed column")
    func computedRowid() throws {
        let queue = try DatabaseQueue(path: path)
        try schema.migrate(queue)
        try queue.execute(
            """
            CREATE TABLE line(text TEXT, rowid TEXT AS (upper(text)) VIRTUAL);
            INSERT INTO line(_rowid_, text) VALUES (3, 'three'), (7, 'seven')
            """)
        try queue.close()
        try change { $0.replaceSubrange(0..<16, with: Data(count: 16)) }
        #expect(try file.salvage(into: schema).isComplete)
        let saved = try DatabaseQueue(path: path)
        #expect(try saved.integers("SELECT _rowid_ FROM line ORDER BY _rowid_") == [3, 7])
        #expect(try saved.strings("SELECT rowid FROM line ORDER BY _rowid_") == ["THREE", "SEVEN"])
        try saved.close()
    }

    @Test("leaves out a chain of rows whose start is missing in a few looks at its table")
    func chainOfOrphans() throws {
        let looks = Locked(0)
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            db.trace { event in
                if "\(event)".contains("foreign_key_check") { looks.withLock { $0 += 1 } }
            }
        }
        let queue = try DatabaseQueue(path: path)
        try schema.migrate(queue)
        try queue.execute(
            """
            CREATE TABLE mark(id INTEGER PRIMARY KEY, previous INTEGER REFERENCES mark(id));
            INSERT INTO mark VALUES (300, NULL), (301, 300);
            PRAGMA foreign_keys = OFF;
            WITH RECURSIVE number(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM number LIMIT 200)
            INSERT INTO mark SELECT n, n - 1 FROM number;
            """)
        try queue.close()
        try change { $0.replaceSubrange(0..<16, with: Data(count: 16)) }
        let file = DatabaseFile(path: path, configuration: configuration)
        let report = try file.salvage(into: schema)
        #expect(report.tables.first { $0.name == "mark" }?.orphaned == 200)
        #expect(looks.withLock { $0 } < 20)
        #expect(try DatabaseQueue(path: path).integers("SELECT id FROM mark") == [300, 301])
    }

    @Test("leaves out rows without parents of tables without row ids, by the parents' collations and types")
    func orphansWithoutRowids() throws {
        let queue = try DatabaseQueue(path: path)
        try schema.migrate(queue)
        try queue.execute(
            """
            CREATE TABLE team(name TEXT COLLATE NOCASE, year INTEGER, PRIMARY KEY (name, year));
            CREATE TABLE player(id TEXT PRIMARY KEY, team TEXT, year TEXT, boss TEXT REFERENCES player,
                FOREIGN KEY (team, year) REFERENCES team) WITHOUT ROWID;
            INSERT INTO team VALUES ('Reds', 2001), ('Blues', 2002);
            INSERT INTO player VALUES ('a', 'REDS', '2001', NULL), ('b', 'Blues', NULL, 'a'),
                ('c', 'reds', '2001.0', 'b');
            PRAGMA foreign_keys = OFF;
            INSERT INTO player VALUES ('d', 'Reds', '2002', NULL), ('e', 'Reds', '2001', 'd'), ('f', 'Reds', '2001', 'e'),
                ('g', NULL, '2002', 'x'), ('h', 'Greens', '2001', 'a');
            CREATE TABLE kit(number INTEGER PRIMARY KEY, owner TEXT REFERENCES missing(id)) WITHOUT ROWID;
            INSERT INTO kit VALUES (1, 'a'), (2, NULL)
            """)
        try queue.close()
        try change { $0.replaceSubrange(0..<16, with: Data(count: 16)) }
        let report = try file.salvage(into: schema)
        #expect(report.tables.first { $0.name == "player" }?.orphaned == 5)
        let saved = try DatabaseQueue(path: path)
        #expect(try saved.strings("SELECT id FROM player") == ["a", "b", "c"])
        #expect(try saved.integers("SELECT number FROM kit") == [2])
        #expect(try saved.strings("SELECT \"table\" FROM pragma_foreign_key_check") == [])
        try saved.close()
    }

    @Test(
        "gets back the last id of a table whose rows with it were deleted, if the app's migrations do not make the table"
    )
    func sequenceOfOtherTable() throws {
        let queue = try DatabaseQueue(path: path)
        try schema.migrate(queue)
        try queue.execute(
            """
            CREATE TABLE draft(id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT);
            INSERT INTO draft VALUES (5, 'five'), (9, 'nine');
            DELETE FROM draft
            """)
        try queue.close()
        try change { $0.replaceSubrange(0..<16, with: Data(count: 16)) }
        #expect(try file.salvage(into: schema).isComplete)
        let saved = try DatabaseQueue(path: path)
        #expect(try saved.integers("SELECT seq FROM sqlite_sequence WHERE name = 'draft'") == [9])
        try saved.close()
    }

    @Test("keeps rows without a parent in an app that does not enforce foreign keys")
    func unenforcedKeys() throws {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try schema.migrate(queue)
        try queue.execute(
            """
            INSERT INTO note VALUES (3, 'lost', '', 9, 1);
            CREATE TABLE mark(id INTEGER PRIMARY KEY, note INTEGER REFERENCES note_old(id));
            INSERT INTO mark VALUES (1, 3)
            """)
        try queue.close()
        try change { $0.replaceSubrange(0..<16, with: Data(count: 16)) }
        let report = try DatabaseFile(path: path, configuration: configuration).salvage(into: schema)
        #expect(report.isComplete, "\(report.debugDescription)")
        let saved = try DatabaseQueue(path: path)
        #expect(try saved.integers("SELECT id FROM note") == [3])
        #expect(try saved.integers("SELECT note FROM mark") == [3])
    }

    @Test("gets back what is only in its write-ahead log")
    func writeAheadLog() throws {
        try make()
        let pool = try DatabasePool(path: path)
        try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_autocheckpoint = 0") }
        try pool.execute(
            "UPDATE note SET body = '' WHERE id % 60 = 0 AND id <> 1500; DELETE FROM note WHERE id = 7")
        // A copy of the files is what a crash leaves.
        for end in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: path + end, toPath: folder.path("copy.sqlite") + end)
        }
        try pool.close()
        for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) }
        for end in ["", "-wal"] {
            try FileManager.default.moveItem(atPath: folder.path("copy.sqlite") + end, toPath: path + end)
        }
        try change { $0.replaceSubrange(($0.count - 4_096)..., with: Data(count: 4_096)) }
        let report = try file.salvage(into: schema)
        #expect(try rightNotes() > 0)
        #expect(try DatabaseQueue(path: path).integers("SELECT count(*) FROM note WHERE id = 7") == [0])
        #expect(FileManager.default.fileExists(atPath: try #require(report.setAside).path + "-wal"))
        #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
    }
}

extension TemporaryFolder {
    fileprivate func contents(besides name: String) throws -> [String: Data] {
        let names = try fileNames.filter { $0 != name && !$0.hasSuffix(".lock") && !$0.hasSuffix("-shm") }
        return Dictionary(uniqueKeysWithValues: try names.map { ($0, try Data(contentsOf: file($0))) })
    }
}
