import Foundation
import GRDB
import MigrationTesting
import MigrationTools
import SchemaMigrations

/// A random schema, which can be changed and made simpler.
struct RandomSchema: Sendable {
    struct Column: Sendable {
        var name: SQLName
        var definition: String
        /// True if the column stays the only one that a person would not drop.
        var isGenerated = false

        var sql: String { definition.isEmpty ? name.sql : "\(name.sql) \(definition)" }
    }

    struct Table: Sendable {
        var name: SQLName
        var columns: [Column]
        var constraints: [String] = []
        var options = ""

        var sql: String {
            "CREATE TABLE \(name.sql)(\((columns.map(\.sql) + constraints).joined(separator: ", ")))\(options)"
        }
    }

    /// A part that can be left out.
    enum Part: Sendable {
        case table(Table)
        case other(String)

        var sql: String {
            switch self {
            case .table(let table): table.sql
            case .other(let sql): sql
            }
        }

        /// The part with less in it.
        var simpler: [Part] {
            guard case .table(let table) = self else { return [] }
            var simpler: [Table] = []
            for index in table.columns.indices where table.columns.count > 1 {
                var copy = table
                copy.columns.remove(at: index)
                simpler.append(copy)
            }
            for index in table.constraints.indices {
                var copy = table
                copy.constraints.remove(at: index)
                simpler.append(copy)
            }
            if !table.options.isEmpty {
                var copy = table
                copy.options = ""
                simpler.append(copy)
            }
            for index in table.columns.indices where !table.columns[index].definition.isEmpty {
                var copy = table
                copy.columns[index].definition =
                    String(table.columns[index].definition.prefix { $0 != " " })
                if copy.columns[index].definition != table.columns[index].definition { simpler.append(copy) }
            }
            return simpler.map(Part.table)
        }
    }

    private static let tableNames = ["note", "tag", "entry", "q\"q", "na me", "select", "stra\u{df}e"]
    private static let columnNames = ["a", "b", "text", "order", "c d", "e\"e", "\u{e9}t\u{e9}", "F"]

    /// Makes a schema.
    static func random(_ random: inout RandomNumbers) -> [Part] {
        var names = tableNames.shuffled(using: &random)[...]
        let tables = (0..<Int.random(in: 1...4, using: &random)).compactMap { _ in names.popFirst() }
            .map { table(SQLName($0), tables: tableNames, &random) }
        return tables.map(Part.table) + others(on: tables, &random)
    }

    /// Makes a schema that comes from another one.
    static func changed(_ parts: [Part], _ random: inout RandomNumbers) -> [Part] {
        var tables = parts.compactMap { if case .table(let table) = $0 { table } else { nil } }
        if random.chance(15), tables.count > 1 {
            tables.remove(at: Int.random(in: tables.indices, using: &random))
        }
        for index in tables.indices where random.chance(70) { change(&tables[index], &random) }
        if random.chance(30),
            let name = tableNames.first(where: { name in !tables.contains { $0.name.text == name } })
        {
            tables.append(table(SQLName(name), tables: tableNames, &random))
        }
        if random.chance(20) { tables.shuffle(using: &random) }
        let others = parts.filter { if case .other = $0 { random.chance(70) } else { false } }
        return tables.map(Part.table) + others + (random.chance(50) ? Self.others(on: tables, &random) : [])
    }

    /// Makes a schema that has more than another one: mostly what an older app does not notice.
    static func extended(_ parts: [Part], _ random: inout RandomNumbers) -> [Part] {
        var tables = parts.compactMap { if case .table(let table) = $0 { table } else { nil } }
        let count = tables.count
        for index in tables.indices where random.chance(60) {
            let free = columnNames.filter { name in
                !tables[index].columns.contains { $0.name == SQLName(name) }
            }
            for name in free.prefix(Int.random(in: 1...2, using: &random)) {
                let isStrict = tables[index].options.contains("STRICT")
                tables[index].columns.append(
                    column(SQLName(name), in: tables[index], isStrict: isStrict, &random))
            }
        }
        let free = tableNames.filter { name in !tables.contains { $0.name.text == name } }
        for name in free.prefix(Int.random(in: 0...2, using: &random)) {
            var new = table(SQLName(name), tables: tableNames, &random)
            if random.chance(70) {
                let parent = tables[Int.random(in: 0..<count, using: &random)].name.sql
                let action = random.pick(["", "ON DELETE CASCADE", "ON DELETE CASCADE ON UPDATE CASCADE"])
                new.columns.append(
                    Column(name: "parent", definition: "INTEGER REFERENCES \(parent) \(action)"))
            }
            tables.append(new)
        }
        let others = parts.filter { if case .other = $0 { true } else { false } }
        return tables.map(Part.table) + others + (random.chance(40) ? Self.others(on: tables, &random) : [])
    }

