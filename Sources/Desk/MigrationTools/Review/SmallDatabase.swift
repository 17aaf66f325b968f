import GRDB
import SchemaMigrations

/// A database with only the tables that a file may touch, which takes as long for the thousandth file as for the tenth.
struct SmallDatabase {
    let queue: DatabaseQueue
    /// The file's migration, and one below it that has been applied, and does nothing.
    let migrator: SchemaMigrator

    /// Copies a part of a database; nil if the migration is no file, or may touch every table.
    ///
    /// - Parameters:
    ///   - unconcerned: the tables that the file leaves alone.
    ///   - schema: the database's schema.
    init?(
        of database: DatabaseQueue, _ schema: ReviewedSchema, without unconcerned: Set<SQLName>,
        for version: SchemaVersion, of runner: any MigrationRunner
    ) {
        guard !unconcerned.isEmpty, version > 0, let all = runner as? SchemaMigrator,
            let migration = all.migration(version: version), migration is any SQLSource
        else { return nil }
        let nothing = CodeMigration(version - 1, "nothing") { _ in }
        guard let migrator = try? SchemaMigrator(migrations: [nothing, migration], options: all.options),
            let queue = try? schema.database(
                without: unconcerned, rowsOf: database,
                beginningWith: { _ = try migrator.run($0, upTo: version - 1) })
        else { return nil }
        (self.queue, self.migrator) = (queue, migrator)
    }
}
