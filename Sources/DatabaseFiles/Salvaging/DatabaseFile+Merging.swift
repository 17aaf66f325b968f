import AppMigrations
public import Foundation
public import GRDB
import SchemaMigrations

extension DatabaseFile {
    /// Adds rows of a damaged file that was set aside to the database, which the app uses again.
    ///
    /// A later version of the app may read more of a file, or its migrations may no longer refuse some rows:
    ///
    /// ```swift
    /// let report = try DatabaseFile(path: url.path).salvage(from: oldURL, into: schema, of: dbQueue)
    /// ```
    ///
    /// The file is salvaged into a temporary database at the latest version, and its rows are added in one transaction: only
    /// rows whose keys are missing, and whose parents are there. A row that was deleted since comes back, because its key is
    /// missing, so ask the person first, and before they go on writing: if a new row gets the key of a lost one, the rows that
    /// refer to the lost one come under it. A row that a later migration inserts comes back, too, if the app has given it
    /// another key. Of equal rows in a table without a primary key, one is added if no row has the same values.
    /// Triggers do not run, and neither do steps of managers: a step that says `again:` finds rows in the old form.
    ///
    /// - Parameters:
    ///   - setAside: the damaged file, as in ``SalvageReport/setAside``. It stays as it is, and need not be damaged any more.
    ///   - target: the app's migrations: a `SchemaMigrator`, or GRDB's `DatabaseMigrator`.
    ///   - database: the app's database, migrated to the latest version. Don't call from inside an access to it.
    ///   - progress: cancelling it stops, and changes nothing.
    /// - Returns: the rows that were added, as `saved`, and those that cannot be read.
    /// - Throws: `MigrationError`, with the code `misuse` if the database is not at the latest version; `CancellationError`.
    ///   Nothing is changed then.
    public func salvage(
        from setAside: URL, into target: some SalvageTarget, of database: any DatabaseWriter,
        progress: Progress? = nil
    ) throws -> SalvageReport {
        let interrupter = Interrupter(observing: progress)
        let migrations = target.salvageMigrations.set
        return try mappingErrors {
            try interrupter.whileActive {
                try moveLock().withLock(waitingFor: limit) {
                    try at(setAside) { try merge(setAside, migrations, database, interrupter, progress) }
                }
            }
        }
    }

    private func merge(
        _ setAside: URL, _ migrations: any MigrationSet, _ database: any DatabaseWriter,
        _ interrupter: Interrupter, _ progress: Progress?
    ) throws -> SalvageReport {
        // The app has applied each migration then, which runs again on the copy.
        guard try database.read(migrations.isLatest) else {
            throw MigrationError(
                .misuse, "the database that receives the rows is not at the latest version",
                remedy: "Migrate it first. Nothing was changed.")
        }
        let file = try DamagedFile(at: setAside)
        let (damaged, version, schema) = try readSetAside(file, at: setAside, migrations, interrupter)
        let build = SalvageBuild(
            damaged: damaged, schema: schema, migrations: migrations, version: version,
            interrupter: interrupter, progress: progress, runsMigrations: true)
        return try withUnfinishedFile(for: newPlace()) { new in
            var report = try build.make(at: new, like: setAside, configuration, home: nil)
            var added = try add(new, database, interrupter)
            report.tables = report.tables.map { table in
                var table = table
                table.saved = added.removeValue(forKey: SQLName(table.name)) ?? 0
                return table
            }
            // Those that a migration has created, or renamed.
            report.tables += added.filter { $0.value > 0 }.sorted { $0.key.text < $1.key.text }.map {
                name, count in
                var table = SalvageReport.Table(name: name.text)
                table.saved = count
                return table
            }
            report.setAside = setAside
            // The database has records of its own.
            report.hasLostRecord = false
            return report
        }
    }

    /// Adds the rows of a salvaged database.
    ///
    /// - Returns: the number of added rows, by table.
    private func add(
        _ new: URL, _ database: any DatabaseWriter, _ interrupter: Interrupter
    ) throws -> [SQLName: Int] {
        try database.writeWithoutTransaction { db in
            let salvaged: SQLName = "app_migrations_salvaged"
            try db.execute(sql: "ATTACH DATABASE ? AS \(salvaged.sql)", arguments: [new.path])
            defer { try? db.execute(sql: "DETACH DATABASE \(salvaged.sql)") }
            return try db.withWriteTransaction(waitingUpTo: limit, interrupter: interrupter) {
                try RowMerge(db, from: salvaged, interrupter).run()
            }
        }
    }
}
