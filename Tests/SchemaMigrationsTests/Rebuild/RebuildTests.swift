import AppMigrations
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("A deferred rebuild of a table", .timed)
struct RebuildTests {
    static let photos = """
        CREATE TABLE photo(id INTEGER PRIMARY KEY, title TEXT, data BLOB);
        CREATE INDEX photo_by_title ON photo(title);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
        INSERT INTO photo SELECT i * 3, nullif('title ' || i, 'title 7'), zeroblob(i) FROM n;
        """
    static let newPhotos = """
        CREATE TABLE photo(id INTEGER PRIMARY KEY, title TEXT NOT NULL COLLATE NOCASE, data BLOB, stars INTEGER DEFAULT 3);
        CREATE INDEX photo_by_title_2 ON photo(title);
        """

    private func photoApp() throws -> RebuildApp {
        try RebuildApp(Self.photos, as: Self.newPhotos, copying: ["title": "coalesce(title, 'none')"])
    }

    @Test("copies every row, and the next launch puts the new table in the place of the old one")
    func whole() throws {
        let app = try photoApp()
        let report = try app.launchAndRun()
        #expect(report.failures.isEmpty, "\(report.failures)")
        #expect(try app.database.read { try TableRebuild.isUnfinished(of: "photo", $0) })
        #expect(
            try app.database.strings("SELECT name FROM pragma_table_info('photo')") == [
                "id", "title", "data",
            ])
        let manager = try app.manager()
        let launched = try manager.migrate()
        #expect(launched.pendingDeferred == ["2.1"], "the old table is left to empty")
        #expect(try app.database.read { try !TableRebuild.isUnfinished(of: "photo", $0) })
        #expect(
            try app.database.strings("SELECT name FROM pragma_table_info('photo')") == [
                "id", "title", "data", "stars",
            ])
        #expect(try manager.runDeferred().pending.isEmpty)
        #expect(try app.database.integer("SELECT count(*) FROM photo WHERE stars = 3") == 100)
        #expect(try app.database.integer("SELECT id FROM photo WHERE title = 'NONE'") == 21)
        #expect(try app.leftovers() == [])
        #expect(
            try app.database.strings(
                "SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL")
                == ["photo_by_title_2"])
        #expect(try app.manager().history().map(\.version) == ["2.1"])
    }

    @Test("copies what the app writes between any two batches, and after the last one")
    func writesBetween() throws {
        let app = try photoApp()
        try app.rebuildInPieces { piece in
            guard piece < 25 else { return }
            try app.database.execute(
                """
                INSERT INTO photo(id, title) VALUES (\(1_000 + piece), 'new');
                UPDATE photo SET title = 'changed ' || \(piece) WHERE id % 10 = \(piece % 10);
                DELETE FROM photo WHERE id = \(piece * 6);
                UPDATE photo SET id = id + 100000 WHERE id = \(piece * 9);
                """)
        }
        let titles = try app.database.integer("SELECT count(*) FROM photo WHERE title LIKE 'changed%'") ?? 0
        #expect(titles > 20)
        #expect(try app.database.integer("SELECT count(*) FROM photo WHERE id > 100000") ?? 0 > 0)
        #expect(try app.database.strings("PRAGMA integrity_check") == ["ok"])
    }

    @Test("sets a row aside that does not fit, refuses no write, and goes on when the row is repaired")
    func misfit() throws {
        let app = try RebuildApp(Self.photos, as: Self.newPhotos)
        let report = try app.launchAndRun()
        #expect(report.pending.map(\.rowsSetAside) == [["21"]])
        #expect(
            report.failures.map(\.message) == [
                """
                Library: deferred step 2.1 (Migrations.swift:7) failed in row 21 of table photo: SQLite error 19: in the new \
                table, NOT NULL constraint failed: photo.title.
                """
            ])
        try app.database.execute(
            "INSERT INTO photo VALUES (1000, NULL, NULL); UPDATE photo SET title = NULL WHERE id = 3")
        #expect(try app.launchAndRun().pending.map { Set($0.rowsSetAside) } == [["21", "3", "1000"]])
        #expect(
            try app.database.strings("SELECT name FROM pragma_table_info('photo')") == [
                "id", "title", "data",
            ])
        try app.database.execute(
            "UPDATE photo SET title = 'x' WHERE title IS NULL AND id > 3; DELETE FROM photo WHERE id = 3")
        try app.rebuild()
        #expect(try app.database.integer("SELECT count(*) FROM photo") == 100)
    }

    @Test("is unfinished business of no launch: one in which a row does not fit any more goes on")
    func misfitAtTheSwap() throws {
        let app = try photoApp()
        var strict = app
        strict.copying = [:]
        try app.database.execute("UPDATE photo SET title = '' WHERE title IS NULL")
        #expect(try strict.launchAndRun().pending.map(\.awaitsLaunch) == [true])
        try app.database.execute("UPDATE photo SET title = NULL WHERE id = 6")
        let manager = try strict.manager()
        #expect(try manager.migrate().pendingDeferred == ["2.1"])
        let report = try manager.runDeferred()
        #expect(report.pending.map(\.rowsSetAside) == [["6"]])
        #expect(report.failures.count == 1)
        try app.database.execute("UPDATE photo SET title = '' WHERE id = 6")
        try strict.rebuild()
    }

    @Test("runs in the launch from its beginning to its end if a step is finishing it")
    func finishing() throws {
        let app = try photoApp()
        let manager = try app.manager("3.0")
        manager.whenMigratingToVersion("3.0", finishing: ["2.1"], in: app.database) { db in
            try db.execute(sql: "ALTER TABLE photo DROP COLUMN stars")
        }
        #expect(try manager.migrate().completed == ["2.1", "3.0"])
        #expect(try app.leftovers() == [])
        #expect(try app.database.integer("SELECT count(*) FROM photo WHERE title = 'none'") == 1)
    }

    @Test("keeps no extension waiting, and no launch of an older version changes it")
    func others() throws {
        let app = try photoApp()
        try app.launchAndRun()
        var options = MigrationOptions()
        options.role = .waits
        #expect(throws: Never.self) { try app.manager(options: options).migrate() }
        #expect(try app.database.read { try TableRebuild.isUnfinished(of: "photo", $0) })
        try app.app.manager("2.0").migrate()
        try app.database.execute("UPDATE photo SET title = 'by 2.0' WHERE id = 3")
        #expect(try app.database.read { try TableRebuild.isUnfinished(of: "photo", $0) })
        try app.launchAndRun()
        #expect(try app.database.strings("SELECT title FROM photo WHERE id = 3") == ["by 2.0"])
        #expect(try app.leftovers() == [])
    }

    @Test("goes on in a launch while another connection holds the database, and swaps in the next one")
    func busy() throws {
        let app = try photoApp()
        try app.launchAndRun()
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: app.database.path, configuration: configuration)
        try other.execute("BEGIN IMMEDIATE")
        let manager = try app.manager(options: MigrationOptions(lockTimeout: .milliseconds(50)))
        #expect(try manager.migrate().pendingDeferred == ["2.1"])
        try other.execute("COMMIT")
        #expect(try app.launchAndRun().pending.isEmpty)
    }

    @Test("can be given up before the swap, and after it")
    func discard() throws {
        let app = try photoApp()
        try app.launchAndRun()
        try app.database.write { try TableRebuild.discard("photo", $0) }
        #expect(try app.leftovers() == [])
        #expect(
            try app.database.strings("SELECT name FROM pragma_table_info('photo')") == [
                "id", "title", "data",
            ])
        let again = try app.launchAndRun()
        #expect(again.failures.isEmpty, "\(again.failures)")
        try app.manager().migrate()
        try app.launchAndRun()
        try app.manager().migrate()
        try app.database.write { try TableRebuild.discard("photo", $0) }
        #expect(try app.leftovers() == [])
    }

    @Test("starts over if the table, or what it is to become, has changed meanwhile")
    func changed() throws {
        let app = try photoApp()
        try app.launchAndRun()
        try app.database.execute("CREATE INDEX photo_by_data ON photo(data)")
        let manager = try app.manager()
        #expect(try manager.migrate().pendingDeferred == ["2.1"])
        #expect(try app.database.read { try TableRebuild.isUnfinished(of: "photo", $0) })
        #expect(try manager.runDeferred().pending.map(\.awaitsLaunch) == [true])

        var corrected = app
        corrected.copying = ["title": "coalesce(title, 'unknown')"]
        #expect(try corrected.launchAndRun().pending.map(\.awaitsLaunch) == [true])
        #expect(try corrected.launchAndRun().pending.isEmpty)
        #expect(try app.database.strings("SELECT title FROM photo WHERE id = 21") == ["unknown"])
        #expect(try app.leftovers() == [])
    }

    @Test("goes on after a migration has rebuilt a table to which the new one refers, and refuses no write")
    func parentRebuilt() throws {
        let app = try RebuildApp(
            """
            CREATE TABLE album(id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE photo(id INTEGER PRIMARY KEY, t TEXT, album REFERENCES album(id) ON DELETE CASCADE);
            INSERT INTO album VALUES (1, 'a'), (2, 'b');
            INSERT INTO photo VALUES (1, 'x', 1), (2, 'y', 2);
            """,
            as: """
                CREATE TABLE photo(id INTEGER PRIMARY KEY, t TEXT NOT NULL, album REFERENCES album(id) ON DELETE CASCADE)
                """)
        #expect(try app.launchAndRun().pending.map(\.awaitsLaunch) == [true])
        try app.database.writeWithoutTransaction { db in
            try db.execute(
                sql: """
                    PRAGMA foreign_keys = 0;
                    CREATE TABLE album_new(id INTEGER PRIMARY KEY, name TEXT UNIQUE);
                    INSERT INTO album_new SELECT * FROM album; DROP TABLE album;
                    ALTER TABLE album_new RENAME TO album;
                    PRAGMA foreign_keys = 1;
                    """)
        }
        #expect(try app.launchAndRun().pending.map(\.awaitsLaunch) == [true])
        try app.database.execute("REPLACE INTO album VALUES (3, 'b'); DELETE FROM album WHERE id = 1")
        #expect(try app.launchAndRun().pending.isEmpty)
        #expect(try app.database.strings("SELECT id FROM photo") == [])
    }

    @Test("of a table and of one that it refers to go on side by side", arguments: [true, false])
    func parentAndChild(childFirst: Bool) throws {
        let app = try RebuildApp(
            """
            CREATE TABLE album(id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE photo(id INTEGER PRIMARY KEY, t TEXT, album REFERENCES album(id) ON DELETE CASCADE);
            INSERT INTO album VALUES (1, 'a'), (2, 'b');
            INSERT INTO photo VALUES (1, 'x', 1), (2, 'y', 2), (3, 'z', 2);
            """, as: "")
        let schemas = [
            "album": "CREATE TABLE album(id INTEGER PRIMARY KEY, name TEXT NOT NULL)",
            "photo": """
            CREATE TABLE photo(
                id INTEGER PRIMARY KEY, t TEXT NOT NULL, album REFERENCES album(id) ON DELETE CASCADE)
            """,
        ]
        var pending = 2
        for _ in 0..<10 where pending > 0 {
            let manager = try app.app.manager("2.2", adopting: Adoption { "1.0" })
            for (table, version) in zip(
                childFirst ? ["photo", "album"] : ["album", "photo"], ["2.1", "2.2"])
            {
                manager.whenMigratingToVersion(
                    try AppVersion(parsing: version), rebuilding: table, deferredIn: app.database,
                    as: schemas[table] ?? "")
            }
            try manager.migrate()
            try app.database.execute("DELETE FROM photo WHERE id = 3")
            let report = try manager.runDeferred()
            #expect(report.failures.isEmpty, "\(report.failures)")
            pending = report.pending.count
        }
        #expect(pending == 0)
        #expect(try app.leftovers() == [])
        try app.database.execute("INSERT INTO photo VALUES (7, 'new', 1); DELETE FROM album WHERE id = 2")
        #expect(try app.database.strings("SELECT id FROM photo") == ["1", "7"])
    }

    @Test(
        "loses no column that a later migration adds without finishing it", arguments: [true, false])
    func laterMigration(hasBegun: Bool) throws {
        let app = try RebuildApp("", as: "CREATE TABLE photo(id INTEGER PRIMARY KEY, t TEXT NOT NULL)")
        let schema = try SchemaMigrator(migrations: [
            SQL(
                version: 1,
                sql: """
                    CREATE TABLE photo(id INTEGER PRIMARY KEY, t TEXT);
                    INSERT INTO photo VALUES (1, 'a'), (2, NULL)
                    """),
            SQL(
                version: 2,
                sql: "ALTER TABLE photo ADD COLUMN stars INTEGER; UPDATE photo SET stars = id * 10"),
        ])
        let old = try SchemaMigrator(migrations: [schema.migrations[0]])
        func launch(
            _ version: AppVersion, as new: String = app.schema, copying: [String: String] = [:]
        ) throws -> DeferredReport? {
            let manager = try app.app.manager(version.description)
            manager.whenMigratingToVersion(
                "1.0", migrate: version < "3.0" ? old : schema, upTo: 1, in: app.database)
            if version >= "2.1" {
                manager.whenMigratingToVersion(
                    "2.1", rebuilding: "photo", deferredIn: app.database, as: new, copying: copying,
                    fileID: "App/Migrations.swift", line: 7)
            }
            if version >= "3.0" {
                manager.whenMigratingToVersion("3.0", migrate: schema, in: app.database)
            }
            try manager.migrate()
            return version < "2.1" ? nil : try manager.runDeferred()
        }
        _ = try launch("1.0")
        if hasBegun {
            #expect(try launch("2.1")?.pending.map(\.rowsSetAside) == [["2"]])
        }
        let refused = try launch("3.0")?.failures.map(\.message)
        #expect(
            refused == [
                """
                Library: deferred step 2.1 (Migrations.swift:7) failed in the new table photo: the new table photo has no \
                column stars, whose values would be lost. Add the column to the new table, or name it in `dropping:`. A later \
                migration that adds it must be `finishing:` the rebuild.
                """
            ])
        #expect(try app.rows() == ["1, \"a\", 10", "2, NULL, 20"])

        let wanted = "CREATE TABLE photo(id INTEGER PRIMARY KEY, t TEXT NOT NULL, stars INTEGER)"
        _ = try launch("3.1", as: wanted, copying: ["t": "coalesce(t, '')"])
        #expect(try launch("3.1", as: wanted, copying: ["t": "coalesce(t, '')"])?.pending.isEmpty == true)
        #expect(try app.rows() == ["1, \"a\", 10", "2, \"\", 20"])
        #expect(try app.leftovers() == [])
    }

    @Test("rebuilds the table of a new database, too")
    func freshInstall() throws {
        let app = try RebuildApp("", as: "CREATE TABLE photo(id INTEGER PRIMARY KEY, t TEXT NOT NULL)")
        let schema = try SchemaMigrator(migrations: [
            SQL(version: 1, sql: "CREATE TABLE photo(id INTEGER PRIMARY KEY, t TEXT)")
        ])
        func run() throws -> DeferredReport {
            let manager = try app.app.manager("2.1")
            manager.whenMigratingToVersion("1.0", migrate: schema, in: app.database)
            manager.whenMigratingToVersion(
                "2.1", rebuilding: "photo", deferredIn: app.database, as: app.schema)
            try manager.migrate()
            return try manager.runDeferred()
        }
        #expect(try run().pending.map(\.awaitsLaunch) == [true])
        #expect(try run().pending.isEmpty)
        #expect(
            try app.database.integer("SELECT \"notnull\" FROM pragma_table_info('photo') WHERE name = 't'")
                == 1)
    }

    @Test("starts over with rerunStep, and loses no row")
    func startingOver() throws {
        let app = try photoApp()
        try app.launchAndRun()
        try app.database.execute(
            "ALTER TABLE photo ADD COLUMN note TEXT; UPDATE photo SET note = 'kept', title = 'later' WHERE id = 3"
        )
        var changed = app
        changed.schema = Self.newPhotos.replacing("data BLOB", with: "data BLOB, note TEXT")
        #expect(try changed.launchAndRun().pending.map(\.awaitsLaunch) == [true])
        try changed.manager().rerunStep("2.1")
        try changed.rebuild()
        #expect(try app.database.strings("SELECT title || note FROM photo WHERE id = 3") == ["laterkept"])
        #expect(try app.database.integer("SELECT count(*) FROM photo") == 100)
    }

    @Test("of a table that another step is rebuilding comes after it")
    func twoRebuilds() throws {
        let app = try photoApp()
        let second = """
            CREATE TABLE photo(id INTEGER PRIMARY KEY, title TEXT NOT NULL, stars INTEGER NOT NULL CHECK (stars > 0));
            CREATE INDEX photo_by_title_3 ON photo(title);
            """
        var runs = 0
        while runs < 10 {
            let manager = try app.manager("2.2")
            manager.whenMigratingToVersion(
                "2.2", rebuilding: "photo", deferredIn: app.database, as: second, dropping: ["data"])
            try manager.migrate()
            runs += 1
            let report = try manager.runDeferred()
            #expect(report.failures.allSatisfy { $0.code == .postponed }, "\(report.failures)")
            if report.pending.isEmpty { break }
        }
        #expect(runs < 10)
        #expect(try app.leftovers() == [])
        #expect(
            try app.database.strings("SELECT name FROM pragma_table_info('photo')")
                == ["id", "title", "stars"])
        #expect(try app.database.integer("SELECT count(*) FROM photo WHERE stars = 3") == 100)
    }

    @Test("runs again after its end, and leaves a table alone that is as it should be")
    func again() throws {
        let app = try photoApp()
        try app.rebuild()
        let rows = try app.rows()
        try app.manager().rerunStep("2.1")
        let report = try app.launchAndRun()
        #expect(report.failures.isEmpty, "\(report.failures)")
        #expect(report.completed == ["2.1"])
        #expect(try app.rows() == rows)
        #expect(try app.leftovers() == [])
    }

    @Test(
        "takes the place of one that was skipped, or that has another version now",
        arguments: [true, false], [true, false])
    func takingOver(isSkipped: Bool, isSwapped: Bool) throws {
        let app = try photoApp()
        try app.launchAndRun()
        if isSwapped { try app.manager().migrate() }
        if isSkipped { try app.manager().skip("2.1") }
        func manager() throws -> MigrationManager {
            let manager =
                try isSkipped ? app.manager("2.2") : app.app.manager("2.2", adopting: Adoption { "1.0" })
            manager.whenMigratingToVersion(
                "2.2", rebuilding: "photo", deferredIn: app.database,
                as: """
                    CREATE TABLE photo(id INTEGER PRIMARY KEY, title TEXT NOT NULL, data BLOB, stars DEFAULT 3);
                    CREATE INDEX photo_by_title_3 ON photo(title);
                    """, copying: ["title": "coalesce(title, '')"])
            return manager
        }
        for _ in 1...2 {
            try manager().migrate()
            let report = try manager().runDeferred()
            #expect(report.failures.isEmpty, "\(report.failures)")
        }
        #expect(try manager().pendingDeferred().isEmpty)
        #expect(try app.leftovers() == [])
        #expect(try app.database.integer("SELECT count(*) FROM photo WHERE stars = 3") == 100)
    }

    @Test("keeps its step when a release writes the version in another way")
    func sameVersion() throws {
        let app = try photoApp()
        try app.launchAndRun()
        for _ in 1...2 {
            let manager = try app.app.manager("2.1.0", adopting: Adoption { "1.0" })
            manager.whenMigratingToVersion(
                "2.1.0", rebuilding: "photo", deferredIn: app.database, as: app.schema, copying: app.copying)
            try manager.migrate()
            let report = try manager.runDeferred()
            #expect(report.failures.isEmpty, "\(report.failures)")
        }
        #expect(try app.leftovers() == [])
    }

    @Test("sets a row aside whose expression fails, again in each run, and goes on with the others")
    func failingExpression() throws {
        let app = try RebuildApp(
            """
            CREATE TABLE photo(id INTEGER PRIMARY KEY, meta TEXT);
            INSERT INTO photo VALUES (1, '{"t": "a"}'), (2, 'broken'), (3, '{"t": "c"}')
            """, as: "CREATE TABLE photo(id INTEGER PRIMARY KEY, meta TEXT, t TEXT)",
            copying: ["t": "json_extract(meta, '$.t')"])
        for _ in 1...3 {
            let report = try app.launchAndRun()
            #expect(report.pending.map(\.rowsSetAside) == [["2"]])
            #expect(
                report.failures.map(\.message) == [
                    """
                    Library: deferred step 2.1 (Migrations.swift:7) failed in row 2 of table photo: SQLite error 1: in the new \
                    table, malformed JSON.
                    """
                ])
        }
        try app.database.execute("INSERT INTO photo VALUES (4, 'broken, too'), (5, '{\"t\": \"e\"}')")
        #expect(try app.launchAndRun().pending.map { Set($0.rowsSetAside) } == [["2", "4"]])
        try app.database.execute("UPDATE photo SET meta = '{}' WHERE id IN (2, 4)")
        try app.rebuild()
        #expect(
            try app.database.strings("SELECT coalesce(t, '-') FROM photo ORDER BY id") == [
                "a", "-", "c", "-", "e",
            ])
    }

    @Test("computes no expression of a unique index where its condition keeps SQLite from it")
    func guardedExpression() throws {
        let index =
            "CREATE UNIQUE INDEX photo_by_uid ON photo(json_extract(meta, '$.uid')) WHERE json_valid(meta)"
        let app = try RebuildApp(
            """
            CREATE TABLE photo(id INTEGER PRIMARY KEY, meta TEXT); \(index);
            INSERT INTO photo VALUES (1, '{"uid": 5}'), (2, 'plain')
            """, as: "CREATE TABLE photo(id INTEGER PRIMARY KEY, meta TEXT NOT NULL)")
        try app.launchAndRun()
        try app.database.execute(
            """
            INSERT INTO photo VALUES (3, 'plain, too'); UPDATE photo SET meta = 'plainer' WHERE id = 2;
            REPLACE INTO photo VALUES (4, '{"uid": 5, "new": 1}')
            """)
        try app.rebuildInPieces()
        #expect(try app.database.integers("SELECT id FROM photo ORDER BY id") == [2, 3, 4])
    }

    @Test("is not swapped once a table refers to a column that changes")
    func newReference() throws {
        let app = try RebuildApp(
            "CREATE TABLE photo(id INTEGER PRIMARY KEY, code TEXT UNIQUE); INSERT INTO photo VALUES (1, 'A')",
            as: "CREATE TABLE photo(id INTEGER PRIMARY KEY, code TEXT UNIQUE, t DEFAULT 1)",
            copying: ["code": "lower(code)"])
        try app.launchAndRun()
        try app.database.execute(
            "CREATE TABLE tag(photo TEXT REFERENCES photo(code)); INSERT INTO tag VALUES ('A')")
        let manager = try app.manager()
        try manager.migrate()
        #expect(try app.database.strings("PRAGMA foreign_key_check") == [])
        let messages = try manager.runDeferred().failures.map(\.message).joined()
        #expect(
            messages.contains("table tag refers to column code of table photo, which does not stay as it is"),
            "\(messages)")
    }

    @Test("leaves rows to a deferred run that take longer than a launch may", .limitingBatches)
    func slowRows() throws {
        let app = try photoApp()
        // The first batch takes longer than a launch may.
        let slowly = DatabaseFunction("slowly", argumentCount: 1) { values in
            if values[0] == "slow".databaseValue { Thread.sleep(forTimeInterval: 0.6) }
            return values[0]
        }
        try app.database.write { $0.add(function: slowly) }
        var slow = app
        slow.copying = ["title": "slowly(coalesce(title, ''))"]
        #expect(try slow.launchAndRun().pending.map(\.awaitsLaunch) == [true])
        try app.database.execute(
            "UPDATE photo SET title = 'slow' WHERE id = 3; UPDATE photo SET title = '' WHERE id > 3")
        try slow.manager().migrate()
        #expect(try app.database.read { try TableRebuild.isUnfinished(of: "photo", $0) })
        let manager = try slow.manager()
        #expect(try manager.runDeferred().pending.map(\.awaitsLaunch) == [true])
        #expect(try slow.launchAndRun().pending.isEmpty)
        #expect(try app.database.integer("SELECT count(*) FROM photo WHERE title = 'slow'") == 1)
    }

    @Test("leaves to a deferred run what is too much for a launch")
    func longLog() throws {
        let app = try photoApp()
        try app.database.execute(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 11000)
            INSERT INTO photo(id, title) SELECT 1000 + i, 'title' FROM n
            """)
        #expect(try app.launchAndRun().pending.map(\.awaitsLaunch) == [true])
        try app.database.execute("UPDATE photo SET title = 'changed'")
        let manager = try app.manager()
        try manager.migrate()
        #expect(try manager.pendingDeferred().map(\.awaitsLaunch) == [false])
        #expect(try app.database.read { try TableRebuild.isUnfinished(of: "photo", $0) })
        #expect(try manager.runDeferred().pending.map(\.awaitsLaunch) == [true])
        #expect(try app.launchAndRun().pending.isEmpty)
        #expect(try app.database.integer("SELECT count(*) FROM photo WHERE title = 'changed'") == 11_100)
    }

    @Test("catches up with an app that writes before every batch, and in the launch that swaps")
    func busyApp() throws {
        let app = try photoApp()
        let manager = try app.manager()
        try manager.migrate()
        let writes = Locked(0)
        @Sendable func write() {
            let count = writes.withLock { count in
                count += 1
                return count
            }
            // Whoever waits for a pause would still come to an end, and fail below.
            guard count < 200 else { return }
            try? app.database.execute("UPDATE photo SET title = 'write \(count)' WHERE id = 3")
        }
        let report = try manager.runDeferred(while: {
            write()
            return true
        })
        #expect(report.pending.map(\.awaitsLaunch) == [true])
        let options = MigrationOptions(onEvent: { event in
            if case .didRunBatch = event.kind { write() }
        })
        write()
        try app.manager(options: options).migrate()
        #expect(try app.database.read { try !TableRebuild.isUnfinished(of: "photo", $0) })
        let count = writes.withLock { $0 }
        #expect(count < 200)
        #expect(try app.launchAndRun().pending.isEmpty)
        #expect(try app.database.strings("SELECT title FROM photo WHERE id = 3") == ["write \(count)"])
    }

    @Test(
        "sets a row aside whose conflict the new table would settle by leaving out a row",
        arguments: ["IGNORE", "REPLACE"])
    func conflictClauses(clause: String) throws {
        let app = try RebuildApp(
            "CREATE TABLE photo(id INTEGER PRIMARY KEY, t TEXT); INSERT INTO photo VALUES (1, 'a'), (2, 'A'), (3, 'b')",
            as: "CREATE TABLE photo(id INTEGER PRIMARY KEY, t TEXT UNIQUE ON CONFLICT \(clause))",
            copying: ["t": "lower(t)"])
        #expect(try app.launchAndRun().pending.map(\.rowsSetAside) == [["2"]])
        try app.database.execute("UPDATE photo SET t = 'c' WHERE id = 2")
        try app.rebuild()
        #expect(try app.database.strings("SELECT t FROM photo ORDER BY id") == ["a", "c", "b"])
    }
}
