import GRDB

// The one place that looks into the text of SQLite's messages. All of these failures have the code
// SQLITE_ERROR, and SQLite has no extended code that tells them apart (rescode.html).

extension DatabaseError {
    /// Whether the error says that no `INSTEAD OF` trigger allows this kind of change to a view.
    var isAboutReadOnlyView: Bool { message?.hasPrefix("cannot modify ") == true }

    /// The name of the missing column, if a statement failed because of one.
    var missingColumn: String? {
        guard let message, let range = message.firstRange(of: "no such column: ") else { return nil }
        return message[range.upperBound...].prefix { $0 != " " }.filter { $0 != "\"" }
    }
}

extension IntegrityCheck {
    /// The prefix of a row of `PRAGMA integrity_check` about a null in a column that is `NOT NULL`.
    ///
    /// The pragma returns only text.
    static let nullValue = "NULL value in "
}
