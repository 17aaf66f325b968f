import GRDB

// The one place that looks into the text of messages: SQLite has no extended code that tells these failures from
// others of the same code (rescode.html).

extension DatabaseError {
    /// Whether the error says that no `INSTEAD OF` trigger allows this kind of change to a view.
    var isAboutReadOnlyView: Bool { message?.hasPrefix("cannot modify ") == true }

    /// Whether GRDB has refused the statement because the database is suspended.
    var isAboutSuspension: Bool { message == "Database is suspended" }

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
