extension MigrationError {
    /// The kind of an error: what an app answers in the same way has the same code.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name.
        public let description: String

        /// The code's number, which never changes: the last three digits of the code of the error as an `NSError`.
        public let number: Int

        private init(_ name: String, _ number: Int) {
            description = name
            self.number = number
        }
    }
}

extension MigrationError.Code {
    // Mistakes in the app's code and its migrations, which show on a developer's desk.

    /// Steps are registered wrongly; the message has a line for each mistake.
    public static let invalidRegistration = Self("invalidRegistration", 1)
    /// The current version is missing, malformed, or has a sub-migration number, or there is no place for a store.
    public static let invalidConfiguration = Self("invalidConfiguration", 2)
    /// The call is not allowed, or not now: inside a transaction, for example, or for a version that does not exist.
    public static let invalidCall = Self("invalidCall", 3)
    /// A folder of migrations does not exist, cannot be read, or holds no migration.
    public static let noMigrations = Self("noMigrations", 4)
    /// A migration's name, version or text is malformed, two have one version, or a snapshot cannot be used.
    public static let invalidMigration = Self("invalidMigration", 5)
    /// A migration asks for something that SQLite cannot do in its transaction.
    public static let refusedStatement = Self("refusedStatement", 6)

    // The app's own work.

    /// A step, a schema step or the closure of a version change threw; ``MigrationError/underlyingError`` is what it threw.
    public static let stepFailed = Self("stepFailed", 10)
    /// The process has died in a step so often that the manager no longer tries it.
    public static let gaveUp = Self("gaveUp", 11)
    /// A schema migration failed, ended its transaction, or left rows, views or triggers broken.
    public static let migrationFailed = Self("migrationFailed", 12)
    /// A database could not be copied before the first change.
    public static let backupFailed = Self("backupFailed", 13)

    // The data.

    /// There is data, and neither a record, a ledger nor `adopting` says which version left it.
    public static let undecided = Self("undecided", 20)
    /// The data is older than what the app can still migrate.
    public static let tooOld = Self("tooOld", 21)
    /// A newer version of the app has used the data: a store or a database is ahead of this process.
    public static let newerThanThisProcess = Self("newerThanThisProcess", 22)
    /// This process neither migrates nor creates the data, and the one that does has not done so yet.
    public static let notYetMigrated = Self("notYetMigrated", 23)
    /// None of the migrations applied to the database is known.
    public static let differentSet = Self("differentSet", 24)
    /// A file was edited after it had been applied.
    public static let editedMigration = Self("editedMigration", 25)
    /// The schema is not the one that the migrations make; see `SchemaOptions.differentSchemas`.
    public static let differentSchema = Self("differentSchema", 26)

    // Stores and databases.

    /// The store could not be read: it may contain a record.
    public static let unreadableStore = Self("unreadableStore", 30)
    /// The store could not be written.
    public static let unwritableStore = Self("unwritableStore", 31)
    /// The contents of the store are not a record, or the record was lost when its database was salvaged.
    public static let damagedStore = Self("damagedStore", 32)
    /// A newer version of this package wrote the store, in a format that this one does not know.
    public static let newerFormat = Self("newerFormat", 33)
    /// A database could not be read or written; ``MigrationError/underlyingError`` is SQLite's error, if it has one.
    public static let databaseFailed = Self("databaseFailed", 34)
    /// The record is in two places, and both have been used; see ``JSONStore/keep(_:settingAside:)``.
    public static let twoRecords = Self("twoRecords", 35)
    /// The database is in two places, and both hold data; see `DatabaseFile.keep(_:)`.
    public static let twoDatabases = Self("twoDatabases", 36)
    /// The table `schema_migrations` is malformed.
    public static let damagedLedger = Self("damagedLedger", 37)
    /// The database file is damaged; see `DatabaseFile.salvage(into:)`.
    public static let damagedDatabase = Self("damagedDatabase", 38)

    // The device and the moment. Nothing is wrong with the data: wait, or make room, and migrate again.

    /// The device has not been unlocked since it was started, so protected files cannot be read yet.
    public static let deviceLocked = Self("deviceLocked", 40)
    /// The disk is full.
    public static let diskFull = Self("diskFull", 41)
    /// Another run or another connection held a lock for too long.
    public static let locked = Self("locked", 42)
    /// A file or a database cannot be written, by its permissions or because its volume is read-only.
    public static let readOnly = Self("readOnly", 43)
    /// A step threw ``MigrationPostponed``: its time has not come.
    public static let postponed = Self("postponed", 44)
    /// The system is about to suspend the process, or GRDB has suspended the database; the run has stopped.
    public static let suspended = Self("suspended", 45)
}
