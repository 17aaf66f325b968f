import Foundation
import TestSupport
import TestTraits
import Testing

@testable import MigrationTools

@Suite("A review of conditions", .timed)
struct ConditionTests {
    private static let note = """
        CREATE TABLE note(
            id INTEGER PRIMARY KEY, title TEXT NOT NULL, body TEXT, kind TEXT NOT NULL, active INTEGER NOT NULL,
            created_at TEXT NOT NULL, day DATE NOT NULL, uuid TEXT NOT NULL, info_json TEXT NOT NULL, file BLOB NOT NULL);
        CREATE TABLE trash(id INTEGER PRIMARY KEY, note INTEGER NOT NULL);
        """
    private static let folder = """
        CREATE TABLE folder(
            id INTEGER PRIMARY KEY, name TEXT NOT NULL, state INTEGER NOT NULL, created_at TEXT NOT NULL);
        CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT, folder INTEGER NOT NULL REFERENCES folder(id));
        CREATE INDEX note_folder ON note(folder);
        """
    private static let loose = """
        CREATE TABLE folder(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
        CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT, folder INTEGER NOT NULL);
        """

    /// Returns the rules of the findings.
    private func rules(_ sql: String, after first: String = note) throws -> [String] {
        try ReviewedMigrations(sql, after: first).review.findings.map(\.rule.name)
            .filter { $0 != "needless-rebuild" }
    }

    private static let decisive = [
        "active", "active = 12345", "id = 5", "length(title) > 1000", "title = ''", "kind >= 'zzz'",
        "kind LIKE 'foo%'",
        "created_at < '1990-01-01'", "created_at > '2090'", "day < '1990-01-01'",
        "uuid = 'A0000000-0000-4000-8000-000000000001'", "json_extract(info_json, '$.state') = 'draft'",
        "length(file) = 0", "kind IN ('a1', 'b1', 'c1', 'd1', 'e1', 'f1', 'g1', 'h1', 'i1')",
        "active = 12345 AND kind = 'draft'", "id IN (SELECT note FROM trash)",
        "EXISTS (SELECT 1 FROM trash AS t WHERE t.note = note.id)",
    ]

    @Test("finds values that an UPDATE overwrites where its condition holds", arguments: decisive)
    func update(condition: String) throws {
        #expect(try rules("UPDATE note SET body = NULL WHERE \(condition);") == ["changed-values"])
    }

