import SchemaMigrations

/// A form of SQL that older versions of SQLite lack.
struct SQLiteFeature: Sendable {
    /// The form, as a sentence names it.
    let name: String
    /// The minor version of SQLite 3 that brought it.
    let minor: Int
    /// Returns whether a statement uses it.
    let isUsed: @Sendable (ScriptOutline.Statement) -> Bool

    /// Every form, by the version that brought it (changes.html).
    static let all = alterations

    // lang_altertable.html
    private static let alterations = [
        SQLiteFeature(name: "ALTER TABLE … ALTER COLUMN", minor: 53) { $0.alters("ALTER") },
        SQLiteFeature(name: "ALTER TABLE … DROP CONSTRAINT", minor: 53) { $0.alters("DROP", "CONSTRAINT") },
        SQLiteFeature(name: "ALTER TABLE … ADD CONSTRAINT", minor: 53) {
            $0.alters("ADD", "CONSTRAINT") || $0.alters("ADD", "CHECK")
        },
    ]
}

extension ScriptOutline.Statement {
    /// Returns whether the statement alters a table, and goes on with these words.
    fileprivate func alters(_ words: String...) -> Bool {
        guard let change = alteration?.change else { return false }
        return change.prefix(words.count).map(\.keyword) == words
            && change.prefix(words.count).allSatisfy(\.isWord)
    }
}
