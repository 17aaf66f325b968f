import CMigrationSQLite
import GRDB
import SchemaMigrations

/// The functions, collations and tokenizers that SQLite and GRDB have themselves.
struct BuiltIns: Sendable {
    static let shared = BuiltIns()

    private let functions: [SQLName: Set<Int>]
    private let collations: Set<SQLName>
    /// FTS5's tokenizers (fts5.html, 4.3).
    let tokenizers: Set<SQLName>

    private static let tokenizers = ["unicode61", "ascii", "porter", "trigram"].map { SQLName($0) }

    private init() {
        let found = try? DatabaseQueue().read { db in
            let functions = try Row.fetchAll(db, sql: "SELECT name, narg FROM pragma_function_list").map {
                ($0["name"] as SQLName, $0["narg"] as Int)
            }
            let collations = try SQLName.fetchAll(db, sql: "SELECT name FROM pragma_collation_list")
            let tokenizers = Self.tokenizers.filter {
                app_migrations_has_tokenizer(db.sqliteConnection, $0.text) != 0
            }
            return (functions: functions, collations: collations, tokenizers: tokenizers)
        }
        functions = (found?.functions ?? []).reduce(into: [:]) { $0[$1.0, default: []].insert($1.1) }
        collations = Set(found?.collations ?? [])
        tokenizers = Set(found?.tokenizers ?? [])
    }

    /// Returns whether a function takes so many arguments; nil for any number of them.
    func hasFunction(_ name: String, _ argumentCount: Int?) -> Bool {
        // pragma.html#pragma_function_list: -1 is any number.
        guard let counts = functions[SQLName(name)] else { return false }
        return counts.contains(-1) || argumentCount.map(counts.contains) == true
    }

    /// Returns whether what a stand-in is for is there already.
    func has(_ standIn: StandIn) -> Bool {
        switch standIn.kind {
        case .function:
            standIn.argumentCount == nil
                ? functions[standIn.name] != nil : hasFunction(standIn.name.text, standIn.argumentCount)
        case .collation: collations.contains(standIn.name)
        case .tokenizer: tokenizers.contains(standIn.name)
        }
    }
}