    private static func change(_ table: inout Table, _ random: inout RandomNumbers) {
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let index = Int.random(in: table.columns.indices, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0...2:
                guard
                    let name = columnNames.first(where: { name in
                        !table.columns.contains { $0.name == SQLName(name) }
                    })
                else { continue }
                let new = column(
                    SQLName(name), in: table, isStrict: table.options.contains("STRICT"), &random)
                table.columns.insert(
                    new,
                    at: random.chance(70)
                        ? table.columns.count : Int.random(in: 0...table.columns.count, using: &random))
            case 3:
                if table.columns.count > 1 { table.columns.remove(at: index) }
            case 4...5:
                let name = table.columns[index].name
                table.columns[index] = column(
                    name, in: table, isStrict: table.options.contains("STRICT"), &random)
            case 6: table.constraints += constraint(on: table, tables: tableNames, &random)
            case 7:
                if !table.constraints.isEmpty { table.constraints.removeLast() }
            case 8: table.options = options(table, &random)
            default: table.columns.shuffle(using: &random)
            }
        }
    }

    // MARK: Tables

    private static func table(_ name: SQLName, tables: [String], _ random: inout RandomNumbers) -> Table {
        var table = Table(name: name, columns: [])
        switch Int.random(in: 0..<6, using: &random) {
        case 0...2: table.columns.append(Column(name: "id", definition: "INTEGER PRIMARY KEY"))
        case 3: table.columns.append(Column(name: "id", definition: "INTEGER PRIMARY KEY AUTOINCREMENT"))
        case 4: table.columns.append(Column(name: "key", definition: "TEXT PRIMARY KEY"))
        default:
            if random.chance(30) {
                table.columns.append(Column(name: "id", definition: "INTEGER"))
                table.constraints.append("PRIMARY KEY (\"id\" AUTOINCREMENT)")
            }
        }
        let isStrict = random.chance(20)
        for name in columnNames.shuffled(using: &random).prefix(Int.random(in: 1...4, using: &random)) {
            table.columns.append(column(SQLName(name), in: table, isStrict: isStrict, &random))
        }
        if random.chance(50) { table.constraints += constraint(on: table, tables: tables, &random) }
        table.options = isStrict ? " STRICT" : ""
        if random.chance(15) { table.options = options(table, &random) }
        return table
    }

    private static func options(_ table: Table, _ random: inout RandomNumbers) -> String {
        let hasKey = table.columns.contains {
            $0.definition.contains("PRIMARY") && !$0.definition.contains("AUTO")
        }
        return random.pick(
            hasKey ? ["", " STRICT", " WITHOUT ROWID", " STRICT, WITHOUT ROWID"] : ["", " STRICT"])
    }

    private static func column(
        _ name: SQLName, in table: Table, isStrict: Bool, _ random: inout RandomNumbers
    ) -> Column {
        let others = table.columns.filter { !$0.isGenerated && $0.name != name }
        if random.chance(12), let other = others.randomElement(using: &random) {
            let kind = random.pick(["", " VIRTUAL", " STORED"])
            return Column(
                name: name,
                definition: "\(isStrict ? "TEXT " : "")GENERATED ALWAYS AS (\(other.name.sql) || 'x')\(kind)",
                isGenerated: true)
        }
        var words = [
            random.pick(
                isStrict
                    ? ["INTEGER", "TEXT", "REAL", "BLOB", "ANY", "INT"]
                    : ["INTEGER", "TEXT", "REAL", "", "BLOB", "NUMERIC", "VARCHAR(40)", "BOOLEAN", "INT"])
        ]
        let isText = words[0].contains("TEXT") || words[0].contains("CHAR")
        let isRequired = random.chance(30)
        if isRequired { words.append(random.pick(["NOT NULL", "CONSTRAINT here NOT NULL"])) }
        if random.chance(isRequired ? 70 : 20) {
            words.append(
                random.pick(
                    isText
                        ? ["DEFAULT 'x;y'", "DEFAULT ''", "DEFAULT ('a' || 'b')", "DEFAULT plain"]
                        : ["DEFAULT 0", "DEFAULT -1", "DEFAULT (1 + 1)"]))
        }
        if random.chance(10) { words.append("UNIQUE") }
        if random.chance(10) { words.append("CHECK (\(name.sql) IS NULL OR length(\(name.sql)) < 1000)") }
        if random.chance(15) { words.append("COLLATE \(random.pick(["NOCASE", "RTRIM", "BINARY"]))") }
        if random.chance(10) {
            words.append(
                "REFERENCES \(SQLName(random.pick(tableNames)).sql)\(random.pick(["(id)", "", "(id) ON DELETE SET NULL", "(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED"]))"
            )
        }
        return Column(name: name, definition: words.filter { !$0.isEmpty }.joined(separator: " "))
    }

    private static func constraint(
        on table: Table, tables: [String], _ random: inout RandomNumbers
    ) -> [String] {
        let one = random.pick(table.columns).name.sql
        let two = random.pick(table.columns).name.sql
        switch Int.random(in: 0..<6, using: &random) {
        case 0 where one != two: return ["UNIQUE (\(one), \(two))"]
        case 1:
            return ["CONSTRAINT \"a check\" CHECK (\(table.name.sql).\(one) IS NULL OR length(\(two)) < 500)"]
        case 2...3: return ["FOREIGN KEY (\(one)) REFERENCES \(SQLName(random.pick(tables)).sql)(id)"]
        case 4
        where !table.columns.contains { $0.definition.contains("PRIMARY") }
            && !table.constraints.contains { $0.contains("PRIMARY") }:
            return ["PRIMARY KEY (\(one))"]
        default: return []
        }
    }

    // MARK: Indexes, views, triggers and full-text tables

    private static func others(on tables: [Table], _ random: inout RandomNumbers) -> [Part] {
        (0..<Int.random(in: 0...6, using: &random)).flatMap { _ -> [String] in
            let table = random.pick(tables)
            let other = random.pick(tables)
            let (one, two) = (random.pick(table.columns).name.sql, random.pick(table.columns).name.sql)
            let number = Int.random(in: 1...3, using: &random)
            let t = table.name.sql
            switch Int.random(in: 0..<12, using: &random) {
            case 0: return ["CREATE INDEX \"by \(number)\" ON \(t)(\(one))"]
            case 1: return ["CREATE UNIQUE INDEX unique\(number) ON \(t)(\(one), \(two) COLLATE NOCASE)"]
            case 2:
                return ["CREATE INDEX partial\(number) ON \(t)(lower(\(one)) DESC) WHERE \(two) IS NOT NULL"]
            case 3...4: return ["CREATE VIEW view\(number) AS SELECT \(one) AS x, \(two) AS y FROM \(t)"]
            case 5: return ["CREATE VIEW above\(number) AS SELECT x FROM view\(number) WHERE y IS NOT NULL"]
            case 6: return ["CREATE VIEW every\(number) AS SELECT * FROM \(t), \(other.name.sql)"]
            case 7:
                return [
                    "CREATE TRIGGER trigger\(number) AFTER INSERT ON \(t) BEGIN UPDATE \(other.name.sql) SET \(random.pick(other.columns).name.sql) = NULL WHERE 0; SELECT new.\(one); END"
                ]
            case 8:
                return [
                    "CREATE TRIGGER touch\(number) AFTER UPDATE OF \(one) ON \(t) WHEN new.\(two) IS NOT NULL BEGIN SELECT count(*) FROM \(other.name.sql); END"
                ]
            case 9:
                return [
                    "CREATE TRIGGER instead\(number) INSTEAD OF INSERT ON view\(number) BEGIN DELETE FROM \(t) WHERE 0; END"
                ]
            case 10:
                let column = random.pick(table.columns)
                let name = SQLName("\(table.name)_fts")
                let c = column.name.sql
                return [
                    "CREATE VIRTUAL TABLE \(name.sql) USING fts5(\(c), content=\(t)\(random.pick(["", ", prefix='2 3'"])))",
                    "CREATE TRIGGER \(SQLName("\(table.name)_fts_ai").sql) AFTER INSERT ON \(t) BEGIN INSERT INTO \(name.sql)(rowid, \(c)) VALUES (new.rowid, new.\(c)); END",
                    "CREATE TRIGGER \(SQLName("\(table.name)_fts_ad").sql) AFTER DELETE ON \(t) BEGIN INSERT INTO \(name.sql)(\(name.sql), rowid, \(c)) VALUES ('delete', old.rowid, old.\(c)); END",
                ]
            default:
                return [
                    "CREATE VIRTUAL TABLE search USING fts5(\(random.pick(["title", "title, body", "title, body, tokenize='porter'"])))"
                ]
            }
        }.map(Part.other)
    }
}