    @Test(
        "finds rows that a copy leaves out where its condition does not hold",
        arguments: decisive.sampled(oneIn: 4))
    func copy(condition: String) throws {
        let copy = """
            CREATE TABLE n(
                id INTEGER PRIMARY KEY, title TEXT NOT NULL, body TEXT, kind TEXT NOT NULL, active INTEGER NOT NULL,
                created_at TEXT NOT NULL, day DATE NOT NULL, uuid TEXT NOT NULL, info_json TEXT NOT NULL, file BLOB NOT NULL);
            """
        let rest = "DROP TABLE note; ALTER TABLE n RENAME TO note;"
        for words in [condition, "NOT (\(condition))"] {
            #expect(
                try rules("\(copy) INSERT INTO n SELECT * FROM note WHERE \(words); \(rest)") == [
                    "lost-rows"
                ],
                "\(words)")
        }
    }

    @Test(
        "finds rows that are left without a parent which a DELETE names",
        arguments: [
            "state = 2", "id = 5", "name > 'zzz'", "length(name) > 1000", "created_at < '1990-01-01'",
        ])
    func orphans(condition: String) throws {
        #expect(try rules("DELETE FROM folder WHERE \(condition);", after: Self.folder) == ["orphans"])
    }

    @Test("finds values that go in a case, and by a join with another table")
    func otherForms() throws {
        #expect(
            try rules("UPDATE note SET body = CASE WHEN kind = 'draft' THEN NULL ELSE body END;")
                == ["changed-values"])
        #expect(
            try rules("UPDATE note SET body = NULL FROM trash AS t WHERE t.note = note.id;")
                == ["changed-values"])
    }

    @Test("says that no generated row meets a condition, where that may lose something")
    func untried() throws {
        let odd = "instr(title, char(7)) > 2 AND active % 97 = 13"
        #expect(
            try ReviewedMigrations("SELECT 1;\nUPDATE note SET body = NULL WHERE \(odd);", after: Self.note)
                .findings
                == [
                    """
                    2_b.sql:2: No generated row meets the WHERE, so nothing shows what the statement changes. Test it with an \
                    app's rows. [untried]
                    """
                ])
        #expect(
            try rules("DELETE FROM folder WHERE instr(name, char(7)) > 2;", after: Self.folder) == ["untried"]
        )
        #expect(
            try rules("-- allow: untried\nUPDATE note SET body = NULL WHERE \(odd);") == [])
        // A DELETE says what it deletes, and a new column has nothing to lose.
        #expect(try rules("DELETE FROM note WHERE \(odd);") == [])
        #expect(
            try rules("ALTER TABLE note ADD COLUMN mood TEXT; UPDATE note SET mood = 'odd' WHERE \(odd);")
                == [])
    }

    @Test("says that every generated row meets the condition of a copy")
    func untriedCopy() throws {
        let sql = """
            CREATE TABLE n(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
            INSERT INTO n SELECT * FROM folder WHERE instr(name, char(7)) < 2;
            DROP TABLE folder; ALTER TABLE n RENAME TO folder;
            """
        #expect(
            try ReviewedMigrations(sql, after: Self.loose).findings == [
                """
                2_b.sql:2: Every generated row meets the WHERE, so nothing shows what the statement leaves out. Test it with \
                an app's rows. [untried]
                """
            ])
        let copy = "CREATE TABLE odd AS SELECT * FROM folder WHERE instr(name, char(7)) < 2;"
        #expect(try rules(copy, after: Self.loose) == [])
        let old =
            "CREATE TABLE setting(key TEXT PRIMARY KEY, value); CREATE TABLE old(key TEXT PRIMARY KEY, value);"
        let upsert = """
            INSERT INTO setting(key, value) SELECT key, value FROM old WHERE true ON CONFLICT(key) DO NOTHING;
            DROP TABLE old;
            """
        #expect(try !rules(upsert, after: old).contains("untried"))
    }

    @Test(
        "says what no row meets beside conditions that are written otherwise",
        arguments: [
            """
            INSERT INTO trash SELECT NULL, min(id) FROM note GROUP BY kind
            ON CONFLICT(note) WHERE note > 0 DO UPDATE SET note = excluded.note;
            """,
            "UPDATE odd SET x = x + 1 WHERE x > 0 AND window = 5;",
            "DELETE FROM odd INDEXED BY odd_x WHERE x = 5;",
        ])
    func otherConditions(sql: String) throws {
        let first = """
            \(Self.note)
            CREATE UNIQUE INDEX trash_note ON trash(note) WHERE note > 0;
            CREATE TABLE odd(x INTEGER NOT NULL, window INTEGER NOT NULL);
            CREATE INDEX odd_x ON odd(x);
            """
        let odd = "UPDATE note SET body = NULL WHERE instr(title, char(7)) > 2;"
        #expect(try rules("\(sql) \(odd)", after: first).filter { $0 == "untried" } == ["untried"])
    }

    @Test("tries a number beside a name that many texts stand beside in another table")
    func textsAndNumbers() throws {
        let texts = (0..<45).map { "'k\($0)'" }.joined(separator: ", ")
        let tables = """
            CREATE TABLE a(id INTEGER PRIMARY KEY, kind TEXT NOT NULL, done INTEGER NOT NULL DEFAULT 0);
            CREATE TABLE b(id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, state INTEGER NOT NULL, text TEXT NOT NULL);
            """
        let copy = """
            UPDATE a SET done = 2 WHERE kind IN (\(texts));
            CREATE TABLE b_new(
                id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, state INTEGER NOT NULL, text TEXT NOT NULL, x TEXT);
            INSERT INTO b_new(id, kind, state, text) SELECT id, kind, state, text FROM b WHERE kind <> 777 OR state <> 888;
            DROP TABLE b;
            ALTER TABLE b_new RENAME TO b;
            """
        #expect(try rules(copy, after: tables).contains("lost-rows"))
    }

    @Test("tries few of a great many literals", .timeLimit(.minutes(1)))
    func manyLiterals() throws {
        let ids = (1...2_000).map { "\($0 * 3)" }.joined(separator: ", ")
        #expect(try rules("UPDATE note SET body = NULL WHERE id IN (\(ids));") == ["changed-values"])
    }

    @Test("reads a condition of hundreds of comparisons with one column once", .timeLimit(.minutes(1)))
    func manyComparisons() throws {
        let ids = (1...900).map { "id = \($0 * 3)" }.joined(separator: " OR ")
        let sql = (1...3).map { "UPDATE note SET body = '\($0)' WHERE \(ids);" }.joined(separator: "\n")
        #expect(try rules(sql) == ["changed-values"])
    }

    @Test(
        "finds nothing in the clean-up of rows that refer to no row",
        arguments: [
            "folder NOT IN (SELECT id FROM folder)",
            "\"folder\" NOT IN (SELECT DISTINCT f.id FROM folder AS f)",
            "NOT EXISTS (SELECT 1 FROM folder WHERE folder.id = note.folder)",
            "NOT EXISTS (SELECT * FROM folder f WHERE id = note.folder)",
            "(SELECT count(*) FROM folder f WHERE f.id = folder) = 0",
        ])
    func cleanUp(condition: String) throws {
        #expect(try rules("DELETE FROM note WHERE \(condition);", after: Self.loose) == [])
    }

    @Test(
        "finds rows that a copy loses because they refer to none, as no foreign key says that they must",
        arguments: [
            "folder f, note n WHERE f.id = n.folder", "note n JOIN folder f ON f.id = n.folder",
            "note n INNER JOIN folder AS f ON n.folder = f.id", "note n JOIN folder f ON f.name = n.title",
            "note n WHERE folder IN (SELECT id FROM folder)",
        ])
    func innerJoin(from: String) throws {
        let first = """
            CREATE TABLE folder(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
            CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT NOT NULL, folder INTEGER NOT NULL);
            """
        let sql = """
            CREATE TABLE n2(id INTEGER PRIMARY KEY, title TEXT NOT NULL, folder INTEGER NOT NULL);
            INSERT INTO n2 SELECT n.id, n.title, n.folder FROM \(from);
            DROP TABLE note; ALTER TABLE n2 RENAME TO note;
            """
        #expect(try ReviewedMigrations(sql, after: first).review.findings.map(\.rule.name) == ["lost-rows"])
    }

    @Test("finds values that another table lacks from which a new column is filled")
    func lookedUp() throws {
        let first = """
            CREATE TABLE folder(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
            CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT, folder TEXT NOT NULL);
            """
        let sql = """
            ALTER TABLE note ADD COLUMN folder_id INTEGER;
            UPDATE note SET folder_id = (SELECT f.id FROM folder f WHERE f.name = note.folder);
            ALTER TABLE note DROP COLUMN folder;
            """
        #expect(try rules(sql, after: first) == ["drop-column"])
    }

    @Test("finds nothing in the clean-up of rows to which none refers")
    func unused() throws {
        let words = "id NOT IN (SELECT folder FROM note)"
        #expect(try rules("DELETE FROM folder WHERE \(words);", after: Self.folder) == [])
        #expect(
            try rules("DELETE FROM folder WHERE \(words) OR id > -9;", after: Self.folder)
                == ["delete-without-where", "orphans"])
    }

    @Test(
        "finds rows that are replaced by others of the same name but for the case, or a space",
        arguments: [
            "UPDATE OR REPLACE tag SET name = lower(name);", "UPDATE OR REPLACE tag SET name = trim(name);",
            """
            CREATE TABLE n(id INTEGER PRIMARY KEY, name TEXT UNIQUE); INSERT OR IGNORE INTO n SELECT id, lower(name) FROM tag;
            DROP TABLE tag; ALTER TABLE n RENAME TO tag;
            """,
        ])
    func conflicts(sql: String) throws {
        let found = try rules(sql, after: "CREATE TABLE tag(id INTEGER PRIMARY KEY, name TEXT UNIQUE);")
        #expect(found.filter { $0 != "changed-values" } == ["lost-rows"])
    }

    private static func checked(_ name: String, _ column: String) -> String {
        "CREATE TABLE \(name)(id INTEGER PRIMARY KEY, title TEXT NOT NULL, \(column));"
    }

    @Test(
        "finds rows that a copy loses because a foreign key is null, whatever the table is called",
        arguments: ["note", "entry", "item", "task", "book", "photo", "event", "message"])
    func withoutParents(name: String) throws {
        let columns = "(id INTEGER PRIMARY KEY, title TEXT NOT NULL, folder INTEGER REFERENCES folder(id));"
        let first = """
            CREATE TABLE folder(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
            CREATE TABLE \(name)\(columns)
            CREATE INDEX by_folder ON \(name)(folder);
            """
        func sql(_ join: String, _ more: String = "") -> String {
            """
            CREATE TABLE n\(columns)
            INSERT INTO n SELECT o.id, o.title, o.folder FROM \(name) o \(join) folder f ON f.id = o.folder; \(more)
            DROP TABLE \(name); ALTER TABLE n RENAME TO \(name); CREATE INDEX by_folder ON \(name)(folder);
            """
        }
        #expect(try rules(sql("JOIN"), after: first) == ["lost-rows"])
        #expect(try rules(sql("LEFT JOIN"), after: first) == [])
        let rest = "INSERT INTO n SELECT * FROM \(name) WHERE folder IS NULL;"
        #expect(try rules(sql("JOIN", rest), after: first) == [])
    }

    @Test(
        "finds rows and values that a join leaves out, since no row refers to theirs",
        arguments: [
            (
                """
                CREATE TABLE n(id INTEGER PRIMARY KEY, name TEXT NOT NULL, bio TEXT, picture BLOB);
                INSERT INTO n SELECT p.id, name, bio, picture FROM person p JOIN profile ON person_id = p.id;
                DROP TABLE person; ALTER TABLE n RENAME TO person;
                """,
                "Rebuilding table `person` loses rows: of 8 generated rows, those to which no row refers are lost."
            ),
            (
                """
                ALTER TABLE profile ADD COLUMN bio TEXT;
                UPDATE profile SET bio = (SELECT bio FROM person WHERE id = person_id);
                ALTER TABLE person DROP COLUMN bio;
                """,
                "Column `bio` of table `person` is dropped: its values are lost where no row refers to theirs."
            ),
        ])
    func childless(sql: String, finding: String) throws {
        let first = """
            CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT NOT NULL, bio TEXT);
            CREATE TABLE profile(person_id INTEGER PRIMARY KEY REFERENCES person(id), picture BLOB);
            """
        let findings = try ReviewedMigrations(sql, after: first).findings
        #expect(findings.count == 1 && findings[0].contains(finding), "\(findings)")
        let left = sql.replacing(" JOIN", with: " LEFT JOIN")
        if left != sql { #expect(try rules(left, after: first) == []) }
    }

    @Test("finds rows that a join leaves out, though it fails where several rows refer to one")
    func childlessBesideSiblings() throws {
        let first = """
            CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE pet(id INTEGER PRIMARY KEY, person INTEGER REFERENCES person(id));
            CREATE INDEX pet_person ON pet(person);
            """
        func sql(_ join: String) -> String {
            """
            CREATE TABLE n(id INTEGER PRIMARY KEY, name TEXT);
            INSERT INTO n SELECT p.id, p.name FROM person p \(join) pet ON pet.person = p.id;
            DROP TABLE person; ALTER TABLE n RENAME TO person;
            """
        }
        #expect(try rules(sql("JOIN"), after: first) == ["lost-rows", "new-unique"])
        #expect(try rules(sql("LEFT JOIN"), after: first) == ["new-unique"])
    }

    @Test(
        "finds rows of which one statement copies one, though several refer to the same row",
        arguments: [
            "(SELECT title FROM tag WHERE book_id = book.id)", "title FROM tag WHERE book_id = book.id",
        ])
    func siblings(value: String) throws {
        let first = """
            CREATE TABLE book(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
            CREATE TABLE tag(book_id INTEGER NOT NULL REFERENCES book(id), title TEXT, PRIMARY KEY(book_id, title));
            """
        func sql(_ value: String) -> String {
            "ALTER TABLE book ADD COLUMN tags TEXT; UPDATE book SET tags = \(value); DROP TABLE tag;"
        }
        #expect(try rules(sql(value), after: first) == ["drop-table"])
        let all = "(SELECT json_group_array(title) FROM tag WHERE book_id = book.id)"
        #expect(try rules(sql(all), after: first) == [])
    }

    @Test(
        "finds nothing in a copy by joins that all rows meet, whatever their keys share",
        arguments: [
            (
                """
                CREATE TABLE account(id INTEGER PRIMARY KEY, name TEXT);
                CREATE TABLE folder(account INTEGER REFERENCES account, id INTEGER, name TEXT, PRIMARY KEY(account, id));
                CREATE TABLE mail(id INTEGER PRIMARY KEY, account INTEGER NOT NULL REFERENCES account(id),
                    folder INTEGER NOT NULL, FOREIGN KEY(account, folder) REFERENCES folder(account, id));
                """,
                "SELECT mail.id, name FROM mail JOIN folder f ON f.account = mail.account AND f.id = folder",
                "mail"
            ),
            (
                """
                CREATE TABLE user(id INTEGER PRIMARY KEY, name TEXT);
                CREATE TABLE kind(id INTEGER PRIMARY KEY, title TEXT);
                CREATE TABLE profile(id INTEGER PRIMARY KEY REFERENCES user, picture TEXT);
                CREATE TABLE note(id INTEGER PRIMARY KEY REFERENCES profile, kind INTEGER REFERENCES kind);
                """, "SELECT note.id, kind FROM note JOIN profile ON profile.id = note.id", "note"
            ),
            (
                """
                CREATE TABLE team(id INTEGER PRIMARY KEY, name TEXT);
                CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT);
                CREATE TABLE member(team INTEGER REFERENCES team, person INTEGER REFERENCES person,
                    role TEXT, PRIMARY KEY(team, person));
                CREATE TABLE shift(id INTEGER PRIMARY KEY, team INTEGER NOT NULL, person INTEGER NOT NULL,
                    FOREIGN KEY(team, person) REFERENCES member(team, person));
                """, "SELECT shift.id, role FROM shift JOIN member USING (team, person)", "shift"
            ),
        ])
    func relatedKeys(first: String, copy: String, table: String) throws {
        let sql = """
            CREATE TABLE n(id INTEGER PRIMARY KEY, value); INSERT INTO n \(copy);
            DROP TABLE \(table); ALTER TABLE n RENAME TO \(table);
            """
        let rules = try rules(sql, after: first)
        #expect(!rules.contains("lost-rows"), "\(rules)")
    }

    @Test("finds nothing in the deletion of rows to which none refers")
    func unreferred() throws {
        let first = """
            CREATE TABLE g(id INTEGER PRIMARY KEY, a TEXT); CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT);
            CREATE TABLE p(id INTEGER PRIMARY KEY, g INTEGER NOT NULL REFERENCES g, t INTEGER NOT NULL REFERENCES t);
            CREATE TABLE q(id INTEGER PRIMARY KEY, p INTEGER NOT NULL REFERENCES p, g INTEGER NOT NULL REFERENCES g,
                t INTEGER NOT NULL REFERENCES t);
            CREATE TABLE r(id INTEGER PRIMARY KEY, q INTEGER NOT NULL REFERENCES q, p INTEGER NOT NULL REFERENCES p,
                g INTEGER NOT NULL REFERENCES g);
            """
        let sql = """
            UPDATE g SET a = trim(a); UPDATE t SET a = trim(a); UPDATE p SET g = g + 0;
            DELETE FROM q WHERE id NOT IN (SELECT q FROM r);
            """
        let rules = try rules(sql, after: first)
        #expect(Set(rules).subtracting(["unindexed-foreign-key"]) == [], "\(rules)")
    }

    @Test(
        "finds rows that a copy leaves out for a value which a CHECK names",
        arguments: [
            "status IN ('open', 'done')", "status <> 'open'", "status <> 'archived'",
            "status = 'open' OR status = 'done'",
        ], ["status TEXT NOT NULL", "status TEXT NOT NULL DEFAULT 'open'"])
    func checkedValues(condition: String, column: String) throws {
        let status = "\(column) CHECK (status IN ('open', 'done', 'archived'))"
        let sql = """
            \(Self.checked("n", status)) INSERT INTO n SELECT * FROM task WHERE \(condition);
            DROP TABLE task; ALTER TABLE n RENAME TO task;
            """
        #expect(try rules(sql, after: Self.checked("task", status)) == ["lost-rows"])
    }

    @Test("finds rows for which a split has no table")
    func split() throws {
        let first = Self.checked(
            "task", "status TEXT NOT NULL CHECK (status IN ('open', 'done', 'archived'))")
        func sql(_ rest: String) -> String {
            """
            CREATE TABLE a(id INTEGER PRIMARY KEY, title TEXT); CREATE TABLE b(id INTEGER PRIMARY KEY, title TEXT);
            INSERT INTO a SELECT id, title FROM task WHERE status = 'open';
            INSERT INTO b SELECT id, title FROM task WHERE \(rest);
            DROP TABLE task;
            """
        }
        #expect(try rules(sql("status = 'done'"), after: first) == ["drop-table"])
        #expect(try rules(sql("status <> 'open'"), after: first).contains("untried") == false)
    }

    @Test(
        "finds rows that a copy leaves out for a key",
        arguments: [
            "id > 0", "id >= 1", "id <> -1", "folder <> 'trash' OR folder IS NULL", "folder <> 'trash'",
        ])
    func keys(condition: String) throws {
        let columns = "(id INTEGER PRIMARY KEY, title TEXT NOT NULL, folder TEXT REFERENCES folder(id));"
        let first = """
            CREATE TABLE folder(id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL);
            CREATE TABLE note\(columns) CREATE INDEX note_folder ON note(folder);
            """
        let sql = """
            CREATE TABLE n\(columns) INSERT INTO n SELECT * FROM note WHERE \(condition);
            DROP TABLE note; ALTER TABLE n RENAME TO note; CREATE INDEX note_folder ON note(folder);
            """
        #expect(try rules(sql, after: first) == ["lost-rows"])
        let both = sql.replacingOccurrences(
            of: "DROP TABLE",
            with: "INSERT INTO n SELECT * FROM note WHERE (\(condition)) IS NOT TRUE; DROP TABLE")
        #expect(try rules(both, after: first) == [])
    }

    @Test("finds rows of a table that others refer to, which a copy leaves out for a key")
    func parentKey() throws {
        let first = """
            CREATE TABLE folder(id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL);
            CREATE TABLE note(id INTEGER PRIMARY KEY, folder TEXT REFERENCES folder(id) ON DELETE CASCADE);
            CREATE INDEX note_folder ON note(folder);
            """
        let sql = """
            CREATE TABLE n(id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL);
            INSERT INTO n SELECT * FROM folder WHERE id <> 'trash'; DELETE FROM note WHERE folder = 'trash';
            DROP TABLE folder; ALTER TABLE n RENAME TO folder;
            """
        #expect(try rules(sql, after: first).contains("lost-rows"))
    }

    @Test(
        "says that no row which it judges is left out by a copy",
        arguments: ["lat <> 47.25", "typeof(lat) <> 'blob'", "lat < 1e300"])
    func unjudgedCopy(condition: String) throws {
        let sql = """
            \(Self.checked("n", "lat REAL NOT NULL")) INSERT INTO n SELECT * FROM place WHERE \(condition);
            DROP TABLE place; ALTER TABLE n RENAME TO place;
            """
        #expect(try rules(sql, after: Self.checked("place", "lat REAL NOT NULL")) == ["untried"])
    }

    @Test("finds values that are lost beside a null")
    func besideNulls() throws {
        let first = "CREATE TABLE p(id INTEGER PRIMARY KEY, first, last);"
        func sql(_ expression: String) -> String {
            """
            ALTER TABLE p ADD COLUMN name; UPDATE p SET name = \(expression);
            ALTER TABLE p DROP COLUMN first; ALTER TABLE p DROP COLUMN last;
            """
        }
        #expect(
            try ReviewedMigrations(sql("first || ' ' || last"), after: first).findings == [
                "2_b.sql:2: Column `last` of table `p` is dropped: its values are lost where `first` is NULL. [drop-column]",
                "2_b.sql:2: Column `first` of table `p` is dropped: its values are lost where `last` is NULL. [drop-column]",
            ])
        #expect(try rules(sql("coalesce(first, '') || ' ' || coalesce(last, '')"), after: first) == [])
        #expect(try rules(sql("json_array(first, last)"), after: first) == [])
        // Who asks for a value has thought of the rows that have none, but not of their other values.
        #expect(
            try rules(sql("CASE WHEN first IS NOT NULL THEN first || coalesce(last, '') END"), after: first)
                == ["drop-column"])
        #expect(
            try rules(
                sql("CASE WHEN first IS NOT NULL THEN json_array(first, last) ELSE last END"), after: first)
                == [])
    }

    @Test(
        "tries rows beside the highest id that there is",
        arguments: ["k TEXT PRIMARY KEY", "k INTEGER PRIMARY KEY"])
    func highestID(key: String) throws {
        let first = "CREATE TABLE t(\(key), v); INSERT INTO t(rowid, v) VALUES (9223372036854775807, 'x');"
        #expect(try rules("ALTER TABLE t ADD COLUMN w;", after: first) == [])
    }

    @Test("finds rows that are lost where one column is null, and others are not")
    func besideNull() throws {
        let columns = "(id INTEGER PRIMARY KEY, title TEXT NOT NULL, deleted_at TEXT, restored_at TEXT);"
        let sql = """
            CREATE TABLE n\(columns)
            INSERT INTO n SELECT * FROM note WHERE deleted_at IS NULL OR restored_at IS NOT NULL;
            DROP TABLE note; ALTER TABLE n RENAME TO note;
            """
        #expect(try rules(sql, after: "CREATE TABLE note\(columns)") == ["lost-rows"])
    }

    @Test(
        "finds two spellings of one text for which a key has one place",
        arguments: [
            "UPDATE tag SET name = lower(name);", "UPDATE tag SET name = trim(name);",
            "CREATE UNIQUE INDEX i ON tag(lower(name));",
            "CREATE UNIQUE INDEX i ON tag(name COLLATE NOCASE);",
            """
            CREATE TABLE n(name TEXT PRIMARY KEY NOT NULL COLLATE NOCASE); INSERT INTO n SELECT name FROM tag;
            DROP TABLE tag; ALTER TABLE n RENAME TO tag;
            """,
        ], ["PRIMARY KEY NOT NULL", "NOT NULL UNIQUE"])
    func spellings(sql: String, constraint: String) throws {
        let first = "CREATE TABLE tag(name TEXT \(constraint));"
        #expect(try rules(sql, after: first).contains("new-unique"))
        let merged =
            "DELETE FROM tag WHERE rowid NOT IN (SELECT min(rowid) FROM tag GROUP BY lower(trim(name)));"
        #expect(try rules(merged + sql, after: first).contains("new-unique") == false)
    }
}
