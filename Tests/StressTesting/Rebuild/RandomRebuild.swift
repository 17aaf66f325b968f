import MigrationTools
import SchemaMigrations

/// A random table, the table that it is to become, and the writes of an app.
struct RandomRebuild {
    /// Creates all tables.
    let setUp: [String]
    /// Creates the new table and its indexes.
    let newTable: (_ name: String) -> String
    let newIndexes: [String]
    let triggers: [String]
    let copying: [String: String]
    /// The columns of the key.
    let key: [String]
    let foreignKeys: Bool
    let recursiveTriggers: Bool

    private enum Key: CaseIterable {
        case integer, autoincrement, text, textWithoutRowID, pairWithoutRowID, pair
    }

    private let kind: Key
    private let hasGenerated: Bool
    private static let clauses = [
        "", "", " OR REPLACE", " OR REPLACE", " OR IGNORE", " OR FAIL", " OR ABORT", " OR ROLLBACK",
    ]
    private static let actions = [
        "", "ON DELETE CASCADE", "ON DELETE SET NULL", "ON DELETE RESTRICT", "ON DELETE SET DEFAULT",
        "ON DELETE CASCADE ON UPDATE CASCADE", "ON UPDATE SET NULL", "DEFERRABLE INITIALLY DEFERRED",
    ]

