import MigrationTools

/// A table `t` with random columns, keys and constraints, beside the tables `p` and `q` that it may refer to.
struct RandomTable: Sendable {
    struct Column: Sendable {
        var name: String
        var type: String
        var collation: String?
        var generated: String?
        var constraints: [Constraint] = []
    }

    /// What may change without a copy.
    enum Constraint: Sendable {
        case notNull(String)
        case check(String)
        case standard(String)
        case key(String)

        var sql: String {
            switch self {
            case .notNull(let conflict): "NOT NULL\(conflict)"
            case .check(let condition): "CHECK (\(condition))"
            case .standard(let value): "DEFAULT \(value)"
            case .key(let target): "REFERENCES \(target)"
            }
        }
    }

    enum Key: Sendable, Equatable {
        case none, integer, autoincrement, int, text, pair
    }

    var columns: [Column]
    var key: Key
    var keyConflict = ""
    var isStrict: Bool
    var isWithoutRowID: Bool
    var uniques: [[String]]
    var uniqueConflict = ""
    /// The conditions and foreign keys of the table itself.
    var constraints: [String] = []
    /// How many columns `CREATE TABLE` makes; `ALTER TABLE` adds the rest.
    var created: Int

    static let conflicts = ["", "", "", " ON CONFLICT IGNORE", " ON CONFLICT REPLACE", " ON CONFLICT FAIL"]
    /// What `t` may refer to.
    static let parents = """
        CREATE TABLE p(id INTEGER PRIMARY KEY, code TEXT COLLATE NOCASE UNIQUE);
        INSERT INTO p VALUES (1, 'a'), (2, 'B'), (3, '3');
        CREATE TABLE q(a, b, PRIMARY KEY (a, b)) WITHOUT ROWID; INSERT INTO q VALUES (1, 1), (2, 'b');
        """

    static func random(_ random: inout RandomNumbers) -> RandomTable {
        let isStrict = random.chance(20)
        let types =
            isStrict
            ? ["INTEGER", "TEXT", "REAL", "BLOB", "ANY", "INT"]
            : ["INTEGER", "TEXT", "REAL", "BLOB", "", "NUMERIC", "VARCHAR(10)", "INT"]
        let key = random.pick([Key.none, .integer, .integer, .autoincrement, .int, .text, .pair])
        let count = Int.random(in: 1...5, using: &random)
        var table = RandomTable(
            columns: [Column(name: "id", type: key == .text ? "TEXT" : key == .int ? "INT" : "INTEGER")],
            key: key, isStrict: isStrict,
            isWithoutRowID: [.int, .text, .pair].contains(key) && random.chance(30),
            uniques: [], created: 1 + Int.random(in: 0...count, using: &random))
        for number in 1...count {
            var column = Column(name: "c\(number)", type: random.pick(types))
            if random.chance(20) { column.collation = random.pick(["NOCASE", "RTRIM", "BINARY"]) }
            if number > 1, random.chance(15) {
                column.generated = "c1 || \(random.pick(["'x'", "1"]))"
                if isStrict { column.type = "ANY" }
            }
            table.columns.append(column)
        }
        if key == .pair, table.created < 2 { table.created = 2 }
        let plain = table.columns.prefix(table.created).dropFirst().filter { $0.generated == nil }.map(\.name)
        if !plain.isEmpty, random.chance(40) {
            table.uniques.append([random.pick(plain)])
            if plain.count > 1, random.chance(40) { table.uniques.append([plain[1], plain[0]]) }
        }
        table.constrain(&random)
        return table
    }

    /// Replaces the constraints by others, and nothing else.
    mutating func constrain(_ random: inout RandomNumbers) {
        for index in columns.indices.dropFirst() where random.chance(70) {
            columns[index].constraints = Self.constraints(of: columns[index], &random)
        }
        for index in columns.indices.dropFirst() where !isStrict && random.chance(10) {
            columns[index].type = Self.synonyms[columns[index].type] ?? columns[index].type
        }
        if random.chance(50) {
            constraints = []
            let names = columns.map(\.name)
            if random.chance(30) {
                constraints.append("CHECK (\(Self.condition(random.pick(names), &random)))")
            }
            if random.chance(20) {
                constraints.append(
                    """
                    CONSTRAINT "both" FOREIGN KEY (\(random.pick(names)), id) REFERENCES q\(random.pick(["", "(a, b)", "(b, a)"]))
                    """)
            }
        }
        if random.chance(30) { uniqueConflict = random.pick(Self.conflicts) }
        if random.chance(30) { keyConflict = random.pick(Self.conflicts) }
    }

    /// Types of one affinity.
    private static let synonyms = [
        "INTEGER": "INT", "INT": "INTEGER", "TEXT": "VARCHAR(10)", "VARCHAR(10)": "TEXT", "BLOB": "",
        "": "BLOB",
    ]

    private static func constraints(of column: Column, _ random: inout RandomNumbers) -> [Constraint] {
        var constraints: [Constraint] = []
        if random.chance(30) { constraints.append(.notNull(random.pick(conflicts))) }
        if random.chance(25) { constraints.append(.check(condition(column.name, &random))) }
        if column.generated == nil, random.chance(50) {
            constraints.append(
                .standard(
                    random.pick([
                        "1", "-1.5", "'a'", "'1'", "x'00'", "NULL", "word", "(1 + 1)", "+7", "'B'", "1e3",
                        "TRUE",
                        "'it''s)'", "(abs(-3))", "CURRENT_DATE", "\"quoted\"",
                    ])))
        }
        if random.chance(20) {
            let actions = [
                "", " ON DELETE CASCADE", " ON DELETE SET NULL",
                " ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED", " ON DELETE SET DEFAULT",
            ]
            constraints.append(.key(random.pick(["p", "p(id)", "p(code)"]) + random.pick(actions)))
        }
        return constraints.shuffled(using: &random)
    }

