import GRDB

/// What has been found out about a migration before it is run.
///
/// Holds no file's contents: a thousand files are looked through before the first is run, and are not all kept.
struct MigrationRunPlan {
    let migration: any SchemaMigration
    let foreignKeys: ForeignKeys
    let transaction: SQLFileSettings.Transaction
    let checksum: String?
    let weight: Int64

    init(_ migration: any SchemaMigration) throws {
        self.migration = migration
        if let script = try (migration as? SQLFile)?.script() {
            foreignKeys = script.settings.foreignKeys
            transaction = script.settings.transaction
            checksum = script.checksum
            weight = script.weight
        } else {
            foreignKeys = migration.foreignKeys
            transaction = .wrapped
            checksum = nil
            weight = 1
        }
    }

    var version: SchemaVersion { migration.version }
    var title: String { migration.title }

    /// Runs the migration's body.
    ///
    /// - Parameter afterEach: is called after each statement of a file.
    func run(_ db: Database, afterEach: () throws -> Void) throws {
        if let file = migration as? SQLFile {
            try file.script().run(db, afterEach: afterEach)
        } else {
            try migration.migrate(db)
        }
    }

    func entry(seconds: Double) -> Ledger.Entry {
        Ledger.Entry(
            version: version, name: migration.name, origin: .applied, checksum: checksum, seconds: seconds)
    }
}

extension ContinuousClock {
    /// How many seconds the body took.
    func measuring(_ body: () throws -> Void) rethrows -> Double {
        let duration = try measure(body)
        return Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
    }
}
