import GRDB
import TestSupport
import Testing

@testable import MigrationTools

@Suite("A review of what is lost", .timed)
struct LossTests {
    private static let book =
        "CREATE TABLE book(id INTEGER PRIMARY KEY, title TEXT, price TEXT, stock INTEGER);"

    private func findings(_ sql: String, after first: String = book) throws -> [String] {
        try ReviewedMigrations(sql, after: first).findings.map { $0.replacing("2_b.sql:", with: "") }
    }

    @Test(
        "finds values that are lost where a file runs over few rows, because it reads JSON or breaks a key",
        arguments: [
            (
                "UPDATE note SET meta = json_set(meta, '$.v', 2); UPDATE note SET title = NULL;",
                ["update-without-where"]
            ),
            (
                "UPDATE note SET meta = json_set(meta, '$.v', 2); UPDATE note SET title = 'n' || id;",
                ["changed-values"]
            ),
            (
                """
                CREATE TABLE n(id INTEGER PRIMARY KEY, title TEXT, body TEXT, meta TEXT, pos INTEGER UNIQUE);
                INSERT INTO n SELECT id, body, title, meta, pos FROM note; DROP TABLE note; ALTER TABLE n RENAME TO note;
                UPDATE note SET meta = json_set(meta, '$.v', 2);
                """, ["lost-values", "lost-values"]
            ),
            (
                "UPDATE note SET title = 'n' || id; CREATE UNIQUE INDEX note_body ON note(body);",
                ["changed-values", "new-unique"]
            ),
            ("UPDATE note SET pos = pos + 1;", ["new-unique"]),
            (
                "UPDATE note SET meta = json_set(meta, '$.a', title); ALTER TABLE note DROP COLUMN title;",
                ["drop-column"]
            ),
        ])
    func fewRows(sql: String, rules: [String]) throws {
        let first =
            "CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT, body TEXT, meta TEXT, pos INTEGER UNIQUE);"
        let findings = try findings(sql, after: first)
        let found = findings.compactMap { $0.split(separator: "[").last?.dropLast() }.map(String.init)
        #expect(found.sorted() == rules, "\(findings)")
    }

    @Test(
        "finds nothing where the present or chance stands in for a value that a row lacks",
        arguments: [
            "strftime('%Y-%m-%d %H:%M:%f', 'now')", "julianday('now')", "CURRENT_TIMESTAMP", "randomblob(16)",
            "lower(hex(randomblob(16)))", "random()",
        ])
    func presentForNull(now: String) throws {
        let findings = try findings(
            """
            CREATE TABLE sale(id INTEGER PRIMARY KEY, item TEXT NOT NULL, sold NOT NULL);
            INSERT INTO sale SELECT id, title, coalesce(price, \(now)) FROM note; DROP TABLE note;
            """, after: "CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT NOT NULL, price TEXT);")
        #expect(findings.isEmpty, "\(findings)")
    }

