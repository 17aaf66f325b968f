import AppMigrations
public import Foundation
public import GRDB
import MigrationTools
public import SchemaMigrations

extension SchemaMigrator {
    /// Does a dry run: migrates a copy of a database, and reports the effects.
    ///
    /// SQLite's backup reads the database; nothing writes to it. The method removes the copy afterwards. The
    /// copy has the permissions of the database, in a folder that only its owner may enter, and it is opened with the
    /// database's configuration: the copy of an encrypted database is encrypted. It needs as much
    /// space as the database, and more during the migrations.
    ///
    /// - Parameters:
    ///   - database: the database, which may be open for reading only.
    ///   - version: the version of a known migration, inclusive; nil for the latest.
    ///   - folder: the folder for the copy; nil for the temporary folder.
    ///   - values: whether the report holds examples of changed values.
    ///   - oldSchemas: types of old schemas; the report lists the rows that they cannot read.
    ///   - progress: as for `migrate(_:upTo:progress:)`.
    /// - Throws: `MigrationError`, as `migrate(_:upTo:progress:)` does.
    public func rehearse(
        _ database: any DatabaseReader, upTo version: SchemaVersion? = nil, in folder: URL? = nil,
        showing values: Rehearsal.ShownValues = .none, reading oldSchemas: OldSchemas? = nil,
        progress: Progress? = nil
    ) throws -> Rehearsal {
        try Rehearsal.withCopy(of: database, in: folder, progress) { copy in
            let stops = try OldSchemaStops(of: self, on: copy, upTo: version, oldSchemas)
            return try Rehearsal(on: copy, showing: values, stopping: stops) {
                try migrateCopy(copy, upTo: $0, progress: progress)
            }
        }
    }

    /// Does a dry run on a copy of a database file.
    ///
    /// Use it to test with a database that a user has filled for years. The method opens the file for reading
    /// only.
    ///
    /// - Parameters:
    ///   - path: the file, which must exist.
    ///   - configuration: how the app opens its database, with the passphrase of an encrypted one; used for the copy
    ///     as well.
    ///   - version: the version of a known migration, inclusive; nil for the latest.
    ///   - values: whether the report holds examples of changed values.
    ///   - oldSchemas: types of old schemas; the report lists the rows that they cannot read.
    ///   - progress: as for `migrate(_:upTo:progress:)`.
    /// - Throws: `MigrationError`, as `migrate(_:upTo:progress:)` does.
    public func rehearse(
        path: String, configuration: Configuration? = nil, upTo version: SchemaVersion? = nil,
        showing values: Rehearsal.ShownValues = .none, reading oldSchemas: OldSchemas? = nil,
        progress: Progress? = nil
    ) throws -> Rehearsal {
        try MigrationError.mapErrors {
            let database = try SQLiteFile(path: path, configuration: configuration).openReadOnly()
            let result = Result {
                try rehearse(
                    database, upTo: version, showing: values, reading: oldSchemas, progress: progress)
            }
            try database.close()
            return try result.get()
        }
    }

    private func migrateCopy(
        _ copy: DatabaseQueue, upTo version: SchemaVersion?, progress: Progress?
    ) throws -> RehearsedRun {
        // As on the device, but for the copy of the copy.
        let code = Locked<[SchemaVersion: SQLScript]>([:])
        var migrator = tracingCode(ofSchemaAlone: true) { title, trace in
            code.withLock { $0[title.version] = trace.script(of: title) }
        }
        migrator.options.backupFolder = nil
        do {
            let report = try migrator.migrate(copy, upTo: version, progress: progress)
            let applied = Set(report.applied)
            return try RehearsedRun(
                undone: report.undone,
                steps: copy.read(AppliedMigration.fetchAll).filter { applied.contains($0.version) }.map {
                    Rehearsal.Step(
                        version: $0.version, name: $0.name ?? "", duration: $0.duration ?? .zero)
                },
                scripts: migrations.filter { applied.contains($0.version) }
                    .compactMap { migration in
                        try (migration as? any SQLSource)?.script() ?? code.withLock { $0[migration.version] }
                    },
                warnings: report.warnings)
        } catch var error as MigrationError where error.schemaVersion != nil {
            error.remedy = "The database itself was not changed. Fix the migration, and rehearse again."
            throw error
        }
    }
}
