import AppMigrations
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

/// Databases of other libraries have strings in double quotes, which SQLite accepts by default and GRDB refuses.
@Suite("Strings in double quotes", .timed)
struct DoubleQuotedTextTests {
    let folder: TemporaryFolder
    let queue: DatabaseQueue
    private let old: Configuration = {
        var configuration = Configuration()
        configuration.acceptsDoubleQuotedStringLiterals = true
        return configuration
    }()

    private static let hint = """
        If "draft" is meant as a text, write it in single quotes, or open the database with GRDB's \
        Configuration.acceptsDoubleQuotedStringLiterals.
        """

    private static let remedy = "It was rolled back. Fix it and migrate again."

    init() throws {
        folder = try TemporaryFolder()
        let old = try folder.queue("app.sqlite", old)
        try folder.migrator([
            "1_old.sql": """
            CREATE TABLE entry(id INTEGER PRIMARY KEY, state TEXT DEFAULT "draft");
            CREATE INDEX i ON entry(id) WHERE state = "draft";
            CREATE VIEW drafts AS SELECT id FROM entry WHERE state = "draft";
            CREATE TRIGGER t AFTER UPDATE ON entry BEGIN DELETE FROM entry WHERE state = "draft"; END;
            """
        ]).migrate(old)
        try old.close()
        queue = try folder.queue()
    }

    @Test("double-quoted texts in an existing view or trigger cause a warning with a remedy")
    func warning() throws {
        let report = try folder.migrator(["2_a.sql": "CREATE TABLE a(x)"]).migrate(queue)
        #expect(report.applied == [2])
        #expect(
            report.warnings.map(\.asByOldSQLite) == [
                "trigger t broken: no such column: draft. \(Self.hint)",
                "view drafts broken: no such column: draft. \(Self.hint)",
            ])
    }

    @Test("that prevent a table change cause an error whose remedy works")
    func error() throws {
        let schema = try folder.migrator(["2_rename.sql": "ALTER TABLE entry RENAME TO note"])
        let error = try failure { try schema.migrate(queue) }
        #expect(
            error.message.asByOldSQLite
                == "2_rename.sql:1: error in index i: no such column: draft (SQLite 1).")
        #expect(
            error.remedy == "\(Self.hint) \(Self.remedy)")
        try queue.close()
        let accepting = try folder.queue("app.sqlite", old)
        let report = try schema.migrate(accepting)
        #expect(report.applied == [2])
        #expect(report.warnings == [])
    }

    @Test("double-quoted texts in a migration cause an error with a remedy")
    func inMigration() throws {
        let quoted = try failure {
            try folder.migrator(["2_x.sql": "INSERT INTO entry(state) VALUES (\"draft\");"]).migrate(queue)
        }
        #expect(quoted.message.asByOldSQLite == "2_x.sql:1: no such column: draft (SQLite 1).")
        #expect(quoted.remedy == "\(Self.hint) \(Self.remedy)")
        let error = try failure {
            try folder.migrator(["2_x.sql": "SELECT other FROM entry;"]).migrate(queue)
        }
        #expect(
            error.remedy == Self.remedy)
    }

    @Test("double-quoted texts in a migration's new view cause an error with a remedy")
    func newView() throws {
        let error = try failure {
            try folder.migrator(["2_x.sql": "CREATE VIEW w AS SELECT \"word\" AS x FROM entry;"]).migrate(
                queue)
        }
        #expect(error.code == .stepFailed)
        #expect(error.message.asByOldSQLite.hasPrefix("2_x.sql: leaves view w broken: no such column: word"))
        #expect(
            error.remedy == """
                If "word" is meant as a text, write it in single quotes, or open the database with GRDB's \
                Configuration.acceptsDoubleQuotedStringLiterals. Drop what uses the old names first, and create it \
                again. It was rolled back. Fix it and migrate again.
                """)
    }
}

extension String {
    /// The text without the question that SQLite adds since 3.41.
    fileprivate var asByOldSQLite: String {
        replacing(#/"(\w+)" - should this be a string literal in single-quotes\?/#) { $0.1 }
    }
}
