import Foundation
import GRDB
import MigrationTesting
import MigrationTools
import SchemaMigrations

/// A random `DatabaseMigrator`, whose closures a test also has alone.
struct RandomMigrator {
    typealias Body = @Sendable (Database) throws -> Void

    private(set) var migrations: [(identifier: String, isImmediate: Bool, body: Body)] = []

    /// Makes from two to seven migrations: changes of the schema, by SQL, and of rows, by SQL or in Swift.
    init(seed: UInt64) throws {
        var random = RandomNumbers(seed: seed)
        var parts = RandomSchema.random(&random)
        var statements = try RandomSchema.statements(parts)
        add("create", Self.executing(statements.joined(separator: ";\n")))
        for number in 1...Int.random(in: 1...6, using: &random) {
            guard random.chance(50) else {
                addRows("rows \(number)", statements, &random)
                continue
            }
            let next = RandomSchema.changed(parts, &random)
            let wanted = try RandomSchema.statements(next)
            guard !statements.isEmpty, !wanted.isEmpty else { continue }
            let first = SQLMigration(version: 1, name: "a", sql: statements.map { "\($0);\n" }.joined())
            let file = Data(wanted.map { "\($0);\n" }.joined().utf8)
            let sql = try MigrationGenerator(
                SchemaMigrator(migrations: [first]), to: SchemaFile(file, name: "schema.sql"),
                renaming: SchemaRenames(), redefining: false
            ).sql
            guard !sql.isEmpty else { continue }
            add("change \(number)", Self.executing(sql))
            // What the generator leaves out, such as a dropped table, stays.
            (parts, statements) = (next, try Self.schema(after: migrations.map(\.body)))
        }
    }

    /// The migrator.
    var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        for (identifier, isImmediate, body) in migrations {
            migrator.registerMigration(
                identifier, foreignKeyChecks: isImmediate ? .immediate : .deferred, migrate: body)
        }
        return migrator
    }

    private mutating func add(_ identifier: String, isImmediate: Bool = false, _ body: @escaping Body) {
        migrations.append((identifier, isImmediate, body))
    }

    private static func executing(_ sql: String) -> Body { { try $0.execute(sql: sql) } }

    /// Adds a migration of rows, in one of several ways.
    private mutating func addRows(
        _ identifier: String, _ statements: [String], _ random: inout RandomNumbers
    ) {
        let number = Int.random(in: 0..<1_000, using: &random)
        let isImmediate = random.chance(30)
        switch Int.random(in: 0..<10, using: &random) {
        case 0:
            add(identifier, isImmediate: isImmediate) { db in
                try db.execute(
                    sql: "CREATE TABLE note_\(number)(id INTEGER PRIMARY KEY, text TEXT, size REAL)")
                try db.execute(
                    sql: "INSERT INTO note_\(number)(text, size) VALUES (?, ?), (?, ?)",
                    arguments: ["it's; -- \(number)", Double(number) / 7, nil, 0.5])
            }
        case 1:
            add(identifier) { db in
                try db.execute(sql: "CREATE TABLE device_\(number)(id TEXT)")
                try db.execute(
                    sql: "INSERT INTO device_\(number) VALUES (?)", arguments: [UUID().uuidString])
            }
        case 2:
            add(identifier, isImmediate: isImmediate) { db in
                for table in try Self.tables(db) {
                    try db.execute(
                        sql: "DELETE FROM \(SQLName(table).sql) WHERE rowid % 7 = ?",
                        arguments: [number % 7])
                }
            }
        case 3:
            add(identifier) { db in
                try db.execute(sql: "CREATE TABLE sum_\(number)(name TEXT, count INTEGER)")
                for table in try Self.tables(db) {
                    let count =
                        try Int.fetchOne(db, sql: "SELECT count(*) FROM \(SQLName(table).sql)")
                        ?? 0
                    try db.execute(
                        sql: "INSERT INTO sum_\(number) VALUES (?, ?)", arguments: [table, count])
                }
            }
        case 4:
            add(identifier) { db in
                try db.execute(
                    sql: """
                        CREATE TABLE log_\(number)(id INTEGER PRIMARY KEY, text TEXT);
                        CREATE TRIGGER log_\(number)_stamp AFTER INSERT ON log_\(number) WHEN new.text IS NULL BEGIN
                            UPDATE log_\(number) SET text = 'stamped' WHERE id = new.id;
                        END;
                        INSERT INTO log_\(number)(text) VALUES ('a'), (NULL);
                        """)
            }
        case 5:
            // What rows say stands in the SQL.
            add(identifier, isImmediate: isImmediate) { db in
                for table in try Self.tables(db) {
                    let name = SQLName(table).sql
                    let ids = try Int64.fetchAll(db, sql: "SELECT rowid FROM \(name) WHERE rowid % 5 = 0")
                    let list = ids.map { "\($0)" }.joined(separator: ", ")
                    try db.execute(sql: "DELETE FROM \(name) WHERE rowid IN (\(list))")
                }
            }
        case 6:
            // A repair fails where there is nothing to repair.
            add(identifier) { db in
                try? db.execute(sql: "ALTER TABLE missing_\(number) ADD COLUMN a")
                try db.execute(sql: "CREATE TABLE IF NOT EXISTS repaired_\(number)(a)")
                try? db.execute(sql: "CREATE TABLE repaired_\(number)(b)")
            }
        case 7:
            add(identifier) { db in
                let now = Int(Date().timeIntervalSince1970)
                try db.execute(sql: "CREATE TABLE day_\(number)(time INTEGER, name TEXT)")
                try db.execute(sql: "INSERT INTO day_\(number) VALUES (\(now), 'today')")
            }
        case 8:
            // The schema decides.
            add(identifier) { db in
                for table in try Self.tables(db) where table.count.isMultiple(of: 2) {
                    try db.execute(
                        sql: "ALTER TABLE \(SQLName(table).sql) ADD COLUMN added_\(number) TEXT DEFAULT 'a;'")
                }
                if try !db.tableExists("seen_\(number)") {
                    try db.execute(sql: "CREATE TABLE seen_\(number)(a)")
                }
            }
        default:
            add(identifier) { db in
                try db.create(virtualTable: "words_\(number)", using: FTS4()) { $0.column("text") }
                try db.execute(sql: "INSERT INTO words_\(number) VALUES (?)", arguments: ["word \(number)"])
            }
        }
    }

    private static func tables(_ db: Database) throws -> [String] {
        try String.fetchAll(
            db,
            sql: """
                SELECT name FROM pragma_table_list
                WHERE schema = 'main' AND type = 'table' AND wr = 0 AND name NOT LIKE 'sqlite%'
                    AND name NOT IN ('grdb_migrations', 'schema_migrations', 'schema_migrations_details')
                ORDER BY name
                """)
    }

    /// Returns the statements that create the schema that closures make.
    private static func schema(after bodies: [Body]) throws -> [String] {
        let database = try DatabaseQueue()
        return try database.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA foreign_keys = OFF")
            for body in bodies { try body(db) }
            return try SchemaObject.fetchAll(db).map(\.sql)
        }
    }
}
