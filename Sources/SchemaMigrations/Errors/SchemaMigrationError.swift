import Foundation
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

        /// The code's number, which never changes: the code of the error as an `NSError`.
        public let number: Int

        fileprivate init(_ name: String, _ number: Int) {
            description = name
            self.number = number
        }

        // Problems with the migrations, found before one runs.

        /// A folder of migrations does not exist, cannot be read, or holds no migration.
        public static let noMigrations = Code("noMigrations", 1)
        /// A migration's name, version or text is malformed, or two migrations have one version.
        public static let invalidMigration = Code("invalidMigration", 2)
        /// A migration asks for something that SQLite cannot do in its transaction.
        public static let refusedStatement = Code("refusedStatement", 3)
        /// A snapshot cannot be used, or does not match the migrations.
        public static let invalidSnapshot = Code("invalidSnapshot", 4)
        /// The call asks for a version that no migration has, rolls back an irreversible migration, or is
        /// made inside a transaction.
        public static let invalidRequest = Code("invalidRequest", 5)

        // Problems with the database, found before a migration runs.

        /// A newer version of the app has migrated the database.
        public static let newerDatabase = Code("newerDatabase", 20)
        /// The database lacks migrations that were squashed into a baseline.
        public static let tooOld = Code("tooOld", 28)
        /// The database has tables, but no `schema_migrations` table.
        public static let unmanagedDatabase = Code("unmanagedDatabase", 21)
        /// None of the migrations applied to the database is known.
        public static let differentSet = Code("differentSet", 22)
        /// A file was edited after it had been applied.
        public static let editedMigration = Code("editedMigration", 23)
        /// The schema is not the one that the migrations make; see ``SchemaOptions/differentSchemas``.
        public static let differentSchema = Code("differentSchema", 24)
        /// The database is in two places, and both hold data; see `DatabaseFile.keep(_:)`.
        public static let twoDatabases = Code("twoDatabases", 25)
        /// The database does not exist yet, and this process must not create it.
        public static let missingDatabase = Code("missingDatabase", 26)
        /// The `schema_migrations` table is malformed.
        public static let damagedLedger = Code("damagedLedger", 27)

        /// The database file is damaged; see `DatabaseFile.salvage(into:)`.
        public static let damagedDatabase = Code("damagedDatabase", 29)

        // Failures of the run.

        /// A migration failed, ended its transaction, or left rows, views or triggers broken.
        public static let migrationFailed = Code("migrationFailed", 30)
        /// The database could not be copied before the first change.
        public static let backupFailed = Code("backupFailed", 31)
        /// SQLite could not read or write the database; ``SchemaMigrationError/underlyingError`` says why.
        public static let databaseFailed = Code("databaseFailed", 32)

        // The device and the moment: wait, or make room, and migrate again.

        /// The device has not been unlocked since it was started, so the database cannot be read yet.
        public static let deviceLocked = Code("deviceLocked", 40)
        /// The disk is full.
        public static let diskFull = Code("diskFull", 41)
        /// Another connection used the database for too long.
        public static let locked = Code("locked", 42)
        /// GRDB has suspended the database, or the system is about to suspend the app.
        public static let suspended = Code("suspended", 45)
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
    package var statement: String?

    /// The migration's version.
    public package(set) var version: SchemaVersion?

    /// SQLite's extended result code.
    package var sqliteCode: Int32?

    /// The versions that the same call committed before the failure, which stay.
    public package(set) var committed: [SchemaVersion] = []

    /// The error that caused this one.
    public package(set) var underlyingError: (any Error)?

    @inline(never)
    package init(_ code: Code, _ diagnostic: Diagnostic, underlyingError: (any Error)? = nil) {
        self.code = code
        self.diagnostic = diagnostic
        self.underlyingError = underlyingError
    }

    @inline(never)
    package init(
        _ code: Code, at place: Diagnostic.Place? = nil, _ problem: String, remedy: String,
        underlyingError: (any Error)? = nil
    ) {
        self.init(code, Diagnostic(at: place, problem, remedy: remedy), underlyingError: underlyingError)
    }
}

extension SchemaMigrationError {
    /// The remedy for a migration that failed by its own fault.
    static let fixMigration = "It was rolled back; earlier migrations are applied. Fix it and migrate again."
}

extension SchemaMigrationError: CustomStringConvertible {
    /// The message and the remedy.
    public var description: String { diagnostic.description }
}
