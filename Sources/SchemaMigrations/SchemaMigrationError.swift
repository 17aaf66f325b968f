public import Foundation

/// Why a database could not be migrated, and what to do about it.
///
/// Whenever this is thrown, the migration it is about has left nothing behind, and those before it are
/// complete. Switch over ``code``; new codes may be added in minor versions.
public struct SchemaMigrationError: Error, Sendable {
    /// What went wrong, as a kind.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The code's name.
        public let rawValue: String

        /// Creates a code from its name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// A folder of migrations does not exist, cannot be read, or holds no migration.
        public static let noMigrations = Code(rawValue: "noMigrations")
        /// A file is meant to be a migration, but its name is malformed.
        public static let malformedFileName = Code(rawValue: "malformedFileName")
        /// Two migrations have one version.
        public static let duplicateVersion = Code(rawValue: "duplicateVersion")
        /// A file cannot be read, or is not what SQLite would run as a whole.
        public static let unreadableFile = Code(rawValue: "unreadableFile")
        /// A file holds a statement that cannot be run in a transaction as intended.
        public static let refusedStatement = Code(rawValue: "refusedStatement")
        /// A migration failed; see ``SchemaMigrationError/underlyingError``.
        public static let migrationFailed = Code(rawValue: "migrationFailed")
        /// A migration ended the transaction that it was run in.
        public static let transactionEnded = Code(rawValue: "transactionEnded")
        /// A migration left rows that refer to rows that do not exist.
        public static let foreignKeyViolation = Code(rawValue: "foreignKeyViolation")
        /// A migration left a view or a trigger that does not compile.
        public static let brokenSchema = Code(rawValue: "brokenSchema")
        /// A file was edited after it had been applied.
        public static let editedMigration = Code(rawValue: "editedMigration")
        /// The database has had none of the known migrations, but others: they are of another set.
        public static let differentSet = Code(rawValue: "differentSet")
        /// There is no way back from a migration.
        public static let irreversible = Code(rawValue: "irreversible")
        /// A snapshot cannot be used, or does not fit the migrations.
        public static let invalidSnapshot = Code(rawValue: "invalidSnapshot")
        /// The database could not be copied.
        public static let backupFailed = Code(rawValue: "backupFailed")
        /// The database has tables, and no ledger that says which migrations they come from.
        public static let unmanagedDatabase = Code(rawValue: "unmanagedDatabase")
        /// The database is at a version that no known migration has.
        public static let newerDatabase = Code(rawValue: "newerDatabase")
        /// The ledger is not one.
        public static let damagedLedger = Code(rawValue: "damagedLedger")
        /// No migration has the version asked for.
        public static let unknownVersion = Code(rawValue: "unknownVersion")
        /// The migrator was called inside a transaction.
        public static let insideTransaction = Code(rawValue: "insideTransaction")
        /// SQLite could not read or write the database.
        public static let databaseFailed = Code(rawValue: "databaseFailed")
    }

    /// What went wrong, as a kind.
    public let code: Code

    /// The culprit and the cause.
    public let message: String

    /// What to do about it, in a sentence.
    public package(set) var remedy: String

    /// The name of the migration's file, or of its type.
    public package(set) var file: String?

    /// The line in the file, from 1.
    public package(set) var line: Int?

    /// The SQL statement, shortened.
    public package(set) var statement: String?

    /// The migration's version.
    public package(set) var version: SchemaVersion?

    /// SQLite's extended result code.
    public package(set) var sqliteCode: Int32?

    /// The versions that this call had migrated to before, and that stay.
    public package(set) var committed: [SchemaVersion] = []

    /// The error that caused this one.
    public package(set) var underlyingError: (any Error)?

    init(
        _ code: Code, _ message: String, remedy: String, file: String? = nil, line: Int? = nil,
        underlyingError: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.remedy = remedy
        self.file = file
        self.line = line
        self.underlyingError = underlyingError
    }
}

extension SchemaMigrationError: CustomStringConvertible, LocalizedError {
    /// The message and the remedy.
    public var description: String { remedy.isEmpty ? message : "\(message) \(remedy)" }

    /// The message and the remedy.
    public var errorDescription: String? { description }

    /// The culprit and the cause.
    public var failureReason: String? { message }

    /// What to do about it.
    public var recoverySuggestion: String? { remedy }
}
