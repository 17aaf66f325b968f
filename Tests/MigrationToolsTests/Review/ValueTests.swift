import Foundation
import TestSupport
import Testing

@testable import MigrationTools

@Suite("A review of values", .timed)
struct ValueTests {
    private static let people = """
        CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT NOT NULL, mail TEXT);
        CREATE TABLE pet(id INTEGER PRIMARY KEY, owner INTEGER NOT NULL REFERENCES person(id), name TEXT);
        CREATE INDEX pet_owner ON pet(owner);
        """

    /// Rebuilds table `person`.
    private static func rebuild(_ columns: String, _ copy: String) -> String {
        """
        CREATE TABLE new(\(columns));
        INSERT INTO new\(copy) FROM person;
        DROP TABLE person;
        ALTER TABLE new RENAME TO person;
        """
    }

    private static let same = "id INTEGER PRIMARY KEY, name TEXT NOT NULL, mail TEXT"

    /// Returns the findings, with `ROW` and `VALUE` for what is generated.
    private func findings(_ sql: String, after first: String = people) throws -> [String] {
        try ReviewedMigrations(sql, after: first).findings.map {
            $0.replacing(
                #/where .+?, (?:'[^']*'|[\d.]+) becomes (?:'[^']*'|NULL|\d+)/#,
                with: "where ROW, VALUE changes"
            )
            .replacing(#/where .+?, (?:'[^']*'|[\d.]+) is the key/#, with: "where ROW, VALUE is the key")
        }
    }

    @Test(
        "finds nothing where a file copies values into another table, and then empties their column",
        arguments: ["", " WHERE mail IS NOT NULL"])
    func movedThenEmptied(condition: String) throws {
        func move(_ copied: String) -> String {
            """
            CREATE TABLE address(person INTEGER PRIMARY KEY REFERENCES person(id), mail TEXT NOT NULL);
            INSERT INTO address SELECT id, \(copied) FROM person WHERE mail IS NOT NULL;
            UPDATE person SET mail = NULL\(condition);
            """
        }
        #expect(try findings(move("mail")) == [])
        #expect(try findings(move("substr(mail, 1, 3)")).count == 1)
        #expect(try findings(move("name")).count == 1)
    }

    @Test("finds a column that is emptied, whatever few values its CHECK allows")
    func emptiedChoice() throws {
        let first = "CREATE TABLE t(id INTEGER PRIMARY KEY, k TEXT NOT NULL CHECK (k IN ('a', 'b')), x TEXT);"
        #expect(
            try findings("UPDATE t SET k = 'a';", after: first) == [
                """
                2_b.sql:1: Column `k` of table `t` loses values: 'a' and 'b' both become 'a'. Add a WHERE. \
                [update-without-where]
                """
            ])
    }

