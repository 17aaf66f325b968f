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
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The code's name.
        public let rawValue: String

        /// Creates a code from its name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The code's name.
        public var description: String { rawValue }

        // Problems with the migrations, found before one runs.

        /// A folder of migrations does not exist, cannot be read, or holds no migration.
        public static let noMigrations = Code(rawValue: "noMigrations")
        /// A migration's name, version or text is malformed, or two migrations have one version.
        public static let invalidMigration = Code(rawValue: "invalidMigration")
        /// A migration asks for something that SQLite cannot do in its transaction.
        public static let refusedStatement = Code(rawValue: "refusedStatement")
        /// A snapshot cannot be used, or does not match the migrations.
        public static let invalidSnapshot = Code(rawValue: "invalidSnapshot")
        /// The call asks for a version that no migration has, rolls back an irreversible migration, or is
        /// made inside a transaction.
        public static let invalidRequest = Code(rawValue: "invalidRequest")

        // Problems with the database, found before a migration runs.

        /// A newer version of the app has migrated the database.
        public static let newerDatabase = Code(rawValue: "newerDatabase")
        /// The database has tables, but no `schema_migrations` table.
        public static let unmanagedDatabase = Code(rawValue: "unmanagedDatabase")
        /// None of the migrations applied to the database is known.
        public static let differentSet = Code(rawValue: "differentSet")
        /// A file was edited after it had been applied.
        public static let editedMigration = Code(rawValue: "editedMigration")
        /// The schema is not the one that the migrations make; see ``SchemaOptions/verify``.
        public static let differentSchema = Code(rawValue: "differentSchema")
        /// The `schema_migrations` table is malformed.
        public static let damagedLedger = Code(rawValue: "damagedLedger")

        // Failures of the run.

        /// A migration failed, ended its transaction, or left rows, views or triggers broken.
        public static let migrationFailed = Code(rawValue: "migrationFailed")
        /// The database could not be copied before the first change.
        public static let backupFailed = Code(rawValue: "backupFailed")
        /// SQLite could not read or write the database; ``SchemaMigrationError/sqliteCode`` says why.
        public static let databaseFailed = Code(rawValue: "databaseFailed")

        // The device and the moment: wait, or make room, and migrate again.

        /// The device has not been unlocked since it was started, so the database cannot be read yet.
        public static let deviceLocked = Code(rawValue: "deviceLocked")
        /// The disk is full.
        public static let diskFull = Code(rawValue: "diskFull")
        /// Another connection used the database for too long.
        public static let locked = Code(rawValue: "locked")
        /// GRDB has suspended the database, or the system is about to suspend the app.
        public static let suspended = Code(rawValue: "suspended")
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
    public var file: String? {
        guard case .file(let name, _, _) = diagnostic.place else { return nil }
        return name
    }

    /// The line in the file, from 1.
    public var line: Int? {
        guard case .file(_, let line, _) = diagnostic.place else { return nil }
        return line
    }

    /// The SQL statement, shortened.
    public package(set) var statement: String?

    /// The migration's version.
    public package(set) var version: SchemaVersion?

    /// SQLite's extended result code.
    public package(set) var sqliteCode: Int32?

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

    /// The place and the problem.
    public var failureReason: String? { message }

    /// The remedy.
    public var recoverySuggestion: String? { remedy }
}
