import AppMigrations
import GRDB

/// The names of what a rebuild keeps beside its table.
package struct RebuildNames {
    let table: SQLName

    init(table: SQLName) { self.table = table }

    /// Reads the table's name from that of a table of its rebuild; nil for any other name.
    init?(of name: SQLName) {
        guard let prefix = Self.prefixes.first(where: name.folded.hasPrefix) else { return nil }
        table = SQLName(String(name.text.dropFirst(prefix.count)))
    }

    /// The new table, until it takes the place of the old one.
    var shadow: SQLName { named("new") }
    /// The keys of the rows that were written meanwhile.
    var log: SQLName { named("log") }
    var index: SQLName { named("key") }
    /// The old table, once the new one has taken its place.
    var old: SQLName { named("old") }

    /// The part of a trigger's name that tells it from the others of the rebuild.
    func trigger(_ number: Int) -> SQLName { SQLName("\(Self.triggerPrefix)\(number)_\(table)") }

    private func named(_ part: String) -> SQLName { SQLName("\(Ledger.prefix)\(part)_\(table)") }

    /// The beginning of the names of all triggers of rebuilds.
    static let triggerPrefix = "\(Ledger.prefix)trigger"

    /// Returns true for a table of some rebuild: it holds rows, or keys of rows, of a table of the app's.
    package static func isTable(_ name: SQLName) -> Bool {
        RebuildNames(of: name) != nil
    }

    private static let prefixes = ["new", "log", "old"].map { "\(Ledger.prefix)\($0)_" }

    /// Returns true for the name of a trigger of this rebuild.
    func isTrigger(_ name: SQLName) -> Bool {
        guard name.folded.hasPrefix(Self.triggerPrefix) else { return false }
        let rest = name.folded.dropFirst(Self.triggerPrefix.count).drop { $0.isASCII && $0.isNumber }
        return rest == "_\(table.folded)"
    }

    /// Drops the triggers.
    func dropTriggers(_ db: Database) throws {
        let names = try SQLName.fetchAll(
            db, sql: "SELECT name FROM main.sqlite_master WHERE type = 'trigger'")
        for name in names where isTrigger(name) { try db.execute(sql: "DROP TRIGGER \(name.inMain)") }
    }
}

/// The schema that a rebuild is to give its table.
struct RebuildSchema {
    /// The statements, with the name of the shadow instead of the table's.
    private(set) var statements: [String] = []
    private(set) var indexes: [SQLName] = []
    /// The table's name, as the app writes it.
    private(set) var name: SQLName

    /// Reads the statements that the app has registered.
    init(_ sql: String, _ names: RebuildNames) throws {
        name = names.table
        let bytes = Array(sql.utf8)
        let tokens = Array(SQLLexer(bytes))
        guard !bytes.contains(0), !tokens.contains(where: { $0.kind == .unterminated }) else {
            throw Self.malformed("has a NUL, or a comment, text or name that does not end", names)
        }
        for statement in tokens.split(whereSeparator: { $0.kind == .semicolon }).map(Array.init) {
            try add(statement, bytes, names)
        }
        guard !statements.isEmpty else { throw Self.malformed("has no statement", names) }
    }

    /// Returns true if the table has this schema and these indexes already: it was rebuilt before.
    ///
    /// Without indexes, nothing shows that.
    func isInPlace(_ db: Database) throws -> Bool {
        let table = try String.fetchOne(
            db, sql: "SELECT sql FROM main.sqlite_master WHERE type = 'table' AND name = ? COLLATE NOCASE",
            arguments: [name])
        let found = try String.fetchSet(
            db,
            sql: """
                SELECT sql FROM main.sqlite_master
                WHERE type = 'index' AND tbl_name = ? COLLATE NOCASE AND sql IS NOT NULL
                """, arguments: [name])
        guard let table, !indexes.isEmpty else { return false }
        let wanted = Set(statements.dropFirst().map(Self.shape))
        return Self.columns(of: table) == Self.columns(of: statements[0])
            && wanted.isSubset(of: found.map(Self.shape))
    }

    /// Returns the name of an index and everything about it but its table's name, which SQLite may have changed.
    private static func shape(of index: String) -> [String] {
        let bytes = Array(index.utf8)
        let words = SQLLexer(bytes).prefix(3).map {
            SQLName(token: String(decoding: bytes[$0.range], as: UTF8.self)).folded
        }
        return [
            words[1] == "unique" ? "unique" : "", words[words[1] == "unique" ? 2 : 1], columns(of: index),
        ]
    }

    /// Returns the text that follows the table's name.
    private static func columns(of sql: String) -> String {
        let bytes = Array(sql.utf8)
        let start = SQLLexer(bytes).first { $0.kind == .symbol }
        return String(decoding: bytes[(start?.range.lowerBound ?? 0)...], as: UTF8.self)
    }

    private mutating func add(_ tokens: [SQLLexer.Token], _ bytes: [UInt8], _ names: RebuildNames) throws {
        func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
        func word(_ index: Int) -> SQLName {
            index < tokens.count ? SQLName(token: text(tokens[index].range)) : ""
        }
        let whole = tokens[0].range.lowerBound..<tokens[tokens.count - 1].range.upperBound
        let table: Int
        if word(0) == "create", word(1) == "table", word(3) == "(", statements.isEmpty {
            table = 2
            name = word(2)
        } else {
            let index = word(1) == "unique" ? 3 : 2
            guard word(0) == "create", word(index - 1) == "index", word(index + 1) == "on",
                word(index + 3) == "(", !statements.isEmpty
            else {
                throw Self.malformed("has the statement `\(text(whole).prefix(60))`", names)
            }
            indexes.append(word(index))
            table = index + 2
        }
        guard word(table) == names.table else {
            throw Self.malformed("names the table \(word(table))", names)
        }
        let place = tokens[table].range
        statements.append(
            text(whole.lowerBound..<place.lowerBound) + names.shadow.sql
                + text(place.upperBound..<whole.upperBound))
    }

    private static func malformed(_ problem: String, _ names: RebuildNames) -> MigrationError {
        MigrationError(
            .stepFailed, "the new schema of table \(names.table) \(problem)",
            remedy: """
                Write `CREATE TABLE \(names.table)(…);` and then its indexes, `CREATE INDEX name ON \(names.table)(…);`, \
                and nothing else.
                """)
    }
}