    @Test("finds a column that a rebuild leaves out")
    func omitted() throws {
        #expect(
            try findings(Self.rebuild(Self.same, "(id, name) SELECT id, name")) == [
                """
                2_b.sql:2: Rebuilding table `person` leaves out the values of column `mail`: where ROW, VALUE changes. Copy \
                the column. [lost-values]
                """
            ])
    }

    @Test("shows a row as an example")
    func example() throws {
        let finding = try #require(
            try ReviewedMigrations(
                Self.rebuild(Self.same, "(id, name) SELECT id, name"), after: Self.people
            ).findings.first)
        #expect(finding.contains(#/where id = \d+, '.*' becomes NULL/#))
    }

    @Test("shows the beginning of a long value")
    func longValue() throws {
        let constant = "UPDATE person SET name = '\(String(repeating: "x", count: 60))'"
        #expect(
            try ReviewedMigrations("\(constant) WHERE id > 0;", after: Self.people).findings.first?.contains(
                "both become '\(String(repeating: "x", count: 40))…'.") == true)
        #expect(
            StoredValue.blob(Data(repeating: 1, count: 60)).excerpt
                == "x'010101010101010101010101010101010101010…'")
        #expect(StoredValue.integer(.min).excerpt == "(-9223372036854775807 - 1)")
    }

    @Test("tells values apart by their types and by every byte")
    func meanings() throws {
        let bytes = (1...2).map { [UInt8](repeating: 1, count: 200) + [$0] }
        let values =
            bytes.map { StoredValue.blob(Data($0)) } + bytes.map { StoredValue.text($0) }
            + [.integer(Int64((2.5).bitPattern)), .real((2.5).bitPattern), .text([]), .blob(Data()), .null]
        #expect(Set(values.map(\.meaning)).count == values.count)
    }

    @Test("finds values that a rebuild puts into other columns, with and without a key")
    func exchanged() throws {
        let sql = Self.rebuild("id INTEGER PRIMARY KEY, mail TEXT, name TEXT", " SELECT *")
        let found = [("mail", "name"), ("name", "mail")].map { from, to in
            """
            2_b.sql:2: Rebuilding table `person` puts the values of column `\(from)` into column `\(to)`: where ROW, \
            VALUE changes. Name the columns after INSERT INTO and after SELECT, in the same order. [lost-values]
            """
        }
        let first = "CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT, mail TEXT)"
        #expect(try findings(sql, after: first) == found)
        #expect(
            try ReviewedMigrations(
                Self.rebuild("mail TEXT, name TEXT", " SELECT *"),
                after: "CREATE TABLE person(name TEXT, mail TEXT)"
            ).rules == ["2 lost-values", "2 lost-values"])
        #expect(
            try findings(
                Self.rebuild("id INTEGER PRIMARY KEY, mail TEXT, name TEXT", "(id, name, mail) SELECT *"),
                after: first) == [])
        // The columns have one type, so that nothing but the values shows it.
        #expect(
            try ReviewedMigrations(
                Self.rebuild("id INTEGER PRIMARY KEY, updated INTEGER, created INTEGER", " SELECT *"),
                after: "CREATE TABLE person(id INTEGER PRIMARY KEY, created INTEGER, updated INTEGER)"
            ).rules == ["2 lost-values", "2 lost-values"])
    }

    @Test("finds foreign keys that refer to other rows, since a rebuild does not copy the ids")
    func renumbered() throws {
        for order in ["", " ORDER BY name"] {
            let sql = Self.rebuild(Self.same, "(name, mail) SELECT name, mail")
                .replacing("FROM person", with: "FROM person\(order)")
            #expect(
                try findings(sql) == [
                    """
                    2_b.sql:2: Rebuilding table `person` gives its rows other keys, and column `owner` of table `pet` refers \
                    to other rows: where ROW, VALUE is the key of another row now. Copy the key. [lost-values]
                    """
                ])
        }
        #expect(
            try findings(
                Self.rebuild(
                    "id INTEGER PRIMARY KEY, name TEXT, mail TEXT", "(name, mail) SELECT name, mail"),
                after: "CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT, mail TEXT)") == [
                    """
                    2_b.sql:2: Rebuilding table `person` leaves out the values of column `id`: where ROW, VALUE changes. Copy \
                    the column. [lost-values]
                    """
                ])
    }

    @Test("finds nothing if foreign keys follow the rows to which they refer")
    func followed() throws {
        #expect(
            try findings("UPDATE person SET id = id + 1000; UPDATE pet SET owner = owner + 1000;") == [])
        #expect(
            try findings(
                """
                CREATE TABLE new(id INTEGER PRIMARY KEY, uuid TEXT NOT NULL UNIQUE, name TEXT);
                INSERT INTO new(uuid, name) SELECT uuid, name FROM person ORDER BY name;
                CREATE TABLE pets(uuid TEXT PRIMARY KEY NOT NULL, owner INTEGER NOT NULL REFERENCES person(id));
                INSERT INTO pets SELECT uuid, (SELECT id FROM new WHERE new.uuid = owner) FROM pet;
                DROP TABLE pet;
                ALTER TABLE pets RENAME TO pet;
                CREATE INDEX pet_owner ON pet(owner);
                DROP TABLE person;
                ALTER TABLE new RENAME TO person;
                """,
                after: """
                    CREATE TABLE person(uuid TEXT PRIMARY KEY NOT NULL, name TEXT);
                    CREATE TABLE pet(uuid TEXT PRIMARY KEY NOT NULL, owner TEXT NOT NULL REFERENCES person(uuid));
                    CREATE INDEX pet_owner ON pet(owner);
                    """) == [])
    }

    @Test(
        "warns of a statement that loses values",
        arguments: [
            "UPDATE person SET mail = NULL WHERE id > 0;",
            "UPDATE person SET mail = name;",
            "UPDATE person SET mail = lower(mail);",
            "ALTER TABLE person RENAME COLUMN mail TO address; UPDATE person SET address = '';",
            "INSERT OR REPLACE INTO person(id, name) SELECT id, name FROM person;",
        ])
    func statements(sql: String) throws {
        let reviewed = try ReviewedMigrations(sql, after: Self.people)
        #expect(
            reviewed.rules.filter { !["1 renamed-column", "1 replace-into"].contains($0) } == [
                "1 changed-values"
            ])
        #expect(
            reviewed.findings.first?.hasPrefix("2_b.sql:1: Column `mail` of table `person` loses values: ")
                == true)
    }

    @Test("says what an UPDATE loses")
    func update() throws {
        #expect(
            try findings("UPDATE person SET mail = upper(mail);") == [
                """
                2_b.sql:1: Column `mail` of table `person` loses values: 'A' and 'a' both become 'A'. Copy the values first, \
                or change only those that are meant. [changed-values]
                """
            ])
    }

    @Test(
        "warns of an UPDATE that writes one value into every row",
        arguments: [
            "UPDATE person SET mail = NULL;",
            "UPDATE person SET mail = NULL WHERE 1 = 1;",
            "UPDATE main.person SET id = id, mail = lower('(X)');",
        ])
    func everyRow(sql: String) throws {
        let finding = try #require(try findings(sql).first)
        #expect(finding.hasPrefix("2_b.sql:1: Column `mail` of table `person` loses values: "))
        #expect(finding.hasSuffix(". Add a WHERE. [update-without-where]"))
    }

    @Test("says nothing of an UPDATE without a WHERE that fills a new column")
    func newColumn() throws {
        #expect(
            try findings("ALTER TABLE person ADD COLUMN age INTEGER; UPDATE person SET age = 0;") == [])
    }

    @Test(
        "finds nothing if no value is lost",
        arguments: [
            "UPDATE person SET mail = '' WHERE mail IS NULL;",
            "UPDATE person SET mail = 'mailto:' || mail;",
            "ALTER TABLE person ADD COLUMN address TEXT; UPDATE person SET address = mail; UPDATE person SET mail = NULL;",
            "ALTER TABLE person RENAME COLUMN mail TO address;",
            "ALTER TABLE person RENAME TO human; ALTER TABLE human RENAME COLUMN mail TO address;",
        ])
    func harmless(sql: String) throws {
        let rules = try ReviewedMigrations(sql, after: Self.people).rules
        #expect(rules.filter { !$0.contains("renamed-") } == [])
    }

    @Test("finds nothing in a rebuild that copies rows in another order, or fills nulls")
    func correct() throws {
        for copy in [
            " SELECT id, name, mail", "(mail, name, id) SELECT p.mail, p.name, p.id",
            " SELECT id, name, coalesce(mail, '')",
        ] {
            let sql = Self.rebuild(Self.same, copy).replacing(
                "FROM person", with: "FROM person AS p ORDER BY mail")
            #expect(try findings(sql) == [])
        }
        #expect(
            try ReviewedMigrations(
                Self.rebuild("mail TEXT, name TEXT", "(name, mail) SELECT * ").replacing(
                    "FROM person", with: "FROM person ORDER BY mail"),
                after: "CREATE TABLE person(name TEXT, mail TEXT)"
            ).findings == [])
    }
}
