import AppMigrations
import DatabaseFiles
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

/// The schema of a damaged database says what its tables are; the migrations say only what they would make of a new one.
@Suite("A damaged database that is not as its migrations make it", .timed)
struct OwnSchemaTests {
    let folder: TemporaryFolder
    let path: String
    private var pages: DatabasePages { DatabasePages(path: path) }

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("app.sqlite")
    }

    private func open<Result>(_ body: (DatabaseQueue) throws -> Result) throws -> Result {
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        return try body(queue)
    }

    private func rows(_ table: String) throws -> [String] {
        try open { queue in
            try queue.read {
                try Row.fetchAll($0, sql: "SELECT * FROM \(table) ORDER BY id").map(\.description)
            }
        }
    }

    private func schema(_ texts: [String], besides left: Int? = nil) throws -> SchemaMigrator {
        try SchemaMigrator(
            migrations: texts.indices.filter { $0 != left }.map { index in
                SQLMigration(version: SchemaVersion(index + 1), name: "m\(index + 1)", sql: texts[index])
            })
    }

    private func migrator(_ texts: [String], besides left: Int? = nil) -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        for index in texts.indices where index != left {
            migrator.registerMigration("m\(index + 1)") { try $0.execute(sql: texts[index]) }
        }
        return migrator
    }

    private func eraseMagic() throws {
        try pages.change { $0.replaceSubrange(0..<16, with: Data(count: 16)) }
    }

    /// Makes a table `note` of 5,000 rows that are shorter than its columns, and loses the page that leads to them.
    private func loseRootOfShortRows() throws {
        try open { queue in
            try queue.execute(
                """
                CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT NOT NULL);
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
                INSERT INTO note SELECT i, 'note ' || i FROM n;
                ALTER TABLE note ADD COLUMN color TEXT
                """)
        }
        try pages.erase(pages.root("note"))
    }

    private func loseLedger() throws {
        let ledger = [
            "schema_migrations", "sqlite_autoindex_schema_migrations_1", "schema_migrations_details",
        ]
        for table in ledger { try pages.erase(pages.root(table)) }
    }

    /// Damages the text of an object in the schema.
    private func damage(_ text: String) throws {
        try pages.change { data in
            let place = try #require(data.range(of: Data(text.utf8))).lowerBound
            data[place] = UInt8(ascii: "?")
        }
    }

    private func salvage(_ target: some SalvageTarget) throws -> SalvageReport {
        try DatabaseFile(path: path).salvage(into: target)
    }

    // MARK: Definitions

    @Test("keeps a table that SQLite reads with texts in double quotes, as another library has made it")
    func doubleQuotedTexts() throws {
        let target = try schema(["CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT)"])
        try open { queue in
            try target.migrate(queue)
            try queue.execute("INSERT INTO note VALUES (1, 'mine')")
        }
        var configuration = Configuration()
        configuration.acceptsDoubleQuotedStringLiterals = true
        let other = try DatabaseQueue(path: path, configuration: configuration)
        try other.execute(
            """
            CREATE TABLE task(id INTEGER PRIMARY KEY, state TEXT CHECK (state IN ("open", "done")));
            CREATE UNIQUE INDEX task_open ON task(state) WHERE state <> "done";
            INSERT INTO task VALUES (1, 'open'), (2, 'done')
            """)
        try other.close()
        try eraseMagic()
        let report = try salvage(target)
        #expect(report.isComplete && report.saved == 3)
        #expect(try rows("task") == ["[id:1 state:\"open\"]", "[id:2 state:\"done\"]"])
        #expect(throws: DatabaseError.self) {
            try open { try $0.execute("INSERT INTO task VALUES (3, 'open')") }
        }
    }

    @Test("keeps a table whose name is damaged in one of three places", arguments: ["note", "\"my note\""])
    func damagedName(name: String) throws {
        let target = try schema(["CREATE TABLE \(name)(id INTEGER PRIMARY KEY, text TEXT)"])
        try open { queue in
            try target.migrate(queue)
            try queue.execute("INSERT INTO \(name) VALUES (1, 'mine'), (2, 'yours')")
        }
        // In a row of the schema, the type comes first, and then the name.
        let bare = name.trimmingCharacters(in: ["\""])
        try pages.change { data in
            let place = try #require(data.range(of: Data("table\(bare)\(bare)".utf8))).lowerBound
            data[place + 5] = UInt8(ascii: "x")
        }
        let report = try salvage(target)
        #expect(report.isComplete && report.saved == 2)
        #expect(try rows(name).count == 2)
    }

    @Test("keeps the rows of a table whose definition is damaged, or counts them")
    func damagedDefinition() throws {
        let target = try schema(["CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT)"])
        try open { queue in
            try target.migrate(queue)
            try queue.execute(
                """
                INSERT INTO note VALUES (1, 'mine');
                CREATE TABLE draft(id INTEGER PRIMARY KEY, text TEXT, folder INTEGER, stars REAL);
                INSERT INTO draft VALUES (1, 'a', 2, 0.5), (2, 'b', 3, 1.5)
                """)
        }
        try damage("CREATE TABLE draft")
        let report = try salvage(target)
        #expect(!report.isComplete)
        #expect(report.unassigned == 2)
        #expect(try rows("note").count == 1)
    }

    // MARK: The order of columns

    private static let late = [
        "CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT); INSERT INTO note VALUES (7, 'seed')",
        "ALTER TABLE note ADD COLUMN author TEXT", "ALTER TABLE note ADD COLUMN place TEXT",
    ]

    @Test("keeps each value in its column where a migration ran out of order", arguments: [false, true])
    func outOfOrder(byGRDB: Bool) throws {
        let (first, all) = (try schema(Self.late, besides: 1), try schema(Self.late))
        try open { queue in
            if byGRDB {
                try migrator(Self.late, besides: 1).migrate(queue)
                try queue.execute("INSERT INTO note VALUES (1, 'short', 'Rome')")
                try migrator(Self.late).migrate(queue)
            } else {
                try first.migrate(queue)
                try queue.execute("INSERT INTO note VALUES (1, 'short', 'Rome')")
                try all.migrate(queue)
            }
            try queue.execute("INSERT INTO note(id, text, place, author) VALUES (2, 'full', 'Rome', 'Ann')")
        }
        try eraseMagic()
        let report = byGRDB ? try salvage(migrator(Self.late)) : try salvage(all)
        #expect(report.isComplete && report.saved == 3)
        try open { if byGRDB { try migrator(Self.late).migrate($0) } else { try all.migrate($0) } }
        #expect(
            try rows("note") == [
                "[id:1 text:\"short\" place:\"Rome\" author:NULL]",
                "[id:2 text:\"full\" place:\"Rome\" author:\"Ann\"]",
                "[id:7 text:\"seed\" place:NULL author:NULL]",
            ])
    }

    @Test("says so if details of its migrations are lost that no migration brings back")
    func lostDetails() throws {
        let (first, all) = (try schema(Self.late, besides: 1), try schema(Self.late))
        try open { queue in
            try first.migrate(queue)
            try queue.execute("INSERT INTO note(id, text) VALUES (1, 'mine')")
        }
        try pages.erase(pages.root("schema_migrations_details"))
        let report = try salvage(all)
        #expect(!report.isComplete && report.saved == report.found)
        #expect(report.tables.map(\.name) == ["note", "schema_migrations_details"])
        #expect(try open { try all.migrate($0).applied } == [2])
    }

    @Test(
        "still needs the migration that its ledger lacks if it lacks the first one, too, and a view is damaged"
    )
    func pendingAboveFloor() throws {
        let all = try schema([
            "CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT)", "CREATE TABLE tag(x)",
            "UPDATE note SET text = upper(text)", "CREATE TABLE other(x)",
        ])
        try open { queue in
            try queue.execute(
                """
                CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT); INSERT INTO note VALUES (1, 'mine');
                CREATE TABLE tag(x); CREATE TABLE other(x); CREATE VIEW texts AS SELECT text FROM note;
                CREATE TABLE schema_migrations(version INTEGER UNIQUE NOT NULL);
                INSERT INTO schema_migrations VALUES (2), (4)
                """)
        }
        try damage("CREATE VIEW")
        #expect(try salvage(all).schemaVersion == "4")
        #expect(try open { try all.migrate($0).applied } == [3])
        #expect(try rows("note") == ["[id:1 text:\"MINE\"]"])
    }

    @Test("gets rows that migrations insert back on a lost page, whatever has changed their table")
    func seeds() throws {
        let seeded = try schema([
            "CREATE TABLE kind(id INTEGER PRIMARY KEY, name TEXT, rank); INSERT INTO kind VALUES (1, 'a', 1), (2, 'b', 2)",
            Self.late[0],
        ])
        try open { queue in
            try seeded.migrate(queue)
            try queue.execute("ALTER TABLE kind DROP COLUMN rank; ALTER TABLE kind ADD COLUMN color TEXT")
        }
        try pages.erase(pages.root("kind"))
        #expect(try salvage(seeded).isComplete == false)
        #expect(try rows("kind") == ["[id:1 name:\"a\" color:NULL]", "[id:2 name:\"b\" color:NULL]"])
    }

    @Test(
        "is at the version that its ledger says where a page of the schema is of an earlier one",
        arguments: ["", "; DROP TABLE draft"])
    func olderSchema(change: String) throws {
        var texts = Self.late + ["CREATE TABLE tag(name TEXT)\(change)"]
        texts[0] += "; CREATE TABLE draft(id INTEGER PRIMARY KEY, a, b)"
        let all = try schema(texts)
        _ = try open { try all.migrate($0, upTo: 2) }
        let older = try pages.read()[pages.range(1)]
        try open { queue in
            try all.migrate(queue)
            try queue.execute("INSERT INTO note VALUES (1, 'full', 'Ann', 'Rome')")
            try queue.execute("INSERT INTO tag VALUES ('one'), ('two'), ('three')")
        }
        try pages.change { $0.replaceSubrange(100..<4_096, with: older.dropFirst(100)) }
        try eraseMagic()
        #expect(try salvage(all).schemaVersion == "4")
        #expect(try open { try $0.strings("SELECT place FROM note WHERE id = 1") } == ["Rome"])
        #expect(try open { try $0.integers("SELECT count(*) FROM tag") } == [3])
    }

    @Test(
        "still needs the migration below others that its ledger lacks, also where a text of the schema is damaged",
        arguments: [false, true], ["VIEW texts", "TABLE tag"])
    func pendingBelow(byGRDB: Bool, damaged: String) throws {
        let texts = [
            "CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT); CREATE VIEW texts AS SELECT text FROM note",
            "UPDATE note SET text = upper(text)",
            "CREATE TABLE tag(id INTEGER PRIMARY KEY); CREATE VIEW tags AS SELECT id FROM tag",
        ]
        let all = try schema(texts)
        try open { queue in
            if byGRDB {
                try migrator(texts, besides: 1).migrate(queue)
            } else {
                _ = try schema(texts, besides: 1).migrate(queue)
            }
            try queue.execute("INSERT INTO note VALUES (1, 'mine'); INSERT INTO tag VALUES (5)")
        }
        try damage("CREATE \(damaged)")
        let report = byGRDB ? try salvage(migrator(texts)) : try salvage(all)
        #expect(report.isComplete && report.saved == 2)
        try open { queue in
            if byGRDB {
                try migrator(texts).migrate(queue)
            } else {
                #expect(try all.migrate(queue).applied == [2])
            }
            #expect(try queue.strings("SELECT text FROM texts") == ["MINE"])
            #expect(try queue.integers("SELECT id FROM tags") == [5])
        }
    }

    // MARK: What no migration makes

    @Test("keeps a table of a step whose first page is lost, and says that rows may be missing")
    func lostRoot() throws {
        let schema = try schema(["CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT)"])
        try open { queue in
            try schema.migrate(queue)
            try queue.execute("CREATE TABLE draft(text TEXT); INSERT INTO draft VALUES ('lost')")
            try queue.execute("INSERT INTO note VALUES (1, 'saved')")
        }
        try pages.erase(pages.root("draft"))
        let report = try salvage(schema)
        #expect(!report.isComplete)
        #expect(report.tables.first { $0.name == "draft" }?.missingPages == 1)
        #expect(try open { try $0.integers("SELECT count(*) FROM draft") } == [0])
    }

    @Test(
        "keeps the views, triggers, indexes, columns and full-text tables of steps", arguments: [false, true])
    func otherObjects(isColumnAdded: Bool) throws {
        let text = "CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT); CREATE TABLE gone(x)"
        let schema = try schema([text])
        try open { queue in
            try schema.migrate(queue)
            if isColumnAdded {
                try queue.execute("ALTER TABLE note ADD COLUMN stars INTEGER; DROP TABLE gone")
            }
            try queue.execute(
                """
                INSERT INTO note(id, text) VALUES (1, 'red rose'), (2, 'blue sky');
                CREATE UNIQUE INDEX note_text ON note(text);
                CREATE INDEX note_long ON note(text, id);
                CREATE VIEW texts AS SELECT text FROM note;
                CREATE VIRTUAL TABLE words USING fts5(text);
                INSERT INTO words VALUES ('green grass');
                CREATE TRIGGER added AFTER INSERT ON note BEGIN INSERT INTO words VALUES (new.text); END;
                """)
            if isColumnAdded { try queue.execute("UPDATE note SET stars = 5") }
        }
        let before = try objects()
        try eraseMagic()
        let report = try salvage(schema)
        #expect(report.isComplete && report.tables.first { $0.name == "note" }?.saved == 2)
        #expect(try objects() == before)
        let queue = try DatabaseQueue(path: path)
        #expect(try schema.migrate(queue).applied == [])
        if isColumnAdded { #expect(try queue.integers("SELECT stars FROM note") == [5, 5]) }
        try queue.execute("INSERT INTO note(id, text) VALUES (3, 'new leaf')")
        #expect(try queue.integers("SELECT rowid FROM words WHERE words MATCH 'grass OR leaf'") == [1, 2])
        try queue.close()
    }

    private func objects() throws -> [String] {
        try open {
            try $0.strings(
                "SELECT type || ' ' || name || ' ' || ifnull(sql, '') FROM sqlite_master ORDER BY 1")
        }
    }

    @Test("says so if the text of an object is damaged that no migration makes")
    func damagedText() throws {
        let schema = try schema(["CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT)"])
        try open { queue in
            try schema.migrate(queue)
            try queue.execute("INSERT INTO note VALUES (1, 'a'); CREATE VIEW texts AS SELECT text FROM note")
        }
        try damage("CREATE VIEW")
        let report = try salvage(schema)
        #expect(report.saved == 1 && !report.isComplete)
        #expect(report.tables.first { $0.name == "sqlite_schema" }?.unreadable == 1)
    }

    // MARK: Migrations in Swift

    @Test("runs no migration that is pending, so that what it reads outside is there at the launch")
    func pendingSwift() throws {
        let legacy = folder.path("legacy.json")
        try Data("old".utf8).write(to: URL(fileURLWithPath: legacy))
        let schema = try SchemaMigrator(migrations: [
            SQLMigration(version: 1, name: "note", sql: "CREATE TABLE note(text TEXT)"),
            CodeMigration(2, "import") { db in
                let text = try String(contentsOfFile: legacy, encoding: .utf8)
                try db.execute(sql: "INSERT INTO note VALUES (?)", arguments: [text])
                try FileManager.default.removeItem(atPath: legacy)
            },
        ])
        try open { queue in
            try schema.migrate(queue, upTo: 1)
            try queue.execute("INSERT INTO note VALUES ('mine')")
        }
        try eraseMagic()
        let setAside = try #require(try salvage(schema).setAside)
        let queue = try DatabaseQueue(path: path)
        // Neither does what adds rows to a database that has not had it.
        let error = try #require(throws: MigrationError.self) {
            try DatabaseFile(path: path).salvage(from: setAside, into: schema, of: queue)
        }
        #expect(error.code == .misuse)
        #expect(try schema.migrate(queue).applied == [2])
        try queue.close()
        #expect(try open { try $0.strings("SELECT text FROM note ORDER BY text") } == ["mine", "old"])
    }

    @Test("of a newer app runs no migration at all")
    func newer() throws {
        let counter = Locked(0)
        func schema(_ count: Int) throws -> SchemaMigrator {
            try SchemaMigrator(
                migrations: (1...count).map { version in
                    CodeMigration(SchemaVersion(version), "m\(version)") { db in
                        counter.withLock { $0 += 1 }
                        try db.execute(sql: "CREATE TABLE t\(version)(x)")
                    }
                })
        }
        let newer = try schema(2)
        _ = try open { try newer.migrate($0) }
        try eraseMagic()
        let error = try #require(throws: MigrationError.self) { try salvage(schema(1)) }
        #expect(error.code == .newerThanThisProcess)
        #expect(counter.withLock(\.self) == 2)
    }

    @Test("runs no pending migration beside one that has merged what was applied")
    func merged() throws {
        let runs = Locked(0)
        var before = DatabaseMigrator()
        before.registerMigration("v1") { try $0.execute(sql: "CREATE TABLE note(text TEXT)") }
        before.registerMigration("v2") { try $0.execute(sql: "ALTER TABLE note ADD COLUMN stars") }
        try open { queue in
            try before.migrate(queue)
            try queue.execute("INSERT INTO note VALUES ('mine', 1)")
        }
        try eraseMagic()
        var after = DatabaseMigrator()
        after.registerMigration("v3", merging: ["v1", "v2"]) { db, applied in
            if applied.isEmpty { try db.execute(sql: "CREATE TABLE note(text TEXT, stars)") }
        }
        after.registerMigration("v4") { _ in runs.withLock { $0 += 1 } }
        #expect(try salvage(after).isComplete)
        #expect(runs.withLock(\.self) == 0)
        try open { try after.migrate($0) }
        #expect(runs.withLock(\.self) == 1)
        #expect(try open { try $0.strings("SELECT text FROM note") } == ["mine"])
    }

    @Test("replaces a table with rows of a migration's by one without a column of it")
    func replacedTable() throws {
        let schema = try schema([
            "CREATE TABLE setting(key TEXT PRIMARY KEY, value); INSERT INTO setting VALUES ('theme', 'dark')"
        ])
        try open { queue in
            try schema.migrate(queue)
            try queue.execute(
                "DROP TABLE setting; CREATE TABLE setting(id INTEGER PRIMARY KEY, theme TEXT); INSERT INTO setting VALUES (1, 'red')"
            )
        }
        try eraseMagic()
        #expect(try salvage(schema).isComplete)
        #expect(try rows("setting") == ["[id:1 theme:\"red\"]"])
    }

    @Test(
        "gets the rows of a table that a step has renamed back, also from pages to which nothing leads",
        arguments: [[], ["folder"]], ["", "ALTER TABLE entry ADD COLUMN color TEXT"])
    func renamedTable(earlier: [String], extended: String) throws {
        let schema = try schema(
            earlier.map { "CREATE TABLE \($0)(x)" } + ["CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT)"]
        )
        try open { queue in
            try schema.migrate(queue)
            try queue.execute(
                """
                ALTER TABLE note RENAME TO entry;
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
                INSERT INTO entry SELECT i, 'note ' || i FROM n;
                \(extended)
                """)
        }
        try pages.erase(pages.root("entry"))
        let report = try salvage(schema)
        #expect(report.tables.first { $0.name == "entry" }?.saved == 5000)
        #expect(try open { try $0.tables() } == ["entry"] + earlier)
    }

    @Test(
        "does not get a unique index back that a step has dropped, which would refuse rows",
        arguments: [nil, "CREATE VIEW", "CREATE TRIGGER"])
    func droppedIndex(damaged: String?) throws {
        let schema = try schema([
            "CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT)",
            "CREATE UNIQUE INDEX note_text ON note(text)",
        ])
        try open { queue in
            try schema.migrate(queue)
            try queue.execute(
                """
                DROP INDEX note_text; INSERT INTO note VALUES (1, 'a'), (2, 'a');
                CREATE VIEW texts AS SELECT text FROM note;
                CREATE TRIGGER kept BEFORE DELETE ON note BEGIN SELECT RAISE(ABORT, 'kept'); END
                """)
        }
        if let damaged { try damage(damaged) } else { try eraseMagic() }
        #expect(try salvage(schema).isComplete == (damaged == nil))
        #expect(try rows("note") == ["[id:1 text:\"a\"]", "[id:2 text:\"a\"]"])
    }

    @Test(
        "keeps a full-text table that is no longer known as one",
        arguments: ["CREATE", "VIRTUAL", "words USING"])
    func damagedFullText(damaged: String) throws {
        let schema = try schema([
            "CREATE TABLE note(id INTEGER PRIMARY KEY); CREATE VIRTUAL TABLE words USING fts5(text)"
        ])
        try open { queue in
            try schema.migrate(queue)
            try queue.execute("INSERT INTO note VALUES (1); INSERT INTO words VALUES ('red rose')")
        }
        try pages.change { data in
            let text = try #require(data.range(of: Data("CREATE VIRTUAL TABLE words USING".utf8)))
            let place = try #require(data.range(of: Data(damaged.utf8), in: text)).lowerBound
            data[place] = UInt8(ascii: "?")
        }
        #expect(try salvage(schema).saved == 2)
        #expect(
            try open { try $0.strings("SELECT text FROM words WHERE words MATCH 'rose'") } == ["red rose"])
    }

    @Test("makes no table again that a step has renamed, as a later migration may, where a view is damaged")
    func renamedTableAndView() throws {
        let schema = try schema([
            "CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT)",
            "CREATE TABLE note(id INTEGER PRIMARY KEY, page INTEGER)",
        ])
        try open { queue in
            try schema.migrate(queue, upTo: 1)
            try queue.execute(
                """
                ALTER TABLE note RENAME TO entry; INSERT INTO entry VALUES (1, 'mine');
                CREATE VIEW texts AS SELECT text FROM entry
                """)
        }
        try damage("CREATE VIEW")
        #expect(try salvage(schema).isComplete == false)
        #expect(try open { try schema.migrate($0).applied } == [2])
        #expect(try rows("entry") == ["[id:1 text:\"mine\"]"])
    }

    @Test(
        "keeps the rows of a table that began with fewer columns than the migration makes that has merged others"
    )
    func shortRowsOfBaseline() throws {
        let old = try schema([
            "CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT)", "ALTER TABLE note ADD COLUMN author TEXT",
        ])
        try open { queue in
            try old.migrate(queue, upTo: 1)
            try queue.execute(
                """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
                INSERT INTO note SELECT i, 'note ' || i FROM n
                """)
            try old.migrate(queue)
            try queue.execute(
                """
                CREATE TABLE draft(id INTEGER PRIMARY KEY, body TEXT, mood TEXT);
                INSERT INTO draft SELECT id, 'draft ' || id, 'glad' FROM note LIMIT 50
                """)
        }
        try eraseMagic()
        let schema = try SchemaMigrator(migrations: [
            SQLMigration(
                version: 2, name: "baseline",
                sql: "CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT, author TEXT)")
        ])
        let report = try salvage(schema)
        #expect(report.isComplete && report.saved == 2050)
        for (rows, count) in [
            ("note WHERE text = 'note ' || id", 2000), ("draft WHERE body = 'draft ' || id", 50),
        ] {
            #expect(try open { try $0.integers("SELECT count(*) FROM \(rows)") } == [Int64(count)])
        }
    }

    @Test("gets short rows of a step's table back, from pages to which nothing leads")
    func shortRowsOfStep() throws {
        let schema = try schema(["CREATE TABLE other(x)"])
        _ = try open { try schema.migrate($0) }
        try loseRootOfShortRows()
        #expect(try salvage(schema).tables.first { $0.name == "note" }?.saved == 5000)
    }

    @Test("keeps a foreign key that SQLite cannot check")
    func brokenForeignKey() throws {
        let schema = try schema(["CREATE TABLE note(id INTEGER PRIMARY KEY)"])
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try schema.migrate(queue)
        try queue.execute(
            """
            CREATE TABLE parent(code TEXT);
            CREATE TABLE child(id INTEGER PRIMARY KEY, code TEXT REFERENCES parent(code));
            INSERT INTO child VALUES (1, 'a')
            """)
        try queue.close()
        try eraseMagic()
        _ = try DatabaseFile(path: path, configuration: configuration).salvage(into: schema)
        #expect(try rows("child") == ["[id:1 code:\"a\"]"])
    }

    @Test("has no later version than its tables where the ledger is lost")
    func oldTable() throws {
        let texts = [
            "CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT); CREATE TABLE folder(id INTEGER PRIMARY KEY)",
            "ALTER TABLE note ADD COLUMN author TEXT", "ALTER TABLE note ADD COLUMN place TEXT",
            "ALTER TABLE note ADD COLUMN color TEXT",
        ]
        try open { queue in
            // The third has run before the second.
            _ = try self.schema(Array(texts.prefix(1))).migrate(queue)
            _ = try self.schema(Array(texts.prefix(3)), besides: 1).migrate(queue)
            _ = try self.schema(Array(texts.prefix(3))).migrate(queue)
            try queue.execute("INSERT INTO note VALUES (1, 'mine', 'here', 'me')")
        }
        try loseLedger()
        let schema = try schema(texts)
        #expect(try salvage(schema).schemaVersion == "3")
        _ = try open { try schema.migrate($0) }
        #expect(
            try open { try $0.strings("SELECT text || author || place || ifnull(color, '') FROM note") } == [
                "minemehere"
            ])
    }

    @Test("is not before its tables where the ledger is lost, and a step has dropped a column")
    func droppedColumn() throws {
        let schema = try schema([
            "CREATE TABLE folder(id INTEGER PRIMARY KEY)",
            "CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT, draft TEXT)",
            "CREATE TABLE tag(id INTEGER PRIMARY KEY)",
        ])
        try open { queue in
            try schema.migrate(queue)
            try queue.execute("ALTER TABLE note DROP COLUMN draft; INSERT INTO note VALUES (1, 'mine')")
        }
        try loseLedger()
        #expect(try salvage(schema).schemaVersion == "3")
        #expect(try open { try schema.migrate($0).applied } == [])
        #expect(try rows("note") == ["[id:1 text:\"mine\"]"])
    }

    @Test(
        "needs no migration to run that attaches a database, unless its ledger is lost",
        arguments: ["", "view", "ledger"])
    func attaching(damaged: String) throws {
        let other = folder.path("other.sqlite")
        let old = try DatabaseQueue(path: other)
        try old.execute("CREATE TABLE note(x)")
        let schema = try schema([
            "CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT)",
            """
            ATTACH '\(other)' AS old; INSERT INTO note(text) SELECT x FROM old.note; DELETE FROM old.note
            """,
        ])
        try open { queue in
            try schema.migrate(queue)
            try queue.execute(
                "INSERT INTO note VALUES (1, 'mine'); CREATE VIEW texts AS SELECT text FROM note")
        }
        try old.execute("INSERT INTO note VALUES ('theirs')")
        switch damaged {
        case "view": try damage("CREATE VIEW")
        case "ledger": try loseLedger()
        default: try eraseMagic()
        }
        if damaged == "ledger" {
            let error = try #require(throws: MigrationError.self) { try salvage(schema) }
            #expect(error.code == .undecided)
            #expect(
                error.description.hasSuffix(
                    """
                    attaches a database, which a trial must not change: only a trial can say what the damaged schema or ledger \
                    was. Pass salvage(into:) the same migrations, but in the place of this one a migration in Swift that makes \
                    its tables without the attached database. Nothing was changed.
                    """))
            let other = CodeMigration(2, "m2") { _ in }
            let schema = try SchemaMigrator(migrations: [schema.migrations[0], other])
            #expect(try salvage(schema).schemaVersion == "2")
        } else {
            #expect(try salvage(schema).schemaVersion == "2")
        }
        #expect(try open { try schema.migrate($0).applied } == [])
        #expect(try rows("note") == ["[id:1 text:\"mine\"]"])
        #expect(try old.strings("SELECT x FROM note") == ["theirs"])
    }

    @Test(
        "needs no migration to change a file that the app attaches",
        arguments: [
            "INSERT INTO note(text) SELECT x FROM archive.note; DELETE FROM archive.note",
            "CREATE TABLE archive.entry(x)",
        ])
    func attachedByApp(statement: String) throws {
        let other = folder.path("archive.sqlite")
        let archive = try DatabaseQueue(path: other)
        try archive.execute("CREATE TABLE note(x)")
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.execute(sql: "ATTACH ? AS archive", arguments: [other]) }
        let file = DatabaseFile(path: path, configuration: configuration)
        let schema = try schema(["CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT)", statement])
        let queue = try file.openQueue()
        try schema.migrate(queue)
        try queue.execute("INSERT INTO main.note VALUES (1, 'mine')")
        try queue.close()
        try archive.execute("INSERT INTO note VALUES ('theirs')")
        let damaged = try Data(contentsOf: URL(fileURLWithPath: path))
        try eraseMagic()
        let report = try file.salvage(into: schema)
        #expect(report.schemaVersion == "2" && report.isComplete)
        #expect(try rows("note") == ["[id:1 text:\"mine\"]"])
        #expect(try archive.strings("SELECT x FROM note") == ["theirs"])

        // Added to the database that the app uses again, as well.
        let reopened = try file.openQueue()
        try reopened.execute("DELETE FROM main.note")
        let aside = folder.url.appendingPathComponent("aside.sqlite")
        try (Data(count: 16) + damaged.dropFirst(16)).write(to: aside)
        #expect(try file.salvage(from: aside, into: schema, of: reopened).saved == 1)
        #expect(try archive.strings("SELECT x FROM note") == ["theirs"])
    }

    @Test("keeps an index of a changed table if its row in the schema cannot be read")
    func lostIndex() throws {
        let schema = try schema([
            "CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT); CREATE UNIQUE INDEX note_text ON note(text)"
        ])
        try open { queue in
            try schema.migrate(queue)
            try queue.execute("ALTER TABLE note ADD COLUMN stars; INSERT INTO note VALUES (1, 'a', 5)")
        }
        try damage("indexnote_text")
        #expect(try salvage(schema).isComplete == false)
        #expect(try rows("note") == ["[id:1 text:\"a\" stars:5]"])
        #expect(try objects().contains("index note_text CREATE UNIQUE INDEX note_text ON note(text)"))
    }

    // MARK: Databases without a ledger

    @Test("runs its first migration in the next launch if that has failed, and has left an empty ledger")
    func emptyLedger() throws {
        let migrator = migrator([
            "CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT); INSERT INTO note SELECT * FROM old"
        ])
        try open { queue in
            try queue.execute(
                """
                CREATE TABLE old(id INTEGER PRIMARY KEY, text TEXT); INSERT INTO old VALUES (1, 'mine');
                CREATE TABLE grdb_migrations(identifier TEXT NOT NULL PRIMARY KEY)
                """)
        }
        try eraseMagic()
        #expect(try salvage(migrator).schemaVersion == "none")
        try open { try migrator.migrate($0) }
        #expect(try rows("note") == ["[id:1 text:\"mine\"]"])
    }

    @Test("gets back rows that are shorter than its columns, from pages to which nothing leads")
    func shortLooseRows() throws {
        try loseRootOfShortRows()
        let report = try salvage(schema(["CREATE TABLE other(x)"]))
        #expect(report.schemaVersion == "none")
        #expect(
            try open { try $0.integers("SELECT count(*) FROM note WHERE text = 'note ' || id") } == [5000])
    }

    @Test("gets no ledger because the text of a view is damaged")
    func damagedView() throws {
        try open { queue in
            try queue.execute(
                """
                CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT); INSERT INTO note VALUES (1, 'mine');
                CREATE VIEW texts AS SELECT text FROM note
                """)
        }
        try damage("CREATE VIEW")
        let report = try salvage(
            schema([
                "CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT)", "ALTER TABLE note ADD COLUMN stars",
            ]))
        #expect(report.schemaVersion == "none" && !report.isComplete)
        #expect(try rows("note") == ["[id:1 text:\"mine\"]"])
    }

    @Test("without a ledger is as it was, for the launch to adopt")
    func adopted() throws {
        let texts = [
            "CREATE TABLE book(title TEXT)",
            "ALTER TABLE book ADD COLUMN author TEXT; UPDATE book SET author = 'unknown'",
            "ALTER TABLE book ADD COLUMN pages INTEGER NOT NULL DEFAULT 0",
        ]
        var schema = try schema(texts)
        schema = try SchemaMigrator(
            migrations: schema.migrations, adopting: .userVersion(means: [5: 1]))
        try open { queue in
            try queue.execute(
                """
                create table book (title text); insert into book values ('one'), ('two');
                CREATE TABLE added(x); PRAGMA user_version = 5; PRAGMA application_id = 77
                """)
        }
        // Something has been written over the beginning of the file, as in howtocorrupt.html.
        try pages.change { $0.replaceSubrange(0..<38, with: Data(repeating: UInt8(ascii: "!"), count: 38)) }
        let report = try salvage(schema)
        #expect(report.schemaVersion == "none" && report.isComplete)
        let queue = try DatabaseQueue(path: path)
        #expect(try queue.integers("PRAGMA user_version") == [5])
        #expect(try queue.integers("PRAGMA application_id") == [77])
        #expect(try queue.tables() == ["added", "book"])
        #expect(try schema.migrate(queue).applied == [2, 3])
        #expect(try queue.strings("SELECT author FROM book") == ["unknown", "unknown"])
        try queue.close()
    }
}
