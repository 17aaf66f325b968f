import MigrationTools

/// Files of which the last either loses rows or values of the table that the first makes, or keeps them all in some form.
struct RandomLoss {
    /// True if something is lost.
    let loses: Bool
    private(set) var files: [String] = []

    private var random: RandomNumbers
    /// The columns of the table beside its id.
    private var columns: [Column] = []

    private struct Column {
        let name: String
        let type: String
        /// The type without constraints.
        var kind: Substring { type.prefix { $0 != " " } }
        var sql: String { "\(name) \(type)" }
    }

    /// Writes files; those of odd seeds lose something.
    init(seed: UInt64) {
        loses = !seed.isMultiple(of: 2)
        random = RandomNumbers(seed: seed)
        columns = Self.names.shuffled(using: &random).prefix(Int.random(in: 2...6, using: &random))
            .map { Column(name: $0, type: Self.types.randomElement(using: &random) ?? "TEXT") }
        files = [create("a", columns)] + (loses ? losing() : keeping())
    }

    private static let types = [
        "INTEGER", "TEXT", "REAL", "TEXT NOT NULL", "INTEGER NOT NULL", "BLOB", "DATETIME",
    ]
    private static let names = [
        "title", "name", "price", "stock", "note", "day", "author", "kind", "size", "color", "code", "flag",
        "amount", "label", "path", "owner_name",
    ]

    private mutating func pick(_ texts: [String]) -> String { texts.randomElement(using: &random) ?? "" }

    // MARK: Statements

    private func create(_ table: String, _ columns: [Column]) -> String {
        "CREATE TABLE \(table)(\((["id INTEGER PRIMARY KEY"] + columns.map(\.sql)).joined(separator: ", ")));\n"
    }

    /// The id and the columns, with commas.
    private func list(_ columns: [Column]) -> String {
        (["id"] + columns.map(\.name)).joined(separator: ", ")
    }

    /// Makes the table again of the rows that a query gives.
    private func rebuild(from rows: String) -> String {
        "\(create("n", columns))INSERT INTO n \(rows);\nDROP TABLE a;\nALTER TABLE n RENAME TO a;\n"
    }

    /// Gives a new column an expression of another one, and drops that one.
    private func replace(_ column: Column, by expression: String) -> String {
        """
        ALTER TABLE a ADD COLUMN z;
        UPDATE a SET z = \(expression);
        ALTER TABLE a DROP COLUMN \(column.name);

        """
    }

    // MARK: Kept

    private mutating func keeping() -> [String] {
        let column = columns[0]
        let rest = Array(columns.dropFirst())
        switch Int.random(in: 0...14, using: &random) {
        case 0: return [replace(column, by: kept(column))]
        case 1:
            return [
                """
                CREATE TABLE z(a_id INTEGER, v);
                INSERT INTO z SELECT id, \(kept(column)) FROM a;
                ALTER TABLE a DROP COLUMN \(column.name);
                """
            ]
        case 2: return [rebuild(from: "SELECT * FROM a")]
        case 3:
            let renamed = [Column(name: "z", type: column.type)] + rest
            return [
                """
                ALTER TABLE a RENAME COLUMN \(column.name) TO z;
                \(create("n", renamed))INSERT INTO n(\(list(renamed))) SELECT \(list(renamed)) FROM a;
                DROP TABLE a;
                ALTER TABLE n RENAME TO a;
                """
            ]
        case 4:
            let copies = columns.map { column in
                "INSERT INTO z SELECT id, '\(column.name)', \(kept(column)) FROM a;\n"
            }
            return ["CREATE TABLE z(a_id, key TEXT, value);\n\(copies.joined())DROP TABLE a;"]
        case 5:
            let parts = columns.map {
                "'\($0.name)', \($0.kind == "BLOB" ? "hex(\($0.name))" : $0.name)"
            }
            return [
                """
                CREATE TABLE z(id INTEGER PRIMARY KEY, doc TEXT);
                INSERT INTO z SELECT id, json_object(\(parts.joined(separator: ", "))) FROM a;
                DROP TABLE a;
                """
            ]
        case 6:
            return [
                """
                CREATE TEMP TABLE w AS SELECT * FROM a;
                DROP TABLE a;
                \(create("a", columns))INSERT INTO a SELECT * FROM w;
                DROP TABLE w;
                """
            ]
        case 7: return ["CREATE TABLE z AS SELECT \(list(columns)) FROM a ORDER BY 2;\nDROP TABLE a;"]
        case 8:
            return [
                """
                CREATE TABLE z(id INTEGER PRIMARY KEY, v UNIQUE);
                INSERT OR IGNORE INTO z(v) SELECT \(column.name) FROM a WHERE \(column.name) IS NOT NULL;
                ALTER TABLE a ADD COLUMN z_id INTEGER;
                UPDATE a SET z_id = (SELECT id FROM z WHERE v = a.\(column.name));
                ALTER TABLE a DROP COLUMN \(column.name);
                """
            ]
        case 9:
            return [
                """
                ALTER TABLE a RENAME TO old;
                \(create("a", rest))CREATE TABLE b(id INTEGER PRIMARY KEY, v);
                INSERT INTO a SELECT \(list(rest)) FROM old;
                INSERT INTO b SELECT id, \(kept(column)) FROM old;
                DROP TABLE old;
                """
            ]
        case 10:
            return [
                """
                \(create("b", columns))INSERT INTO b SELECT * FROM a WHERE id % 2 = 0;
                DELETE FROM a WHERE id IN (SELECT id FROM b);
                """
            ]
        // The copy in one file, and the drop in the next.
        case 11:
            return [
                "CREATE TABLE z(a_id INTEGER, v);\nINSERT INTO z SELECT id, \(kept(column)) FROM a;",
                "ALTER TABLE a DROP COLUMN \(column.name);",
            ]
        // One row after the other.
        case 12:
            return [
                """
                CREATE TABLE z AS SELECT * FROM a WHERE 0;
                WITH RECURSIVE n(i) AS (SELECT min(id) FROM a
                    UNION ALL SELECT (SELECT min(id) FROM a WHERE id > i) FROM n WHERE i IS NOT NULL)
                INSERT INTO z SELECT a.* FROM n JOIN a ON a.id = n.i;
                DROP TABLE a;
                """
            ]
        // A trigger copies what an UPDATE touches.
        case 13:
            return [
                """
                CREATE TABLE z(a_id INTEGER, v);
                CREATE TRIGGER t AFTER UPDATE ON a BEGIN INSERT INTO z VALUES (new.id, new.\(column.name)); END;
                UPDATE a SET id = id;
                DROP TRIGGER t;
                ALTER TABLE a DROP COLUMN \(column.name);
                """
            ]
        default:
            return [
                """
                CREATE TABLE z(part INTEGER, id INTEGER, \(columns.map(\.name).joined(separator: ", ")));
                INSERT INTO z SELECT 1, * FROM a WHERE id % 3 = 0 UNION ALL SELECT 2, * FROM a WHERE id % 3 <> 0;
                DROP TABLE a;
                """
            ]
        }
    }

