public import Foundation
package import GRDB
import MigrationDiagnostics

/// A schema as SQL that makes it at once, with the versions that it contains.
///
///     -- snapshot: 20240110090000000 create_entries
///     -- snapshot: 20240203181500000 create_tags
///     CREATE TABLE entry(…);
struct Snapshot {
    private static let header = "-- snapshot: "

    let versions: Set<SchemaVersion>
    let script: SQLScript

    /// Reads a snapshot.
    ///
    /// - Throws: ``SchemaMigrationError``, when the file cannot be read or says not what it contains.
    init(contentsOf url: URL) throws {
        let data: Data
        do {
            data = try Data(contentsOf: url)
        } catch {
            throw Self.invalid(
                url, "cannot be read: \(error.localizedDescription)",
                remedy: "Write it with writeSnapshot(to:).")
        }
        script = try SQLScript(data, fileName: url.lastPathComponent)
        versions = Set(
            script.sql.split(whereSeparator: \.isNewline).lazy
                .prefix { $0.hasPrefix("--") }
                .filter { $0.hasPrefix(Self.header) }
                .compactMap {
                    $0.dropFirst(Self.header.count).split(separator: " ").first.flatMap { SchemaVersion($0) }
                })
        guard !versions.isEmpty else {
            throw Self.invalid(
                url, "does not say which migrations it contains", remedy: "Write it with writeSnapshot(to:).")
        }
    }

    /// Makes the schema.
    ///
    /// - Parameter afterEach: is called after each statement.
    func run(_ db: Database, afterEach: () throws -> Void) throws {
        try script.run(
            db, fixing: "Write it again with writeSnapshot(to:). Nothing was changed.", afterEach: afterEach)
    }

    /// The text of a snapshot of a database, which migrations have made from an empty one.
    ///
    /// Holds the rows that the migrations have inserted as well.
    static func text(of db: Database, migrations: [any SchemaMigration]) throws -> String {
        var lines = ["-- Written by AppMigrations from the migrations below. Do not edit it: write it anew."]
        lines += migrations.map { "\(header)\($0.version) \($0.name)" }
        let objects = try SchemaObject.fetchAll(db)
        // Rows come before indexes and triggers: so none fires, and none is filled row by row.
        for table in objects where table.type == "table" {
            lines += ["", table.statement] + (try table.isVirtual ? [] : inserts(of: table.name, db))
        }
        for object in objects where object.type != "table" { lines += ["", object.statement] }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func inserts(of table: String, _ db: Database) throws -> [String] {
        let columns = try String.fetchAll(
            db, sql: "SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0", arguments: [table]
        ).map(\.quotedDatabaseIdentifier)
        let values = columns.map { "quote(\($0))" }.joined(separator: " || ', ' || ")
        let name = table.quotedDatabaseIdentifier
        return try String.fetchAll(db, sql: "SELECT \(values) FROM \(name)").map {
            "INSERT INTO \(name)(\(columns.joined(separator: ", "))) VALUES (\($0));"
        }
    }

    static func invalid(_ url: URL, _ problem: String, remedy: String) -> SchemaMigrationError {
        SchemaMigrationError(
            .invalidSnapshot, at: .file(url.lastPathComponent), problem, remedy: remedy)
    }
}

extension SchemaMigrator {
    /// Reads the snapshot with which a new database may begin; nil where there is none, and where it holds more than
    /// is asked for.
    func snapshot(upTo target: SchemaVersion?) throws -> Snapshot? {
        guard let snapshotURL else { return nil }
        let snapshot = try Snapshot(contentsOf: snapshotURL)
        if let unknown = snapshot.versions.subtracting(versions).min() {
            throw Snapshot.invalid(
                snapshotURL, "contains version \(unknown), which no migration has",
                remedy: "Write it again with writeSnapshot(to:).")
        }
        return snapshot.versions.allSatisfy { $0 <= target ?? .max } ? snapshot : nil
    }

    /// The highest version that the snapshot contains; nil where there is no snapshot.
    package func snapshotVersion() throws -> SchemaVersion? {
        try snapshotURL.flatMap { try Snapshot(contentsOf: $0).versions.max() }
    }

    /// Writes a snapshot of the schema that the migrations make, from which a fresh database may start instead of
    /// running every one.
    ///
    /// Runs the migrations on an empty database in memory. Rows that they insert are part of the snapshot.
    ///
    /// - Throws: ``SchemaMigrationError``, also when the result is not what the migrations make, as with rows in
    ///   a virtual table.
    public func writeSnapshot(to url: URL) throws {
        let text = try SchemaMigrationError.mapErrors {
            try replayed().read { try Snapshot.text(of: $0, migrations: migrations) }
        }
        do {
            try Data(text.utf8).write(to: url, options: .atomic)
        } catch {
            throw Snapshot.invalid(
                url, "cannot be written: \(error.localizedDescription)", remedy: "Make its folder writable.")
        }
        try verifySnapshot(at: url)
    }

    /// Proves that a snapshot and the migrations after it make the same database as all migrations do.
    ///
    /// For a test or for CI: a snapshot is stale as soon as a migration in it is edited.
    ///
    /// - Throws: ``SchemaMigrationError``, which says where they differ.
    public func verifySnapshot(at url: URL) throws {
        try verifySnapshot(at: url, configuration: Configuration())
    }

    /// Does so in databases that are opened as the app's is, with its functions and collations.
    package func verifySnapshot(at url: URL, configuration: Configuration) throws {
        let differences = try SchemaMigrationError.mapErrors {
            let snapshot = try DatabaseQueue(configuration: configuration)
            try with(snapshot: url).migrate(snapshot)
            let fromSnapshot = try snapshot.read(DatabaseContents.init)
            let fromReplay = try replayed(configuration).read(DatabaseContents.init)
            return fromReplay.differences(from: fromSnapshot, calling: "all migrations", "the snapshot")
        }
        guard !differences.isEmpty else { return }
        throw Snapshot.invalid(
            url, "is not what the migrations make: \(differences.joined(separator: "; "))",
            remedy: "Write it again with writeSnapshot(to:).")
    }

    /// An empty database in memory, after all migrations.
    private func replayed(_ configuration: Configuration = Configuration()) throws -> DatabaseQueue {
        let database = try DatabaseQueue(configuration: configuration)
        try with(snapshot: nil).migrate(database)
        return database
    }
}
