import AppMigrations
import Foundation
import GRDB
import GRDBMigrations
import MigrationTools
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("Adoption of a database", .timed)
struct SchemaAdoptionTests {
    let folder: TemporaryFolder
    let queue: DatabaseQueue

    private static let files = [
        "10_a.sql": "CREATE TABLE a(x);", "20_b.sql": "CREATE TABLE b(x);", "30_c.sql": "CREATE TABLE c(x);",
    ]

    init() throws {
        folder = try TemporaryFolder()
        queue = try folder.queue()
        try queue.execute("CREATE TABLE a(x); CREATE TABLE b(x);")
    }

    private func expectAdopted(_ adopting: SchemaAdoption?) throws {
        let schema = try folder.migrator(Self.files, adopting: adopting)
        #expect(try queue.read(schema.status).pendingVersions == [30])
        #expect(try schema.migrate(queue).applied == [30])
        #expect(try queue.ledger() == [10, 20, 30])
        #expect(try queue.read(AppliedMigration.fetchAll).map(\.origin) == [.marked, .marked, .applied])
        #expect(try queue.read(AppliedMigration.fetchAll).map(\.name) == ["a", "b", "c"])
    }

    private func expectRefusal(_ adopting: SchemaAdoption?, _ description: String) throws {
        let before = try queue.schema()
        let error = try failure { try folder.migrator(Self.files, adopting: adopting).migrate(queue) }
        let isNewer = description.contains("If a newer version of the app has migrated")
        #expect(error.code == (isNewer ? .newerThanThisProcess : .undecided))
        #expect(error.description == description)
        #expect(try queue.schema() == before)
    }

    private static let unmanaged = """
        The database has tables, but there is no `schema_migrations` table. Pass the migrator an \
        `adopting:` that returns the version of the tables, such as `SchemaAdoption { db in … }`. Nothing was changed.
        """

    private static let unknown = unmanaged.replacingOccurrences(
        of: "table. Pass", with: "table, and `adopting` finds no version. Pass")

    @Test("marking records known migrations, and runs nothing")
    func byHand() throws {
        let schema = try folder.migrator(Self.files)
        try schema.markApplied(queue, upTo: 20)
        #expect(try queue.ledger() == [10, 20])
        try schema.markApplied(queue, upTo: 20)
        #expect(try queue.ledger() == [10, 20])
        try expectAdopted(nil)
        let error = try failure { try schema.markApplied(queue, upTo: 25) }
        #expect(error.description == "No migration has version 25. The latest is 30.")
    }

    @Test(
        "is asked for again after the first migration has failed, so that a wrong version can be corrected",
        arguments: [
            SchemaOptions.Commits.grouped(), .grouped(after: .zero), .allOrNothing,
        ])
    func correctedAnswer(commits: SchemaOptions.Commits) throws {
        try queue.execute("CREATE TABLE c(x);")
        var wrong = try folder.migrator(Self.files, adopting: SchemaAdoption { _ in 20 })
        wrong.options.commits = commits
        let error = try failure { try wrong.migrate(queue) }
        #expect(error.schemaVersion == 30)
        #expect(try queue.tables() == ["a", "b", "c"])
        let right = try folder.migrator(Self.files, adopting: SchemaAdoption { _ in 30 })
        #expect(try right.migrate(queue).applied == [])
        #expect(try queue.ledger() == [10, 20, 30])
    }

    @Test("reads fmdb-migration-manager's schema_info")
    func schemaInfo() throws {
        let adopting = SchemaAdoption.schemaInfo(means: [1: 10, 2: 20])
        try expectRefusal(adopting, Self.unknown)
        try queue.execute("CREATE TABLE schema_info(version INTEGER)")
        try expectRefusal(adopting, Self.unknown)
        try queue.execute("INSERT INTO schema_info VALUES (3)")
        try expectRefusal(
            adopting,
            """
            schema_info says 3; the highest that this app knows is 2. If a newer version of the app has migrated the \
            database, update the app. If not, map it to a known version in `adopting`. Nothing was changed.
            """)
        try queue.execute("INSERT INTO schema_info VALUES (2)")
        try expectRefusal(
            adopting,
            """
            The table schema_info holds 2 rows instead of one version. Delete all but the version that the tables are \
            at. Nothing was changed.
            """)
        try queue.execute("DELETE FROM schema_info WHERE version = 3")
        try expectAdopted(adopting)
    }

