public import AppMigrations
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
    package typealias Code = MigrationError.Code

    /// The kind of the failure, with one code for each that an app or a tool handles in its own way.
    public let code: MigrationError.Code

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

// What `SchemaMigrationError` has besides `tooOld`, `deviceLocked`, `diskFull`, `locked` and `suspended`.
extension MigrationError.Code {
    // Problems with the migrations, found before one runs.

    /// A folder of migrations does not exist, cannot be read, or holds no migration.
    public static let noMigrations = Self("noMigrations", 1)
    /// A migration's name, version or text is malformed, or two migrations have one version.
    public static let invalidMigration = Self("invalidMigration", 2)
    /// A migration asks for something that SQLite cannot do in its transaction.
    public static let refusedStatement = Self("refusedStatement", 3)
    /// A snapshot cannot be used, or does not match the migrations.
    public static let invalidSnapshot = Self("invalidSnapshot", 4)
    /// The call asks for a version that no migration has, rolls back an irreversible migration, or is
    /// made inside a transaction.
    public static let invalidRequest = Self("invalidRequest", 5)

    // Problems with the database, found before a migration runs.

    /// A newer version of the app has migrated the database.
    public static let newerDatabase = Self("newerDatabase", 20)
    /// The database has tables, but no `schema_migrations` table.
    public static let unmanagedDatabase = Self("unmanagedDatabase", 28)
    /// None of the migrations applied to the database is known.
    public static let differentSet = Self("differentSet", 22)
    /// A file was edited after it had been applied.
    public static let editedMigration = Self("editedMigration", 23)
    /// The schema is not the one that the migrations make; see ``SchemaOptions/differentSchemas``.
    public static let differentSchema = Self("differentSchema", 24)
    /// The database is in two places, and both hold data; see `DatabaseFile.keep(_:)`.
    public static let twoDatabases = Self("twoDatabases", 25)
    /// The database does not exist yet, and this process must not create it.
    public static let missingDatabase = Self("missingDatabase", 26)
    /// The `schema_migrations` table is malformed.
    public static let damagedLedger = Self("damagedLedger", 27)

    /// The database file is damaged; see `DatabaseFile.salvage(into:)`.
    public static let damagedDatabase = Self("damagedDatabase", 29)

    // Failures of the run.

    /// A migration failed, ended its transaction, or left rows, views or triggers broken.
    public static let migrationFailed = Self("migrationFailed", 30)
    /// The database could not be copied before the first change.
    public static let backupFailed = Self("backupFailed", 31)
    /// SQLite could not read or write the database; ``SchemaMigrationError/underlyingError`` says why.
    public static let databaseFailed = Self("databaseFailed", 32)
}

extension SchemaMigrationError {
    /// The remedy for a migration that failed by its own fault.
    static let fixMigration = "It was rolled back; earlier migrations are applied. Fix it and migrate again."
}

extension SchemaMigrationError: CustomStringConvertible {
    /// The message and the remedy.
    public var description: String { diagnostic.description }
}
