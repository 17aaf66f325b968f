import AppMigrations
package import GRDB
import MigrationDiagnostics

/// The `schema_migrations` table of a database, as it was read: which migrations it has had.
///
/// Always read afresh, and by plain SQL: GRDB caches what tables there are, and other processes make some.
package struct Ledger: Sendable {
    /// Exactly as FMDBMigrationManager and SQLiteMigrationManager.swift create it, so that databases go on
    /// where they are, and back.
    static let definition = "schema_migrations(version INTEGER UNIQUE NOT NULL)"

    static let detailsDefinition = """
        schema_migrations_details(
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

    /// Whether the table is there.
    let exists: Bool
    /// The versions that the database has had.
    let applied: Set<SchemaVersion>
    /// The versions that the database is known to have had, and that have to be written down.
    private(set) var unmarked: Set<SchemaVersion> = []
    /// Nothing at or below it is pending; nil where the database was built by replaying.
    let floor: SchemaVersion?

    /// The lowest version.
    var originVersion: SchemaVersion? { applied.min() }
    /// The highest version.
    package var currentVersion: SchemaVersion? { applied.max() }
    /// Whether the database has neither a ledger nor anything that stands for one.
    var isNew: Bool { !exists && unmarked.isEmpty }

    // MARK: Reading

    /// Reads the ledger, in statements that have to see one state of the database.
    ///
    /// - Throws: ``SchemaMigrationError``, when it cannot be understood.
    package init(_ db: Database) throws {
        let objects = try Row.fetchAll(
            db, sql: "SELECT name, type FROM main.sqlite_master WHERE name LIKE 'schema_migrations%'")
        let types = Dictionary(
            objects.map { ($0["name"] as String, $0["type"] as String) }, uniquingKeysWith: { $1 })
        guard let type = types["schema_migrations"] else {
            self.init(exists: false, applied: [], floor: nil)
            return
        }
        guard type == "table" else { throw Self.damaged("is a \(type), not a table") }
        let versions: [SchemaVersion]
        do {
            versions = try Self.fetchVersions(db)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            throw Self.damaged("has no column `version`", error)
        }
        let hasDetails = types["schema_migrations_details"] == "table"
        self.init(
            exists: true, applied: Set(versions),
            floor: try versions.first.flatMap { try Self.floor(at: $0, hasDetails: hasDetails, db) })
    }

    /// Takes the versions of a ledger that has no floor, or one that does not matter.
    init(versions: [SchemaVersion]) {
        self.init(exists: true, applied: Set(versions), floor: nil)
    }

    private init(exists: Bool, applied: Set<SchemaVersion>, floor: SchemaVersion?) {
        self.exists = exists
        self.applied = applied
        self.floor = floor
    }

    /// The ledger, to be written yet, of a database that is known to have had these versions.
    static func adopting(_ versions: some Sequence<SchemaVersion>) -> Ledger {
        let versions = Set(versions)
        var ledger = Ledger(exists: false, applied: versions, floor: versions.min())
        ledger.unmarked = versions
        return ledger
    }

    /// The versions that a database has had, ascending; nil where there is no ledger.
    ///
    /// By one statement, which sees one state of the database without a transaction.
    static func versions(_ db: Database) throws -> [SchemaVersion]? {
        do {
            return try fetchVersions(db)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            return nil
        }
    }

    private static func fetchVersions(_ db: Database) throws -> [SchemaVersion] {
        let statement = try db.makeStatement(
            sql: "SELECT version FROM main.schema_migrations ORDER BY version")
        if let versions = try statement.integers() { return versions }
        let other = try DatabaseValue.fetchOne(
            db, sql: "SELECT version FROM main.schema_migrations WHERE typeof(version) <> 'integer'")
        throw damaged("holds \(other ?? .null), which is not an integer")
    }

    /// The origin, unless this package ran that migration: then everything came by replaying, and nothing is
    /// below.
    private static func floor(
        at origin: SchemaVersion, hasDetails: Bool, _ db: Database
    ) throws -> SchemaVersion? {
        guard hasDetails else { return origin }
        let cameBy = try String.fetchOne(
            db, sql: "SELECT origin FROM main.schema_migrations_details WHERE version = ?",
            arguments: [origin])
        return cameBy == AppliedMigration.Origin.applied.rawValue ? nil : origin
    }

    private static func damaged(_ problem: String, _ error: (any Error)? = nil) -> SchemaMigrationError {
        SchemaMigrationError(
            .damagedLedger, "The table schema_migrations \(problem)",
            remedy: """
                It was left as it is. Fix it by hand: it needs a column `version`, with an integer for each migration.
                """,
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

    /// Creates the tables that are missing.
    static func create(_ db: Database) throws {
        for definition in [definition, detailsDefinition] {
            try db.execute(sql: "CREATE TABLE IF NOT EXISTS main.\(definition)")
        }
    }

    /// What is known about a version that enters the ledger.
    struct Entry {
        let version: SchemaVersion
        let name: String
        let origin: AppliedMigration.Origin
        var checksum: String?
        var seconds: Double?
        var app: String?
    }

    /// Writes that a migration was applied, or rolled back.
    static func record(
        _ job: MigrationJob, _ work: MigrationJob.Work, app: AppVersion?, _ db: Database
    ) throws {
        switch job.direction {
        case .up:
            let entry = Entry(
                version: job.version, name: job.migration.name, origin: .applied, checksum: job.checksum,
                seconds: work.seconds, app: app?.description)
            try insert(entry, db)
        case .down:
            try remove(job.version, db)
        }
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