    @Test(
        "takes a database for new if fmdb-migration-manager has applied nothing",
        arguments: [("", true), ("(0)", true), ("(1)", false), ("(NULL)", false)])
    func unusedSchemaInfo(values: String, isNew: Bool) throws {
        try queue.execute("DROP TABLE a; DROP TABLE b; CREATE TABLE schema_info(version INTEGER)")
        if !values.isEmpty { try queue.execute("INSERT INTO schema_info VALUES \(values)") }
        let schema = try folder.migrator(Self.files)
        if isNew {
            #expect(try schema.migrate(queue).applied == [10, 20, 30])
        } else {
            #expect(try failure { try schema.migrate(queue) }.code == .undecided)
        }
    }

    @Test("is asked for if the app's only table has the name of another migrator's")
    func otherSchemaInfo() throws {
        try queue.execute("DROP TABLE a; DROP TABLE b; CREATE TABLE schema_info(key)")
        try expectRefusal(nil, Self.unmanaged)
    }

    @Test("finds the version whose schema the database has, whatever numbers say")
    func matchingSchema() throws {
        try queue.execute("PRAGMA user_version = 30")
        try expectAdopted(.matchingSchema)
    }

    @Test("compares with trials that neither wait for the files that the app attaches, nor change them")
    func attachedFiles() throws {
        let cache = try folder.queue("cache.sqlite")
        try cache.execute(
            """
            CREATE TABLE note(id INTEGER PRIMARY KEY, x); INSERT INTO note VALUES (1, 'kept');
            CREATE UNIQUE INDEX note_x ON note(x); CREATE VIRTUAL TABLE search USING fts5(x);
            CREATE VIEW notes AS SELECT x FROM note;
            CREATE TRIGGER add_note INSTEAD OF INSERT ON notes BEGIN INSERT INTO note(x) VALUES (new.x); END;
            """)
        // What another library allowed, GRDB's connections can read, and cannot create.
        try cache.execute(
            """
            CREATE TABLE old(x); PRAGMA writable_schema = ON;
            UPDATE sqlite_master SET sql = 'CREATE TABLE old(x CHECK (x <> "none"))' WHERE name = 'old'
            """)
        var configuration = Configuration()
        configuration.prepareDatabase { [folder] in
            try $0.execute(sql: "ATTACH ? AS cache", arguments: [folder.path("cache.sqlite")])
        }
        let queue = try folder.queue("attaching.sqlite", configuration)
        try queue.execute("CREATE TABLE a(x)")
        let files = [
            "1_a.sql": "CREATE TABLE a(x)",
            "2_copy.sql": """
            INSERT INTO a SELECT x FROM cache.notes; DELETE FROM cache.note; INSERT INTO cache.notes VALUES ('new');
            INSERT INTO cache.note(x) VALUES ('new') ON CONFLICT (x) DO NOTHING;
            INSERT INTO cache.search(search, rank) VALUES ('rank', 'bm25()');
            """,
            "3_b.sql": "CREATE TABLE b(x)", "4_vacuum.sql": "-- migrations: transaction=none\nVACUUM",
        ]
        let schema = try SchemaMigrator(
            directory: folder.folder(files),
            options: SchemaOptions(differentSchemas: .refuse, busyTimeout: .milliseconds(200)),
            adopting: .matchingSchema)
        #expect(try queue.read { try schema.pending($0) } == [3, 4])
        #expect(try schema.migrate(queue).applied == [3, 4])
        #expect(try cache.strings("SELECT x FROM note") == ["kept"])
    }

