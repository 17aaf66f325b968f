import GRDB
import MigrationTools
import TestTraits
import Testing

@Suite("An inventory of a database", .timed)
struct InventoryTests {
    @Test("is made although a foreign key matches no key of its parent, which a launch only warns about")
    func mismatch() throws {
        let inventory = try DatabaseQueue().write { db in
            try db.execute(
                sql: """
                    PRAGMA defer_foreign_keys = ON;
                    CREATE TABLE book(isbn TEXT);
                    CREATE TABLE loan(isbn TEXT REFERENCES book(isbn));
                    CREATE TABLE shelf(id INTEGER PRIMARY KEY, parent INTEGER REFERENCES shelf(id));
                    """)
            return try Inventory(db)
        }
        #expect(inventory.orphans == [:])
        let broken = try DatabaseQueue().inDatabase { db in
            try db.execute(
                sql: """
                    PRAGMA foreign_keys = OFF;
                    CREATE TABLE shelf(id INTEGER PRIMARY KEY, parent INTEGER REFERENCES shelf(id));
                    INSERT INTO shelf VALUES (1, 7), (2, 1)
                    """)
            return try Inventory(db)
        }
        #expect(broken.orphans.map(\.value) == [1])
    }
}
