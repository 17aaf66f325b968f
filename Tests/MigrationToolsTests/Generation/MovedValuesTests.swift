import Foundation
import MigrationTools
import SchemaMigrations
import Testing

@Suite("Values that move to a new table", .timed)
struct MovedValuesTests {
    private func sql(from old: String, to new: String, dropping drops: [String]) throws -> String {
        let first = try SchemaMigrator(migrations: [SQLMigration(version: 1, name: "first", sql: old)])
        return try MigrationGenerator(
            first, to: SchemaFile(Data(new.utf8), name: "schema.sql"), renaming: SchemaRenames(drops: drops)
        ).sql
    }

    @Test("are proposed as a statement after the table is made, and before its column is dropped")
    func column() throws {
        let found = try sql(
            from: "CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT, street TEXT, \"order\" TEXT)",
            to: """
                CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT);
                CREATE TABLE address(
                    id INTEGER PRIMARY KEY, person_id INTEGER REFERENCES person(id), street TEXT, "order" TEXT);
                """, dropping: ["person.street", "person.order"])
        #expect(
            found == """
                CREATE TABLE address(
                    id INTEGER PRIMARY KEY, person_id INTEGER REFERENCES person(id), street TEXT, "order" TEXT);

                -- To keep the values: INSERT INTO address(person_id, street, "order") SELECT id, street, "order" FROM person;

                -- As in schema.sql: column `street` of table `person` is dropped: its values are lost.
                -- allow: drop-column
                ALTER TABLE person DROP COLUMN street;
                -- As in schema.sql: column `order` of table `person` is dropped: its values are lost.
                -- allow: drop-column
                ALTER TABLE person DROP COLUMN "order";

                """)
    }

    @Test("are proposed for each of two tables that become one")
    func tables() throws {
        let found = try sql(
            from:
                "CREATE TABLE cat(id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE dog(id INTEGER PRIMARY KEY, name TEXT)",
            to: "CREATE TABLE pet(id INTEGER PRIMARY KEY, name TEXT)", dropping: ["cat", "dog"])
        let statements = found.split(separator: "\n").filter {
            !$0.hasPrefix("-- As in") && !$0.hasPrefix("-- allow")
        }
        #expect(
            statements == [
                "CREATE TABLE pet(id INTEGER PRIMARY KEY, name TEXT);",
                "-- To keep the values: INSERT INTO pet(name) SELECT name FROM cat;",
                "-- To keep the values: INSERT INTO pet(name) SELECT name FROM dog;",
                "DROP TABLE cat;", "DROP TABLE dog;",
            ])
    }
}
