import AppMigrations
import DatabaseFiles
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("The version of a damaged database", .timed)
struct SalvagedVersionTests {
    let folder: TemporaryFolder
    var path: String { folder.path("app.sqlite") }
    var pages: DatabasePages { DatabasePages(path: path) }

    private static let files: [(SchemaVersion, String)] = [
        (20_240_101, "CREATE TABLE s(x INTEGER NOT NULL, y TEXT NOT NULL)"),
        (20_240_201, "ALTER TABLE s ADD COLUMN z REAL"),
        (20_240_301, "UPDATE s SET y = y || '!'"),
        (20_240_401, "ALTER TABLE s RENAME TO s3; CREATE TABLE other(day REAL NOT NULL)"),
        (20_240_501, "UPDATE s3 SET y = y || '?'"),
        (20_240_601, "ALTER TABLE s3 ADD COLUMN w TEXT"),
    ]

    private static func schema(_ versions: Range<Int> = 0..<6, without left: Int? = nil) throws
        -> SchemaMigrator
    {
        try SchemaMigrator(
            migrations: versions.filter { $0 != left }.map { index in
                SQLMigration(version: files[index].0, name: "m\(index)", sql: files[index].1)
            })
    }

    init() throws { folder = try TemporaryFolder() }

    /// Makes a database that has had the first migrations, with 50 rows from before the second one.
    ///
    /// - Returns: the rows that the app has once it is at the latest version.
    private func make(_ schema: SchemaMigrator, upTo count: Int) throws -> [String] {
        let queue = try DatabaseQueue(path: path)
        try schema.migrate(queue, upTo: Self.files[0].0)
        try queue.write { db in
            for id in 1...50 {
                try db.execute(sql: "INSERT INTO s VALUES (?, ?)", arguments: [id, "t \(id)"])
            }
        }
        try schema.migrate(queue, upTo: Self.files[count - 1].0)
        let copy = try DatabaseQueue()
        try queue.backup(to: copy)
        try queue.close()
        try Self.schema().migrate(copy)
        return try rows(copy)
    }

    private func rows(_ queue: DatabaseQueue) throws -> [String] {
        #expect(try queue.strings("PRAGMA integrity_check") == ["ok"])
        return try queue.read { try Row.fetchAll($0, sql: "SELECT * FROM s3").map(\.description) }.sorted()
    }

    /// The rows of the salvaged database, after the app has migrated it.
    private func salvaged() throws -> [String] {
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        try Self.schema().migrate(queue)
        return try rows(queue)
    }

    private func eraseLedger() throws {
        try pages.erase(pages.root("sqlite_autoindex_schema_migrations_1"))
        try pages.erase(pages.root("schema_migrations"))
    }

    @Test("is in the details when the ledger is lost", arguments: 1...6)
    func details(count: Int) throws {
        let expected = try make(Self.schema(), upTo: count)
        try eraseLedger()
        let report = try DatabaseFile(path: path).salvage(into: Self.schema())
        #expect(report.schemaVersion == "\(Self.files[count - 1].0)")
        #expect(try salvaged() == expected)
    }

    @Test("is on the page of the details when the schema is lost", arguments: 1...6)
    func looseDetails(count: Int) throws {
        let expected = try make(Self.schema(), upTo: count)
        try pages.erase(1)
        let report = try DatabaseFile(path: path).salvage(into: Self.schema())
        #expect(report.schemaVersion == "\(Self.files[count - 1].0)")
        // Rows from before a column was added are shorter, also when the table has another name since.
        #expect(report.tables.first?.saved == 50)
        #expect(try salvaged() == expected)
    }

