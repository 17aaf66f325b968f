import GRDB

// The one place that looks into the text of SQLite's messages. All of these failures have the code
// SQLITE_ERROR, and SQLite has no extended code that tells them apart (rescode.html).

extension DatabaseError {
    /// Whether a view cannot be changed because no `INSTEAD OF` trigger takes this kind of change.
    var isAboutReadOnlyView: Bool { message?.hasPrefix("cannot modify ") == true }

    /// The name of the column that a statement asks for and that does not exist.
    var missingColumn: String? {
        guard let message, let range = message.firstRange(of: "no such column: ") else { return nil }
        return message[range.upperBound...].prefix { $0 != " " }.filter { $0 != "\"" }
    }
}

extension IntegrityCheck {
    /// How `PRAGMA integrity_check` begins a row about a null in a column that is `NOT NULL`: a text is all
    /// it answers.
    static let nullValue = "NULL value in "
}
