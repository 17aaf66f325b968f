import AppMigrations
import DatabaseBatches
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("A deferred step over the rows of a table", .timed)
struct DeferredRowsTests {
    let app: App

    init() throws { app = try App() }

    /// A table of old rows, which a step marks as done.
    struct Rows: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// Creates the table `photo` with the columns of its key, and a column `hash`.
        let table: String
        /// Inserts old rows.
        let rows: String
        var setUp = ""

        static let all: [Rows] = [
            Rows(
                testDescription: "an integer key with gaps", table: "photo(id INTEGER PRIMARY KEY, hash)",
                rows: "INSERT INTO photo(id) SELECT i * 7 - 900 FROM n"),
            Rows(
                testDescription: "a text key, and two rows without one",
                table: "photo(id TEXT PRIMARY KEY, hash)",
                rows:
                    "INSERT INTO photo(id) SELECT CASE WHEN i < 3 THEN NULL ELSE 'é' || (i * 7919 % 301) END FROM n"
            ),
            Rows(
                testDescription: "a key of every type", table: "photo(id BLOB PRIMARY KEY, hash)",
                rows: """
                    INSERT INTO photo(id) SELECT CASE i % 6 WHEN 0 THEN i WHEN 1 THEN i / 7.0 WHEN 2 THEN '''' || i
                        WHEN 3 THEN CAST(i AS BLOB) WHEN 4 THEN 'a' || char(0) || i
                        ELSE CAST(x'ff61' || i AS TEXT) END FROM n
                    """),
            Rows(
                testDescription: "the empty text and the empty blob among the keys",
                table: "photo(id ANY PRIMARY KEY, hash ANY) STRICT",
                rows:
                    "INSERT INTO photo(id) SELECT CASE i WHEN 1 THEN '' WHEN 2 THEN x'' ELSE x'00' || i END FROM n"
            ),
            Rows(
                testDescription: "a composite key, without row ids",
                table: "photo(a TEXT, b INTEGER, hash, PRIMARY KEY (b, a)) WITHOUT ROWID",
                rows: "INSERT INTO photo(a, b) SELECT 'x' || i, i % 5 FROM n"),
            Rows(
                testDescription: "a composite key with NULLs",
                table: "photo(a, b, hash, PRIMARY KEY (a, b))",
                rows: "INSERT INTO photo(a, b) SELECT nullif(i % 50, 7), nullif(i, 9) FROM n"),
            Rows(
                testDescription: "a composite key of which the second column descends",
                table: "photo(a TEXT, b INTEGER, c INTEGER, hash, PRIMARY KEY (a, b DESC, c)) WITHOUT ROWID",
                rows: "INSERT INTO photo(a, b, c) SELECT 'x' || (i > 250), i / 9, i FROM n"),
            Rows(
                testDescription: "a composite key with NULLs, of which the first column descends",
                table: "photo(a, b, hash, PRIMARY KEY (a DESC, b))",
                rows: "INSERT INTO photo(a, b) SELECT nullif(i % 2, 7), nullif(i, 9) FROM n"),
            Rows(
                testDescription: "an index that ignores case, and a column that does not",
                table: "photo(a TEXT, b INTEGER, hash, PRIMARY KEY (a COLLATE NOCASE, b))",
                rows: "INSERT INTO photo(a, b) SELECT CASE i % 2 WHEN 0 THEN 'a' ELSE 'A' END, i FROM n"),
            Rows(
                testDescription: "a key that ignores case, and an index that does not",
                table: "photo(id TEXT COLLATE NOCASE, hash, PRIMARY KEY (id COLLATE BINARY))",
                rows: "INSERT INTO photo(id) SELECT CASE i % 2 WHEN 0 THEN 'a' ELSE 'A' END || (i / 2) FROM n"
            ),
            Rows(
                testDescription: "a descending key of integers",
                table: "photo(id INTEGER PRIMARY KEY DESC, hash)",
                rows: "INSERT INTO photo(id) SELECT nullif(i, 5) FROM n"),
            Rows(
                testDescription: "texts in UTF-16",
                table: "photo(id TEXT PRIMARY KEY NOT NULL, hash)",
                rows: "INSERT INTO photo(id) SELECT char(0x6161 + i, 0x1F600 + i) FROM n",
                setUp: "PRAGMA encoding = 'UTF-16le';"),
            Rows(
                testDescription: "texts in UTF-16 with a NUL, or half a character",
                table: "photo(id TEXT PRIMARY KEY NOT NULL, hash)",
                rows:
                    "INSERT INTO photo(id) SELECT char(0x6161 + i, CASE i % 2 WHEN 0 THEN 0 ELSE 0xD801 END) FROM n",
                setUp: "PRAGMA encoding = 'UTF-16be';"),
        ]
    }

    static let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)"

    /// Creates a database with old rows, in which version 1.0 of the app has been.
    private func database(_ rows: Rows, name: String = "photos") throws -> DatabaseQueue {
        let database = try DatabaseQueue(path: app.folder.url.appendingPathComponent("\(name).sqlite").path)
        try database.writeWithoutTransaction { try $0.execute(sql: rows.setUp) }
        try database.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE \(rows.table);
                    \(Self.numbers) \(rows.rows);
                    CREATE TABLE visit(hash);
                    """)
        }
        return database
    }

    /// A manager whose step 2.1 counts its visits to each row.
    private func manager(
        _ databases: DatabaseQueue..., options: MigrationOptions = MigrationOptions(),
        table: String = "photo",
        body: (@Sendable (Database, DeferredRows) throws -> Void)? = nil
    ) throws -> MigrationManager {
        let manager = try app.manager("2.1", adopting: Adoption { "1.0" }, options: options)
        for database in databases {
            manager.afterMigratingToVersion(
                "2.1", in: database, overRowsOf: table,
                fileID: "App/Migrations.swift",
                line: 7
            ) { db, rows in
                try body?(db, rows)
                try db.execute(
                    literal: "UPDATE photo SET hash = coalesce(hash, 0) + 1 WHERE \(rows.condition)")
            }
        }
        return manager
    }

    /// Runs batch after batch, and something in between.
    private func runInPieces(
        _ database: DatabaseQueue, between: (Int) throws -> Void = { _ in }
    ) throws {
        try app.runInPieces(between: between) { try manager(database) }
    }

    /// A connection of another process, which may leave a transaction open.
    private func foreign(_ database: DatabaseQueue) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        return try DatabaseQueue(path: database.path, configuration: configuration)
    }

    private func integer(_ sql: String, _ database: DatabaseQueue) throws -> Int {
        try database.read { try Int.fetchOne($0, sql: sql) ?? -1 }
    }

    @Test("visits each row once, whatever the key is", arguments: Rows.all)
    func keys(rows: Rows) throws {
        let database = try database(rows)
        try runInPieces(database)
        #expect(try integer("SELECT count(*) FROM photo WHERE hash = 1", database) == 300)
    }

    @Test(
        "finds the rows of a batch by the key, however its index is sorted",
        arguments: ["a, b", "a DESC, b DESC", "a, b DESC", "a COLLATE NOCASE, b", "a COLLATE NOCASE DESC, b"])
    func plans(key: String) throws {
        let database = try database(
            Rows(
                testDescription: key, table: "photo(a TEXT, b INTEGER, hash, PRIMARY KEY (\(key)))",
                rows: "INSERT INTO photo(a, b) SELECT 'x', i FROM n"))
        let plans = Locked<Set<String>>([])
        let manager = try manager(database) { db, rows in
            let (sql, arguments) = try SQL("EXPLAIN QUERY PLAN SELECT 1 FROM photo WHERE \(rows.condition)")
                .build(db)
            let plan = try String.fetchAll(
                db, sql: sql, arguments: arguments, adapter: SuffixRowAdapter(fromIndex: 3))
            plans.withLock { $0.formUnion(plan) }
        }
        try manager.migrate()
        let statements = Locked<[String]>([])
        database.writeWithoutTransaction { db in
            db.trace { event in
                if case .statement(let statement) = event {
                    statements.withLock { $0.append(statement.expandedSQL) }
                }
            }
        }
        #expect(try manager.runDeferred().failures.isEmpty)
        database.writeWithoutTransaction { $0.trace(nil) }
        // Either all columns of the key are compared in the index, or those before the last one are equal there.
        #expect(
            plans.withLock { $0 }.allSatisfy { plan in
                plan.contains("(a=? AND b") || plan.contains("((a,b)>")
                    || plan.contains("(a>? AND a<?)") && !key.contains("NOCASE")
            }, "\(plans.withLock { $0 })")
        for query in statements.withLock({ $0 })
        where query.contains("ORDER BY") && !query.contains("pragma_") {
            let plan = try database.read {
                try String.fetchAll(
                    $0, sql: "EXPLAIN QUERY PLAN \(query)", adapter: SuffixRowAdapter(fromIndex: 3))
            }
            #expect(!plan.contains { $0.contains("TEMP B-TREE") }, "\(query): \(plan)")
        }
    }

    @Test("shows no more rows done than there are, though rows have come meanwhile")
    func growing() throws {
        let database = try database(Rows.all[0])
        let counts = Locked<[(done: Int, total: Int?)]>([])
        try runInPieces(database) { piece in
            let manager = try manager(database)
            for pending in try manager.pending() {
                counts.withLock { $0.append((pending.done, pending.total)) }
            }
            try database.write { db in
                try db.execute(
                    sql: "INSERT OR IGNORE INTO photo(id) SELECT id + \(piece) FROM photo WHERE hash IS NULL")
            }
        }
        let found = counts.withLock { $0 }
        #expect(!found.isEmpty && found.allSatisfy { $0.done <= $0.total ?? 0 }, "\(found)")
    }

    @Test("gets further in each run, however short, where one row takes as long as the run")
    func shortRuns() throws {
        let database = try database(Rows.all[0])
        for count in 1...5 {
            let visited = Locked(0)
            let stop = Locked<@Sendable () -> Void> {}
            let manager = try manager(database) { db, rows in
                // The time of the run is over at the second row.
                visited.withLock { $0 += 1 }
                guard visited.withLock({ $0 }) == 1, try rows.ids(of: "photo", db).count == 1 else {
                    stop.withLock { $0 }()
                    throw CancellationError()
                }
            }
            stop.withLock { $0 = { [progress = manager.deferredProgress] in progress.cancel() } }
            try manager.migrate()
            let report = try manager.runDeferred()
            #expect(report.failures.isEmpty, "\(report.failures)")
            #expect(report.pending.map(\.done) == [count])
        }
    }

    @Test("begins anew in a copy from before that is restored while it runs")
    func restoredMeanwhile() throws {
        let database = try database(Rows.all[0])
        func makeManager() throws -> MigrationManager {
            let manager = try manager(database)
            manager.afterMigratingToVersion("2.1-1", in: database, overRowsOf: "photo") { db, rows in
                try db.execute(
                    literal: "UPDATE photo SET hash = coalesce(hash, 0) + 2 WHERE \(rows.condition)")
            }
            return manager
        }
        func count(hash: Int) throws -> Int {
            try integer("SELECT count(*) FROM photo WHERE hash = \(hash)", database)
        }
        try makeManager().migrate()
        let copy = try app.folder.queue("copy.sqlite")
        try database.backup(to: copy)
        let first = try makeManager()
        _ = try first.runDeferred(while: {
            if (try? count(hash: 3)) ?? 0 > 2 { first.deferredProgress.cancel() }
            return true
        })
        #expect(try count(hash: 1) > 0)
        // The run continues where the first one was cut short.
        var batches = 0
        _ = try makeManager().runDeferred(while: {
            batches += 1
            #expect(throws: Never.self) { if batches == 2 { try copy.backup(to: database) } }
            return true
        })
        #expect(batches > 2)
        _ = try makeManager().runDeferred()
        #expect(try count(hash: 3) == 300)
    }

    @Test("counts its rows while other connections write")
    func counting() throws {
        let app = app
        let path = try database(Rows.all[0]).path
        let isAsked = Locked(false)
        let isWritten = Locked<Bool?>(nil)
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            db.add(
                function: DatabaseFunction("is_old", argumentCount: 1) { values in
                    if isAsked.withLock({ $0 }), isWritten.withLock({ $0 }) == nil {
                        let other = try DatabaseQueue(path: path)
                        let result = Result { try other.execute("INSERT INTO visit VALUES (0)") }
                        isWritten.withLock { $0 = (try? result.get()) != nil }
                    }
                    return values[0].isNull
                })
        }
        let pool = try DatabasePool(path: path, configuration: configuration)
        let manager = try app.manager("2.1", adopting: Adoption { "1.0" })
        // The rows are counted when what comes before the step is done.
        manager.afterMigratingToVersion("2.0", in: pool, overRowsOf: "photo") { _, _ in }
        manager.afterMigratingToVersion("2.1", in: pool, overRowsOf: "photo", again: "is_old(hash)") {
            db, rows in
            try db.execute(literal: "UPDATE photo SET hash = 1 WHERE \(rows.condition)")
        }
        try manager.migrate()
        isAsked.withLock { $0 = true }
        #expect(try manager.runDeferred().completed.versions == ["2.0", "2.1"])
        #expect(isWritten.withLock { $0 } == true)
        try pool.close()
    }

    @Test("misses no row, and does none twice, when VACUUM or a rebuild renumbers the row ids half-way")
    func renumbered() throws {
        let database = try database(Rows.all[1])
        try database.write { try $0.execute(sql: "DELETE FROM photo WHERE rowid % 3 = 0") }
        try runInPieces(database) { piece in
            if piece == 1 { try database.vacuum() }
            if piece == 2 {
                try database.write { db in
                    try db.execute(
                        sql: """
                            CREATE TABLE new(id TEXT PRIMARY KEY, hash);
                            INSERT INTO new SELECT * FROM photo ORDER BY random();
                            DROP TABLE photo;
                            ALTER TABLE new RENAME TO photo;
                            """)
                }
            }
        }
        #expect(try integer("SELECT count(*) FROM photo WHERE hash = 1", database) == 200)
    }

    @Test("never visits rows that the app inserts above the last one, from migrate() on")
    func bounds() throws {
        let database = try database(Rows.all[0])
        try manager(database).migrate()
        try database.write { try $0.execute(sql: "INSERT INTO photo(id) VALUES (100000), (-100000)") }
        try runInPieces(database) { piece in
            guard piece == 2 else { return }
            // The newest rows, deleted and inserted again.
            try database.write { db in
                try db.execute(
                    sql: """
                        DELETE FROM photo WHERE id > 1000;
                        INSERT INTO photo(id, hash) SELECT 100001 + id, 'new' FROM photo WHERE id > 900
                        """)
            }
        }
        #expect(try integer("SELECT count(*) FROM photo WHERE id > 100000 AND hash <> 'new'", database) == 0)
        #expect(try integer("SELECT count(*) FROM photo WHERE hash IS NULL", database) == 1, "-100000")
        #expect(try integer("SELECT count(*) FROM photo WHERE hash = 2", database) == 0)
    }

    @Test(
        "fails where the rows have no key that stays, and no launch waits for it",
        arguments: [
            (
                "CREATE TABLE log(x)", "table log has no primary key, and VACUUM may renumber its rows",
                "Give the table a primary key first, or use `startingAt:` with a cursor of your own."
            ),
            (
                "CREATE VIEW log AS SELECT * FROM photo", "log is a view, whose rows have no key",
                "Go through its content with `startingAt:`, and a cursor of your own."
            ),
            (
                "CREATE VIRTUAL TABLE log USING fts5(x)", "log is a virtual table, whose rows have no key",
                "Go through its content with `startingAt:`, and a cursor of your own."
            ),
        ])
    func refused(sql: String, problem: String, remedy: String) throws {
        let database = try database(Rows.all[0])
        try database.write { try $0.execute(sql: sql) }
        let manager = try manager(database, table: "log")
        try manager.migrate()
        let error = try #require(try manager.runDeferred().failures.first)
        #expect(error.description.contains(problem), "\(error)")
        #expect(error.description.contains(remedy), "\(error)")
        #expect(error.version == "2.1")
    }

    @Test("goes through a table that has only the name of a virtual table's own")
    func likeShadow() throws {
        let database = try database(Rows.all[0])
        try database.write { db in
            try db.execute(
                sql: """
                    ALTER TABLE photo RENAME TO message_content; ALTER TABLE message_content ADD COLUMN text;
                    CREATE VIRTUAL TABLE message USING fts5(text, content = 'message_content', content_rowid = 'id')
                    """)
        }
        let manager = try app.manager("2.1", adopting: Adoption { "1.0" })
        manager.afterMigratingToVersion("2.1", in: database, overRowsOf: "message_content") { db, rows in
            try db.execute(literal: "UPDATE message_content SET hash = 1 WHERE \(rows.condition)")
        }
        try manager.migrate()
        #expect(try manager.runDeferred().completed.versions == ["2.1"])
        #expect(try integer("SELECT count(*) FROM message_content WHERE hash = 1", database) == 300)
    }

    @Test("does not keep the app from launching when a later release has dropped the table")
    func dropped() throws {
        let database = try database(Rows.all[0])
        try database.write { try $0.execute(sql: "ALTER TABLE photo RENAME TO picture") }
        let manager = try manager(database)
        #expect(try manager.migrate().deferred.map(\.work.version) == ["2.1"])
        #expect(
            try manager.runDeferred().failures.map(\.description) == [
                """
                Library: deferred step 2.1 (Migrations.swift:7) failed: there is no table photo. Name the table as it is once \
                `migrate()` has returned. No row was changed. The step is tried again.
                """
            ])
        try database.write { try $0.execute(sql: "ALTER TABLE picture RENAME TO photo") }
        #expect(try manager.runDeferred().completed.versions == ["2.1"])
        #expect(try integer("SELECT count(*) FROM photo WHERE hash = 1", database) == 300)
    }

    @Test("is refused where the key is another one than at the beginning, and can be started over")
    func otherKey() throws {
        let database = try database(Rows.all[0])
        try manager(database).migrate()
        try database.write { try $0.execute(sql: "ALTER TABLE photo RENAME COLUMN id TO number") }
        let manager = try manager(database)
        try manager.migrate()
        let report = try manager.runDeferred()
        #expect(
            report.failures.map(\.description) == [
                """
                Library: deferred step 2.1 (Migrations.swift:7) failed: the primary key of table photo is (number INTEGER), and was \
                (id INTEGER) when the step began. Start the step over with rerun(_:), or restore the key. No row was changed. \
                The step is tried again.
                """
            ])
        try manager.rerun("2.1")
        try manager.migrate()
        #expect(try manager.runDeferred().completed.versions == ["2.1"])
        #expect(try integer("SELECT count(*) FROM photo WHERE hash = 1", database) == 300)
    }

    @Test(
        "is refused where the key has another type or collation than at the beginning",
        arguments: [
            (1, "id TEXT COLLATE NOCASE PRIMARY KEY", "id TEXT COLLATE NOCASE", "id TEXT"),
            (0, "id TEXT PRIMARY KEY", "id TEXT", "id INTEGER"),
        ])
    func otherOrder(rows: Int, column: String, new: String, old: String) throws {
        let database = try database(Rows.all[rows])
        try manager(database).migrate()
        try database.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE new(\(column), hash); INSERT INTO new SELECT 'key ' || rowid, hash FROM photo;
                    DROP TABLE photo; ALTER TABLE new RENAME TO photo
                    """)
        }
        let manager = try manager(database)
        try manager.migrate()
        let report = try manager.runDeferred()
        #expect(
            report.failures.first?.message.contains(
                "the primary key of table photo is (\(new)), and was (\(old)) when the step began") == true,
            "\(report)")
        try manager.rerun("2.1")
        try manager.migrate()
        #expect(try manager.runDeferred().completed.versions == ["2.1"])
        #expect(try integer("SELECT count(*) FROM photo WHERE hash = 1", database) == 300)
    }

    @Test("goes on where an earlier version of the package has left it")
    func earlierPosition() throws {
        let database = try database(Rows.all[0])
        try manager(database).migrate()
        try database.write { db in
            for table in ["app_migrations", "app_migrations_mirror"] {
                try db.execute(sql: "UPDATE \(table) SET value = replace(value, 'id INTEGER', 'id')")
            }
            #expect(db.changesCount > 0)
        }
        let record = try integer(
            "SELECT count(*) FROM app_migrations WHERE value LIKE '%\\\"id\\\"%'", database)
        #expect(record == 1)
        #expect(try manager(database).runDeferred().completed.versions == ["2.1"])
        #expect(try integer("SELECT count(*) FROM photo WHERE hash = 1", database) == 300)
    }

    @Test(
        "goes on in the order in which it has begun, though the key's index has another one",
        arguments: ["a, b DESC", "a COLLATE NOCASE, b"], ["a TEXT,b INTEGER", "a,b"])
    func earlierOrder(key: String, known: String) throws {
        let columns = "(a TEXT, b INTEGER, hash, PRIMARY KEY"
        let database = try database(
            Rows(
                testDescription: key, table: "photo\(columns) (a, b))",
                rows: "INSERT INTO photo(a, b) SELECT CASE i % 3 WHEN 0 THEN 'x' ELSE 'X' END, i FROM n"))
        try runInPieces(database) { piece in
            guard piece == 2 else { return }
            try database.write { db in
                try db.execute(
                    sql: """
                        CREATE TABLE new\(columns) (\(key)));
                        INSERT INTO new SELECT * FROM photo; DROP TABLE photo; ALTER TABLE new RENAME TO photo;
                        """)
                // Older versions of the package have written the names alone.
                for table in ["app_migrations", "app_migrations_mirror"] where known == "a,b" {
                    try db.execute(
                        sql:
                            #"UPDATE \#(table) SET value = replace(replace(value, 'a TEXT', 'a'), 'b INTEGER', 'b')"#
                    )
                    #expect(db.changesCount > 0)
                }
            }
        }
        #expect(try integer("SELECT count(*) FROM photo WHERE hash = 1", database) == 300)
    }

    @Test("visits no rows behind the last one, where the index takes two spellings for the same")
    func behindLast() throws {
        let database = try database(
            Rows(
                testDescription: "",
                table: "photo(a TEXT COLLATE NOCASE, b INTEGER, hash, PRIMARY KEY (a, b DESC))",
                rows:
                    "INSERT INTO photo(a, b) SELECT CASE WHEN i IN (1, 300) THEN 'Tea' ELSE 'tea' END, i FROM n"
            ))
        try manager(database).migrate()
        try database.write { db in
            try db.execute(sql: "INSERT INTO photo(a, b, hash) SELECT 'tea', b - 1000, 'new' FROM photo")
        }
        try runInPieces(database)
        #expect(try integer("SELECT count(*) FROM photo WHERE hash = 1", database) == 300)
        #expect(try integer("SELECT count(*) FROM photo WHERE hash = 'new'", database) == 300)
    }

    @Test("visits the rows between two texts of the same characters")
    func sameCharacters() throws {
        let database = try database(Rows.all[1])
        try database.write { db in
            try db.execute(
                sql: """
                    DELETE FROM photo;
                    INSERT INTO photo(id) VALUES ('e' || char(0x301)), ('f'), ('g'), (char(0xE9))
                    """)
        }
        try runInPieces(database)
        #expect(try integer("SELECT count(*) FROM photo WHERE hash = 1", database) == 4)
    }

    @Test("starts over on request, also when it is done")
    func rerun() throws {
        let database = try database(Rows.all[0])
        let manager = try manager(database)
        try manager.migrate()
        try manager.runDeferred()
        try manager.rerun("2.1")
        #expect(try manager.migrate().deferred.map(\.work.version) == ["2.1"])
        #expect(try manager.runDeferred().completed.versions == ["2.1"])
        #expect(try integer("SELECT count(*) FROM photo WHERE hash = 2", database) == 300)
    }

    // MARK: Rows that fail

    @Test("sets aside the rows that fail, does all others, and retries them in the next run")
    func aside() throws {
        let database = try database(Rows.all[4])
        let fails = Locked(true)
        let manager = try manager(database) { db, rows in
            let (sql, arguments) = try GRDB.SQL(
                "SELECT 1 FROM photo WHERE a IN ('x10', 'x277') AND \(rows.condition)"
            )
            .build(db)
            guard fails.withLock({ $0 }), try Row.fetchOne(db, sql: sql, arguments: arguments) != nil else {
                return
            }
            throw Mishap()
        }
        try manager.migrate()
        let remedies = [
            "That batch was rolled back; all others are kept. The next run retries it.",
            """
            It has failed in the same way before in this build, so retrying alone will not help: fix the cause, or settle the \
            step with skip(_:).
            """,
        ]
        for remedy in remedies {
            let report = try manager.runDeferred()
            #expect(
                report.failures.map(\.description) == [
                    "Library: deferred step 2.1 (Migrations.swift:7) failed in 2 rows of table photo: a mishap. \(remedy)"
                ])
            #expect(report.pending.map(\.rowsSetAside) == [["(0, 'x10')", "(2, 'x277')"]])
            #expect(report.pending.map(\.done) == [298])
            #expect(try integer("SELECT count(*) FROM photo WHERE hash = 1", database) == 298)
        }
        fails.withLock { $0 = false }
        try database.write { try $0.execute(sql: "DELETE FROM photo WHERE a = 'x277'") }
        #expect(try manager.runDeferred().completed.versions == ["2.1"])
        #expect(try integer("SELECT count(*) FROM photo WHERE hash = 1", database) == 299)
    }

    @Test("sets no rows aside for a statement that is wrong for all of them")
    func wrongStatement() throws {
        let database = try database(Rows.all[0])
        let manager = try manager(database) { db, _ in try db.execute(sql: "UPDATE foto SET hash = 1") }
        try manager.migrate()
        let report = try manager.runDeferred()
        #expect(report.pending.map(\.rowsSetAside) == [[]])
        #expect(report.failures.first?.message.contains("no such table: foto") == true, "\(report.failures)")
    }

    @Test("sets aside the row that full-text search cannot read as a query")
    func badQuery() throws {
        let database = try database(Rows.all[0])
        try database.write { db in
            try db.execute(
                sql: """
                    ALTER TABLE photo ADD COLUMN query; UPDATE photo SET query = iif(id = 500, 'C++', 'word');
                    CREATE VIRTUAL TABLE note USING fts5(text)
                    """)
        }
        let manager = try manager(database) { db, rows in
            try db.execute(
                literal: """
                    UPDATE photo SET hash = (SELECT count(*) FROM note WHERE note MATCH query) WHERE \(rows.condition)
                    """)
        }
        try manager.migrate()
        let report = try manager.runDeferred()
        #expect(report.pending.map(\.rowsSetAside) == [["500"]], "\(report)")
        #expect(try integer("SELECT count(*) FROM photo WHERE hash = 1", database) == 299)
    }

    @Test("names the row whose foreign key fails only at the commit")
    func foreignKey() throws {
        let database = try database(Rows.all[0])
        try database.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE parent(id INTEGER PRIMARY KEY);
                    CREATE TABLE child(id INTEGER REFERENCES parent DEFERRABLE INITIALLY DEFERRED);
                    INSERT INTO parent SELECT id FROM photo WHERE id <> 500;
                    """)
        }
        let manager = try manager(database) { db, rows in
            try db.execute(literal: "INSERT INTO child SELECT id FROM photo WHERE \(rows.condition)")
        }
        try manager.migrate()
        let report = try manager.runDeferred()
        #expect(
            report.failures.first?.message.contains("failed in row 500 of table photo") == true, "\(report)")
        #expect(try integer("SELECT count(*) FROM photo WHERE hash = 1", database) == 299)
    }

    // MARK: The database meanwhile

    @Test(
        "visits the rows of a batch alone, whatever index its statement could use",
        arguments: zip(
            [0, 1, 4],
            [
                "USING INDEX photo_by_hash (hash=? AND rowid>? AND rowid<?)",
                "USING INDEX sqlite_autoindex_photo_1 (id>? AND id<?)",
                "USING COVERING INDEX photo_by_hash (hash=? AND (b,a)>(?,?) AND (b,a)<(?,?))",
            ]))
    func plan(rows: Int, plan: String) throws {
        let database = try database(Rows.all[rows])
        try database.write { try $0.execute(sql: "CREATE INDEX photo_by_hash ON photo(hash)") }
        let details = Locked<Set<String>>([])
        let manager = try manager(database) { db, rows in
            let (sql, arguments) = try GRDB.SQL(
                "EXPLAIN QUERY PLAN UPDATE photo SET hash = 1 WHERE hash IS NULL AND \(rows.condition)"
            ).build(db)
            let lines = try Row.fetchAll(db, sql: sql, arguments: arguments).map { $0["detail"] as String }
            details.withLock { $0.formUnion(lines) }
        }
        try manager.migrate()
        try manager.runDeferred()
        details.withLock { details in
            // The two rows without a key come first, by whatever index.
            details = details.filter { $0.contains(">") }
            #expect(details == ["SEARCH photo \(plan)"])
        }
    }

    @Test(
        "holds the database for at most 250 ms, also when quick rows are followed by slow ones",
        .limitingBatches)
    func slowRows() throws {
        let database = try database(Rows.all[0])
        try database.write { db in
            db.add(
                function: DatabaseFunction("slow", argumentCount: 1) { values in
                    Thread.sleep(forTimeInterval: Int64.fromDatabaseValue(values[0]) ?? 0 > 1000 ? 0.03 : 0)
                    return 1
                })
        }
        let sizes = Locked<[Int]>([])
        let done = Locked(0)
        let manager = try manager(
            database,
            options: MigrationOptions(onEvent: { event in
                guard case .didRunBatch(_, let now, _) = event.kind else { return }
                let size =
                    now
                    - done.withLock { last in
                        defer { last = now }
                        return last
                    }
                if now > 280 { sizes.withLock { $0.append(size) } }
            })
        ) { db, rows in
            try db.execute(literal: "UPDATE photo SET hash = 0 * slow(id) WHERE \(rows.condition)")
        }
        try manager.migrate()
        #expect(try manager.runDeferred().completed.versions == ["2.1"])
        #expect(try integer("SELECT count(*) FROM photo WHERE hash = 1", database) == 300)
        // Of the slow rows, which sleep 30 ms each, no more than eight fit into 250 ms.
        #expect(sizes.withLock { $0 }.allSatisfy { $0 <= 8 + 20 }, "\(sizes.withLock { $0 })")
    }

    @Test("waits for another writer without keeping the app from reading through the same queue")
    func foreignWriter() throws {
        let database = try database(Rows.all[0])
        try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = WAL") }
        let manager = try manager(database)
        try manager.migrate()
        let other = try foreign(database)
        try other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        let report = Locked<DeferredReport?>(nil)
        let end = DispatchGroup()
        let sendable = Unchecked(manager)
        end.enter()
        Thread {
            report.withLock { $0 = try? sendable.value.runDeferred() }
            end.leave()
        }.start()
        for _ in 1...20 { #expect(try integer("SELECT count(*) FROM photo", database) == 300) }
        try other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        end.wait()
        let run = try #require(report.withLock { $0 })
        #expect(run.failures.isEmpty, "\(run.failures)")
        #expect(run.completed.versions == ["2.1"])
    }

    @Test("in a database that is locked or closed waits, keeps no other one waiting, and has not died")
    func lockedDatabase() throws {
        let (first, second) = (try database(Rows.all[0]), try database(Rows.all[0], name: "healthy"))
        try manager(first, second).migrate()
        let other = try foreign(first)
        for run in 1...4 {
            try other.writeWithoutTransaction { try $0.execute(sql: "BEGIN EXCLUSIVE") }
            let report = try manager(first, second).runDeferred()
            #expect(report.completed.versions == (run == 1 ? ["2.1"] : []))
            #expect(report.pending.map(\.work.database) == ["photos.sqlite"])
            #expect(report.failures.map(\.code) == [.locked], "\(report.failures)")
            try other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        }
        #expect(try integer("SELECT count(*) FROM photo WHERE hash = 1", second) == 300)
        #expect(try manager(first, second).runDeferred().completed.versions == ["2.1"])
        #expect(try integer("SELECT count(*) FROM photo WHERE hash = 1", first) == 300)
    }

    @Test("in a database that is being written is left to the next run, and keeps no other one waiting")
    func busyDatabase() throws {
        let (first, second) = (try database(Rows.all[0]), try database(Rows.all[0], name: "healthy"))
        try manager(first, second).migrate()
        let other = try foreign(first)
        try other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        let options = MigrationOptions(lockTimeout: .milliseconds(100))
        let report = try manager(first, second, options: options).runDeferred()
        #expect(report.completed.map(\.database) == ["healthy.sqlite"])
        #expect(report.failures.map(\.code) == [.locked], "\(report.failures)")
        #expect(report.canContinue)
        try other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        #expect(try manager(first, second).runDeferred().completed.map(\.database) == ["photos.sqlite"])
    }

    @Test("finds a death in a database that cannot be read when it can, though others have run meanwhile")
    func deathInLockedDatabase() throws {
        let (first, second) = (try database(Rows.all[0]), try database(Rows.all[0], name: "healthy"))
        try manager(first, second).migrate()
        let record = try #require(try MigrationStore.database(first).record(of: "Library"))
        let id = try #require(record.positions.first?.id)
        try MigrationStore.database(first).changeRecord(of: "Library") {
            let start = OpenWork.Start(build: "2.1", since: Date(), isDeferred: true)
            $0?.apply(.started(id, start, remaining: nil, isRetry: false))
        }
        let other = try foreign(first)
        try other.writeWithoutTransaction { try $0.execute(sql: "BEGIN EXCLUSIVE") }
        #expect(
            try manager(first, second).runDeferred().completed.map(\.database) == ["healthy.sqlite"])
        try other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        let attempts = Locked<[Int]>([])
        let options = MigrationOptions(onEvent: { event in
            if case .willRun(let step) = event.kind { attempts.withLock { $0.append(step.attempt) } }
        })
        let report = try manager(first, second, options: options).runDeferred()
        #expect(report.completed.map(\.database) == ["photos.sqlite"])
        #expect(attempts.withLock { $0 } == [2])
    }

    @Test("that cannot write down that a batch was stopped has not died, however often that happens")
    func stopUnwritten() throws {
        let database = try database(Rows.all[0])
        try manager(database).migrate()
        for _ in 1...4 {
            // As on a full disk: neither the batch nor what follows can be written.
            let report = try manager(database) { db, _ in
                try db.execute(sql: "PRAGMA max_page_count = 1; CREATE TABLE big AS SELECT zeroblob(100000)")
            }.runDeferred()
            #expect(report.failures.map(\.code) == [.diskFull], "\(report.failures)")
        }
        try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA max_page_count = 1000000") }
        #expect(try manager(database).runDeferred().completed.versions == ["2.1"])
        #expect(try integer("SELECT count(*) FROM photo WHERE hash = 1", database) == 300)
    }

    @Test("whose database is suspended in a batch has not failed")
    func suspended() throws {
        var configuration = Configuration()
        configuration.observesSuspensionNotifications = true
        let path = try database(Rows.all[0]).path
        let database = try DatabaseQueue(path: path, configuration: configuration)
        let manager = try manager(database) { db, _ in
            NotificationCenter.default.post(name: Database.suspendNotification, object: nil)
        }
        try manager.migrate()
        let report = try manager.runDeferred()
        NotificationCenter.default.post(name: Database.resumeNotification, object: nil)
        #expect(report.pending.map(\.work.version) == ["2.1"])
        #expect(try self.manager(database).runDeferred().completed.versions == ["2.1"])
        #expect(try integer("SELECT count(*) FROM photo WHERE hash = 1", database) == 300)
    }

    @Test("of one version in two databases is pending in both until each is done")
    func twoDatabases() throws {
        let (first, second) = (try database(Rows.all[0]), try database(Rows.all[1], name: "second"))
        let manager = try manager(first, second)
        try manager.migrate()
        var batches = 0
        let report = try manager.runDeferred(while: {
            batches += 1
            if batches > 2 { manager.deferredProgress.cancel() }
            return true
        })
        #expect(report.pending.map(\.work.database) == ["photos.sqlite", "second.sqlite"])
        #expect(report.completed == [])
        let other = try self.manager(first, second)
        try other.migrate()
        #expect(try other.runDeferred().completed.versions == ["2.1", "2.1"])
    }

    @Test("is run to its end by the step that finishes it also where nothing was ever recorded")
    func finishedBeforeFirstRecord() throws {
        let database = try database(Rows.all[0])
        let manager = try app.manager("3.0", adopting: Adoption { "1.0" })
        manager.afterMigratingToVersion("2.1", in: database, overRowsOf: "photo") { db, rows in
            try db.execute(literal: "UPDATE photo SET hash = 1 WHERE \(rows.condition)")
        }
        let sum = Locked(0)
        manager.whenMigratingToVersion("3.0", finishing: ["2.1"], in: database) { db in
            let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM photo WHERE hash = 1") ?? 0
            sum.withLock { $0 = count }
        }
        #expect(try manager.migrate().completed.versions == ["2.1", "3.0"])
        #expect(sum.withLock { $0 } == 300)
    }

    // MARK: Other callers

    @Test(
        "cannot be skipped or forgotten elsewhere during the run", arguments: [true, false])
    func notEndedElsewhere(isSkipped: Bool) throws {
        let database = try database(Rows.all[0])
        let other = try manager(
            DatabaseQueue(path: database.path), options: MigrationOptions(lockTimeout: .milliseconds(20)))
        let first = try manager(database)
        try first.migrate()
        var isEnded = false
        let report = try first.runDeferred(while: {
            guard !isEnded else { return true }
            isEnded = true
            let error = #expect(throws: MigrationError.self) {
                try isSkipped ? other.skip("2.1") : other.removeRecord()
            }
            #expect(error?.code == .locked)
            return true
        })
        #expect(isEnded)
        #expect(report.completed.versions == ["2.1"])
        #expect(try integer("SELECT count(*) FROM photo WHERE hash = 1", database) == 300)
    }

    @Test("runs once when it is asked for twice, and can be looked at meanwhile")
    func twoCalls() throws {
        let database = try database(Rows.all[0])
        let manager = try manager(database)
        try manager.migrate()
        var (looks, others): ([PendingWork], [DeferredReport]) = ([], [])
        let report = try manager.runDeferred(while: {
            #expect(throws: Never.self) {
                looks += try manager.pendingDeferred()
                others.append(try manager.runDeferred())
            }
            return true
        })
        #expect(report.completed.versions == ["2.1"])
        #expect(looks.prefix(2).map(\.done) == [0, 1])
        #expect(others.allSatisfy { $0.canContinue && $0.completed.isEmpty && $0.failures.isEmpty })
        #expect(!others.isEmpty)
        #expect(try integer("SELECT count(*) FROM photo WHERE hash = 1", database) == 300)
    }

    @Test("does not begin while its condition is false")
    func falseCondition() throws {
        let database = try database(Rows.all[0])
        let manager = try manager(database)
        try manager.migrate()
        #expect(try manager.runDeferred(for: .milliseconds(1), while: { false }).completed == [])
        let report = try manager.runDeferred(while: {
            manager.deferredProgress.cancel()
            return false
        })
        #expect(report.pending.map(\.done) == [0])
        #expect(try integer("SELECT count(*) FROM photo WHERE hash = 1", database) == 0)
    }

    @Test("pauses while its condition is false, and shows its progress as complete when nothing is left")
    func condition() throws {
        let database = try database(Rows.all[0])
        let manager = try manager(database)
        try manager.migrate()
        var asked = 0
        let report = try manager.runDeferred(while: {
            asked += 1
            return asked > 3
        })
        #expect(asked > 3)
        #expect(report.completed.versions == ["2.1"])
        let idle = try self.manager(database)
        try idle.migrate()
        try idle.runDeferred()
        #expect(idle.deferredProgress.fractionCompleted == 1)
    }
}

private struct Unchecked<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}