    @Test(
        "tries migrations that change the files that the app attaches, unless they need other tables there",
        arguments: [false, true])
    func changedAttachedFile(needsOthers: Bool) throws {
        try folder.queue("archive.sqlite").execute("CREATE TABLE note(x)")
        var configuration = Configuration()
        configuration.prepareDatabase { [folder] in
            try $0.execute(sql: "ATTACH ? AS archive", arguments: [folder.path("archive.sqlite")])
        }
        let queue = try folder.queue("attaching.sqlite", configuration)
        let files = [
            "1_a.sql": "CREATE TABLE a(x)", "2_entry.sql": "CREATE TABLE archive.entry(k)",
            "3_x.sql": "ALTER TABLE archive.entry ADD COLUMN x",
            "4_b.sql": needsOthers ? "INSERT INTO a SELECT x FROM archive.note" : "CREATE TABLE b(x)",
        ]
        let schema = try SchemaMigrator(
            directory: folder.folder(files), options: SchemaOptions(differentSchemas: .refuse),
            adopting: .matchingSchema)
        let problem = """
            2_entry.sql:1: fails in a trial, where the databases that the app attaches are empty: table entry already exists \
            (SQLite 1)
            """
        let report = try schema.migrate(queue)
        #expect(report.applied == [1, 2, 3, 4])
        #expect(report.warnings == (needsOthers ? ["The schema was not compared: \(problem)"] : []))

        try queue.execute("DROP TABLE schema_migrations; DROP TABLE schema_migrations_details")
        guard needsOthers else {
            #expect(try schema.migrate(queue).applied == [])
            #expect(try queue.ledger() == [1, 2, 3, 4])
            return
        }
        let error = try failure { try schema.migrate(queue) }
        #expect(error.code == .undecided)
        #expect(
            error.description == """
                \(problem). Migrate those databases by themselves, or name the version of this one. Nothing was changed.
                """)
    }

    @Test("tries migrations that add an index to a table of a file that the app attaches")
    func indexInAttachedFile() throws {
        try folder.queue("archive.sqlite").execute("CREATE TABLE note(x)")
        var configuration = Configuration()
        configuration.prepareDatabase { [folder] in
            try $0.execute(sql: "ATTACH ? AS archive", arguments: [folder.path("archive.sqlite")])
        }
        let queue = try folder.queue("attaching.sqlite", configuration)
        let schema = try SchemaMigrator(
            directory: folder.folder([
                "1_a.sql": "CREATE TABLE a(x)", "2_index.sql": "CREATE INDEX archive.note_x ON note(x)",
            ]), options: SchemaOptions(differentSchemas: .refuse), adopting: .matchingSchema)
        #expect(try schema.migrate(queue).warnings == [])
        try queue.execute("DROP TABLE schema_migrations; DROP TABLE schema_migrations_details")
        #expect(try schema.migrate(queue).applied == [])
        #expect(try queue.ledger() == [1, 2])
    }

    @Test("runs no migration that attaches a file, to compare", arguments: [false, true])
    func attachingFile(inSwift: Bool) throws {
        let old = try folder.queue("old.sqlite")
        try old.execute("CREATE TABLE note(x); INSERT INTO note VALUES ('kept')")
        let path = folder.path("old.sqlite")
        let sql = "INSERT INTO a SELECT x FROM old.note; DELETE FROM old.note"
        let second: any SchemaMigration =
            inSwift
            ? CodeMigration(20, "copy") { db in
                try db.execute(sql: "ATTACH ? AS old", arguments: [path])
                try db.execute(sql: sql)
            } : SQLMigration(version: 20, name: "copy", sql: "ATTACH '\(path)' AS old; \(sql)")
        let migrations: [any SchemaMigration] = [
            SQLMigration(version: 10, name: "a", sql: "CREATE TABLE a(x)"), second,
            SQLMigration(version: 30, name: "vacuum", sql: "-- migrations: transaction=none\nVACUUM"),
        ]
        try queue.execute("DROP TABLE b")
        func schema(_ adopting: SchemaAdoption) throws -> SchemaMigrator {
            try SchemaMigrator(
                migrations: migrations, options: SchemaOptions(differentSchemas: .refuse), adopting: adopting)
        }
        let error = try failure { try queue.read { try schema(.matchingSchema).pending($0) } }
        let title = inSwift ? "copy" : "20_copy.sql:1"
        #expect(error.code == .undecided)
        #expect(
            error.description == """
                \(title): attaches a database, which a trial must not change. Attach the database in \
                `prepareDatabase` of the app's configuration: trials put another one in its place. In WAL mode, move no rows \
                into it. Nothing was changed.
                """)
        #expect(try old.strings("SELECT x FROM note") == ["kept"])

        let report = try schema(SchemaAdoption { _ in 10 }).migrate(queue)
        #expect(report.applied == [20, 30])
        #expect(try queue.strings("SELECT x FROM a") == ["kept"])
        #expect(
            report.warnings == [
                """
                The schema was not compared: \(title): attaches a database, which a trial must not change
                """
            ])
    }

    @Test("finds no version for a schema that no migrations make")
    func noMatchingSchema() throws {
        try queue.execute("DROP TABLE b; CREATE TABLE b(x, y)")
        try expectRefusal(
            .matchingSchema,
            """
            The schema of the database is that of no version; the nearest is 10, from which it differs: table `b` should not \
            be there. Bring the database to the schema of a version, or name the version. Nothing was changed.
            """)
    }

    @Test("finds no version if the app's configuration creates tables in every database")
    func matchingPreparedSchema() throws {
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.execute(sql: "CREATE TABLE IF NOT EXISTS cache(x)") }
        let queue = try folder.queue("prepared.sqlite", configuration)
        let schema = try folder.migrator(Self.files, adopting: .matchingSchema)
        #expect(try failure { try schema.migrate(queue) }.code == .undecided)
    }

    @Test("takes PRAGMA user_version for a version")
    func plainUserVersion() throws {
        try expectRefusal(.userVersion(), Self.unknown)
        try queue.execute("PRAGMA user_version = 25")
        try expectRefusal(
            .userVersion(),
            "user_version says 25, which has no version. Map it to a known version in `adopting`. Nothing was changed."
        )
        try queue.execute("PRAGMA user_version = 40")
        try expectRefusal(
            .userVersion(),
            """
            user_version says 40; the highest that this app knows is 30. If a newer version of the app has migrated \
            the database, update the app. If not, map it to a known version in `adopting`. Nothing was changed.
            """)
        try expectRefusal(
            SchemaAdoption { _ in 40 },
            """
            `adopting` says 40; the latest migration is 30. If a newer version of the app has migrated the database, \
            update the app. If not, map it to a known version in `adopting`. Nothing was changed.
            """)
        try queue.execute("PRAGMA user_version = 20")
        try expectAdopted(.userVersion())
    }

    @Test("reads PRAGMA user_version")
    func userVersion() throws {
        let adopting = SchemaAdoption.userVersion(means: [1: 10, 7: 20])
        try expectRefusal(adopting, Self.unknown)
        try queue.execute("PRAGMA user_version = 3")
        try expectRefusal(
            adopting,
            """
            user_version says 3, which has no version. Map it to a known version in `adopting`. Nothing was changed.
            """)
        try queue.execute("PRAGMA user_version = 7")
        try expectAdopted(adopting)
    }

    @Test("reads the table of GRDB's migrator")
    func grdb() throws {
        let adopting = SchemaAdoption.grdbMigrations(means: ["v1": 10, "v2": 20])
        try expectRefusal(adopting, Self.unknown)
        try queue.execute("CREATE TABLE grdb_migrations(identifier TEXT NOT NULL PRIMARY KEY)")
        try expectRefusal(adopting, Self.unknown)
        try queue.execute("INSERT INTO grdb_migrations VALUES ('v2')")
        try expectRefusal(
            adopting,
            """
            The table grdb_migrations holds v2, but not v1, which version 10 contains. Migrate the database with GRDB's \
            migrator first; or, if another migration has merged the missing one, pass that as merging: to the adoption. \
            Nothing was changed.
            """)
        try queue.execute("INSERT INTO grdb_migrations VALUES ('v1'), ('v3')")
        try expectRefusal(
            adopting,
            """
            grdb_migrations holds v3, after all that this app knows. If a newer version of the app has migrated the \
            database, update the app. If not, map it to a known version in `adopting`. Nothing was changed.
            """)
        try queue.execute(
            "DELETE FROM grdb_migrations; INSERT INTO grdb_migrations VALUES ('v1'), ('v3'), ('v2')")
        try expectRefusal(
            adopting,
            """
            grdb_migrations holds v3, which has no version. Map it to a known version in `adopting`. Nothing was \
            changed.
            """)
        try queue.execute("DELETE FROM grdb_migrations WHERE identifier = 'v3'")
        try expectAdopted(adopting)
    }

    @Test("is not needed for the tables of FMDBMigrationManager and SQLiteMigrationManager.swift")
    func sameTable() throws {
        try queue.execute(
            "CREATE TABLE schema_migrations(version INTEGER UNIQUE NOT NULL); INSERT INTO schema_migrations VALUES (10), (20)"
        )
        let schema = try folder.migrator(Self.files, adopting: SchemaAdoption { _ in throw Mishap() })
        #expect(try schema.migrate(queue).applied == [30])
        #expect(try queue.ledger() == [10, 20, 30])
        #expect(try queue.read(AppliedMigration.fetchAll).map(\.origin) == [.unknown, .unknown, .applied])
    }

    @Test("works both ways: those tools find the table that they would have created")
    func back() throws {
        let ours = try folder.queue("ours.sqlite")
        try folder.migrator(Self.files).migrate(ours)
        let theirs = try folder.queue("theirs.sqlite")
        try theirs.execute("CREATE TABLE schema_migrations(version INTEGER UNIQUE NOT NULL)")
        // The statements that FMDBMigrationManager runs for each migration, and its queries.
        for version in [10, 20, 30] {
            try theirs.execute("INSERT INTO schema_migrations(version) VALUES (\(version))")
        }
        for question in [
            "SELECT sql FROM sqlite_master WHERE name = 'schema_migrations'",
            "SELECT name || type || \"notnull\" || pk FROM pragma_table_info('schema_migrations')",
            "SELECT MIN(version) || ' ' || MAX(version) FROM schema_migrations",
            "SELECT version FROM schema_migrations", "SELECT typeof(version) FROM schema_migrations",
        ] {
            #expect(try ours.strings(question) == theirs.strings(question))
        }
        try ours.execute("INSERT INTO schema_migrations(version) VALUES (40)")
        var schema = try folder.migrator(Self.files)
        schema.options.newerDatabases = .allow
        #expect(try ours.read(schema.status).unknownVersions == [40])
    }
}
