extension ReviewRule {
    /// Every rule, in the order in which help lists them.
    package static let all: [ReviewRule] = files + statements + rebuilds + rows + synchronized + comparisons

    // MARK: Files and their names

    private static let files = [
        malformedName, doubleVersion, futureVersion, unreadableFile, refusedStatement, noStatement,
        missingDown,
        doesNotApply, downDoesNotApply, downDiffers, didNotRun, stepLimit, untried, unknownRule,
        ignoredPragma,
        notCompatible,
        generatedCode, knownStandIn,
    ]

    static let malformedName = ReviewRule(
        "malformed-name", .error, "a file name is malformed",
        remedy: "Name the file <version>_<name>.sql.", scope: .file)
    static let doubleVersion = ReviewRule(
        "double-version", .error, "two files have the same version",
        remedy: "Give the newer file a version of its own.", scope: .file)
    static let futureVersion = ReviewRule(
        "future-version", .error, "a version is a date in the future",
        remedy: "Name the file after the time at which it was written.", scope: .file)
    static let unreadableFile = ReviewRule(
        "unreadable-file", .error, "a file is empty, incomplete or not UTF-8 text",
        remedy: "Save the whole file as UTF-8.", scope: .file)
    static let refusedStatement = ReviewRule(
        "refused-statement", .error, "a statement cannot run in a migration's file",
        remedy: "Remove the statement, or do what the message says.",
        scope: .file)
    static let noStatement = ReviewRule(
        "no-statement", .warning, "a file holds nothing but comments",
        remedy: "Write the statements, or remove the file.", scope: .file)
    static let missingDown = ReviewRule(
        "missing-down", .warning, "a migration is irreversible, but older ones are not",
        remedy: "Write a .down.sql file.", scope: .file)
    static let doesNotApply = ReviewRule(
        "does-not-apply", .error, "the migrations do not run on an empty database",
        remedy: "Fix the statement.", scope: .file)
    static let downDoesNotApply = ReviewRule(
        "down-does-not-apply", .error, "the down migrations do not run after that",
        remedy: "Fix the down migration.", scope: .file)
    static let downDiffers = ReviewRule(
        "down-differs", .warning, "a down migration leads to another schema",
        remedy: "Undo each change, or the migration may fail when it is applied again.", scope: .file)
    static let didNotRun = ReviewRule(
        "did-not-run", .error, "a migration fails over generated rows, so nobody knows what it loses",
        remedy: "Let it run over any rows that the schema accepts, or test it with an app's rows.",
        scope: .file)
    static let stepLimit = ReviewRule(
        "step-limit", .note, "a migration takes too many steps over generated rows",
        remedy: "Test it with an app's rows.", scope: .file)
    static let untried = ReviewRule(
        "untried", .note, "a migration could not be tried here",
        remedy: "Review it in a test of the app, with MigrationReview.", scope: .file)
    package static let unknownRule = ReviewRule(
        "unknown-rule", .warning, "an allow: comment names an unknown rule",
        remedy: "Name a rule that `app-migrations help check` lists.", scope: .file)
    static let ignoredPragma = ReviewRule(
        "ignored-pragma", .note, "a PRAGMA foreign_keys has no effect",
        remedy: "Remove it.", scope: .file)

    static let notCompatible = ReviewRule(
        "not-compatible", .error, "a file says that it is compatible, and an older app may fail after it",
        remedy: "Remove `compatible` from the header, or only add to the schema.", scope: .file)

    static let generatedCode = ReviewRule(
        "generated-code", .error, "code that code.rules names is not what the files make",
        remedy: "Write it again with `app-migrations types` or `app-migrations embed`.", scope: .file)

    static let knownStandIn = ReviewRule(
        "known-stand-in", .note, "a stand-in in code.rules is for what SQLite has",
        remedy: "Remove the line.", scope: .file)

    // MARK: Statements

    private static let statements = [
        dropTable, dropColumn, deleteWithoutWhere, undoesItself, nullComparison, tableExists, ledgerWrite,
        writableSchema, replaceInto,
        rebuildForeignKeys,
        needlessRebuild, renameFails, renamedViewColumn, renamedTable, renamedColumn, intPrimaryKey,
        misspeltType,
        duplicateIndex,
        nameStyle, unindexedForeignKey, recentSQLite, newerSQLite,
    ]

