public import Foundation
package import MigrationDiagnostics

/// An error that says why a database could not be migrated, and what to do about it.
///
/// The migration that failed was rolled back; those before it are complete, and ``committed`` lists them.
/// Switch over ``code``; new codes may be added in minor versions.
///
/// ```swift
/// do {
///     try schema.migrate(dbQueue)
/// } catch let error as SchemaMigrationError where error.code == .newerDatabase {
///     print("Update the app to open this library.")
/// }
/// ```
public struct SchemaMigrationError: Error, Sendable {
    /// The kind of a failure, with one code for each failure that an app or a tool handles in its own way.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name.
        public let description: String

        fileprivate init(_ name: String) {
            description = name
        }

        // Problems with the migrations, found before one runs.

        /// A folder of migrations does not exist, cannot be read, or holds no migration.
        public static let noMigrations = Code("noMigrations")
        /// A migration's name, version or text is malformed, or two migrations have one version.
        public static let invalidMigration = Code("invalidMigration")
        /// A migration asks for something that SQLite cannot do in its transaction.
        public static let refusedStatement = Code("refusedStatement")
        /// A snapshot cannot be used, or does not match the migrations.
        public static let invalidSnapshot = Code("invalidSnapshot")
        /// The call asks for a version that no migration has, rolls back an irreversible migration, or is
        /// made inside a transaction.
        public static let invalidRequest = Code("invalidRequest")

        // Problems with the database, found before a migration runs.

        /// A newer version of the app has migrated the database.
        public static let newerDatabase = Code("newerDatabase")
        /// The database has tables, but no `schema_migrations` table.
        public static let unmanagedDatabase = Code("unmanagedDatabase")
        /// None of the migrations applied to the database is known.
        public static let differentSet = Code("differentSet")
        /// A file was edited after it had been applied.
        public static let editedMigration = Code("editedMigration")
        /// The schema is not the one that the migrations make; see ``SchemaOptions/differentSchemas``.
        public static let differentSchema = Code("differentSchema")
        /// The database is in two places, and both hold data; see ``DatabaseFile/keep(_:)``.
        public static let twoDatabases = Code("twoDatabases")
        /// The database does not exist yet, and this process must not create it.
        public static let missingDatabase = Code("missingDatabase")
        /// The `schema_migrations` table is malformed.
        public static let damagedLedger = Code("damagedLedger")

        // Failures of the run.

        /// A migration failed, ended its transaction, or left rows, views or triggers broken.
        public static let migrationFailed = Code("migrationFailed")
        /// The database could not be copied before the first change.
        public static let backupFailed = Code("backupFailed")
        /// SQLite could not read or write the database; ``SchemaMigrationError/underlyingError`` says why.
        public static let databaseFailed = Code("databaseFailed")

        // The device and the moment: wait, or make room, and migrate again.

        /// The device has not been unlocked since it was started, so the database cannot be read yet.
        public static let deviceLocked = Code("deviceLocked")
        /// The disk is full.
        public static let diskFull = Code("diskFull")
        /// Another connection used the database for too long.
        public static let locked = Code("locked")
        /// GRDB has suspended the database, or the system is about to suspend the app.
        public static let suspended = Code("suspended")
    }

    /// The kind of the failure.
    public let code: Code

    /// The place, the problem and the remedy.
    package var diagnostic: Diagnostic

    /// The place and the problem, in a sentence.
    public var message: String { diagnostic.message }

    /// The remedy, in a sentence.
    public package(set) var remedy: String {
        get { diagnostic.remedy }
        set { diagnostic.remedy = newValue }
    }

    /// The name of the migration's file, or of its type.
    package var file: String? {
        guard case .file(let name, _, _) = diagnostic.place else { return nil }
        return name
    }

    /// The line in the file, from 1.
    package var line: Int? {
        guard case .file(_, let line, _) = diagnostic.place else { return nil }
        return line
    }

    /// The SQL statement, shortened.
    public package(set) var statement: String?

    /// The migration's version.
    public package(set) var version: SchemaVersion?

    /// SQLite's extended result code.
    package var sqliteCode: Int32?

    /// The versions that the same call committed before the failure, which stay.
    public package(set) var committed: [SchemaVersion] = []

    /// The error that caused this one.
    public package(set) var underlyingError: (any Error)?

    package init(_ code: Code, _ diagnostic: Diagnostic, underlyingError: (any Error)? = nil) {
        self.code = code
        self.diagnostic = diagnostic
        self.underlyingError = underlyingError
    }

    package init(
        _ code: Code, at place: Diagnostic.Place? = nil, _ problem: String, remedy: String,
        underlyingError: (any Error)? = nil
    ) {
        self.init(code, Diagnostic(at: place, problem, remedy: remedy), underlyingError: underlyingError)
    }
}

extension SchemaMigrationError: CustomStringConvertible, LocalizedError {
    /// The message and the remedy.
    public var description: String { diagnostic.description }

    /// The message and the remedy.
    public var errorDescription: String? { description }
}
