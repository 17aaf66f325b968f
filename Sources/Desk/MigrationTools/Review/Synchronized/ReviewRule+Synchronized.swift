extension ReviewRule {
    /// The rules for tables that a sync engine mirrors, which are named by `-- tool: synced` or in `code.rules`.
    ///
    /// They are those of SQLiteData's documents about CloudKit.
    static let synchronized = [
        syncedKey, syncedUnique, syncedDelete, syncedNotNull, syncedChange, syncedName, syncedUpdate,
    ]

    static let syncedKey = ReviewRule(
        "synced-key", .error, "a synchronized table has no key unique on all devices",
        remedy: "Write id TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (uuid()), in this order.")
    static let syncedUnique = ReviewRule(
        "synced-unique", .error, "a synchronized table has a UNIQUE beside its key",
        remedy: "Remove it, and handle duplicates in the app.")
    static let syncedDelete = ReviewRule(
        "synced-on-delete", .error, "a synchronized foreign key has no action",
        remedy: "Write ON DELETE CASCADE, SET NULL or SET DEFAULT.")
    static let syncedNotNull = ReviewRule(
        "synced-not-null", .error, "a synchronized column rejects rows of older releases",
        remedy: "Let it be NULL, or write NOT NULL ON CONFLICT REPLACE DEFAULT and a value.")
    static let syncedChange = ReviewRule(
        "synced-change", .error, "a synchronized table or column is removed or changed",
        remedy: "Add a column or a table, and keep the old one for good.")
    static let syncedName = ReviewRule(
        "synced-name", .error, "a synchronized column has a name of CloudKit's own",
        remedy: "Give it another name.")
    static let syncedUpdate = ReviewRule(
        "synced-update", .note, "rows are changed that come again in the old form",
        remedy: "Change them in a step that says again:.")
}