    init(_ random: inout RandomNumbers) {
        kind = random.pick(Key.allCases)
        foreignKeys = random.chance(70)
        recursiveTriggers = random.chance(30)
        key =
            switch kind {
            case .pair: ["id", "b"]
            case .pairWithoutRowID: ["b", "id"]
            default: ["id"]
            }
        let collation = random.pick(["", "", " COLLATE NOCASE"])
        let keyColumns: String
        let keyConstraint: String
        var tail = ""
        switch kind {
        case .integer: (keyColumns, keyConstraint) = ("id INTEGER PRIMARY KEY", "")
        case .autoincrement: (keyColumns, keyConstraint) = ("id INTEGER PRIMARY KEY AUTOINCREMENT", "")
        case .text: (keyColumns, keyConstraint) = ("id TEXT\(collation) PRIMARY KEY", "")
        case .textWithoutRowID:
            (keyColumns, keyConstraint, tail) = ("id TEXT\(collation) PRIMARY KEY", "", " WITHOUT ROWID")
        case .pairWithoutRowID:
            (keyColumns, keyConstraint, tail) = (
                "id TEXT\(collation), b INTEGER", ", PRIMARY KEY (b, id)", " WITHOUT ROWID"
            )
        case .pair: (keyColumns, keyConstraint) = ("id, b", ", PRIMARY KEY (id, b)")
        }
        let unique = ["", "", " UNIQUE", " UNIQUE ON CONFLICT REPLACE", " UNIQUE ON CONFLICT IGNORE"]
        let k = random.pick(["k TEXT", "k TEXT COLLATE NOCASE", "k TEXT NOT NULL DEFAULT 'd'", "k"])
        let v = random.pick([
            "v INTEGER", "v NOT NULL DEFAULT 2", "v NOT NULL ON CONFLICT REPLACE DEFAULT 2",
            "v INTEGER DEFAULT 1",
        ])
        let isInteger = kind == .integer || kind == .autoincrement
        func reference(_ random: inout RandomNumbers) -> String {
            switch Int.random(in: 0..<5, using: &random) {
            case 0: "p INTEGER"
            case 1: "p INTEGER NOT NULL DEFAULT 1 REFERENCES parent(id) \(random.pick(Self.actions))"
            case 2: "p INTEGER REFERENCES parent(code) \(random.pick(Self.actions))"
            case 3 where isInteger: "p INTEGER REFERENCES photo(id) \(random.pick(Self.actions))"
            default: "p INTEGER DEFAULT 1 REFERENCES parent(id) \(random.pick(Self.actions))"
            }
        }
        let p = reference(&random)
        let both = random.pick(["", "", ", UNIQUE (u, v)", ", UNIQUE (v, k)"])
        hasGenerated = random.chance(20)
        let generated = hasGenerated ? ", g AS (u + 1)" : ""
        var statements = [
            "CREATE TABLE parent(id INTEGER PRIMARY KEY, code INTEGER UNIQUE, name TEXT UNIQUE)",
            "CREATE TABLE note(t TEXT)",
            """
            CREATE TABLE photo(\(keyColumns), \(k)\(random.pick(unique)), u INTEGER\(random.pick(unique)), \(v), \(p)\
            \(generated)\(keyConstraint)\(both))\(tail)
            """,
        ]
        if key.count == 1, random.chance(60) {
            statements.append(
                "CREATE TABLE child(id INTEGER PRIMARY KEY, photo REFERENCES photo(id) \(random.pick(Self.actions)))"
            )
        } else {
            statements.append("CREATE TABLE child(id INTEGER PRIMARY KEY, photo)")
        }
        if random.chance(30) { statements.append("CREATE UNIQUE INDEX by_lower ON photo(lower(k))") }
        if random.chance(30) { statements.append("CREATE UNIQUE INDEX by_some ON photo(u) WHERE v > 1") }
        if random.chance(20) {
            statements.append("CREATE UNIQUE INDEX by_nocase ON photo(k COLLATE NOCASE DESC, v)")
        }
        if random.chance(20) { statements.append("CREATE INDEX by_p ON photo(p)") }
        if random.chance(10) { statements.append("CREATE UNIQUE INDEX by_five ON photo(k = 5) WHERE k = 5") }
        // Over a generated column only where no default takes the place of NULL: the rebuild refuses that.
        if hasGenerated, ![k, v, p].contains(where: { $0.contains("NOT NULL") }), random.chance(50) {
            statements.append("CREATE UNIQUE INDEX by_generated ON photo(g)")
        }
        if random.chance(20) {
            statements.append("CREATE UNIQUE INDEX parent_by_lower ON parent(lower(name))")
        }
        for i in 1...5 { statements.append("INSERT INTO parent VALUES (\(i), \(i), 'p\(i)')") }
        setUp = statements

        triggers = [
            "CREATE TRIGGER t1 AFTER UPDATE ON photo BEGIN INSERT INTO note VALUES ('u' || OLD.u); END",
            "CREATE TRIGGER t2 AFTER DELETE ON photo BEGIN INSERT INTO note VALUES ('d' || OLD.u); END",
            "CREATE TRIGGER t3 BEFORE INSERT ON photo WHEN NEW.u = 3 BEGIN DELETE FROM photo WHERE u = 4; END",
            "CREATE TRIGGER t4 AFTER INSERT ON photo WHEN NEW.u = 5 BEGIN UPDATE photo SET v = 7 WHERE u = 6; END",
        ].filter { _ in random.chance(25) }

        // The new table: mostly one that fits.
        var copying: [String: String] = [:]
        let newK: String
        if random.chance(60) {
            newK = random.pick(["k TEXT NOT NULL", "k TEXT NOT NULL COLLATE NOCASE", "k BLOB NOT NULL"])
            copying["k"] = random.pick(["coalesce(k, 'none')", "coalesce(k, id, 0) || '!'"])
        } else {
            newK = random.pick([
                "k TEXT", "k TEXT UNIQUE", "k", "k TEXT NOT NULL", "k TEXT CHECK (k <> 'c')",
                "k TEXT NOT NULL ON CONFLICT REPLACE DEFAULT 'none'",
            ])
        }
        let newU = random.pick([
            "u INTEGER", "u TEXT", "u INTEGER UNIQUE", "u REAL", "u INTEGER UNIQUE ON CONFLICT IGNORE",
            "u INTEGER UNIQUE ON CONFLICT REPLACE",
        ])
        let newV = random.pick([
            "v INTEGER", "v TEXT NOT NULL DEFAULT 0", "v UNIQUE", "v INTEGER CHECK (v < 9)",
        ])
        if random.chance(30) { copying["v"] = random.pick(["v * 10", "coalesce(v, 1) + 1", "'v'"]) }
        let newP = reference(&random)
        if newP.contains("NOT NULL") { copying["p"] = "coalesce(p, 1)" }
        let newBoth = random.pick(["", "", both])
        let isStrict =
            random.chance(10)
            && !["k BLOB", "k "].contains { newK.hasPrefix($0) && !newK.hasPrefix("k TEXT") }
            && newV != "v UNIQUE" && newK != "k" && kind != .pair
        let options = [tail.isEmpty ? "" : "WITHOUT ROWID", isStrict ? "STRICT" : ""].filter { !$0.isEmpty }
        newTable = { name in
            """
            CREATE TABLE \(name)(\(newK), \(keyColumns), \(newU), \(newV), x DEFAULT 9\(isStrict ? "" : "")\
            , \(newP)\(keyConstraint)\(newBoth)) \(options.joined(separator: ", "))
            """.replacing("x DEFAULT 9", with: isStrict ? "x ANY DEFAULT 9" : "x DEFAULT 9")
        }
        newIndexes = [
            "CREATE INDEX new_1 ON photo(u)", "CREATE UNIQUE INDEX new_2 ON photo(upper(k), u, v)",
            "CREATE UNIQUE INDEX new_3 ON photo(u) WHERE v > 1", "CREATE INDEX new_4 ON photo(p)",
        ].filter { _ in random.chance(25) }
        self.copying = copying
    }

    // MARK: Writes

