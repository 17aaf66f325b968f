import GRDB

/// The settings of a connection that last beyond a transaction, so that they can be put back.
///
/// They are the pragmas that concern the connection and can be read and written (pragma.html). A file that
/// contains one of the others is refused: see `SQLScript.lastingPragmas`.
struct ConnectionSettings {
    /// The pragmas, in the order in which they can be put back.
    ///
    /// First what would keep the others from being put back. A pragma with a schema's name comes after the same
    /// without, which sets all schemas.
    private static let pragmas = [
        "query_only", "writable_schema", "ignore_check_constraints", "legacy_alter_table",
        "recursive_triggers",
        "reverse_unordered_selects", "trusted_schema", "read_uncommitted", "defer_foreign_keys",
        "foreign_keys",
        "cell_size_check", "checkpoint_fullfsync", "fullfsync", "automatic_index", "count_changes",
        "empty_result_callbacks", "full_column_names", "short_column_names", "analysis_limit", "threads",
        "soft_heap_limit", "busy_timeout", "locking_mode", "main.locking_mode", "main.synchronous",
        "cache_size", "cache_spill", "journal_size_limit", "mmap_size", "secure_delete", "temp_store",
    ]

    /// The values, without the pragmas that this SQLite does not know.
    private let values: [String: DatabaseValue]
    /// The attached databases.
    private let schemas: Set<SQLName>

    init(_ db: Database) throws {
        values = try Self.values(db)
        schemas = try SQLName.fetchSet(db, sql: Self.schemas)
    }

    /// Puts back the settings that have changed.
    ///
    /// Works inside a transaction too, in which SQLite changes none of those that it could not put back there.
    func restore(_ db: Database) throws {
        let changed = try Self.values(db)
        for pragma in Self.pragmas {
            guard let value = values[pragma], changed[pragma] != value else { continue }
            switch pragma {
            case "busy_timeout": db.setBusyTimeout(milliseconds: Int32.fromDatabaseValue(value) ?? 0)
            // Only the word means 2.
            case "secure_delete" where value == 2.databaseValue: try set(pragma, "FAST", db)
            default: try set(pragma, value.description, db)
            }
        }
    }

    private func set(_ pragma: String, _ value: String, _ db: Database) throws {
        try db.execute(sql: "PRAGMA \(pragma) = \(value)")
    }

    // Not cached: a compiled pragma goes on returning what it found when it was compiled.
    private static func values(_ db: Database) throws -> [String: DatabaseValue] {
        try pragmas.reduce(into: [:]) { values, pragma in
            values[pragma] = try DatabaseValue.fetchOne(db, sql: "PRAGMA \(pragma)")
        }
    }

    // MARK: Attached databases

    private static let schemas = "SELECT name FROM pragma_database_list"

    /// Detaches the databases that have been attached since.
    ///
    /// Works only outside transactions (lang_detach.html).
    func detachOthers(_ db: Database) throws {
        for schema in try SQLName.fetchAll(db.cachedStatement(sql: Self.schemas))
        where !schemas.contains(schema) {
            // SQLite creates the schema of temporary objects when it is needed.
            if schema != "temp" { try db.execute(sql: "DETACH \(schema.sql)") }
        }
    }
}
