/// The settings of a file, as the migrator reads them: `-- migrations:` comments before the first statement.
struct FileSettings {
    private let names: [String]
    /// True if the first statement of the file switches foreign keys on.
    private let beginsWithForeignKeys: Bool

    init(_ sql: String) {
        let preamble = Preamble(Array(sql.utf8))
        let comments: [String] = preamble.lineComments.map {
            $0.dropFirst("--".count).filter { !$0.isWhitespace }
        }
        let settings = comments.filter { $0.hasPrefix("migrations:") }.map {
            $0.dropFirst("migrations:".count)
        }
        names = settings.flatMap { $0.split(separator: ",").map(String.init) }
        let pragma = /PRAGMA\s+(main\s*\.\s*)?foreign_keys\s*[=(]\s*['"]?(1|on|true|yes)\b/.ignoresCase()
        let statements = Substring(sql.utf8.dropFirst(preamble.end))
        beginsWithForeignKeys = statements.prefixMatch(of: pragma) != nil
    }

    /// True if the file holds the definitions that tables should have.
    var redefines: Bool { names.contains("redefine") }

    /// False if the one statement of the file runs by itself.
    var hasTransaction: Bool { !names.contains("transaction=none") }

    /// True if foreign keys are enforced while the file runs.
    var enforcesForeignKeys: Bool {
        names.last { $0.hasPrefix("foreign-keys=") }.map { $0 == "foreign-keys=immediate" }
            ?? beginsWithForeignKeys
    }
}
