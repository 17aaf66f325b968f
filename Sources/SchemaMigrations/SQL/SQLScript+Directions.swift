import AppMigrations
import MigrationDiagnostics

extension SQLScript {
    /// The comments with which other tools begin the statements that undo a file, in lower case.
    ///
    /// They are those of goose, sql-migrate, dbmate, MyBatis Migrations and tern.
    private static let downMarks = [
        "+goose down", "+migrate down", "migrate:down", "@undo", "create above / drop below",
    ]

    /// Refuses a file with both directions: its second half would undo the first one.
    func refuseBothDirections() throws {
        guard !fileName.hasSuffix(".down.sql") else { return }
        let mark = comments.first { comment in
            let words = comment.text.lowercased().drop { "-/ \t".contains($0) }
            return Self.downMarks.contains(where: words.hasPrefix)
        }
        guard let mark, statements.contains(where: { $0.line > mark.line }) else { return }
        throw MigrationError(
            .invalidMigration, at: .file(fileName, line: mark.line),
            "`\(mark.text.filter { $0 != "\r" })` begins statements that undo the file, which would run as well",
            remedy: "Move them to \(fileName.dropLast(fileName.hasSuffix(".sql") ? 4 : 0)).down.sql."
        ).about(.refusedStatement)
    }
}