    /// Returns an expression that has another value for each value of a column, as an app writes it.
    private mutating func kept(_ column: Column) -> String {
        let name = column.name
        switch column.kind {
        case "INTEGER":
            return pick([
                name, "\(name) + 1", "\(name) * 2", "CAST(\(name) AS TEXT)", "'n' || \(name)", "hex(\(name))",
                "coalesce(\(name), 0)", "printf('%05d', \(name))", "-\(name)",
            ])
        case "REAL":
            return pick([
                name, "round(\(name) * 100)", "CAST(\(name) * 100 AS INTEGER)", "\(name) / 2",
                "coalesce(\(name), 0.0)",
            ])
        case "BLOB": return pick([name, "hex(\(name))", "coalesce(\(name), x'00')"])
        case "DATETIME":
            return pick([
                name, "substr(\(name), 1, 10)", "strftime('%s', \(name))", "date(\(name))",
                "julianday(\(name))",
            ])
        default:
            return pick([
                name, "upper(\(name))", "coalesce(\(name), '')", "\(name) || '!'", "trim(\(name))",
                "json_object('v', \(name))", "quote(\(name))", "hex(\(name))", "replace(\(name), ' ', '_')",
            ])
        }
    }

    // MARK: Lost

    private mutating func losing() -> [String] {
        let column = columns[0]
        let rest = Array(columns.dropFirst())
        switch Int.random(in: 0...12, using: &random) {
        case 0: return [replace(column, by: lost(column))]
        case 1:
            return [
                """
                CREATE TABLE z(a_id INTEGER, v);
                INSERT INTO z SELECT id, \(lost(column)) FROM a;
                ALTER TABLE a DROP COLUMN \(column.name);
                """
            ]
        case 2: return [rebuild(from: "SELECT * FROM a WHERE \(column.name) = 'none'")]
        case 3: return [rebuild(from: "SELECT * FROM a LIMIT \(Int.random(in: 0...5, using: &random))")]
        case 4: return ["CREATE TABLE z AS SELECT \(list(rest)) FROM a;\nDROP TABLE a;"]
        case 5:
            let sum = pick(["count(*)", "sum(\(column.name))", "max(\(column.name))", "avg(\(column.name))"])
            return ["CREATE TABLE z(n);\nINSERT INTO z SELECT \(sum) FROM a;\nDROP TABLE a;"]
        case 6: return [rebuild(from: "SELECT * FROM a WHERE \(column.name) IS NOT NULL AND id % 4 > 0")]
        case 7: return ["UPDATE OR REPLACE a SET id = id / 2;"]
        case 8:
            return [
                "CREATE TABLE z AS SELECT \(column.name), count(*) AS n FROM a GROUP BY 1;\nDROP TABLE a;"
            ]
        case 9: return [rebuild(from: "SELECT * FROM a GROUP BY id / 2")]
        case 10: return [rebuild(from: "SELECT * FROM a WHERE id % 2 = 0")]
        // What an earlier file has copied is not the column that goes.
        case 11:
            return [
                "CREATE TABLE z(a_id INTEGER, v);\nINSERT INTO z SELECT id, \(kept(rest[0])) FROM a;",
                "ALTER TABLE a DROP COLUMN \(column.name);",
            ]
        default:
            let condition = pick(["id > 0", "id IS NOT NULL", "1 < 2", "id IN (SELECT id FROM a)"])
            return ["DELETE FROM a WHERE \(condition);"]
        }
    }

    /// Returns an expression that forgets which value a column had.
    private mutating func lost(_ column: Column) -> String {
        let name = column.name
        let isNumber = ["INTEGER", "REAL"].contains(column.kind)
        return pick([
            "NULL", "''", "0", "\(name) IS NULL", isNumber ? "\(name) > 100000000" : "length(\(name)) > 2",
            "typeof(\(name))", "(SELECT count(\(name)) FROM a)", "(SELECT max(\(name)) FROM a)",
            "substr(\(name), 1, 0)", "\(name) = \(name)",
        ])
    }
}
