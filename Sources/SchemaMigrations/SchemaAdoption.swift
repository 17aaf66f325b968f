import GRDB

/// Ready-made answers to the question at which version a database is that another tool has migrated.
///
/// ```swift
/// let schema = try SchemaMigrator(
///     directory: folder, adopting: SchemaAdoption.userVersion([1: 20240110090000000, 2: 20240203181500000]))
/// ```
///
/// The table of FMDBMigrationManager and SQLiteMigrationManager.swift needs no adoption: it is this package's own.
public enum SchemaAdoption {
    /// The database of fmdb-migration-manager, whose table `schema_info` holds the number of migrations.
    ///
    /// - Parameter versions: for each number, the version of the migration that did the same.
    public static func schemaInfo(_ versions: [Int: SchemaVersion]) -> SchemaMigrator.Adoption {
        { db in
            guard try db.hasTable("schema_info") else { return nil }
            let number = try Int.fetchOne(db, sql: "SELECT version FROM main.schema_info")
            return try number.map { try version($0, in: versions, called: "schema_info says") }
        }
    }

    /// A database that counts its migrations in `PRAGMA user_version`.
    ///
    /// - Parameter versions: for each number, the version of the migration that did the same.
    public static func userVersion(_ versions: [Int: SchemaVersion]) -> SchemaMigrator.Adoption {
        { db in
            let number = try db.pragma("main.user_version")
            return number == 0 ? nil : try version(number, in: versions, called: "user_version says")
        }
    }

    /// The database of GRDB's `DatabaseMigrator`, whose table `grdb_migrations` holds identifiers.
    ///
    /// To keep such a migrator instead, hand it to `whenMigratingToVersion(_:migrate:upTo:in:)`.
    ///
    /// - Parameter versions: for each identifier, the version of the migration that does the same.
    public static func grdb(_ versions: [String: SchemaVersion]) -> SchemaMigrator.Adoption {
        { db in
            guard try db.hasTable(Ledger.tableOfGRDB) else { return nil }
            let identifiers = try String.fetchAll(
                db, sql: "SELECT identifier FROM main.\(Ledger.tableOfGRDB)")
            let applied = try identifiers.map {
                try version($0, in: versions, called: "grdb_migrations holds")
            }
            guard let latest = applied.max() else { return nil }
            let missing = versions.filter { $0.value <= latest && !applied.contains($0.value) }.keys.min()
            guard let missing else { return latest }
            throw SchemaMigrationError(
                .unmanagedDatabase, "The table grdb_migrations holds a later migration, but not \(missing).",
                remedy: "Migrate it with GRDB's migrator first. Nothing was changed.")
        }
    }

    private static func version<Key: Hashable>(
        _ key: Key, in versions: [Key: SchemaVersion], called name: String
    ) throws -> SchemaVersion {
        guard let version = versions[key] else {
            throw SchemaMigrationError(
                .unmanagedDatabase, "\(name) \(key), for which no version is given.",
                remedy: "Add it to those that are passed for adoption. Nothing was changed.")
        }
        return version
    }
}
