import Foundation
public import GRDB
import MigrationTools
public import SchemaMigrations

/// A set of migrations in order: a `SchemaMigrator`, or GRDB's `DatabaseMigrator`.
///
/// Tools that look at what migrations do take either of them.
public protocol MigrationSource: Sendable {
    /// The titles of the migrations, in the order in which they run on a new database.
    var migrationTitles: [String] { get }

    /// Runs every migration on a new database, one after the other.
    ///
    /// - Parameters:
    ///   - database: an empty database.
    ///   - trace: runs the body, and records the statements that the migration runs in it.
    ///   - afterEach: gets the title of each migration that has run.
    func replay(
        on database: DatabaseQueue, tracing trace: MigrationTrace,
        afterEach: (_ title: String) throws -> Void
    ) throws
}

extension DatabaseMigrator: MigrationSource {
    /// The identifiers of the migrations.
    public var migrationTitles: [String] { migrations }

    /// Runs every migration on a new database, one after the other.
    public func replay(
        on database: DatabaseQueue, tracing trace: MigrationTrace,
        afterEach: (_ title: String) throws -> Void
    ) throws {
        for identifier in migrations {
            trace.begin()
            try migrate(database, upTo: identifier)
            trace.end(before: OwnTables.ofGRDB.text)
            try afterEach(identifier)
        }
    }
}

extension SchemaMigrator: MigrationSource {
    /// The file names of the migrations, and the versions and names of those in Swift.
    public var migrationTitles: [String] { migrations.map(Self.title) }

    /// Runs every migration on a new database, one after the other.
    public func replay(
        on database: DatabaseQueue, tracing trace: MigrationTrace,
        afterEach: (_ title: String) throws -> Void
    ) throws {
        let traced = try SchemaMigrator(
            migrations: migrations.map { migration -> any SchemaMigration in
                migration is any SQLSource ? migration : trace.wrap(migration)
            })
        for migration in traced.migrations {
            trace.clear()
            try traced.migrate(database, upTo: migration.version)
            if let source = migration as? any SQLSource {
                let script = try source.script()
                let bytes = Array(script.sql.utf8)
                trace.record(script.statements.map { String(decoding: bytes[$0.range], as: UTF8.self) })
            }
            try afterEach(Self.title(migration))
        }
    }

    private static func title(_ migration: any SchemaMigration) -> String {
        migration is any FileMigration ? migration.title : "\(migration.version) \(migration.title)"
    }
}