    static let dropTable = ReviewRule(
        "drop-table", .error, "a table is dropped, with its rows",
        remedy: "Keep the table, or copy its rows first.")
    static let dropColumn = ReviewRule(
        "drop-column", .error, "a column is dropped, with its values",
        remedy: "Keep the column, or copy its values first.")
    static let deleteWithoutWhere = ReviewRule(
        "delete-without-where", .error, "every row of a table is deleted",
        remedy: "Add a WHERE.")
    static let undoesItself = ReviewRule(
        "undoes-itself", .warning, "a file drops what it has made",
        remedy: "Move what undoes the file to a .down.sql file.")
    static let nullComparison = ReviewRule(
        "null-comparison", .warning, "a WHERE compares with NULL, which is never true",
        remedy: "Write IS NULL or IS NOT NULL.")
    static let tableExists = ReviewRule(
        "table-exists", .warning, "CREATE TABLE IF NOT EXISTS finds another table",
        remedy: "Change that table, or make one of another name.")
    static let ledgerWrite = ReviewRule(
        "ledger-write", .error, "a statement changes the record of the migrations",
        remedy:
            "Remove the statement: the migrator writes these tables, and `app-migrations adopt` marks migrations."
    )
    static let writableSchema = ReviewRule(
        "writable-schema", .error, "a statement makes sqlite_schema writable",
        remedy:
            "A mistake in such a text corrupts the database: use a file that begins with `-- migrations: redefine`."
    )
    static let replaceInto = ReviewRule(
        "replace-into", .warning, "REPLACE deletes the rows in whose place it comes",
        remedy:
            "Write INSERT … ON CONFLICT DO UPDATE, which keeps the other columns and the rows that refer to it."
    )
    static let renamedTable = ReviewRule(
        "renamed-table", .note, "a table is renamed, which an older build still reads",
        remedy:
            "Keep the old name as a view for as long as an older build or an extension may open the database."
    )
    static let renamedColumn = ReviewRule(
        "renamed-column", .note, "a column is renamed, which an older build still reads",
        remedy: "Add a column instead, for as long as an older build or an extension may open the database.")
    static let intPrimaryKey = ReviewRule(
        "int-primary-key", .warning, "a primary key is INT, and so is not the row's id",
        remedy: "Write INTEGER PRIMARY KEY.")
    static let misspeltType = ReviewRule(
        "misspelt-type", .warning, "a type looks misspelt, and has another affinity",
        remedy: "Correct the type.")
    static let duplicateIndex = ReviewRule(
        "duplicate-index", .warning, "two indexes have the same columns",
        remedy: "Drop one of them.")
    static let nameStyle = ReviewRule(
        "name-style", .note, "a name is written in another style than the others",
        remedy: "Write it as the others are.")
    static let rebuildForeignKeys = ReviewRule(
        "rebuild-foreign-keys", .error, "a rebuild breaks foreign keys that refer to the table",
        remedy:
            "Create the new table under another name, copy the rows, drop the old table, and rename the new one."
    )
    static let needlessRebuild = ReviewRule(
        "needless-rebuild", .note, "a rebuild changes constraints alone",
        remedy:
            "Put the new CREATE TABLE into a file that begins with `-- migrations: redefine`: it copies no row."
    )
    static let renameFails = ReviewRule(
        "rename-fails", .error, "a view or a trigger makes a rename fail",
        remedy: "Drop it before the table, and create it again after the rename.")
    static let renamedViewColumn = ReviewRule(
        "renamed-view-column", .warning, "renaming a column renames a view's column as well",
        remedy: "Name the view's columns: CREATE VIEW name(column, …) AS ….")
    static let unindexedForeignKey = ReviewRule(
        "unindexed-foreign-key", .note, "no index serves a foreign key",
        remedy: "Create an index whose first columns are those of the foreign key.")
    static let recentSQLite = ReviewRule(
        "recent-sqlite", .warning, "a statement needs SQLite 3.53, which few systems have",
        remedy:
            "Where users have an older one, write it in another way: `-- migrations: redefine` changes constraints of a table."
    )

    static let newerSQLite = ReviewRule(
        "newer-sqlite", .error, "a statement needs a newer SQLite than --oldest",
        remedy: "Write it in another way.")

    // MARK: What a rebuild loses

    private static let rebuilds = [
        lostIndex, lostTrigger, lostForeignKey, lostCheck, lostNotNull, lostUnique, lostPrimaryKey,
        lostDefault,
        lostCollation, lostGenerated, lostAutoincrement, lostSequence, lostStrict, lostWithoutRowID, lostRows,
        lostValues,
    ]