    private func id(_ random: inout RandomNumbers) -> String {
        switch kind {
        case .integer, .autoincrement: random.pick(["NULL"] + (1...12).map { "\($0)" })
        case .pair: random.pick(["NULL", "1", "'a'", "'b'", "2.5", "x'61'"])
        case .pairWithoutRowID: random.pick(["'a'", "'A'", "'b'", "'c'"])
        case .text: random.pick(["NULL", "'a'", "'A'", "'b'", "'c'", "'d'", "'e'", "'é'", "1"])
        case .textWithoutRowID: random.pick(["'a'", "'A'", "'b'", "'c'", "'d'", "'e'", "'é'", "1"])
        }
    }

    private func value(of column: String, _ random: inout RandomNumbers) -> String {
        switch column {
        case "id": id(&random)
        case "b": random.pick(kind == .pair ? ["NULL", "1", "2"] : ["1", "2", "3"])
        case "k":
            random.pick(["NULL", "'a'", "'A'", "'b'", "'B'", "'c'", "'d'", "'e'", "'f'", "'g'", "5", "'5'"])
        case "u": random.pick(["NULL", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"])
        case "v": random.pick(["NULL", "1", "2", "3", "4", "7"])
        default: random.pick(["NULL", "1", "2", "3", "4", "5", "1"])
        }
    }

    private var columns: [String] { key + ["k", "u", "v", "p"] }

    private func insert(_ random: inout RandomNumbers) -> String {
        let columns = columns.filter { key.contains($0) || random.chance(80) }
        let rows = (0..<Int.random(in: 1...3, using: &random)).map { _ in
            "(\(columns.map { value(of: $0, &random) }.joined(separator: ", ")))"
        }
        let names = columns.joined(separator: ", ")
        let clause = random.pick(Self.clauses)
        let upsert =
            !clause.isEmpty || random.chance(60)
            ? ""
            : random.pick([
                " ON CONFLICT DO NOTHING",
                " ON CONFLICT(\(key.joined(separator: ", "))) DO UPDATE SET k = excluded.k || 'x', v = 3",
                " ON CONFLICT(\(key.joined(separator: ", "))) DO UPDATE SET u = u + 1",
            ])
        return "INSERT\(clause) INTO photo(\(names)) VALUES \(rows.joined(separator: ", "))\(upsert)"
    }

    private func condition(_ random: inout RandomNumbers) -> String {
        let column = random.pick(columns)
        let value = value(of: column, &random)
        return random.pick([
            "\(column) IS \(value)", "\(column) IS \(value)", "\(column) > \(value)", "u % 3 = 1",
        ])
    }

    /// True if the row id has a name, so that it is the same in every rebuild.
    var hasIntegerKey: Bool { kind == .integer || kind == .autoincrement }

    /// Returns a write of the app's.
    ///
    /// After the swap, none that depends on the order of row ids that have no name.
    func write(_ random: inout RandomNumbers, isSwapped: Bool) -> String {
        let clause = random.pick(Self.clauses)
        let isOrdered = !isSwapped || (kind != .text && kind != .pair)
        switch Int.random(in: isOrdered ? 0..<22 : 13..<21, using: &random) {
        case 0...7: return insert(&random)
        case 8...12:
            let set = random.pick(columns)
            let value = random.chance(20) && set == "u" ? "u + 1" : value(of: set, &random)
            return "UPDATE\(clause) photo SET \(set) = \(value) WHERE \(condition(&random))"
        case 13, 14: return "DELETE FROM photo WHERE \(condition(&random))"
        case 15:
            let number = Int.random(in: 1...7, using: &random)
            return
                "INSERT\(clause) INTO parent VALUES (\(number), \(random.pick(["1", "2", "6", "NULL"])), 'p\(number)')"
        case 16:
            let set = random.pick(["id", "code", "name"])
            return
                "UPDATE\(clause) parent SET \(set) = \(Int.random(in: 1...7, using: &random)) WHERE id = \(Int.random(in: 1...7, using: &random))"
        case 17: return "DELETE FROM parent WHERE id = \(Int.random(in: 1...7, using: &random))"
        case 18: return "INSERT\(clause) INTO child(photo) VALUES (\(id(&random)))"
        case 19: return "DELETE FROM child WHERE photo IS \(id(&random))"
        case 20:
            return
                "INSERT INTO parent VALUES (\(Int.random(in: 1...7, using: &random)), 9, 'x') ON CONFLICT(id) DO UPDATE SET name = 'y'"
        default:
            guard kind != .textWithoutRowID, kind != .pairWithoutRowID else { return insert(&random) }
            return
                "UPDATE\(clause) photo SET rowid = \(Int.random(in: 1...12, using: &random)) WHERE rowid = \(Int.random(in: 1...12, using: &random))"
        }
    }
}