    @Test(
        "finds values that are lost beside what chance chooses",
        arguments: [
            "random() % 2", "(SELECT title FROM note ORDER BY random() LIMIT 1)", "hex(randomblob(16))",
        ])
    func choice(value: String) throws {
        let findings = try findings(
            """
            ALTER TABLE note ADD COLUMN extra; UPDATE note SET extra = \(value);
            ALTER TABLE note DROP COLUMN price;
            """, after: "CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT NOT NULL, price TEXT);")
        #expect(findings.count == 1, "\(findings)")
        #expect(
            findings.first?.hasPrefix("2: Column `price` of table `note` is dropped") == true, "\(findings)")
    }

    @Test(
        "finds nothing where chance chooses for the rows of one table, and another one's have their own values"
    )
    func choiceForOthers() throws {
        let findings = try findings(
            """
            CREATE TABLE item(id INTEGER PRIMARY KEY, title TEXT NOT NULL, color);
            INSERT INTO item(title, color) SELECT title, color FROM note;
            INSERT INTO item(title, color) SELECT word, abs(random()) % 3 FROM tag;
            DROP TABLE note; DROP TABLE tag;
            """,
            after: """
                CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT NOT NULL, color TEXT NOT NULL, isDone BOOLEAN);
                CREATE TABLE tag(id INTEGER PRIMARY KEY, word TEXT NOT NULL);
                """)
        #expect(!findings.contains { $0.contains("`color`") }, "\(findings)")
    }

    @Test("finds that the present in a check fails, although its own time stands still")
    func presentInCheck() throws {
        let findings = try findings(
            """
            CREATE TABLE day(id INTEGER PRIMARY KEY, d TEXT CHECK (d <= date('now')));
            INSERT INTO day SELECT id, title FROM note;
            """, after: "CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT NOT NULL);")
        #expect(
            findings.contains { $0.contains("non-deterministic use of date() in a CHECK") }, "\(findings)")
    }

    @Test("copies a database into one whose clock stands still")
    func clock() throws {
        let database = try DatabaseQueue()
        func now(_ db: Database) throws -> String {
            try #require(try String.fetchOne(db, sql: "SELECT strftime('%Y-%m-%d %H:%M:%f', 'now')"))
        }
        let copies = CopyInMemory()
        let first = try copies.copy(of: database).read(now)
        while try database.read(now) <= first {}
        #expect(try copies.copy(of: database).read(now) == first)
        copies.close()
        #expect(try copies.copy(of: database).read(now) == first)
    }

    @Test(
        "finds rows that agree in a part of their key, which a new key leaves out",
        arguments: ["INSERT OR IGNORE", "INSERT OR REPLACE", "INSERT"], ["", " WITHOUT ROWID"])
    func narrowerKey(insert: String, option: String) throws {
        let clause = insert == "INSERT" ? " ON CONFLICT IGNORE" : ""
        let findings = try findings(
            """
            CREATE TABLE n(a TEXT NOT NULL, b TEXT NOT NULL, c TEXT, PRIMARY KEY(a)\(clause))\(option);
            \(insert) INTO n SELECT * FROM note; DROP TABLE note; ALTER TABLE n RENAME TO note;
            """,
            after: "CREATE TABLE note(a TEXT NOT NULL, b TEXT NOT NULL, c TEXT, PRIMARY KEY(a, b))\(option);")
        #expect(
            findings.contains {
                $0.contains("Rebuilding table `note` loses rows, which a conflict clause leaves out")
            }, "\(findings)")
    }

    @Test(
        "finds rows that agree in a part of their key, of which a GROUP BY keeps one",
        arguments: [
            "INSERT INTO n SELECT a, b, c FROM note GROUP BY a;",
            "INSERT INTO n SELECT * FROM note WHERE rowid IN (SELECT min(rowid) FROM note GROUP BY a);",
        ])
    func grouped(copy: String) throws {
        let table = "(a TEXT NOT NULL, b TEXT NOT NULL, c TEXT, PRIMARY KEY(a, b));"
        func findings(_ copy: String) throws -> [String] {
            try self.findings(
                "CREATE TABLE n\(table) \(copy) DROP TABLE note; ALTER TABLE n RENAME TO note;",
                after: "CREATE TABLE note\(table)")
        }
        #expect(
            try findings(copy).contains {
                $0.contains("Rebuilding table `note` loses rows, which `GROUP BY` leaves out")
            })
        let whole = try findings(copy.replacing("GROUP BY a", with: "GROUP BY a, b"))
        #expect(!whole.contains { $0.contains("loses rows") }, "\(whole)")
    }

    @Test("tries a table of which an index reads JSON")
    func indexedJSON() throws {
        let first = """
            CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT, meta TEXT);
            CREATE INDEX note_kind ON note(json_extract(meta, '$.kind'));
            """
        #expect(
            try findings("CREATE UNIQUE INDEX note_title ON note(title);", after: first).contains {
                $0.hasSuffix("[new-unique]")
            })
        #expect(try findings("UPDATE note SET title = title || '!';", after: first) == [])
    }

    @Test(
        "finds rows and values that no statement keeps, though one reads them",
        arguments: [
            (
                "CREATE TABLE t(n INTEGER); INSERT INTO t SELECT count(*) FROM book;\nDROP TABLE book;",
                "2: Table `book` is dropped: its rows are lost. [drop-table]"
            ),
            (
                "CREATE TABLE t(a, b, c, d); INSERT INTO t SELECT * FROM book WHERE 0;\nDROP TABLE book;",
                "2: Table `book` is dropped: its rows are lost. [drop-table]"
            ),
            (
                "CREATE TABLE t AS SELECT * FROM book LIMIT 1;\nDROP TABLE book;",
                "2: Table `book` is dropped: of 8 generated rows, 7 are lost. [drop-table]"
            ),
            (
                "CREATE TABLE t AS SELECT id FROM book;\nDROP TABLE book;",
                """
                2: Table `book` is dropped: the values of columns `price`, `stock` and `title` are lost. [drop-table]
                """
            ),
            (
                """
                CREATE TABLE p(id, price); INSERT INTO p SELECT id, price FROM book WHERE price = 'none';
                ALTER TABLE book DROP COLUMN price;
                """,
                "2: Column `price` of table `book` is dropped: its values are lost. [drop-column]"
            ),
            (
                "CREATE TABLE t(n); INSERT INTO t SELECT sum(stock) FROM book; ALTER TABLE book DROP COLUMN stock;",
                "1: Column `stock` of table `book` is dropped: its values are lost. [drop-column]"
            ),
            // A few words begin with a number, and a sum remembers them.
            (
                "CREATE TABLE t(n); INSERT INTO t SELECT sum(title) FROM book; DROP TABLE book;",
                "1: Table `book` is dropped: of 8 generated rows, 6 are lost. [drop-table]"
            ),
            (
                "UPDATE OR REPLACE book SET id = id / 2;",
                """
                1: Table `book` loses rows: of 8 generated rows, it keeps 4. Copy every row, or delete rows with a DELETE \
                that says which. [lost-rows]
                """
            ),
            (
                "DELETE FROM book WHERE id > 0 OR id <= 0;",
                """
                1: Every row of table `book` is deleted: its WHERE holds for every generated row. [delete-without-where]
                """
            ),
        ])
    func lost(sql: String, finding: String) throws {
        #expect(try findings(sql) == [finding])
    }

    @Test(
        "finds rows that are lost beside those that a DELETE names",
        arguments: [
            (
                """
                DELETE FROM book WHERE id < 0;
                CREATE TABLE n(id INTEGER PRIMARY KEY, title TEXT, price TEXT, stock INTEGER);
                INSERT INTO n SELECT * FROM book WHERE id % 2 = 0; DROP TABLE book; ALTER TABLE n RENAME TO book;
                """,
                [
                    """
                    3: Rebuilding table `book` loses rows: of 8 generated rows, it keeps 4. Copy every row, or delete rows with a \
                    DELETE that says which. [lost-rows]
                    """
                ]
            ),
            (
                """
                DELETE FROM book WHERE id % 2 = 1;
                CREATE TABLE n(id INTEGER PRIMARY KEY, title TEXT, price TEXT, stock INTEGER);
                INSERT INTO n SELECT * FROM book; DROP TABLE book; ALTER TABLE n RENAME TO book;
                """, []
            ),
            ("DELETE FROM book WHERE id % 2 = 1; UPDATE OR REPLACE book SET id = id / 4;", nil),
        ] as [(String, [String]?)])
    func besideDelete(sql: String, expected: [String]?) throws {
        let found = try findings(sql)
        if let expected {
            #expect(found == expected)
        } else {
            #expect(found.contains { $0.contains("[lost-rows]") })
        }
    }

    @Test(
        "finds values that go where another column is null",
        arguments: ["title", "hash", "width", "album"])
    func lonelyNull(column: String) throws {
        let photo = """
            CREATE TABLE photo(
                id INTEGER PRIMARY KEY, title TEXT, hash TEXT, width INTEGER, album TEXT, note TEXT, size REAL);
            """
        let found = try findings("UPDATE photo SET note = 'x' WHERE \(column) IS NULL;", after: photo)
        #expect(
            found.count == 1 && found[0].hasPrefix("1: Column `note` of table `photo` loses values: "),
            "\(found)")
    }

    private static let item = "CREATE TABLE item(id INTEGER PRIMARY KEY, price REAL NOT NULL);"
    private static let shelf = "CREATE TABLE book(id INTEGER PRIMARY KEY, title TEXT, shelf INTEGER);"
    private static let rebuild = """
        CREATE TABLE n(id INTEGER PRIMARY KEY, title TEXT); INSERT INTO n SELECT id, title FROM book;
        DROP TABLE book; ALTER TABLE n RENAME TO book;
        """

    @Test(
        "finds nothing if the values are kept, in whatever form",
        arguments: [
            (item, "UPDATE item SET cents = round(price * 100)"),
            (item, "UPDATE item SET cents = CAST(price AS INTEGER)"),
            (item, "UPDATE item SET cents = coalesce(upper(price), '')"),
            (item, "UPDATE item SET cents = (SELECT hex(i.price) FROM item AS i WHERE i.id = item.id)"),
            (item, "UPDATE item SET cents = json_object('price', price)"),
            (item, "CREATE TABLE price AS SELECT id, price FROM item"),
        ])
    func kept(first: String, sql: String) throws {
        let sql = "ALTER TABLE item ADD COLUMN cents; \(sql); ALTER TABLE item DROP COLUMN price;"
        #expect(try findings(sql, after: first) == [])
    }

    @Test(
        "finds nothing in values that are moved, joined, split or renamed",
        arguments: [
            (
                shelf,
                "CREATE TABLE shelf(book, shelf); INSERT INTO shelf SELECT id, shelf FROM book; \(rebuild)"
            ),
            (
                "CREATE TABLE a(id INTEGER PRIMARY KEY, t TEXT); CREATE TABLE b(id INTEGER PRIMARY KEY, t TEXT);",
                """
                CREATE TABLE c(kind TEXT, id INTEGER, t TEXT);
                INSERT INTO c SELECT 'a', id, t FROM a UNION ALL SELECT 'b', id, t FROM b; DROP TABLE a; DROP TABLE b;
                """
            ),
            (
                "CREATE TABLE event(id INTEGER PRIMARY KEY, happened TEXT);",
                """
                ALTER TABLE event ADD COLUMN seconds INTEGER;
                UPDATE event SET seconds = strftime('%s', happened); ALTER TABLE event DROP COLUMN happened;
                """
            ),
            (
                "CREATE TABLE person(id INTEGER PRIMARY KEY, details TEXT);",
                """
                ALTER TABLE person ADD COLUMN name; UPDATE person SET name = json_extract(details, '$.name');
                ALTER TABLE person DROP COLUMN details;
                """
            ),
            (
                "CREATE VIRTUAL TABLE old USING fts5(body, title);",
                """
                CREATE VIRTUAL TABLE new USING fts5(title, body); INSERT INTO new(title, body) SELECT title, body FROM old;
                DROP TABLE old;
                """
            ),
        ])
    func moved(first: String, sql: String) throws {
        #expect(try findings(sql, after: first) == [])
    }

    @Test("finds nothing in a rename and a rebuild in one file")
    func renameAndRebuild() throws {
        let sql = """
            -- allow: renamed-column
            ALTER TABLE book RENAME COLUMN title TO name;
            CREATE TABLE n(id INTEGER PRIMARY KEY, name TEXT, price TEXT, stock INTEGER, mood TEXT);
            INSERT INTO n SELECT id, name, price, stock, NULL FROM book;
            DROP TABLE book;
            ALTER TABLE n RENAME TO book;
            """
        #expect(try findings(sql) == [])
    }

    @Test("finds nothing in values that an earlier file has copied")
    func earlierCopy() throws {
        let files = [
            "1_a.sql": Self.shelf,
            "2_b.sql": "CREATE TABLE shelf(book, shelf); INSERT INTO shelf SELECT id, shelf FROM book;",
            "3_c.sql": "ALTER TABLE book DROP COLUMN shelf;",
        ]
        #expect(try ReviewedMigrations(files).findings == [])
    }

    @Test(
        "excuses rows that an earlier file has copied where their table goes, and not where it stays",
        arguments: [
            ("DROP TABLE book;", []),
            ("ALTER TABLE book RENAME TO old; DROP TABLE old;", []),
            (
                "DELETE FROM book;",
                ["1: Every row of table `book` is deleted: DELETE has no WHERE. [delete-without-where]"]
            ),
            (
                """
                CREATE TABLE n(id INTEGER PRIMARY KEY, title TEXT, price TEXT, stock INTEGER);
                INSERT INTO n SELECT * FROM book LIMIT 2; DROP TABLE book; ALTER TABLE n RENAME TO book;
                """,
                [
                    """
                    2: Rebuilding table `book` loses rows: of 8 generated rows, it keeps 2. Copy every row, or delete rows with a \
                    DELETE that says which. [lost-rows]
                    """
                ]
            ),
        ])
    func earlierCopyOfRows(sql: String, expected: [String]) throws {
        let files = [
            "1_a.sql": Self.book, "2_b.sql": "CREATE TABLE backup AS SELECT * FROM book;", "3_c.sql": sql,
        ]
        let found = try ReviewedMigrations(files).findings.filter { !$0.contains("[renamed-table]") }
        #expect(found.map { $0.replacing("3_c.sql:", with: "") } == expected)
    }

    private static let author = """
        CREATE TABLE author(id INTEGER PRIMARY KEY, first TEXT, last TEXT, state INTEGER NOT NULL DEFAULT 0);
        """

    @Test(
        "finds what an earlier file has left out of the table that this one drops",
        arguments: [
            (
                "SELECT id, first || ' ' || last, state FROM author;",
                [
                    "Table `author` is dropped: the values of column `last` are lost where `first` is NULL.",
                    "Table `author` is dropped: the values of column `first` are lost where `last` is NULL.",
                ]
            ),
            (
                "SELECT id, coalesce(first, '') || ' ' || coalesce(last, ''), state FROM author WHERE state <> 1;",
                ["Table `author` is dropped: of 8 generated rows, 1 is lost."]
            ),
            ("SELECT id, coalesce(first, '') || ' ' || coalesce(last, ''), state FROM author;", []),
            (
                """
                SELECT id, coalesce(first, '') || ' ' || coalesce(last, ''), state FROM author;
                DELETE FROM person WHERE state = 1;
                """, []
            ),
        ])
    func earlierCopyOfSomeRows(copy: String, expected: [String]) throws {
        let create = "CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT, state INTEGER);"
        let files = [
            "1_a.sql": Self.author, "2_b.sql": "\(create)\nINSERT INTO person \(copy)",
            "3_c.sql": "DROP TABLE author;",
        ]
        let found = try ReviewedMigrations(files).findings
        #expect(found.map { $0.replacing(" [drop-table]", with: "") } == expected.map { "3_c.sql:1: \($0)" })
    }

    @Test(
        "finds the values of a dropped column that a copy leaves out for a value which its condition names",
        arguments: [
            ("WHERE state <> 1", true), ("WHERE kind IS NOT 'draft'", true),
            ("WHERE body IS NOT NULL", false),
            ("", false),
        ])
    func conditionOfColumn(words: String, isLossy: Bool) throws {
        let copy = "CREATE TABLE text(note, body);\nINSERT INTO text SELECT id, body FROM note \(words);"
        let drop = "ALTER TABLE note DROP COLUMN body;"
        let title = "Column `body` of table `note` is dropped: its values are lost in "
        let inOneFile = try findings("\(copy)\n\(drop)", after: Self.stated)
        let inTwo = try ReviewedMigrations(["1_a.sql": Self.stated, "2_b.sql": copy, "3_c.sql": drop])
            .findings
        for found in [inOneFile, inTwo] {
            #expect(found.count == (isLossy ? 1 : 0), "\(found)")
            #expect(found.allSatisfy { $0.contains(title) }, "\(found)")
        }
    }

    @Test("judges two files as one that has the statements of both", arguments: [false, true])
    func twoFiles(isOne: Bool) throws {
        let user = "CREATE TABLE user(id INTEGER PRIMARY KEY, name TEXT, state INTEGER NOT NULL DEFAULT 0);"
        let copy =
            "CREATE TABLE p(id INTEGER PRIMARY KEY, name TEXT, state INTEGER);\nINSERT INTO p SELECT * FROM user"
        func rules(_ first: String, _ files: String...) throws -> [String] {
            let files = isOne ? [first, files.joined(separator: "\n")] : [first] + files
            let names = ["1_a.sql", "2_b.sql", "3_c.sql", "4_d.sql"]
            let review = try ReviewedMigrations(Dictionary(uniqueKeysWithValues: zip(names, files)))
            return review.findings.compactMap { finding in
                finding.contains("[drop-table]") || finding.contains("[lost-rows]")
                    ? finding.replacing(#/^\w+\.sql:\d+: /#, with: "") : nil
            }
        }
        let dropped = "Table `user` is dropped: of 8 generated rows, "
        #expect(
            try rules(
                "\(user)\nCREATE TABLE log(id INTEGER PRIMARY KEY, level INTEGER);",
                "\(copy) WHERE state <> 2;\nDELETE FROM log WHERE level = 1;", "DROP TABLE user;")
                == ["\(dropped)1 is lost. [drop-table]"])
        #expect(
            try rules(
                "CREATE TABLE cat(id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE dog(id INTEGER PRIMARY KEY, name TEXT);",
                """
                CREATE TABLE pet(id INTEGER PRIMARY KEY, name TEXT);
                INSERT OR IGNORE INTO pet SELECT * FROM cat; INSERT OR IGNORE INTO pet SELECT * FROM dog;
                """, "DROP TABLE cat; DROP TABLE dog;")
                == ["Table `dog` is dropped: its rows are lost. [drop-table]"])
        #expect(
            try rules(
                user, "\(copy) WHERE state <> 2;", "DROP TABLE user;\nALTER TABLE p RENAME TO user;")
                == [
                    """
                    Rebuilding table `user` loses rows: of 8 generated rows, it keeps 7. Copy every row, or delete rows with a DELETE \
                    that says which. [lost-rows]
                    """
                ])
        #expect(
            try rules(user, "\(copy);", "DROP TABLE user;\nALTER TABLE p RENAME TO user;") == [])
        #expect(
            try rules(
                user, "\(copy);",
                "INSERT INTO p SELECT * FROM user WHERE id NOT IN (SELECT id FROM p); DROP TABLE user;") == []
        )
        #expect(
            try rules(
                user, "\(copy) WHERE state = 1;", "INSERT INTO p SELECT * FROM user WHERE state = 2;",
                "DROP TABLE user;") == ["\(dropped)6 are lost. [drop-table]"])
        #expect(
            try rules(
                user, "\(copy);\nALTER TABLE user RENAME TO user_old;", "ALTER TABLE p RENAME TO user;",
                "DROP TABLE user_old;") == [])
    }

    private static let user =
        "CREATE TABLE user(id INTEGER PRIMARY KEY, name TEXT, state INTEGER NOT NULL DEFAULT 0);"
    private static let parent = """
        CREATE TABLE p(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
        CREATE TABLE c(id INTEGER PRIMARY KEY, p_id INTEGER NOT NULL, w TEXT);
        CREATE TRIGGER del AFTER DELETE ON p BEGIN DELETE FROM c WHERE id = old.id; END;
        """
    private static let unique = """
        CREATE TABLE p(id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE UNIQUE, state INTEGER);
        INSERT OR IGNORE INTO p SELECT * FROM user; DROP TABLE user;
        """

    @Test(
        "lets a DELETE explain the rows that go with it, and no others",
        arguments: [
            (
                user,
                """
                CREATE TABLE p(id INTEGER PRIMARY KEY, name TEXT, state INTEGER);
                INSERT INTO p SELECT * FROM (SELECT * FROM user); DELETE FROM p WHERE state = 9; DROP TABLE user;
                """, []
            ),
            (parent, "DELETE FROM p WHERE name = 'x';", []),
            (user + "CREATE TABLE log(id INTEGER PRIMARY KEY, level INTEGER);", unique, ["drop-table"]),
            (
                user + "CREATE TABLE log(id INTEGER PRIMARY KEY, level INTEGER);",
                "DELETE FROM log WHERE level = 1; \(unique)", ["drop-table"]
            ),
            (
                user + "CREATE TABLE setting(k TEXT PRIMARY KEY, v TEXT);",
                """
                CREATE TABLE p(id INTEGER PRIMARY KEY, name TEXT, state INTEGER);
                DELETE FROM setting WHERE k = 'x'; INSERT INTO setting VALUES('x', '1');
                INSERT INTO p SELECT * FROM user WHERE state <> 2; DROP TABLE user;
                """, ["drop-table"]
            ),
        ])
    func explainingDelete(first: String, sql: String, rules: [String]) throws {
        #expect(try ReviewedMigrations(sql, after: first).review.findings.map(\.rule.name) == rules)
    }

    @Test(
        "judges several files that copy columns as one that has the statements of all",
        arguments: [
            (["d = day || last", "e = first || last"], ["first", "day"]),
            (["d = CAST(strftime('%s', day) AS INTEGER)", "e = first || last"], ["first", "last"]),
            (["d = day WHERE state <> 1", "e = first WHERE state <> 5"], ["day", "first"]),
            (["d = day", "e = first"], []),
        ])
    func severalFiles(copies: [String], lost: [String]) throws {
        let table =
            "CREATE TABLE u(id INTEGER PRIMARY KEY, first TEXT, last TEXT, day TEXT, state INTEGER NOT NULL DEFAULT 0, d, e);"
        let drops = ["first", "day"] + (lost.contains("last") ? ["last"] : [])
        let last = drops.map { "ALTER TABLE u DROP COLUMN \($0);" }.joined(separator: "\n")
        let files = [
            "1_a.sql": table, "2_b.sql": "UPDATE u SET \(copies[0]);",
            "3_c.sql": "UPDATE u SET \(copies[1]);",
            "4_d.sql": last,
        ]
        let found = try ReviewedMigrations(files).findings.filter { $0.contains("[drop-column]") }
        #expect(found.count == lost.count, "\(found)")
        for column in lost { #expect(found.contains { $0.contains("Column `\(column)` of") }, "\(found)") }
    }

    @Test(
        "finds older rows that a copy leaves out, where a trigger keeps what is written since",
        arguments: ["<> 3", ">= 0 OR state < 0"])
    func triggerBesideCopy(condition: String) throws {
        let isLossy = condition == "<> 3"
        let table = "CREATE TABLE a(id INTEGER PRIMARY KEY, x TEXT, state INTEGER NOT NULL DEFAULT 0);"
        let copy = """
            CREATE TABLE b(id INTEGER PRIMARY KEY, x TEXT, state INTEGER);
            INSERT INTO b SELECT id, x, state FROM a WHERE state \(condition);
            CREATE TRIGGER a_insert AFTER INSERT ON a BEGIN INSERT INTO b VALUES(new.id, new.x, new.state); END;
            """
        let drops = [
            "DROP TRIGGER a_insert; DROP TABLE a;", "DROP TRIGGER a_insert; ALTER TABLE a DROP COLUMN x;",
        ]
        let found = try drops.map { drop in
            try ReviewedMigrations(["1_a.sql": table, "2_b.sql": copy, "3_c.sql": drop]).findings
        }
        #expect(
            found == [
                isLossy
                    ? ["3_c.sql:1: Table `a` is dropped: of 8 generated rows, 1 is lost. [drop-table]"] : [],
                isLossy
                    ? [
                        "3_c.sql:1: Column `x` of table `a` is dropped: its values are lost in 1 of 8 generated rows. [drop-column]"
                    ] : [],
            ])
    }

    @Test("finds nothing in a column that was renamed after it had been copied")
    func renamedColumn() throws {
        let files = [
            "1_a.sql": Self.author,
            "2_b.sql": """
            ALTER TABLE author ADD COLUMN name TEXT; UPDATE author SET name = last;
            -- allow: renamed-column
            ALTER TABLE author RENAME COLUMN last TO last_old;
            """,
            "3_c.sql": "ALTER TABLE author DROP COLUMN last_old;",
        ]
        #expect(try ReviewedMigrations(files).findings == [])
    }

    @Test("says that a file fails over every kind of generated rows")
    func didNotRun() throws {
        #expect(
            try findings("SELECT 1;\nUPDATE book SET stock = abs(-9223372036854775807 - 1), price = NULL;")
                == [
                    """
                    2: It did not run over generated rows: integer overflow (SQLite 1). Let it run over any rows that the schema \
                    accepts, or test it with an app's rows. [did-not-run]
                    """
                ])
        #expect(
            try findings("-- allow: did-not-run\nUPDATE book SET stock = abs(-9223372036854775807 - 1);")
                == [])
    }

    @Test("says of a rebuild to STRICT that rows may hold values of other types")
    func strict() throws {
        let sql = """
            CREATE TABLE n(id INTEGER PRIMARY KEY, title TEXT, price TEXT, stock INTEGER) STRICT;
            INSERT INTO n SELECT * FROM book; DROP TABLE book; ALTER TABLE n RENAME TO book;
            """
        #expect(
            try findings(sql) == [
                """
                2: Over generated rows: Cannot store BLOB value in TEXT column n.title (SQLite 3091). Correct the values \
                first. [new-check]
                """
            ])
    }

    @Test("tries a file that makes a temporary table, or changes a setting, as often as it takes")
    func temporaryTable() throws {
        let sql = """
            CREATE TEMP TABLE stocks AS SELECT id, stock FROM book;
            PRAGMA recursive_triggers = ON;
            ALTER TABLE book DROP COLUMN stock;
            """
        #expect(
            try findings(sql) == [
                "3: Column `stock` of table `book` is dropped: its values are lost. [drop-column]"
            ])
    }

    @Test("gives rows to a table that refers to a key which an earlier file has changed")
    func changedKeyOfParent() throws {
        let review = try ReviewedMigrations([
            "1_a.sql": """
            CREATE TABLE parent(id INTEGER PRIMARY KEY, code TEXT);
            CREATE TABLE child(id INTEGER PRIMARY KEY, parent NOT NULL REFERENCES parent, price INTEGER);
            """,
            "2_b.sql": """
            CREATE TABLE new(code TEXT PRIMARY KEY NOT NULL);
            INSERT INTO new SELECT code || id FROM parent;
            DROP TABLE parent;
            -- allow: drop-table, drop-column, orphans, lost-primary-key
            ALTER TABLE new RENAME TO parent;
            """,
            "3_c.sql": "UPDATE child SET price = NULL WHERE id % 2 = 0;",
        ])
        #expect(
            review.findings.filter { $0.hasPrefix("3") } == [
                """
                3_c.sql:1: Column `price` of table `child` loses values: where id = -2, 3065 becomes NULL. Copy the values \
                first, or change only those that are meant. [changed-values]
                """
            ])
    }

    private static let stated = """
        CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT, state INTEGER NOT NULL DEFAULT 0, kind TEXT);
        """
    private static let copy = """
        CREATE TABLE n(id INTEGER PRIMARY KEY, body TEXT, state INTEGER NOT NULL DEFAULT 0, kind TEXT, mood TEXT);
        INSERT INTO n(id, body, state, kind) SELECT id, body, state, kind FROM note
        """

    @Test(
        "finds rows that a copy leaves out for a value that its condition names",
        arguments: [
            ("WHERE state <> 1", true), ("WHERE state NOT IN (4, 5)", true),
            ("WHERE kind IS NOT 'draft'", true),
            ("WHERE state IS NOT NULL", false), ("WHERE state <> 1 OR state = 1", false),
            ("WHERE state <> 1 UNION ALL SELECT id, body, state, kind FROM note WHERE state = 1", false),
        ])
    func condition(words: String, isLossy: Bool) throws {
        let found = try findings(
            "\(Self.copy) \(words);\nDROP TABLE note; ALTER TABLE n RENAME TO note;", after: Self.stated)
        #expect(found.count == (isLossy ? 1 : 0), "\(found)")
        #expect(
            found.allSatisfy {
                $0.hasPrefix("2: Rebuilding table `note` loses rows: of 8 generated rows, it keeps ")
            })
    }

    @Test("finds nothing in rows that a DELETE names beside other conditions")
    func conditionOfDelete() throws {
        let sql = """
            DELETE FROM note WHERE state = 1;
            \(Self.copy); DROP TABLE note; ALTER TABLE n RENAME TO note;
            UPDATE note SET mood = 'calm' WHERE state = 1 OR state = 2;
            """
        #expect(try findings(sql, after: Self.stated) == [])
    }

    @Test(
        "finds values that go where another column has a value that a condition names",
        arguments: ["state = 2", "kind = 'draft'", "state IN (7, 8)"])
    func conditionOfUpdate(words: String) throws {
        let found = try findings("UPDATE note SET body = NULL WHERE \(words);", after: Self.stated)
        #expect(
            found.count == 1 && found[0].hasPrefix("1: Column `body` of table `note` loses values: "),
            "\(found)")
        #expect(try findings("UPDATE note SET state = 9 WHERE state = 8;", after: Self.stated) == [])
    }

    private static let account = """
        CREATE TABLE account(
            id INTEGER PRIMARY KEY, iban TEXT NOT NULL CHECK (iban GLOB 'DE[0-9]*' AND length(iban) = 22), note TEXT);
        """
    private static let circle = """
        CREATE TABLE author(
            id INTEGER PRIMARY KEY, best INTEGER NOT NULL REFERENCES work(id) DEFERRABLE INITIALLY DEFERRED);
        CREATE TABLE work(
            id INTEGER PRIMARY KEY, author INTEGER NOT NULL REFERENCES author(id) DEFERRABLE INITIALLY DEFERRED, title TEXT);
        CREATE TABLE remark(id INTEGER PRIMARY KEY, work INTEGER NOT NULL REFERENCES work(id), body TEXT);
        """
    private static let locked = """
        CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT);
        CREATE TRIGGER locked BEFORE INSERT ON note BEGIN SELECT RAISE(ABORT, 'locked'); END;
        """

    @Test(
        "goes by the words of a statement where no row of its table can be generated",
        arguments: [
            (account, "ALTER TABLE account DROP COLUMN note;", ["drop-column"]),
            (account, "DELETE FROM account;", ["delete-without-where"]),
            (account, "DROP TABLE account;", ["drop-table"]),
            (account, "ALTER TABLE account RENAME TO old; DROP TABLE old;", ["drop-table", "renamed-table"]),
            (circle, "ALTER TABLE work DROP COLUMN title;", ["drop-column"]),
            (circle, "ALTER TABLE remark DROP COLUMN body;", ["drop-column"]),
            (locked, "DROP TABLE note;", ["drop-table"]),
            (account, "ALTER TABLE account ADD COLUMN bank TEXT;", []),
        ])
    func noRows(first: String, sql: String, rules: [String]) throws {
        let found = try findings(sql, after: first).filter { !$0.contains("[unindexed-foreign-key]") }
        let named = found.compactMap { (finding: String) in finding.split(separator: "[").last?.dropLast() }
        #expect(named.map { String($0) }.sorted() == rules)
    }

    @Test(
        "finds rows that a trigger deletes or changes in a table which the file does not name",
        arguments: [
            (
                "DELETE FROM revision WHERE note = new.id;",
                """
                2: Table `revision` loses rows: of 8 generated rows, it keeps 0. Copy every row, or delete rows with a DELETE that \
                says which. [lost-rows]
                """
            ),
            (
                "DELETE FROM revision WHERE old.id = revision.note;",
                """
                2: Table `revision` loses rows: of 8 generated rows, it keeps 0. Copy every row, or delete rows with a DELETE that \
                says which. [lost-rows]
                """
            ),
            (
                "UPDATE revision SET body = NULL WHERE note = new.id;",
                "2: Column `body` of table `revision` loses values: "
            ),
            ("UPDATE note SET title = title WHERE id = new.id;", nil),
        ] as [(String, String?)])
    func trigger(body: String, finding: String?) throws {
        let first = """
            CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT);
            CREATE TABLE revision(id INTEGER PRIMARY KEY, note INTEGER NOT NULL, body TEXT);
            CREATE TRIGGER note_changed AFTER UPDATE ON note BEGIN \(body) END;
            """
        let found = try findings(
            "ALTER TABLE note ADD COLUMN words INTEGER;\nUPDATE note SET words = length(title);", after: first
        )
        #expect(found.count == (finding == nil ? 0 : 1), "\(found)")
        #expect(zip(found, [finding].compactMap(\.self)).allSatisfy { $0.hasPrefix($1) }, "\(found)")
    }

    @Test(
        "finds values that a constraint lets few rows have, or only one row",
        arguments: [
            "flag INTEGER NOT NULL DEFAULT 0 CHECK (flag IN (0, 1))",
            "flag TEXT NOT NULL CHECK (flag IN ('draft', 'sent', 'failed'))",
            "flag TEXT NOT NULL CHECK (length(flag) = 3)",
        ], ["note", "entry", "item", "book", "message", "tag"])
    func dropsCheckedColumn(column: String, table: String) throws {
        let found = try findings(
            "ALTER TABLE \(table) DROP COLUMN flag;",
            after: "CREATE TABLE \(table)(id INTEGER PRIMARY KEY, title TEXT NOT NULL, \(column));")
        let start = "1: Column `flag` of table `\(table)` is dropped: its values are lost"
        #expect(found.map { $0.hasPrefix(start) } == [true], "\(found)")
    }

    @Test("finds the values of a table that has one row at most")
    func dropsColumnOfOneRow() throws {
        let first =
            "CREATE TABLE settings(key TEXT PRIMARY KEY NOT NULL CHECK (key = 'main'), theme TEXT NOT NULL);"
        #expect(
            try findings("ALTER TABLE settings DROP COLUMN theme;", after: first) == [
                "1: Column `theme` of table `settings` is dropped: its values are lost. [drop-column]"
            ])
        #expect(
            try findings("ALTER TABLE settings RENAME COLUMN theme TO color;", after: first).filter {
                $0.contains("lost")
            } == [])
    }

    @Test("finds rows that a trigger of the file itself deletes")
    func ownTrigger() throws {
        let found = try findings(
            """
            CREATE TRIGGER note_changed AFTER UPDATE ON note BEGIN DELETE FROM revision; END;
            UPDATE note SET title = title || 'x';
            """,
            after: """
                CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT);
                CREATE TABLE revision(id INTEGER PRIMARY KEY, body TEXT);
                """)
        #expect(
            found.count == 1
                && found[0].contains("Table `revision` loses rows: of 8 generated rows, it keeps 0."))
    }

    @Test("follows triggers from table to table")
    func triggers() throws {
        let first = """
            CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT);
            CREATE TABLE revision(id INTEGER PRIMARY KEY, note INTEGER NOT NULL, body TEXT);
            CREATE TABLE comment(id INTEGER PRIMARY KEY, revision INTEGER NOT NULL, body TEXT);
            CREATE TRIGGER note_changed AFTER UPDATE ON note BEGIN UPDATE revision SET body = body WHERE note = new.id; END;
            CREATE TRIGGER revision_changed AFTER UPDATE ON revision
                BEGIN DELETE FROM comment WHERE revision = new.id; END;
            """
        let found = try findings("UPDATE note SET title = trim(title);", after: first)
        #expect(found.contains { $0.hasPrefix("1: Table `comment` loses rows: ") }, "\(found)")
    }

    @Test(
        "says that it had no row of a table to try",
        arguments: [
            "UPDATE account SET note = NULL WHERE id > 3;", "DELETE FROM account WHERE id > 3;",
            """
            CREATE TABLE n(id INTEGER PRIMARY KEY, iban TEXT NOT NULL CHECK (iban GLOB 'DE[0-9]*' AND length(iban) = 22), \
            note TEXT); INSERT INTO n SELECT * FROM account WHERE id > 3; DROP TABLE account; ALTER TABLE n RENAME TO account;
            """,
        ])
    func untriedRows(sql: String) throws {
        #expect(
            try findings(sql, after: Self.account) == [
                """
                1: It was not tried on rows of table `account`, of which none could be generated: CHECK constraint failed: iban \
                GLOB 'DE[0-9]*' AND length(iban) = 22. Test it with an app's rows. [untried]
                """
            ])
        #expect(try findings("-- allow: untried\n\(sql)", after: Self.account) == [])
    }

    @Test("ends a file that runs on and on over generated rows, and names it")
    func stepLimit() throws {
        let sql = """
            CREATE TABLE n(i INTEGER);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < (SELECT max(stock) FROM book) * 1e9)
            INSERT INTO n SELECT count(*) FROM n;
            """
        #expect(
            try findings(sql) == [
                """
                2: Over generated rows, it takes more than 20 million steps of SQLite, and was stopped: nobody knows what it \
                does to rows. Test it with an app's rows. [step-limit]
                """
            ])
    }

    @Test("ends files that never end, and names the statement", arguments: [false, true])
    func endless(isDown: Bool) throws {
        let endless = """
            CREATE TABLE number(n INTEGER);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
            INSERT INTO number SELECT i FROM n;
            """
        let files = isDown ? ["1_a.sql": Self.book, "1_a.down.sql": endless] : ["1_a.sql": endless]
        let rule = isDown ? "down-does-not-apply" : "does-not-apply"
        #expect(
            try ReviewedMigrations(files).findings == [
                """
                \(isDown ? "1_a.down" : "1_a").sql:2: It takes more than 400 million steps of SQLite without any rows, and was \
                stopped: it may never end. A recursive WITH needs a WHERE or a LIMIT at which it ends. [\(rule)]
                """
            ])
    }
}