    @Test("is that of a newer app if only the details say so")
    func newerDetails() throws {
        _ = try make(Self.schema(), upTo: 6)
        try eraseLedger()
        let before = try pages.read()
        let error = try #require(throws: MigrationError.self) {
            try DatabaseFile(path: path).salvage(into: Self.schema(0..<5))
        }
        #expect(error.code == .newerThanThisProcess)
        #expect(
            error.description == """
                a newer version of the app has migrated the database to 20240601. Update the app, and salvage the database \
                then. Nothing was changed.
                """)
        #expect(try pages.read() == before)
        #expect(try folder.fileNames.filter { !$0.hasSuffix(".lock") } == ["app.sqlite"])
    }

    @Test("is that of a newer app if a known table has a column that no migration makes")
    func newerColumn() throws {
        _ = try make(Self.schema(), upTo: 6)
        try eraseLedger()
        try pages.erase(pages.root("schema_migrations_details"))
        let error = try #require(throws: MigrationError.self) {
            try DatabaseFile(path: path).salvage(into: Self.schema(0..<5))
        }
        #expect(error.code == .newerThanThisProcess)
        #expect(error.message.contains("has migrated the database with a column w of s3"))
        // The app that has it salvages the file.
        #expect(try DatabaseFile(path: path).salvage(into: Self.schema()).schemaVersion == "20240601")
        #expect(try salvaged().count == 50)
    }

    @Test("is not that of a newer app if the ledger says so, whatever else has added a column")
    func otherColumn() throws {
        _ = try make(Self.schema(), upTo: 6)
        let queue = try DatabaseQueue(path: path)
        try queue.execute("ALTER TABLE other ADD COLUMN added TEXT")
        try queue.close()
        try pages.change { $0.replaceSubrange(0..<16, with: Data(count: 16)) }
        #expect(try DatabaseFile(path: path).salvage(into: Self.schema()).isComplete)
        #expect(try salvaged().count == 50)
    }

    @Test("leaves migrations pending that are out of order")
    func outOfOrder() throws {
        let expected = try make(Self.schema(without: 4), upTo: 6)
        try pages.change { $0.replaceSubrange(0..<16, with: Data(count: 16)) }
        let report = try DatabaseFile(path: path).salvage(into: Self.schema())
        #expect(report.schemaVersion == "20240601")
        #expect(try salvaged() == expected)
        #expect(expected.allSatisfy { $0.contains("!?") })
    }

    @Test("is not below the one with which the database began")
    func floor() throws {
        let queue = try DatabaseQueue(path: path)
        try queue.execute(
            """
            CREATE TABLE s(x INTEGER NOT NULL, y TEXT NOT NULL, z REAL);
            INSERT INTO s VALUES (1, 'one', 1.5);
            CREATE TABLE schema_migrations(version INTEGER UNIQUE NOT NULL);
            INSERT INTO schema_migrations VALUES (20240301)
            """)
        try queue.close()
        try pages.change { $0.replaceSubrange(0..<16, with: Data(count: 16)) }
        let report = try DatabaseFile(path: path).salvage(into: Self.schema())
        #expect(report.schemaVersion == "20240301")
        #expect(try salvaged() == ["[x:1 y:\"one?\" z:1.5 w:NULL]"])
    }

    @Test("is believed of a ledger in whose place no page of another table lies")
    func swapped() throws {
        let expected = try make(Self.schema(), upTo: 6)
        // The rows of the other table look like versions, and like versions of a newer app.
        let queue = try DatabaseQueue(path: path)
        try queue.execute("CREATE TABLE number(n INTEGER NOT NULL)")
        for id in 1...5 { try queue.execute("INSERT INTO number VALUES (\(20_300_000 + id))") }
        try queue.close()
        try pages.swap(pages.root("schema_migrations"), pages.root("number"))
        let report = try DatabaseFile(path: path).salvage(into: Self.schema())
        #expect(report.schemaVersion == "20240601")
        #expect(try salvaged() == expected)
    }

    @Test("matters for rows that are shorter, in a table that was renamed", arguments: [20, 1])
    func renamed(byte: Int) throws {
        _ = try make(Self.schema(), upTo: 4)
        // Byte 20 is the number of reserved bytes; without it, the size of the pages is a guess.
        try pages.change { $0[byte] ^= 0xff }
        let report = try DatabaseFile(path: path).salvage(into: Self.schema())
        #expect(report.tables.first { $0.name == "s3" }?.saved == 50)
    }

    @Test("has no shorter rows in a table that was made anew")
    func madeAnew() throws {
        let schema = try SchemaMigrator(migrations: [
            SQLMigration(
                version: 20_240_101, name: "a",
                sql: """
                    CREATE TABLE pair(a INTEGER NOT NULL, b INTEGER NOT NULL);
                    CREATE TABLE triple(a INTEGER NOT NULL, b INTEGER NOT NULL);
                    ALTER TABLE triple ADD COLUMN c INTEGER;
                    """),
            SQLMigration(
                version: 20_240_201, name: "b",
                sql: """
                    DROP TABLE triple;
                    CREATE TABLE triple(a INTEGER NOT NULL, b INTEGER NOT NULL, c INTEGER);
                    """),
        ])
        let queue = try DatabaseQueue(path: path)
        try schema.migrate(queue)
        try queue.execute("INSERT INTO pair VALUES (100, 200), (300, 400)")
        try queue.close()
        try pages.erase(1)
        let report = try DatabaseFile(path: path).salvage(into: schema)
        #expect(report.tables.first?.name == "pair" && report.tables.first?.saved == 2)
    }

    @Test("is no newer one because a bit has flipped in the name of a column")
    func flippedBit() throws {
        let expected = try make(Self.schema(), upTo: 3)
        try eraseLedger()
        try pages.erase(pages.root("schema_migrations_details"))
        try pages.change { data in
            let name = try #require(data.firstRange(of: Data("y TEXT NOT NULL".utf8)))
            data[name.lowerBound] = UInt8(ascii: "q")
        }
        let report = try DatabaseFile(path: path).salvage(into: Self.schema())
        #expect(report.schemaVersion == "\(Self.files[2].0)")
        #expect(try salvaged() == expected)
    }

    @Test(
        "is not that of numbers in another table's page that is in the ledger's place",
        arguments: [("part", "sqlite_autoindex_schema_migrations_1"), ("item", "schema_migrations")])
    func otherTableInPlace(names: (String, String)) throws {
        let schema = try SchemaMigrator(migrations: [
            SQLMigration(
                version: 1, name: "a",
                sql: """
                    CREATE TABLE note(text TEXT);
                    CREATE TABLE item(number INTEGER, name TEXT);
                    CREATE TABLE part(number INTEGER, name TEXT, PRIMARY KEY (number, name)) WITHOUT ROWID;
                    """),
            SQLMigration(version: 2, name: "b", sql: "CREATE TABLE other(id INTEGER PRIMARY KEY)"),
        ])
        let queue = try DatabaseQueue(path: path)
        try schema.migrate(queue, upTo: 1)
        try queue.write {
            try $0.execute(
                sql: """
                    INSERT INTO note VALUES ('note');
                    INSERT INTO item VALUES (1, 'a'), (2, 'b'); INSERT INTO part SELECT * FROM item;
                    """)
        }
        try queue.close()
        try pages.swap(pages.root(names.0), pages.root(names.1))
        let report = try DatabaseFile(path: path).salvage(into: schema)
        #expect(report.schemaVersion == "1")
    }

    @Test("does not run past a step that reads what a later migration drops")
    func stepBetweenMigrations() throws {
        let files: [(SchemaVersion, String)] = [
            (1, "CREATE TABLE price(id INTEGER PRIMARY KEY, value INTEGER NOT NULL)"),
            (2, "ALTER TABLE price ADD COLUMN cents INTEGER"),
            (3, "ALTER TABLE price DROP COLUMN value"),
        ]
        func schema(_ count: Int) throws -> SchemaMigrator {
            try SchemaMigrator(
                migrations: files.prefix(count).map {
                    SQLMigration(version: $0.0, name: "m\($0.0)", sql: $0.1)
                })
        }
        func launch(_ version: AppVersion, _ schema: SchemaMigrator, _ queue: DatabaseQueue) throws {
            let manager = try MigrationManager(
                name: "Library", currentVersion: version, adopting: .newApp, store: .database(queue))
            manager.whenMigratingToVersion("1.0", migrate: schema, upTo: 1, in: queue)
            if version > "1.0" {
                manager.whenMigratingToVersion("2.0", migrate: schema, upTo: 2, in: queue)
                manager.whenMigratingToVersion("2.0", in: queue) { db in
                    try db.execute(sql: "UPDATE price SET cents = value * 100")
                }
                manager.whenMigratingToVersion("3.0", migrate: schema, upTo: 3, in: queue)
            }
            try manager.migrate()
        }
        let old = try DatabaseQueue(path: path)
        try launch("1.0", schema(1), old)
        try old.execute("INSERT INTO price(id, value) VALUES (1, 5), (2, 7)")
        try old.close()
        try pages.change { $0.replaceSubrange(0..<16, with: Data(count: 16)) }
        let queue = try DatabaseFile(path: path, ifDamaged: .salvage(into: schema(3))).openQueue()
        try launch("3.0", schema(3), queue)
        #expect(try queue.integers("SELECT cents FROM price ORDER BY id") == [500, 700])
        try queue.close()
    }
}
