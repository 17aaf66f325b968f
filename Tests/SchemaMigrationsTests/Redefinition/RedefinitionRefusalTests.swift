import GRDB
import SchemaMigrations
import TestTraits
import Testing

/// A definition that is refused, and why.
struct Refusal: Sendable, CustomTestStringConvertible {
    let table: String
    let definition: String
    let problem: String
    let remedy: String

    var testDescription: String { problem }

    init(_ table: String, _ definition: String, _ problem: String, _ remedy: String? = nil) {
        self.table = table
        self.definition = definition
        self.problem = problem
        self.remedy =
            remedy
                ?? """
                That is more than a constraint: create another table, copy the rows, drop this one and rename the other.
                """
    }
}

/// What a table's new definition must not change.
@Suite("A refused definition", .timed)
struct RedefinitionRefusalTests {
    private static let refusals: [Refusal] = [
        Refusal(
            "t(id INTEGER PRIMARY KEY, a TEXT)", "t(id INTEGER PRIMARY KEY, a INTEGER)",
            "would have another type in column a (TEXT, then INTEGER)"),
        Refusal(
            "t(a INT) STRICT", "t(a INTEGER) STRICT",
            "would have another type in column a (INT, then INTEGER)"),
        Refusal(
            "t(a)", "t(a NUMERIC)", "would have another type in column a (none, then NUMERIC)"),
        Refusal(
            "t(a TEXT)", "t(a TEXT COLLATE NOCASE)",
            "would have another collation in column a (BINARY, then NOCASE)"),
        Refusal(
            "t(a, b AS (a + 1))", "t(a, b AS (a + 2))", "would have another generated value in column b"),
        Refusal(
            "t(a, b AS (a + 1))", "t(a, b AS (a + 1) STORED)",
            "would have another generated value in column b"),
        Refusal(
            "t(a, b AS (a + 1))", "t(a, b)", "would have another generated value in column b"),
        Refusal(
            "t(a, b)", "t(a, b UNIQUE)", "would get UNIQUE (b)", #"Use CREATE UNIQUE INDEX … ON "t"(b)."#),
        Refusal("t(a UNIQUE, b)", "t(a, b)", "would lose UNIQUE (a)"),
        Refusal(
            "t(a UNIQUE, b UNIQUE)", "t(a, b, UNIQUE (b), UNIQUE (a))",
            "would have its UNIQUE constraints in another order",
            "Keep their order: SQLite numbers their indexes."),
        Refusal(
            "t(a, b, UNIQUE (a, b))", "t(a, b, UNIQUE (b, a))", "would get UNIQUE (b, a)",
            #"Use CREATE UNIQUE INDEX … ON "t"(b, a)."#),
        Refusal(
            "t(a, b, UNIQUE (a))", "t(a, b, UNIQUE (a COLLATE NOCASE))", "would get UNIQUE (a)",
            #"Use CREATE UNIQUE INDEX … ON "t"(a)."#),
        Refusal(
            "t(id INT PRIMARY KEY, a)", "t(id INTEGER PRIMARY KEY, a)",
            "would have another primary key (id INT, then id INTEGER)"),
        Refusal(
            "t(id INTEGER PRIMARY KEY, a)", "t(id INTEGER, a)",
            "would have another primary key (id INTEGER, then none)"),
        Refusal(
            "t(a, b, PRIMARY KEY (a, b))", "t(a, b, PRIMARY KEY (b, a))",
            "would have another primary key (a, b, then b, a)"),
        Refusal(
            "t(a, b, PRIMARY KEY (a))", "t(a, b, PRIMARY KEY (a DESC))",
            "would have another primary key (a, then a)"),
        Refusal(
            "t(a, b, PRIMARY KEY (a)) WITHOUT ROWID", "t(a, b, PRIMARY KEY (a COLLATE NOCASE)) WITHOUT ROWID",
            "would have another primary key (a, then a)"),
        Refusal(
            "t(id INTEGER PRIMARY KEY)", "t(id INTEGER PRIMARY KEY AUTOINCREMENT)", "would get AUTOINCREMENT"),
        Refusal(
            "t(id INTEGER PRIMARY KEY AUTOINCREMENT)", "t(id INTEGER PRIMARY KEY)", "would lose AUTOINCREMENT"
        ),
        Refusal("t(a REAL)", "t(a REAL) STRICT", "would become STRICT"),
        Refusal("t(a REAL) STRICT", "t(a REAL)", "would no longer be STRICT"),
        Refusal(
            "t(a PRIMARY KEY)", "t(a PRIMARY KEY) WITHOUT ROWID", "would lose its row ids (WITHOUT ROWID)"),
        Refusal("t(a PRIMARY KEY) WITHOUT ROWID", "t(a PRIMARY KEY)", "would get row ids"),
        Refusal("t(a)", "t(a, b)", "would get a column b", #"Use ALTER TABLE "t" ADD COLUMN "b"."#),
        Refusal("t(a, b)", "t(a)", "would lose its column b", #"Use ALTER TABLE "t" DROP COLUMN "b"."#),
        Refusal(
            "t(a, b)", "t(a, c)", "would have a column c in place of b",
            #"Use ALTER TABLE "t" RENAME COLUMN "b" TO "c"."#),
        Refusal(
            "t(a, b)", "t(b, a)", "would have its columns in another order (b, a)", "Keep the order: a, b."),
    ]

    @Test("changes what is in the rows or their indexes", arguments: refusals)
    func difference(_ refusal: Refusal) throws {
        let table = try RedefinedTable("CREATE TABLE \(refusal.table)")
        #expect(
            try table.refusal(of: "CREATE TABLE \(refusal.definition)")
                == "Table t \(refusal.problem). \(refusal.remedy) Nothing was changed.")
    }

    private static let statements: [(String, String)] = [
        ("DROP TABLE t", "is not a CREATE TABLE statement"),
        ("CREATE TEMP TABLE t(a)", "is not a CREATE TABLE statement"),
        ("CREATE VIRTUAL TABLE t USING fts5(a)", "is not a CREATE TABLE statement"),
        ("", "is not a CREATE TABLE statement"),
        ("CREATE TABLE t(a); DROP TABLE t", "is more than one statement"),
        ("CREATE TABLE u(a)", "names another table, u"),
        ("CREATE TABLE t AS SELECT 1 AS a", "is CREATE TABLE … AS"),
        ("CREATE TABLE temp.t(a)", "names the schema temp; only tables of main can be redefined"),
        ("CREATE TABLE t(a", "cannot be read: incomplete input"),
        ("CREATE TABLE t(a CHECK (c > 0))", "cannot be read: no such column: c"),
        ("CREATE TABLE t(a COLLATE missing)", "cannot be read: no such collation sequence: missing"),
        ("CREATE TABLE t(a CHECK (missing(a)))", "cannot be read: no such function: missing"),
    ]

    @Test("is not one CREATE TABLE of this table", arguments: statements)
    func statement(_ definition: String, _ problem: String) throws {
        let table = try RedefinedTable("CREATE TABLE t(a)")
        #expect(
            try table.refusal(of: definition) == """
                The new definition of table t \(problem). Pass one CREATE TABLE "t"(…) statement. Nothing was changed.
                """)
    }

    private static let objects: [(String, String)] = [
        ("v", "v is a view. Drop the view and create it again."),
        ("f", "f is a virtual table. Drop it, create it again and fill it."),
        ("f_content", "f_content belongs to a virtual table. Leave it as it is."),
        ("sqlite_sequence", "sqlite_sequence is not a table of the app. Leave it as it is."),
        ("schema_migrations", "schema_migrations is not a table of the app. Leave it as it is."),
        ("missing", "There is no table missing. Create it first."),
        (
            "temporary",
            """
            Table temporary is in the schema temp; only tables of main can be redefined. Open its database by itself.
            """
        ),
    ]

    @Test("is for what is not an app's ordinary table", arguments: objects)
    func ordinary(_ name: String, _ message: String) throws {
        let table = try RedefinedTable(
            """
            CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT); CREATE VIEW v AS SELECT 1 AS a;
            CREATE VIRTUAL TABLE f USING fts5(a); CREATE TEMP TABLE temporary(a);
            CREATE TABLE schema_migrations(version INTEGER UNIQUE NOT NULL);
            """)
        #expect(
            try table.refusal(of: "CREATE TABLE \(name)(a NOT NULL)", table: name)
                == "\(message) Nothing was changed.")
    }

    @Test("refers to columns that are not unique")
    func notUnique() throws {
        let table = try RedefinedTable("CREATE TABLE t(a); CREATE TABLE p(b)")
        #expect(
            try table.refusal(of: "CREATE TABLE t(a REFERENCES p(b))", afterWriting: true) == """
                Table t would refer to columns of p that are not unique: foreign key a → p(b). Add a UNIQUE index on \
                these columns of p first. Nothing was changed.
                """)
    }

    @Test("is beside a foreign key that keeps SQLite from checking")
    func mismatch() throws {
        let table = try RedefinedTable(
            "CREATE TABLE p(b); CREATE TABLE q(c PRIMARY KEY); CREATE TABLE t(a REFERENCES p(b))")
        #expect(
            try table.refusal(of: "CREATE TABLE t(a REFERENCES p(b) REFERENCES q(c))", afterWriting: true)
                == """
                SQLite cannot check the foreign keys of table t: foreign key mismatch - "t" referencing "p". Correct that \
                key, or add what it refers to. Nothing was changed.
                """)
    }

    @Test("would have a temporary trigger see rows being written")
    func temporaryTrigger() throws {
        let table = try RedefinedTable(
            """
            CREATE TABLE t(a); INSERT INTO t VALUES (1); ALTER TABLE t ADD COLUMN b DEFAULT 1;
            CREATE TEMP TRIGGER watch AFTER UPDATE ON t BEGIN SELECT 1; END;
            """)
        #expect(
            try table.refusal(of: "CREATE TABLE t(a, b DEFAULT 2)", afterWriting: true) == """
                The temporary trigger watch would see rows of table t being written that do not change. Drop it first. \
                Nothing was changed.
                """)
    }
}
