import GRDB

extension Database {
    /// A hint about a missing column that is written in double quotes; nil for other failures.
    ///
    /// SQLite takes such a name for a text where there is no such column (quirks.html, 8). GRDB's connections
    /// do not, unless they are asked to; so views and triggers of databases that other libraries made can
    /// fail.
    ///
    /// - Parameters:
    ///   - error: the failure.
    ///   - sql: the statement that failed, where it may hold the name as well.
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
