import GRDB
import SchemaMigrations

/// A database with only the tables that a file may touch, which takes as long for the thousandth file as for the tenth.
struct SmallDatabase {
    let queue: DatabaseQueue
    /// The file's migration, and one below it that has been applied, and does nothing.
    let migrator: SchemaMigrator

    private static let nothing = CodeMigration(0, "nothing") { _ in }
    /// A database that has had nothing else.
    private static let beginning: DatabaseQueue? = {
        guard let queue = try? DatabaseQueue(), let migrator = try? SchemaMigrator(migrations: [nothing]),
            (try? migrator.migrate(queue)) != nil
        else { return nil }
        return queue
    }()

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
            let migration = all.migration(version: version), migration is any SQLSource,
            let migrator = try? SchemaMigrator(
                migrations: [Self.nothing, migration], options: all.options),
            let beginning = Self.beginning,
            let queue = try? schema.database(
                without: unconcerned, rowsOf: database, beginningWith: { try beginning.backup(to: $0) })
        else { return nil }
        (self.queue, self.migrator) = (queue, migrator)
    }
}
