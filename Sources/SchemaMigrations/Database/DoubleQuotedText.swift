import GRDB

extension Database {
    /// Returns a hint about a missing column that is written in double quotes, or nil for other failures.
    ///
    /// If there is no such column, SQLite takes the name for a text (quirks.html, 8). GRDB's connections do
    /// so only if they are configured to, so views and triggers of databases that other libraries created can
    /// fail.
    ///
    /// - Parameters:
    ///   - error: the failure.
    ///   - sql: the statement that failed, if it may hold the name as well.
    func hintAtDoubleQuotedText(_ error: DatabaseError, in sql: String? = nil) -> String? {
        guard let name = error.missingColumn else { return nil }
        let quoted = "\"\(name)\""
        let isInSchema = try? Bool.fetchOne(
            self, sql: "SELECT EXISTS (SELECT 1 FROM main.sqlite_master WHERE instr(sql, ?))",
            arguments: [quoted])
        guard isInSchema == true || sql?.contains(quoted) == true else { return nil }
        return """
            If \(quoted) is meant as a text, write it in single quotes, or open the database with GRDB's \
            Configuration.acceptsDoubleQuotedStringLiterals.
            """
    }
}
