import AppMigrations
import DatabaseFiles
import GRDB
import GRDBMigrations
import MigrationTesting
import MigrationTools
import SchemaMigrations

/// The tables of an app, version by version.
struct SalvageSchema: Sendable {
    /// The latest version that the app knows; a newer app has one more.
    static let latest = 3
    static let newer = 4

    /// The tables, each parent before its children.
    let tables: [SalvageTable]
    let seeding: SalvageSeeding
    /// The statements of each version.
    private let statements: [Int: String]

    /// The tables that a database has by chance; always the one that the steps change.
    ///
    /// - Parameter seeding: makes the rows that migrations insert.
    init(_ random: inout RandomNumbers, seeding: (inout [SalvageTable]) -> SalvageSeeding) {
        var tables: [SalvageTable] = [.note]
        if random.chance(50) { tables += SalvageTable.twins + (random.chance(60) ? [.child] : []) }
        if random.chance(40) { tables.append(.tag) }
        if random.chance(30) { tables.append(.pair) }
        if random.chance(50) { tables += SalvageTable.typedAndLoose }
        if random.chance(50) { tables.append(.short) }
        if random.chance(40) { tables.append(.odd) }
        if random.chance(25) { tables.append(.words) }
        if random.chance(30) { tables.append(.trail) }
        let seeds = seeding(&tables)
        (self.tables, self.seeding) = (tables, seeds)
        statements = Dictionary(
            uniqueKeysWithValues: (1...Self.latest).map { version in
                (
                    version,
                    (tables.compactMap { $0.statements[version] } + seeds.statements(of: version, tables))
                        .joined(separator: "\n")
                )
            }
        ).merging([
            Self.newer: """
            ALTER TABLE note ADD COLUMN newer TEXT; CREATE TABLE newest(id INTEGER PRIMARY KEY, text TEXT);
            """
        ]) { $1 }
    }

    /// Returns the migrations up to a version.
    func migrator(
        _ kind: SalvageShape.Migrations, upTo version: Int = Self.latest
    ) throws -> any SalvageMigrator {
        let all = (1...version).map { (version: $0, sql: statements[$0] ?? "") }
        switch kind {
        case .files: return try FileMigrator(all)
        case .grdb: return try GRDBMigrator(all)
        }
    }
}

/// The migrations of an app, whatever runs them.
protocol SalvageMigrator: Sendable {
    func migrate(_ queue: DatabaseQueue, upTo version: Int) throws

    /// Lets a manager bring the database to a version.
    func register(
        _ release: AppVersion, upTo version: Int, in queue: DatabaseQueue, of manager: MigrationManager)

    func salvage(_ file: DatabaseFile) throws -> SalvageReport

    /// True if all migrations have been applied.
    func isComplete(_ db: Database) throws -> Bool
}

/// Migrations in files.
struct FileMigrator: SalvageMigrator {
    let migrator: SchemaMigrator

    init(_ versions: [(version: Int, sql: String)]) throws {
        let migrations = versions.map {
            SQLMigration(version: SchemaVersion($0.version), name: "m\($0.version)", sql: $0.sql)
        }
        migrator = try SchemaMigrator(migrations: migrations)
    }

    func migrate(_ queue: DatabaseQueue, upTo version: Int) throws {
        try migrator.migrate(queue, upTo: SchemaVersion(version))
    }

    func register(
        _ release: AppVersion, upTo version: Int, in queue: DatabaseQueue, of manager: MigrationManager
    ) {
        manager.whenMigratingToVersion(release, migrate: migrator, upTo: SchemaVersion(version), in: queue)
    }

    func salvage(_ file: DatabaseFile) throws -> SalvageReport { try file.salvage(into: migrator) }

    func isComplete(_ db: Database) throws -> Bool { try migrator.status(db).pendingVersions.isEmpty }
}

/// GRDB's own migrator.
struct GRDBMigrator: SalvageMigrator {
    let migrator: DatabaseMigrator

    init(_ versions: [(version: Int, sql: String)]) throws {
        var migrator = DatabaseMigrator()
        for (version, sql) in versions {
            migrator.registerMigration("v\(version)") { try $0.execute(sql: sql) }
        }
        self.migrator = migrator
    }

    func migrate(_ queue: DatabaseQueue, upTo version: Int) throws {
        try migrator.migrate(queue, upTo: "v\(version)")
    }

    func register(
        _ release: AppVersion, upTo version: Int, in queue: DatabaseQueue, of manager: MigrationManager
    ) {
        manager.whenMigratingToVersion(release, migrate: migrator, upTo: "v\(version)", in: queue)
    }

    func salvage(_ file: DatabaseFile) throws -> SalvageReport { try file.salvage(into: migrator) }

    func isComplete(_ db: Database) throws -> Bool {
        try migrator.hasCompletedMigrations(db)
    }
}