    private static func condition(_ name: String, _ random: inout RandomNumbers) -> String {
        random.pick([
            "\(name) <> ''", "length(\(name)) < 3", "\(name) IN (1, 2, 'a', 'B') /* , ) */",
            "\(name) IS NOT NULL", "typeof(\(name)) <> 'blob'",
            "t.\(name) >= 0 OR \(name) IS NULL", "\(name) LIKE '%'", "\"\(name)\" NOT BETWEEN 5 AND 9",
        ])
    }

    // MARK: SQL

    private func sql(_ column: Column, isKey: Bool) -> String {
        var words = [column.name, column.type]
        if let collation = column.collation { words.append("COLLATE \(collation)") }
        if let generated = column.generated { words.append("AS (\(generated))") }
        if isKey {
            switch key {
            case .integer, .int, .text: words.append("PRIMARY KEY\(keyConflict)")
            case .autoincrement: words.append("PRIMARY KEY\(keyConflict) AUTOINCREMENT")
            case .none, .pair: break
            }
        }
        words += column.constraints.map(\.sql)
        return words.joined(separator: " ")
    }

    /// The statement that creates the table with so many columns; with all by default.
    func create(_ count: Int? = nil) -> String {
        let columns = columns.prefix(count ?? columns.count)
        var parts = columns.map { sql($0, isKey: $0.name == "id") }
        if key == .pair { parts.append("PRIMARY KEY (c1, id)\(keyConflict)") }
        parts += uniques.map { "UNIQUE (\($0.joined(separator: ", ")))\(uniqueConflict)" }
        if count == nil { parts += constraints }
        let options = [isStrict ? "STRICT" : nil, isWithoutRowID ? "WITHOUT ROWID" : nil].compactMap(\.self)
        return "CREATE TABLE t(\(parts.joined(separator: ", "))) \(options.joined(separator: ", "))"
    }

    /// The statements that add the columns which `CREATE TABLE` does not make.
    var additions: [String] {
        columns.dropFirst(created).map { "ALTER TABLE t ADD COLUMN \(sql($0, isKey: false))" }
    }
}

// MARK: Other differences

extension RandomTable {
    /// Returns the table with a difference that is more than a constraint, and the words for it.
    func different(_ random: inout RandomNumbers) -> (table: RandomTable, difference: String) {
        while true {
            var other = self
            let index = Int.random(in: 0..<columns.count, using: &random)
            let column = columns[index]
            let difference = random.pick([
                "type", "collation", "generated", "unique", "no unique", "order of unique", "key", "strict",
                "rowid",
                "added", "dropped", "renamed", "moved",
            ])
            switch difference {
            case "type" where index > 0:
                let type = random.pick(
                    isStrict
                        ? ["INTEGER", "TEXT", "REAL", "BLOB"] : ["INTEGER", "TEXT", "REAL", "BLOB", "DATE"])
                guard Self.affinity(type) != Self.affinity(column.type) || isStrict && type != column.type
                else { continue }
                other.columns[index].type = type
            case "collation":
                let collation = random.pick(["NOCASE", "RTRIM"])
                guard column.collation != collation else { continue }
                other.columns[index].collation = collation
            case "generated" where index > 0 && columns.count > 2:
                if column.generated != nil {
                    other.columns[index].generated = random.pick([nil, "c1 || 'y'", "c1 || 'x' || 'x'"])
                } else {
                    guard index > 1, !uniques.joined().contains(column.name) else { continue }
                    other.columns[index].generated = "c1 || 1"
                    other.columns[index].constraints = []
                }
            case "unique":
                guard !uniques.contains([column.name]), index > 0 else { continue }
                other.uniques.append([column.name])
            case "no unique":
                guard !uniques.isEmpty else { continue }
                other.uniques.removeLast()
            case "order of unique":
                guard uniques.count > 1 else { continue }
                other.uniques.reverse()
            case "key":
                other.key = random.pick([.none, .integer, .autoincrement, .int, .text, .pair])
                other.columns[0].type = other.key == .text ? "TEXT" : other.key == .int ? "INT" : "INTEGER"
                if ![.int, .text, .pair].contains(other.key) { other.isWithoutRowID = false }
                guard other.key != key else { continue }
            case "strict":
                guard columns.allSatisfy({ ["INTEGER", "TEXT", "REAL", "BLOB", "INT"].contains($0.type) })
                else { continue }
                other.isStrict.toggle()
            case "rowid":
                guard [.int, .text, .pair].contains(key) else { continue }
                other.isWithoutRowID.toggle()
            case "added": other.columns.append(Column(name: "new", type: "TEXT"))
            case "dropped":
                guard let last = columns.last, last.name != "c1",
                    !constraints.contains(where: { $0.contains(last.name) }),
                    !uniques.joined().contains(last.name)
                else { continue }
                other.columns.removeLast()
            case "renamed":
                guard index > 1, !constraints.contains(where: { $0.contains(column.name) }),
                    !uniques.joined().contains(column.name)
                else { continue }
                other.columns[index].name = "renamed"
                other.columns[index].constraints = []
            case "moved":
                guard index > 0, index + 1 < columns.count else { continue }
                other.columns.swapAt(index, index + 1)
            default: continue
            }
            return (other, difference)
        }
    }

    private static func affinity(_ type: String) -> String {
        switch type {
        case "INTEGER", "INT": "integer"
        case "TEXT", "VARCHAR(10)": "text"
        case "REAL": "real"
        case "BLOB", "": "blob"
        default: "numeric"
        }
    }
}
