/// What a migration is about to do, as far as it can be told before it runs.
package struct MigrationOutline: Sendable {
    /// The migration's version.
    package let version: SchemaVersion
    /// What people call it.
    package let name: String
    /// The name of its file, or of its type.
    package let title: String
    /// How many statements it has; nil for one in Swift.
    package let statements: Int?
    /// How foreign keys are treated while it runs.
    package let foreignKeys: ForeignKeys
    /// Whether it shares a transaction with its record, and with other migrations.
    package let isInTransaction: Bool
    /// Whether there is a way back.
    package let isReversible: Bool
}

extension SchemaMigrator {
    /// Looks through a migration, without running it.
    ///
    /// - Throws: ``SchemaMigrationError``, when it is unknown or must not be run as it is.
    package func outline(of version: SchemaVersion) throws -> MigrationOutline {
        guard let migration = migration(version: version) else { throw unknown(version) }
        let job = try MigrationJob(migration)
        return MigrationOutline(
            version: version, name: migration.name, title: migration.title,
            statements: try (migration as? any SQLSource)?.script().statements.count,
            foreignKeys: job.foreignKeys, isInTransaction: job.transaction == .wrapped,
            isReversible: migration.isReversible)
    }
}