    static let lostIndex = ReviewRule(
        "lost-index", .error, "a rebuild loses an index",
        remedy: "Create the index again after the rename.")
    static let lostTrigger = ReviewRule(
        "lost-trigger", .error, "a rebuild loses a trigger",
        remedy: "Create the trigger again after the rename.")
    static let lostForeignKey = ReviewRule(
        "lost-foreign-key", .error, "a rebuild loses a foreign key",
        remedy: "Declare the foreign key in the new table.")
    static let lostCheck = ReviewRule(
        "lost-check", .error, "a rebuild loses a CHECK",
        remedy: "Declare the CHECK in the new table.")
    static let lostNotNull = ReviewRule(
        "lost-not-null", .error, "a rebuild loses a NOT NULL",
        remedy: "Declare the column NOT NULL in the new table.")
    static let lostUnique = ReviewRule(
        "lost-unique", .error, "a rebuild loses a UNIQUE",
        remedy: "Declare the columns UNIQUE in the new table.")
    static let lostPrimaryKey = ReviewRule(
        "lost-primary-key", .error, "a rebuild loses the primary key",
        remedy: "Declare the primary key in the new table.")
    static let lostDefault = ReviewRule(
        "lost-default", .error, "a rebuild loses a DEFAULT",
        remedy: "Declare the DEFAULT in the new table.")
    static let lostCollation = ReviewRule(
        "lost-collation", .error, "a rebuild loses a collation",
        remedy: "Declare the collation in the new table.")
    static let lostGenerated = ReviewRule(
        "lost-generated-column", .error, "a rebuild loses a generated column",
        remedy: "Declare the column with its expression in the new table.")
    static let lostAutoincrement = ReviewRule(
        "lost-autoincrement", .error, "a rebuild loses AUTOINCREMENT",
        remedy: "Declare the primary key AUTOINCREMENT in the new table.")
    static let lostSequence = ReviewRule(
        "lost-sequence", .warning, "a rebuild loses the highest id ever assigned",
        remedy: "Copy the table's row in sqlite_sequence.")
    static let lostStrict = ReviewRule(
        "lost-strict", .error, "a rebuild loses STRICT",
        remedy: "End the new table's definition with STRICT.")
    static let lostWithoutRowID = ReviewRule(
        "lost-without-rowid", .warning, "a rebuild loses WITHOUT ROWID",
        remedy: "End the new table's definition with WITHOUT ROWID.")
    static let lostRows = ReviewRule(
        "lost-rows", .error, "a rebuild does not copy every row",
        remedy: "Copy every row, or delete rows with a DELETE that says which.")
    static let lostValues = ReviewRule(
        "lost-values", .error, "a rebuild loses or exchanges values",
        remedy: "Copy every column into the one of its name.")

    // MARK: What rows show

    private static let rows = [
        addColumn, updateWithoutWhere, changedValues, newUnique, newNotNull, newCheck, orphans, staleFullText,
    ]

    static let addColumn = ReviewRule(
        "add-column", .error, "a column cannot be added to a table that has rows",
        remedy: "Give the column a constant DEFAULT, or rebuild the table.")
    static let updateWithoutWhere = ReviewRule(
        "update-without-where", .warning, "an UPDATE gives every row the same value",
        remedy: "Add a WHERE.")
    static let changedValues = ReviewRule(
        "changed-values", .warning, "a statement or a change of type loses values",
        remedy: "Copy the values first, or change only those that are meant.")
    static let newUnique = ReviewRule(
        "new-unique", .warning, "existing rows may break a new UNIQUE",
        remedy: "Merge or delete the duplicates first.")
    static let newNotNull = ReviewRule(
        "new-not-null", .warning, "existing rows may break a new NOT NULL",
        remedy: "Give the column a value in every row first: coalesce(column, …), or a DEFAULT.")
    static let newCheck = ReviewRule(
        "new-check", .warning, "existing rows may break a new CHECK",
        remedy: "Correct the values first.")
    static let orphans = ReviewRule(
        "orphans", .warning, "rows are left that refer to missing rows",
        remedy:
            "Delete these rows, or let them refer to a row that exists. Where a DELETE leaves them, `-- migrations: foreign-keys=immediate` runs its ON DELETE."
    )
    static let staleFullText = ReviewRule(
        "stale-full-text", .error, "a full-text index no longer matches its table",
        remedy: "Rebuild the full-text index.")

    // MARK: Comparisons

    private static let comparisons = [edited, renamed, removed, olderThanBranch, unknownVersion, outOfOrder]

    static let edited = ReviewRule(
        "edited", .error, "a file was edited after it was applied or merged",
        remedy: "Undo the edit, and write a new migration.", scope: .file)
    static let renamed = ReviewRule(
        "renamed", .error, "a file was renamed after it was merged",
        remedy: "Give the file its name back.", scope: .file)
    static let removed = ReviewRule(
        "removed", .error, "a file was removed after it was merged",
        remedy: "Put the file back, and undo its change in a new migration.", scope: .file)
    static let olderThanBranch = ReviewRule(
        "older-than-branch", .error, "a new file is older than a merged one",
        remedy: "Rename the file to the present time.", scope: .file)
    static let unknownVersion = ReviewRule(
        "unknown-version", .warning, "an applied migration has no file",
        remedy: "Put the file back.", scope: .file)
    static let outOfOrder = ReviewRule(
        "out-of-order", .warning, "a pending migration is older than an applied one",
        remedy: "Rename the file to the present time.", scope: .file)
}
