import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

/// Applies a set of migrations, and compares the database with one that plain SQLite makes from the same files.
struct MigrationSetTrial {
    let set: MigrationSet
    let schema: SchemaMigrator
    let folder: TemporaryFolder

    init(_ set: MigrationSet) throws {
        self.set = set
        schema = try SchemaMigrator(directory: set.folder)
        folder = try TemporaryFolder()
        #expect(schema.migrations.count == set.count)
    }

    /// Runs all migrations at once in a new database.
    func freshInstall() throws {
        let (ours, plain) = (try folder.queue("ours.sqlite"), try folder.queue("plain.sqlite"))
        #expect(try schema.migrate(ours).applied.count == set.count)
        for file in try set.files { try run(file.url, in: plain) }
        try expectEqual(ours, plain)
        #expect(try ours.ledger() == schema.migrations.map(\.version))
        #expect(try schema.migrate(ours).applied == [])
    }

    /// Runs all new migrations at once in a database with user data.
    func upgrade() throws {
        let (ours, plain) = (try folder.pool("ours.sqlite"), try folder.queue("plain.sqlite"))
        let rows = try #require(set.rows)
        try schema.migrate(ours, upTo: rows.version)
        try run(rows.file, in: ours)
        #expect(try !schema.migrate(ours).applied.isEmpty)
        for file in try set.files { try runWithRows(file, in: plain) }
        try expectEqual(ours, plain)
    }

    /// Runs one migration after the other.
    func oneAtATime() throws {
        let (ours, plain) = (try folder.pool("ours.sqlite"), try folder.queue("plain.sqlite"))
        let files = try set.files
        #expect(files.map(\.version) == schema.migrations.map(\.version))
        for file in files {
            #expect(try schema.migrate(ours, upTo: file.version).applied == [file.version])
            if let rows = set.rows, rows.version == file.version { try run(rows.file, in: ours) }
            try runWithRows(file, in: plain)
            try expectEqual(ours, plain, after: file.url.lastPathComponent)
        }
        #expect(try ours.read(schema.status).pendingVersions.isEmpty)
    }

    /// Runs the second half after another tool has run the first half and left its ledger.
    func secondHalf() throws {
        let (ours, plain) = (try folder.queue("ours.sqlite"), try folder.queue("plain.sqlite"))
        let files = try set.files
        let half = files.count / 2
        for file in files.prefix(half) { try runWithRows(file, in: ours) }
        for file in files { try runWithRows(file, in: plain) }
        let versions = files.prefix(half).map { "(\($0.version))" }.joined(separator: ", ")
        try ours.execute(
            """
            CREATE TABLE schema_migrations(version INTEGER UNIQUE NOT NULL);
            INSERT INTO schema_migrations VALUES \(versions);
            """)
        #expect(try ours.read(schema.status).pendingVersions == files.dropFirst(half).map(\.version))
        #expect(try schema.migrate(ours).applied == files.dropFirst(half).map(\.version))
        #expect(try ours.ledger() == files.map(\.version))
        try expectEqual(ours, plain)
    }

    /// Runs a file with plain SQLite.
    ///
    /// Foreign keys are disabled, as in SQLite by default, unless the file enables them.
    func run(_ file: URL, in database: any DatabaseWriter) throws {
        try database.execute("PRAGMA foreign_keys = OFF;" + String(contentsOf: file, encoding: .utf8))
    }

    private func runWithRows(_ file: (version: Int64, url: URL), in database: any DatabaseWriter) throws {
        try run(file.url, in: database)
        if let rows = set.rows, rows.version == file.version { try run(rows.file, in: database) }
    }

    func expectEqual(
        _ ours: any DatabaseReader, _ plain: any DatabaseReader, after file: String? = nil
    ) throws {
        let comment = Comment(rawValue: file ?? "at the end")
        #expect(try !plain.schema().isEmpty, comment)
        #expect(try ours.schema() == plain.schema(), comment)
        #expect(try ours.rows() == plain.rows(), comment)
        for pragma in ["user_version", "application_id", "integrity_check", "foreign_key_check"] {
            #expect(try ours.strings("PRAGMA \(pragma)") == plain.strings("PRAGMA \(pragma)"), comment)
        }
    }
}

extension DatabaseReader {
    /// The rows of every ordinary table as SQL literals, without those of the ledger.
    fileprivate func rows() throws -> [String: [String]] {
        let tables = try strings(
            """
            SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'
            AND name NOT LIKE 'schema_migrations%' AND name <> 'sqlite_schema'
            """)
        return try tables.reduce(into: [:]) { rows, table in
            let columns = try strings("SELECT name FROM pragma_table_xinfo('\(table)') ORDER BY cid")
            let row = columns.map { "quote(\"\($0)\")" }.joined(separator: " || ', ' || ")
            // ANALYZE also counts the rows of the ledger.
            rows[table] = try strings("SELECT \(row) FROM \"\(table)\" ORDER BY 1")
                .filter { !$0.contains("schema_migrations") }
        }
    }
}
