import AppMigrations
package import Foundation
package import GRDB
package import SchemaMigrations

/// Writes and verifies snapshots, from which a fresh database can start instead of running every migration.
package struct SnapshotWriter {
    private let migrator: SchemaMigrator
    private let configuration: Configuration
    private let standIns: StandIns
    private let progress: Progress?

    /// Creates a writer of snapshots.
    ///
    /// - Parameters:
    ///   - migrator: the migrations that a snapshot replaces.
    ///   - configuration: how the app opens its database, with the functions and collations that migrations use.
    ///   - standIns: what takes the place of those where the app does not run.
    ///   - progress: stops the writer when it is cancelled.
    package init(
        _ migrator: SchemaMigrator, configuration: Configuration = Configuration(),
        standIns: StandIns = StandIns(), progress: Progress? = nil
    ) {
        self.migrator = migrator
        self.configuration = standIns.added(to: configuration).refusingAttached()
        self.standIns = standIns
        self.progress = progress
    }

    /// Writes a snapshot of the schema that the migrations make.
    ///
    /// It verifies the snapshot before it replaces the file, so a snapshot that fails leaves the last one.
    ///
    /// - Throws: `MigrationError`, for instance if the result is not what the migrations make.
    package func write(to url: URL) throws {
        try checkReplaceable(url)
        let text = try MigrationError.mapErrors {
            try DayTrial(
                migrator.with(snapshot: nil), configuration: configuration, standIns: standIns,
                progress: progress
            ).check()
            return try replayed().write { try self.text(of: $0) }
        }
        // The file that a link leads to is replaced, not the link.
        let file = url.resolvingSymlinksInPath()
        let folder = file.deletingLastPathComponent()
            .appendingPathComponent(".\(file.lastPathComponent)-\(UUID().uuidString)", isDirectory: true)
        // The name of the snapshot itself, which messages about it give.
        let part = folder.appendingPathComponent(url.lastPathComponent)
        defer { try? FileManager.default.removeItem(at: folder) }
        func write(_ body: () throws -> Void) throws {
            do {
                try body()
            } catch {
                throw Snapshot.invalid(
                    url, "cannot be written: \(error.localizedDescription)",
                    remedy: "Create its folder, or make it writable.")
            }
        }
        try write {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            try Data(text.utf8).write(to: part)
        }
        try verify(
            part, remedy: "A snapshot cannot hold that: do it in the app, or let new databases run the files."
        )
        try write { guard rename(part.path, file.path) == 0 else { throw POSIXError.current } }
    }

    /// Refuses a file that is something else, such as a migration.
    private func checkReplaceable(_ url: URL) throws {
        let name = url.lastPathComponent
        if name.utf8.first.map({ (0x30...0x39).contains($0) }) == true {
            throw Snapshot.invalid(
                url, "has the name of a migration, which begins with a digit",
                remedy: "Pass another name for the snapshot, such as schema.sql. Nothing was changed.")
        }
        guard FileManager.default.fileExists(atPath: url.path) else { return }
        guard (try? Snapshot(contentsOf: url)) != nil else {
            throw Snapshot.invalid(
                url, "exists already, and is not a snapshot",
                remedy: "Remove it, or pass another path. Nothing was changed.")
        }
    }

    /// Verifies that a snapshot and the migrations after it make the same database as all migrations do.
    ///
    /// - Throws: `MigrationError`, which says where they differ.
    package func verify(_ url: URL) throws { try verify(url, remedy: Snapshot.remedy) }

    private func verify(_ url: URL, remedy: String) throws {
        let differences = try MigrationError.mapErrors {
            let snapshot = try configuration.scratchDatabase()
            try migrator.with(snapshot: url).migrate(snapshot, progress: progress)
            let fromSnapshot = try snapshot.writeWithoutTransaction(DatabaseContents.init)
            let fromReplay = try replayed().writeWithoutTransaction(DatabaseContents.init)
            return fromReplay.differences(from: fromSnapshot, calling: "all migrations", "the snapshot")
        }
        guard !differences.isEmpty else { return }
        throw Snapshot.invalid(
            url, "is not what the migrations make: \(differences.joined(separator: "; "))",
            remedy: remedy)
    }

    /// Runs all migrations on an empty database in memory.
    private func replayed() throws -> DatabaseQueue {
        let database = try configuration.scratchDatabase()
        try migrator.with(snapshot: nil).migrate(database, progress: progress)
        return database
    }

    /// Returns the text of a snapshot of a database, with the rows that the migrations inserted.
    private func text(of db: Database) throws -> String {
        var lines = ["-- Written by AppMigrations from the migrations below. Do not edit it; write it again."]
        lines += migrator.migrations.map { "\(Snapshot.header)\($0.version) \($0.name)" }
        return try lines.joined(separator: "\n") + "\n" + statements(db)
    }

    /// Returns the statements that create what the migrations have made in a database.
    func statements(_ db: Database) throws -> String {
        var lines = try format(db)
        let objects = try SchemaObject.fetchAll(db)
        // Insert rows before indexes and triggers, so that no trigger fires and no index is filled row by
        // row.
        for table in objects where table.type == "table" {
            lines += ["", table.statement]
            if let fullText = FullTextTable(table) {
                lines += try fullText.settings(db) + inserts(of: fullText, db)
            } else if !table.isVirtual {
                lines += try inserts(of: table.name, db)
            }
        }
        for object in objects where object.type == "index" || object.type == "view" {
            lines += ["", object.statement]
        }
        lines += try indexing(objects, db)
        for object in objects where object.type == "trigger" { lines += ["", object.statement] }
        lines += try settings(db)
        return lines.joined(separator: "\n") + "\n"
    }

    /// Returns the statements that set the file's format, as far as a new database has another.
    private func format(_ db: Database) throws -> [String] {
        let plain = try configuration.scratchDatabase()
        let lines = try ["encoding", "page_size", "auto_vacuum"].compactMap { name -> String? in
            let sql = "PRAGMA main.\(name)"
            let value = try String.fetchOne(db, sql: sql) ?? ""
            return try value == plain.read { try String.fetchOne($0, sql: sql) }
                ? nil : "PRAGMA \(name) = '\(value)';"
        }
        return lines.isEmpty ? [] : [""] + lines
    }

    private func inserts(of table: SQLName, _ db: Database) throws -> [String] {
        let found = try StoredRows(db, table: table, isWritable: true)
        return found.rows.map { row in
            row.isEmpty
                ? "INSERT INTO \(table.sql) DEFAULT VALUES;" : insert(row, found.columns, into: table)
        }
    }

    /// Returns the statements that index the texts that a full-text table holds itself.
    private func inserts(of table: FullTextTable, _ db: Database) throws -> [String] {
        guard table.content == .own else { return [] }
        let texts = try SQLName.fetchAll(
            db, sql: "SELECT name FROM pragma_table_xinfo(?, 'main') WHERE hidden = 0",
            arguments: [table.name])
        let columns = ["rowid"] + texts + [table.language].compactMap { $0 }
        var lines: [String] = []
        try StoredRows.forEach(db, table.name, columns) { row in
            lines.append(insert(row, columns, into: table.name))
        }
        return lines
    }

    private func insert(_ row: [StoredValue], _ columns: [SQLName], into table: SQLName) -> String {
        "INSERT INTO \(table.sql)(\(columns.sql)) VALUES (\(row.map(\.sql).joined(separator: ", ")));"
    }

    /// Returns the statements that index the rows of other tables and views.
    private func indexing(_ objects: [SchemaObject], _ db: Database) throws -> [String] {
        let tables = objects.compactMap(FullTextTable.init).filter { $0.content == .external }
        let lines = try tables.filter { try !$0.index(db).isEmpty }.map(\.rebuilding)
        return lines.isEmpty ? [] : [""] + lines
    }

    /// Returns the statements that set what is neither schema nor row.
    private func settings(_ db: Database) throws -> [String] {
        var lines = try ["application_id", "user_version"].compactMap { name -> String? in
            let value = try Int32.fetchOne(db, sql: "PRAGMA main.\(name)") ?? 0
            return value == 0 ? nil : "PRAGMA \(name) = \(value);"
        }
        let sequences = try AutoincrementSequences(db).numbers.sorted { $0.key.text < $1.key.text }
        if !sequences.isEmpty {
            lines.append("DELETE FROM sqlite_sequence;")
            lines += sequences.map { table, number in
                "INSERT INTO sqlite_sequence VALUES (\(StoredValue(table.databaseValue).sql), \(number));"
            }
        }
        return lines.isEmpty ? [] : [""] + lines
    }
}
