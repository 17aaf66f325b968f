import AppMigrations
package import GRDB
package import SchemaMigrations

/// Runs migrations in order, up to any of them: a `SchemaMigrator`, or what drives GRDB's `DatabaseMigrator`.
package protocol MigrationRunner: Sendable {
    /// The migrations, in the order in which they run on a new database.
    var titles: [MigrationTitle] { get }

    /// Applies the pending migrations up to a version, inclusive, to a database that nobody observes.
    ///
    /// - Parameter version: the version of a migration; nil for the latest.
    func run(_ database: DatabaseQueue, upTo version: SchemaVersion?) throws -> MigrationOutcome

    /// Applies one migration whose predecessors have been applied, and returns what it has run.
    ///
    /// If it fails, the trace has the statements before the failure, and the error.
    func trace(_ title: MigrationTitle, in database: DatabaseQueue) throws -> MigrationTrace

    /// Returns how far a database has come.
    func standing(_ db: Database) throws -> MigrationStanding

    /// The same migrations without one, or nil if none can be left out.
    func without(_ version: SchemaVersion) -> (any MigrationRunner)?
}

/// The names of a migration.
package struct MigrationTitle: Hashable, Sendable {
    /// The version, which of GRDB's migrations is the place in their order, from 1.
    package let version: SchemaVersion
    /// The name, which of GRDB's migrations is the identifier.
    package let name: String
    /// The name in messages.
    package let title: String
}

/// The result of running migrations.
package struct MigrationOutcome: Sendable {
    /// The versions that were applied.
    package let applied: [SchemaVersion]
    /// Problems of the database from before.
    package let warnings: [String]
}

/// How far a database has come.
package struct MigrationStanding: Sendable {
    /// The highest version that was applied.
    package let current: SchemaVersion?
    package let pending: [SchemaVersion]
    /// The versions of migrations that were edited after they had been applied.
    package let edited: [SchemaVersion]
}

/// The statements that a migration has run.
package struct MigrationTrace: Sendable {
    /// The statements of the migration, with those that only read.
    package let statements: [TracedStatement]
    /// The enforcement of foreign keys while it ran.
    package let foreignKeys: ForeignKeys
    /// The identifiers that the migration takes the place of.
    package var merged: [String] = []
    /// The script of a migration that is written in SQL.
    package var script: SQLScript?
    /// The error with which the migration failed.
    package var error: (any Error)?

    /// The statements that may change something.
    package var changes: [TracedStatement] { statements.filter { $0.kind == .change } }

    /// Returns the first statement that reads one of the tables, one that the migration creates or renames, or a number of
    /// the app's.
    package func firstRead(of tables: [SQLName]) -> TracedStatement? {
        let known = Set(tables + changes.compactMap(\.namedTable))
        return statements.first { $0.reads(known) }
    }
}

extension MigrationRunner {
    /// Returns the names of a migration.
    package func title(_ version: SchemaVersion) -> MigrationTitle? {
        titles.first { $0.version == version }
    }
}

extension SchemaOptions {
    /// The options for databases that a tool makes for itself.
    static var unobserved: SchemaOptions {
        var options = SchemaOptions()
        options.notifiesObservers = false
        return options
    }
}

extension SchemaMigrator: MigrationRunner {
    package var titles: [MigrationTitle] {
        migrations.map { MigrationTitle(version: $0.version, name: $0.name, title: $0.title) }
    }

    package func run(_ database: DatabaseQueue, upTo version: SchemaVersion?) throws -> MigrationOutcome {
        var migrator = self
        migrator.options.notifiesObservers = false
        let report = try migrator.migrate(database, upTo: version)
        return MigrationOutcome(applied: report.applied, warnings: report.warnings)
    }

    package func trace(_ title: MigrationTitle, in database: DatabaseQueue) throws -> MigrationTrace {
        let statements = Locked<[TracedStatement]>([])
        let traced = tracingCode { _, trace in statements.withLock { $0 += trace.statements } }.migrations
        let result = Result {
            try SchemaMigrator(migrations: traced, options: options).migrate(database, upTo: title.version)
        }
        let migration = migration(version: title.version)
        let script = try (migration as? any SQLSource)?.script()
        let texts = script.map { script in
            script.statements.map { statement in
                let text = script.wholeText(of: statement)
                return TracedStatement(sql: text, expanded: text)
            }
        }
        var found = MigrationTrace(
            statements: texts ?? statements.withLock { $0 },
            foreignKeys: script?.settings.foreignKeys ?? migration?.foreignKeys ?? .deferred)
        found.script = script
        if case .failure(let error) = result { found.error = error }
        return found
    }

    /// Returns the migrator, whose migrations in Swift hand over what they have run.
    ///
    /// - Parameter isSchemaAlone: true to leave out statements about rows.
    package func tracingCode(
        ofSchemaAlone isSchemaAlone: Bool = false,
        _ found: @escaping @Sendable (MigrationTitle, MigrationTrace) -> Void
    ) -> SchemaMigrator {
        runningCode { migration, db in
            let trace = StatementTrace(ofSchemaAlone: isSchemaAlone)
            trace.start(db)
            defer {
                trace.stop(db)
                found(
                    MigrationTitle(version: migration.version, name: migration.name, title: migration.title),
                    MigrationTrace(statements: trace.statements, foreignKeys: migration.foreignKeys))
            }
            try migration.migrate(db)
        }
    }

    package func standing(_ db: Database) throws -> MigrationStanding {
        let status = try status(db)
        return try MigrationStanding(
            current: status.currentVersion, pending: pending(db), edited: status.editedVersions)
    }

    package func without(_ version: SchemaVersion) -> (any MigrationRunner)? {
        try? SchemaMigrator(migrations: migrations.filter { $0.version != version })
    }
}

extension MigrationRunner {
    /// Applies a migration to a copy of a database, over generated rows, and returns what it has run.
    ///
    /// - Parameters:
    ///   - title: the migration.
    ///   - database: a database that has every migration before this one.
    ///   - count: the number of rows of each table.
    ///   - seed: another seed makes other rows.
    package func trace(
        _ title: MigrationTitle, after database: DatabaseQueue, rowsPerTable count: Int, seed: UInt64 = 1
    ) throws -> MigrationTrace {
        let copy = try database.filledCopy(rowsPerTable: count, seed: seed)
        defer { try? copy.close() }
        let millions = count == 0 ? StepLimit.millionsWithoutRows : StepLimit.millions
        return try StepLimit.watch(copy, millions: millions) { try trace(title, in: copy) }
    }
}
