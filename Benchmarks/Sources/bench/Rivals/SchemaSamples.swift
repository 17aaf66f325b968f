import Foundation
import GRDB
import SchemaMigrations

/// Migrations of one database, for this package, for GRDB's migrator and as plain SQL.
struct SchemaSamples {
    /// As a plugin writes them into code.
    let sources: [(version: Int64, name: String, sql: String)]

    private init(count: Int, sql: (Int) -> String) {
        sources = (0..<count).map {
            (version: 20240101000000000 + Int64($0), name: "migration_\($0)", sql: sql($0))
        }
    }

    /// Each makes a table and an index.
    static func schema(count: Int) -> SchemaSamples {
        SchemaSamples(count: count) { index in
            """
            -- Notes of kind \(index).
            CREATE TABLE note\(index)(
                id INTEGER PRIMARY KEY, title TEXT NOT NULL, body TEXT, created TEXT NOT NULL
            );
            CREATE INDEX note\(index)_created ON note\(index)(created);
            """
        }
    }

    /// The first makes a table, and each adds a row.
    static func data(count: Int) -> SchemaSamples {
        SchemaSamples(count: count) { index in
            let table = "CREATE TABLE setting(name TEXT PRIMARY KEY, value TEXT NOT NULL);\n"
            return (index == 0 ? table : "")
                + "INSERT INTO setting VALUES ('key \(index)', 'value \(index)');"
        }
    }

    static func texts(_ texts: [String]) -> SchemaSamples {
        SchemaSamples(count: texts.count) { texts[$0] }
    }

    var texts: [String] { sources.map(\.sql) }

    /// The migrator of an app, whose first migration may be another one.
    func migrator(
        after first: SQLMigration? = nil, options: SchemaOptions = SchemaOptions()
    ) throws -> SchemaMigrator {
        let migrations = sources.map { SQLMigration(version: $0.version, name: $0.name, sql: $0.sql) }
        return try SchemaMigrator(migrations: first.map { [$0] + migrations } ?? migrations, options: options)
    }

    func grdbMigrator() -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        for source in sources {
            migrator.registerMigration("\(source.version)_\(source.name)") { db in
                try db.execute(sql: source.sql)
            }
        }
        return migrator
    }

    /// Writes them as files.
    func write(to folder: URL) throws {
        for source in sources {
            let file = folder.appendingPathComponent("\(source.version)_\(source.name).sql")
            try source.sql.write(to: file, atomically: false, encoding: .utf8)
        }
    }
}
