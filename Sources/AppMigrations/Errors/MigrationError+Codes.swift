extension MigrationError {
    /// The kind of an error: what an app answers in the same way has the same code.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name.
        public let description: String

        /// The code's number, which never changes: the last three digits of the code of the error as an `NSError`.
        package let number: Int

        private init(_ name: String, _ number: Int) {
            description = name
            self.number = number
        }
    }
}

extension MigrationError.Code {
    // Mistakes in the app's code and its migrations, which show on a developer's desk.

    /// Steps are registered wrongly, or the call is not allowed, or not now: inside a transaction, for example, or without a
    /// version of the app; the message has a line for each mistake.
    public static let misuse = Self("misuse", 1)
    /// A migration, its folder or a snapshot is missing or malformed, or asks for something that SQLite cannot do.
    public static let invalidMigration = Self("invalidMigration", 2)

    // The app's own work.

    /// A step, a migration, the closure of a version change or a backup before them failed;
    /// ``MigrationError/underlyingError`` is what it threw.
    public static let stepFailed = Self("stepFailed", 10)
    /// The process has died in a step so often that the manager no longer tries it.
    public static let gaveUp = Self("gaveUp", 11)

    // The data.

    /// There is data, and neither a record, a ledger nor `adopting` says which version left it.
    public static let undecided = Self("undecided", 20)
    /// The data is older than what the app can still migrate.
    public static let tooOld = Self("tooOld", 21)
    /// A newer version of the app has used the data: a store or a database is ahead of this process.
    public static let newerThanThisProcess = Self("newerThanThisProcess", 22)
    /// This process neither migrates nor creates the data, and the one that does has not done so yet.
    public static let notYetMigrated = Self("notYetMigrated", 23)
    /// The database is not one that the migrations make: none of those applied is known, a file was edited after it had been
    /// applied, or the schema is another one; see `SchemaOptions.differentSchemas`.
    public static let differentSchema = Self("differentSchema", 24)
    /// The data is in two places, and both have been used; see ``MigrationStore/keep(_:settingAside:)`` and
    /// `DatabaseFile.keep(_:)`.
    public static let twoPlaces = Self("twoPlaces", 25)

    // Stores and databases.

    /// The store could not be read: it may contain a record.
    public static let unreadableStore = Self("unreadableStore", 30)
    /// The contents of the store are not a record, or the record is lost: its database was salvaged, or a manager of another line
    /// has replaced what was damaged.
    public static let damagedStore = Self("damagedStore", 31)
    /// A database could not be read or written, or its table `schema_migrations` is malformed;
    /// ``MigrationError/underlyingError`` is SQLite's error, if it has one.
    public static let databaseFailed = Self("databaseFailed", 32)
    /// The database file is damaged; see `DatabaseFile.salvage(into:)`.
    public static let damagedDatabase = Self("damagedDatabase", 33)

    // The device and the moment. Nothing is wrong with the data: wait, or make room, and migrate again.

    /// The device is locked, or has not been unlocked since it was started, so protected files cannot be used yet.
    public static let deviceLocked = Self("deviceLocked", 40)
    /// The disk is full.
    public static let diskFull = Self("diskFull", 41)
    /// Another run or another connection held a lock for too long.
    public static let locked = Self("locked", 42)
    /// A store or a database cannot be written: by its permissions, or because its volume is read-only or fails.
    public static let unwritable = Self("unwritable", 43)
    /// A step threw ``MigrationPostponed``: its time has not come.
    public static let postponed = Self("postponed", 44)
    /// The system is about to suspend the process, or GRDB has suspended the database; the run has stopped.
    public static let suspended = Self("suspended", 45)
}

extension Error {
    /// True if the error says that a record cannot be read, for good.
    var isAboutDamage: Bool {
        guard let code = (self as? MigrationError)?.code else { return false }
        return [.damagedStore, .newerThanThisProcess, .unreadableStore].contains(code)
    }
}