extension RandomSchema {
    /// Creates as much of a schema as SQLite accepts, and returns its statements.
    static func statements(_ parts: [Part]) throws -> [String] {
        var statements = parts.map(\.sql)
        while true {
            var configuration = Configuration()
            configuration.foreignKeysEnabled = false
            let queue = try DatabaseQueue(configuration: configuration)
            let accepted = try queue.writeWithoutTransaction { db -> [String] in
                let created = statements.filter { (try? db.execute(sql: $0)) != nil }
                let broken = try broken(db)
                return created.filter { !broken.contains($0) }
            }
            if accepted.count == statements.count { return accepted }
            statements = accepted
        }
    }

    /// Returns the SQL of the objects that do not compile.
    private static func broken(_ db: Database) throws -> Set<String> {
        func fails(_ sql: String) -> Bool { (try? db.execute(sql: sql)) == nil }
        let rows = try Row.fetchAll(
            db,
            sql:
                "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE sql NOT NULL AND name NOT LIKE 'sqlite%'"
        )
        var broken: Set<String> = []
        for row in rows {
            let name: SQLName = row["name"]
            let sql: String = row["sql"]
            let table: SQLName = row["tbl_name"]
            switch row["type"] as String {
            case "view" where fails("SELECT * FROM \(name.sql) LIMIT 0"): broken.insert(sql)
            case "table" where sql.contains("content="):
                if fails("INSERT INTO \(name.sql)(\(name.sql)) VALUES ('rebuild')") { broken.insert(sql) }
            case "table"
            where !sql.hasPrefix("CREATE VIRTUAL") && !name.text.contains("_fts")
                && !name.text.hasPrefix("search"):
                // A foreign key must find a unique parent key.
                let isLonely = try Bool.fetchOne(
                    db,
                    sql: """
                        SELECT EXISTS (SELECT 1 FROM pragma_foreign_key_list(?) AS key
                            WHERE NOT EXISTS (SELECT 1 FROM sqlite_master WHERE name = key."table" COLLATE NOCASE))
                        """, arguments: [name])
                if isLonely == true || fails("PRAGMA foreign_key_check(\(name.sql))") { broken.insert(sql) }
            case "trigger":
                // Of a view that does not compile, SQLite tells no columns.
                let columns = try? SQLName.fetchAll(
                    db, sql: "SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0", arguments: [table])
                guard let columns else {
                    broken.insert(sql)
                    continue
                }
                let set = columns.map { "\($0.sql) = NULL" }.joined(separator: ", ")
                let probe =
                    "EXPLAIN "
                    + (sql.contains("AFTER UPDATE")
                        ? "UPDATE \(table.sql) SET \(set)"
                        : sql.contains("AFTER DELETE")
                            ? "DELETE FROM \(table.sql)" : "INSERT INTO \(table.sql) DEFAULT VALUES")
                if fails(probe) { broken.insert(sql) }
            default: break
            }
        }
        // A rename compiles everything, and names what does not compile.
        for row in rows where row["type"] == "table" && broken.isEmpty {
            let name: SQLName = row["name"]
            do {
                try db.execute(sql: "SAVEPOINT probe; ALTER TABLE \(name.sql) RENAME TO \"renamed table\"")
            } catch let error as DatabaseError {
                let message = error.message ?? ""
                for other in rows
                where message.hasPrefix("error in \(other["type"] as String) \(other["name"] as String)") {
                    broken.insert(other["sql"])
                }
            }
            try db.execute(sql: "ROLLBACK TO probe; RELEASE probe")
        }
        return broken
    }
}
