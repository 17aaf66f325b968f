import AppMigrations
package import GRDB
import MigrationDiagnostics

/// The `schema_migrations` table of a database, which lists the migrations that were applied to it.
///
/// It is always read afresh and by plain SQL, because GRDB caches the schema, and other processes can create
/// tables.
package struct Ledger: Sendable {
    /// True if the table exists.
    package let exists: Bool
    /// True if the definition of another table, view, index or trigger names it.
    private(set) var isNamed = false
    /// The applied versions.
    package let applied: Set<SchemaVersion>
    /// The applied versions that are not in the table yet and have to be written.
    private(set) var unmarked: Set<SchemaVersion> = []
    /// The version at or below which nothing is pending; nil if the database was built by replaying.
    ///
    /// It is the lowest version, or what the details keep since that one was undone.
    let floor: SchemaVersion?
    /// The applied migrations that the migrator does not know, ascending: a newer build, or another branch, brought them.
    var newer: [AppliedMigration] = []

    /// The lowest version.
    var originVersion: SchemaVersion? { applied.min() }
    /// The highest version.
    package var currentVersion: SchemaVersion? { applied.max() }
    /// True if the database has neither a ledger nor adopted versions.
    var isNew: Bool { !exists && unmarked.isEmpty }

    // MARK: Reading

    /// Reads the ledger, in statements that have to see one state of the database.
    ///
    /// - Throws: `MigrationError`, when it cannot be understood.
    package init(_ db: Database) throws {
        let objects = try Row.fetchAll(
            db,
            sql: """
                SELECT name, type, instr(lower(sql), 'dirty') AS dirty FROM main.sqlite_master
                WHERE name LIKE 'schema_migrations%' OR sql LIKE '%schema_migrations%'
                """)
        let types = Dictionary(
            objects.map { ($0["name"] as SQLName, $0["type"] as String) }, uniquingKeysWith: { $1 })
        let isNamed = types.keys.contains { !OwnTables.all.contains($0) }
        guard let type = types["schema_migrations"] else {
            self.init(exists: false, applied: [], floor: nil)
            self.isNamed = isNamed
            return
        }
        guard type == "table" else { throw Self.damaged("is a \(type), not a table") }
        let versions: [SchemaVersion]
        do {
            versions = try Self.fetchVersions(db)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            throw Self.damaged("has no column `version`", error)
        }
        if objects.contains(where: { $0["dirty"] ?? 0 > 0 }) { try Self.checkThatNothingIsDirty(db) }
        let hasDetails = types["schema_migrations_details"] == "table"
        if versions.isEmpty, hasDetails { try Self.checkThatDetailsAreEmpty(db) }
        self.init(
            exists: true, applied: Set(versions),
            floor: hasDetails ? try Self.floor(at: versions.first, db) : versions.first)
        self.isNamed = isNamed
    }

    /// Reads the ledger; returns nil if the table is another tool's or the app's own, and only looks like one by its name.
    ///
    /// A `SchemaMigrator` refuses such a table; nobody else needs to understand it. One with details is this package's, and has
    /// to be whole.
    package static func unlessForeign(_ db: Database) throws -> Ledger? {
        do {
            return try Ledger(db)
        } catch let error as MigrationError {
            if try db.hasTable(OwnTables.details) { throw error }
            return nil
        }
    }

    /// Creates a ledger from its versions, without a floor or with one that does not matter.
    init(versions: [SchemaVersion]) {
        self.init(exists: true, applied: Set(versions), floor: nil)
    }

    private init(exists: Bool, applied: Set<SchemaVersion>, floor: SchemaVersion?) {
        self.exists = exists
        self.applied = applied
        self.floor = floor
    }

    /// Returns the ledger, still to be written, of a database that is adopted with these applied versions.
    func adopting(_ versions: some Sequence<SchemaVersion>) -> Ledger {
        let versions = Set(versions)
        var ledger = Ledger(exists: false, applied: versions, floor: versions.min())
        ledger.unmarked = versions
        ledger.isNamed = isNamed
        return ledger
    }

    /// Reads the applied versions of a database, ascending: none, or nil, if it has not begun with a migration.
    ///
    /// It uses one statement, which sees one state of the database without a transaction.
    static func versions(_ db: Database, beginningWith migration: any SchemaMigration) throws
        -> [SchemaVersion]?
    {
        do {
            return try fetchVersions(
                db, where: "(SELECT name FROM main.schema_migrations_details WHERE version = ?) = ?",
                arguments: [migration.version, migration.name])
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            return nil
        }
    }

    private static func fetchVersions(
        _ db: Database, where condition: String = "TRUE", arguments: StatementArguments = []
    ) throws -> [SchemaVersion] {
        let statement = try db.cachedStatement(
            sql: "SELECT version FROM main.schema_migrations WHERE \(condition) ORDER BY version")
        try statement.setArguments(arguments)
        if let versions = try statement.integers() { return versions }
        let other = try DatabaseValue.fetchOne(
            db, sql: "SELECT version FROM main.schema_migrations WHERE typeof(version) <> 'integer'")
        throw damaged("holds \(other ?? .null), which is not an integer")
    }

    /// Returns the versions in the order of their rows, in which they were applied; none if the rows have no order of their own.
    func order(_ db: Database) throws -> [SchemaVersion] {
        do {
            return try SchemaVersion.fetchAll(
                db, sql: "SELECT version FROM main.schema_migrations ORDER BY rowid")
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            return []
        }
    }

    /// Throws an error if golang-migrate, whose ledger marks a version before its statements run, has failed in one.
    private static func checkThatNothingIsDirty(_ db: Database) throws {
        let version: Int64?
        do {
            version = try Int64.fetchOne(
                db, sql: "SELECT version FROM main.schema_migrations WHERE dirty ORDER BY version")
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            return
        }
        guard let version else { return }
        throw MigrationError(
            .databaseFailed,
            "The table schema_migrations says that version \(version) is dirty: golang-migrate failed in the middle of it",
            remedy: """
                Nothing was changed. Complete or undo that migration by hand, then set `dirty` to 0, as `migrate force` does.
                """
        )
    }

    /// Throws an error if the ledger has lost its versions, since every migration would run again.
    private static func checkThatDetailsAreEmpty(_ db: Database) throws {
        let count =
            try Int.fetchOne(
                db,
                sql: "SELECT count(*) FROM main.schema_migrations_details WHERE origin <> '\(floorOrigin)'")
            ?? 0
        guard count > 0 else { return }
        throw MigrationError(
            .databaseFailed,
            """
            The table schema_migrations is empty, although schema_migrations_details lists \(count) applied \
            \(count == 1 ? "migration" : "migrations")
            """,
            remedy: """
                Nothing was changed. Insert the versions of the details into schema_migrations; or, if all migrations are \
                to run again, delete the details.
                """
        )
    }

    private static func damaged(_ problem: String, _ error: (any Error)? = nil) -> MigrationError {
        MigrationError(
            .databaseFailed, "The table schema_migrations \(problem)",
            remedy: """
                It was left as it is. If another tool or the app itself made it, let the app look for that tool's columns before \
                it migrates, rename the table if it has them, and return the version of the tables from `adopting`. If not, fix \
                it by hand: it needs a column `version`, with an integer for each migration.
                """,
            underlyingError: error
        )
    }

    /// Returns true if the database has tables other than this package's own, and those of other migrators that have applied nothing.
    package static func hasOtherTables(_ db: Database) throws -> Bool {
        let names = try SQLName.fetchAll(
            db,
            sql: """
                SELECT name FROM main.sqlite_master
                WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
                """)
        return try names.contains { try !OwnTables.contains($0) && !isUnusedLedger($0, db) }
            || names.contains(SQLName(OwnTables.ledger)) && unlessForeign(db) == nil
    }

    /// Returns true if a table is that of another migrator which has not applied its first migration.
    private static func isUnusedLedger(_ table: SQLName, _ db: Database) throws -> Bool {
        let ofMigrations: [SQLName: String] = [
            OwnTables.ofGRDB: "TRUE",
            // fmdb-migration-manager begins with 0.
            "schema_info": "version IS NOT 0",
        ]
        guard let isApplied = ofMigrations[table] else { return false }
        do {
            let sql = "SELECT NOT EXISTS (SELECT 1 FROM \(table.inMain) WHERE \(isApplied))"
            return try Bool.fetchOne(db, sql: sql) ?? false
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            // A table of the app's.
            return false
        }
    }

    // MARK: Writing

    /// Creates the missing tables, and the columns that earlier versions of this package did not have.
    package static func create(_ db: Database) throws {
        for definition in [LedgerTables.versions, LedgerTables.details] {
            try db.execute(sql: "CREATE TABLE IF NOT EXISTS main.\(definition)")
        }
        if try hasUndoColumns(db) { return }
        try db.execute(
            sql: """
                ALTER TABLE main.schema_migrations_details ADD COLUMN compatible INTEGER;
                ALTER TABLE main.schema_migrations_details ADD COLUMN down TEXT
                """)
    }

    /// Returns true if the details hold what an older build needs to know about migrations that it lacks.
    static func hasUndoColumns(_ db: Database) throws -> Bool {
        try Row.fetchOne(
            db,
            sql: "SELECT 1 FROM pragma_table_info('schema_migrations_details', 'main') WHERE name = 'down'")
            != nil
    }

    /// The details of a version that enters the ledger.
    package struct Entry {
        let version: SchemaVersion
        let name: String
        let origin: AppliedMigration.Origin
        var checksum: String?
        var seconds: Double?
        var app: String?
        let isCompatible: Bool
        let down: String?

        /// Describes a migration that a database has without having run it.
        ///
        /// A file that cannot be read was not run by this migrator, and is not needed now.
        package init(_ migration: any SchemaMigration, markedAs origin: AppliedMigration.Origin) {
            let script = try? (migration as? any SQLSource)?.script()
            self.init(migration, origin, script?.settings.isCompatible ?? migration.isCompatible)
        }

        init(
            _ migration: any SchemaMigration, _ origin: AppliedMigration.Origin, _ isCompatible: Bool
        ) {
            version = migration.version
            name = migration.name
            self.origin = origin
            self.isCompatible = isCompatible
            down = (migration as? any SQLSource)?.downForLedger
        }
    }

    package static func insert(_ entry: Entry, _ db: Database) throws {
        do {
            try db.cachedStatement(sql: "INSERT INTO main.schema_migrations(version) VALUES (?)")
                .run(with: [entry.version.databaseValue])
        } catch let error as DatabaseError
            where [.SQLITE_CONSTRAINT, .SQLITE_ERROR].contains(error.resultCode)
        {
            throw damaged("takes no version: \(error.message ?? "a constraint failed")", error)
        }
        // SQLite formats the time faster than Foundation does.
        try db.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO main.schema_migrations_details(
                    version, name, origin, checksum, applied, seconds, app, compatible, down)
                VALUES (?, ?, ?, ?, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), ?, ?, ?, ?)
                """
        )
        .run(with: [
            entry.version.databaseValue, entry.name.databaseValue, entry.origin.rawValue.databaseValue,
            entry.checksum.databaseValue, entry.seconds.databaseValue, entry.app.databaseValue,
            entry.isCompatible.databaseValue, entry.down.databaseValue,
        ])
    }

    static func setDown(_ down: String?, of version: SchemaVersion, _ db: Database) throws {
        try db.execute(
            sql: "UPDATE main.schema_migrations_details SET down = ? WHERE version = ?",
            arguments: [down, version])
    }
}
