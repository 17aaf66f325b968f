package import Foundation
package import GRDB
package import SchemaMigrations

/// Writes and verifies snapshots, from which a fresh database can start instead of running every migration.
package struct SnapshotWriter {
    private let migrator: SchemaMigrator
    private let configuration: Configuration

    /// Creates a writer of snapshots.
    ///
    /// - Parameters:
    ///   - migrator: the migrations that a snapshot replaces.
    ///   - configuration: how the app opens its database, with the functions and collations that migrations use.
    package init(_ migrator: SchemaMigrator, configuration: Configuration = Configuration()) {
        self.migrator = migrator
        self.configuration = configuration
    }

    /// Writes a snapshot of the schema that the migrations make.
    ///
    /// - Throws: `SchemaMigrationError`, also if the result is not what the migrations make.
    package func write(to url: URL) throws {
        let snapshot = try SchemaMigrationError.mapErrors { try replayed().read { try text(of: $0) } }
        do {
            try Data(snapshot.utf8).write(to: url, options: .atomic)
        } catch {
            throw Snapshot.invalid(
                url, "cannot be written: \(error.localizedDescription)", remedy: "Make its folder writable.")
        }
        try verify(url)
    }

    /// Verifies that a snapshot and the migrations after it make the same database as all migrations do.
    ///
    /// - Throws: `SchemaMigrationError`, which says where they differ.
    package func verify(_ url: URL) throws {
        let differences = try SchemaMigrationError.mapErrors {
            let snapshot = try DatabaseQueue(configuration: configuration)
            try migrator.with(snapshot: url).migrate(snapshot)
            let fromSnapshot = try snapshot.read(DatabaseContents.init)
            let fromReplay = try replayed().read(DatabaseContents.init)
            return fromReplay.differences(from: fromSnapshot, calling: "all migrations", "the snapshot")
        }
        guard !differences.isEmpty else { return }
        throw Snapshot.invalid(
            url, "is not what the migrations make: \(differences.joined(separator: "; "))",
            remedy: Snapshot.remedy)
    }

    /// Runs all migrations on an empty database in memory.
    private func replayed() throws -> DatabaseQueue {
        let database = try DatabaseQueue(configuration: configuration)
        try migrator.with(snapshot: nil).migrate(database)
        return database
    }

    /// Returns the text of a snapshot of a database, with the rows that the migrations inserted.
    private func text(of db: Database) throws -> String {
        var lines = ["-- Written by AppMigrations from the migrations below. Do not edit it; write it again."]
        lines += migrator.migrations.map { "\(Snapshot.header)\($0.version) \($0.name)" }
        let objects = try SchemaObject.fetchAll(db)
        // Insert rows before indexes and triggers, so that no trigger fires and no index is filled row by
        // row.
        for table in objects where table.type == "table" {
            lines += ["", table.statement] + (try table.isVirtual ? [] : inserts(of: table.name, db))
        }
        for object in objects where object.type != "table" { lines += ["", object.statement] }
        return lines.joined(separator: "\n") + "\n"
    }

    private func inserts(of table: SQLName, _ db: Database) throws -> [String] {
        let columns = try SQLName.fetchAll(
            db, sql: "SELECT name FROM pragma_table_xinfo(?, 'main') WHERE hidden = 0", arguments: [table])
        let values = columns.map { "quote(\($0.sql))" }.joined(separator: " || ', ' || ")
        return try String.fetchAll(db, sql: "SELECT \(values) FROM \(table.inMain)").map {
            "INSERT INTO \(table.sql)(\(columns.sql)) VALUES (\($0));"
        }
    }
}
