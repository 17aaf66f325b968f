public import Foundation
package import GRDB

/// The `schema_migrations` table of a database, as it was read: which migrations it has had.
///
/// Always read afresh, and by plain SQL: GRDB caches what tables there are, and other processes make some.
package struct Ledger: Sendable {
    /// Exactly as FMDBMigrationManager and SQLiteMigrationManager.swift create it, so that databases go on
    /// where they are, and back.
    static let definition = "CREATE TABLE schema_migrations(version INTEGER UNIQUE NOT NULL)"

    static let detailsDefinition = """
        CREATE TABLE schema_migrations_details(
            version INTEGER PRIMARY KEY NOT NULL,
            name TEXT NOT NULL,
            origin TEXT NOT NULL,
            checksum TEXT,
            applied TEXT NOT NULL,
            seconds REAL,
            app TEXT
        )
        """

    /// The tables that this package keeps in a database.
    static let tables = [
        "schema_migrations", "schema_migrations_details", SQLiteStore.table, SQLiteStore.historyTable,
    ]

    /// The table in which GRDB's own migrator remembers what it has applied.
    package static let tableOfGRDB = "grdb_migrations"

    /// How a version came into the ledger.
    enum Origin: String, Sendable {
        /// The migration was run.
        case applied
        /// The database was found to be there already.
        case marked
        /// The database began with a snapshot of the schema that contains it.
        case snapshot
    }

    /// Whether the table is there.
    let exists: Bool
    let applied: Set<SchemaVersion>
    /// What is known to be there already, and has still to be written down.
    private(set) var unmarked: Set<SchemaVersion> = []
    /// Nothing at or below it is pending; nil where the database was built by replaying.
    let floor: SchemaVersion?

    /// The lowest version.
    var originVersion: SchemaVersion? { applied.min() }
    /// The highest version.
    var currentVersion: SchemaVersion? { applied.max() }

    init(_ db: Database) throws {
        let tables = try Set(
            String.fetchAll(
                db,
                sql:
                    "SELECT name FROM main.sqlite_master WHERE type = 'table' AND name LIKE 'schema_migrations%'"
            ))
        exists = tables.contains("schema_migrations")
        guard exists else {
            applied = []
            floor = nil
            return
        }
        applied = try Self.versions(db)
        guard let origin = applied.min() else {
            floor = nil
            return
        }
        // Where this package ran the first migration, everything came by replaying: nothing is below the origin.
        let cameBy =
            tables.contains("schema_migrations_details")
            ? try String.fetchOne(
                db, sql: "SELECT origin FROM main.schema_migrations_details WHERE version = ?",
                arguments: [origin])
            : nil
        floor = cameBy == Origin.applied.rawValue ? nil : origin
    }

    private init(adopting versions: Set<SchemaVersion>) {
        exists = false
        applied = versions
        unmarked = versions
        floor = versions.min()
    }

    /// The ledger, to be written yet, of a database that is known to have had these versions.
    static func adopting(_ versions: some Sequence<SchemaVersion>) -> Ledger {
        Ledger(adopting: Set(versions))
    }

    /// The versions that a database has had, ascending; nil where there is no ledger, or one that is damaged.
    ///
    /// One statement sees one state of the database, also outside a transaction.
    static func appliedVersions(_ db: Database) throws -> [SchemaVersion]? {
        do {
            return try db.makeStatement(
                sql: "SELECT version FROM main.schema_migrations ORDER BY version"
            ).integers()
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            return nil
        }
    }

    private static func versions(_ db: Database) throws -> Set<SchemaVersion> {
        var versions: Set<SchemaVersion> = []
        do {
            let rows = try DatabaseValue.fetchCursor(db, sql: "SELECT version FROM main.schema_migrations")
            while let value = try rows.next() {
                guard case .int64(let version) = value.storage else {
                    throw damaged("holds \(value), which is not an integer")
                }
                versions.insert(version)
            }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            throw damaged("has no column version", error)
        }
        return versions
    }

    private static func damaged(_ what: String, _ error: (any Error)? = nil) -> SchemaMigrationError {
        SchemaMigrationError(
            .damagedLedger, "The table schema_migrations \(what).",
            remedy:
                "It is left as it is. Mend it by hand: a column version, with an integer for each migration.",
            underlyingError: error)
    }

    /// Whether the database has tables of its own.
    static func hasOtherTables(_ db: Database) throws -> Bool {
        let names = try String.fetchAll(
            db,
            sql: """
                SELECT name FROM main.sqlite_master
                WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
                """)
        return names.contains { !isOwn(table: $0) }
    }

    /// Whether a table is one that this package keeps.
    package static func isOwn(table: String) -> Bool {
        tables.contains(table) || table.hasPrefix(SQLiteStore.asidePrefix)
    }

    // MARK: Writing

    /// Makes the tables that are missing.
    static func create(_ db: Database) throws {
        for definition in [definition, detailsDefinition] {
            try db.execute(
                sql: definition.replacingOccurrences(
                    of: "CREATE TABLE ", with: "CREATE TABLE IF NOT EXISTS main."))
        }
    }

    /// What is known about a version that enters the ledger.
    struct Entry {
        let version: SchemaVersion
        let name: String
        let origin: Origin
        var checksum: String?
        var seconds: Double?
        var app: String?
    }

    static func insert(_ entry: Entry, _ db: Database) throws {
        do {
            try db.cachedStatement(sql: "INSERT INTO main.schema_migrations(version) VALUES (?)")
                .execute(arguments: [entry.version])
        } catch let error as DatabaseError
            where [.SQLITE_CONSTRAINT, .SQLITE_ERROR].contains(error.resultCode)
        {
            throw damaged("takes no version: \(error.message ?? "a constraint failed")", error)
        }
        // SQLite tells the time faster than Foundation does.
        try db.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO main.schema_migrations_details
                VALUES (?, ?, ?, ?, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), ?, ?)
                """
        )
        .execute(arguments: [
            entry.version, entry.name, entry.origin.rawValue, entry.checksum, entry.seconds, entry.app,
        ])
    }

    static func remove(_ version: SchemaVersion, _ db: Database) throws {
        try db.execute(sql: "DELETE FROM main.schema_migrations WHERE version = ?", arguments: [version])
        try db.execute(
            sql: "DELETE FROM main.schema_migrations_details WHERE version = ?", arguments: [version])
    }

    static func setChecksum(_ checksum: String, of version: SchemaVersion, _ db: Database) throws {
        try db.execute(
            sql: "UPDATE main.schema_migrations_details SET checksum = ? WHERE version = ?",
            arguments: [checksum, version])
    }
}

/// A migration that a database has had, with what is known about it.
public struct AppliedMigration: Sendable, Hashable {
    /// How a migration came into a database's ledger.
    public enum Origin: String, Sendable {
        /// It was run.
        case applied
        /// The database was found to be there already.
        case marked
        /// The database began with a snapshot that contains it.
        case snapshot
        /// Another tool has written it.
        case unknown
    }

    /// The migration's version.
    public let version: SchemaVersion
    /// The name that it had; nil when it is not known.
    public let name: String?
    /// How it came into the ledger.
    public let origin: Origin
    /// When; nil when it is not known.
    public let date: Date?
    /// How long it ran, in seconds; nil when it did not run.
    public let seconds: Double?
    /// The version of the app that applied it; nil when it is not known.
    public let appVersion: String?
    let checksum: String?

    /// Every migration that a database has had, ascending.
    package static func fetchAll(_ db: Database) throws -> [AppliedMigration] {
        let ledger = try Ledger(db)
        let hasDetails = try db.hasTable("schema_migrations_details")
        let rows: [Row]
        do {
            rows =
                try hasDetails
                ? Row.fetchAll(db, sql: "SELECT \(columns) FROM main.schema_migrations_details") : []
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            throw SchemaMigrationError(
                .damagedLedger, "The table schema_migrations_details lacks a column: \(error.message ?? "").",
                remedy: "It is left as it is. Mend it by hand, or drop it: it is needed for inspection only.",
                underlyingError: error)
        }
        let details = Dictionary(
            rows.compactMap { row in SchemaVersion.fromDatabaseValue(row[0]).map { ($0, row) } },
            uniquingKeysWith: { $1 })
        return ledger.applied.sorted().map { AppliedMigration(version: $0, details: details[$0]) }
    }

    private static let columns = "version, name, origin, checksum, applied, seconds, app"

    /// Reads a row of details; what is not of its type counts as not known.
    private init(version: SchemaVersion, details row: Row?) {
        self.version = version
        func value<Value: DatabaseValueConvertible>(_ index: Int) -> Value? {
            row.flatMap { Value.fromDatabaseValue($0[index]) }
        }
        name = value(1)
        origin = value(2).flatMap(Origin.init(rawValue:)) ?? .unknown
        checksum = value(3)
        date = value(4).flatMap { (text: String) in try? Date(text, strategy: .iso8601) }
        seconds = value(5)
        appVersion = value(6)
    }
}
