import AppMigrations
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("A closure that a later version writes in a database", .timed)
struct MovedStepTests {
    private let folder: TemporaryFolder
    private let queue: DatabaseQueue
    private let store: MigrationStore

    init() throws {
        folder = try TemporaryFolder()
        queue = try folder.queue()
        store = try .jsonFile(at: folder.file("record.json"))
    }

    private static let sql = "UPDATE price SET cents = cents * 100"

    /// Launches a version: 2.0 has step 1.5 outside the database, and 3.0 in it.
    ///
    /// - Parameter hasSchemaStep: whether a schema step makes the table, so that the manager has a record in the database.
    private func launch(
        _ version: AppVersion, _ adopting: Adoption, hasSchemaStep: Bool
    ) throws {
        let manager = try MigrationManager(
            name: "Library", currentVersion: version, adopting: adopting, store: store)
        if hasSchemaStep {
            let table = CodeMigration(1, sql: "CREATE TABLE price(cents INTEGER)")
            manager.whenMigratingToVersion("1.0", migrate: try SchemaMigrator(migrations: [table]), in: queue)
        }
        if version >= "3.0" {
            manager.whenMigratingToVersion("1.5", in: queue) { try $0.execute(sql: Self.sql) }
        } else if version >= "2.0" {
            manager.whenMigratingToVersion("1.5") { [queue] in try queue.execute(Self.sql) }
        }
        try manager.migrate()
    }

    private func insert(_ cents: Int) throws { try queue.execute("INSERT INTO price VALUES (\(cents))") }

    private var prices: [Int64] {
        get throws { try queue.integers("SELECT cents FROM price ORDER BY rowid") }
    }

    @Test(
        "is not needed on an install that was new when the closure was there", arguments: [true, false],
        [true, false])
    func newInstall(hasSchemaStep: Bool, isAskedLast: Bool) throws {
        let adopting = Adoption.databaseHasTables(queue, means: "1.0")
        func launch(_ version: AppVersion) throws {
            try self.launch(version, adopting, hasSchemaStep: hasSchemaStep)
        }
        try launch("2.0")
        if !hasSchemaStep { try queue.execute("CREATE TABLE price(cents INTEGER)") }
        try insert(250)
        if isAskedLast {
            let other = try MigrationManager(
                name: "Other", currentVersion: "3.0", adopting: adopting, store: store)
            other.whenMigratingToVersion("1.2", in: queue) { _ in }
            try other.migrate()
        }
        try launch("3.0")
        #expect(try prices == [250])
    }

    @Test("runs in a new database where it is needed there")
    func newDatabase() throws {
        func launch(_ version: AppVersion, _ databases: [DatabaseQueue]) throws {
            let manager = try MigrationManager(
                name: "Library", currentVersion: version, adopting: .newApp, store: store)
            if version < "3.0" { manager.whenMigratingToVersion("1.5") {} }
            for database in databases {
                manager.whenMigratingToVersion("1.5", in: database, onFreshInstall: .run) {
                    try $0.execute(sql: "CREATE TABLE setting(x)")
                }
            }
            try manager.migrate()
        }
        try launch("2.0", [queue])
        let other = try DatabaseQueue(path: folder.path("other.sqlite"))
        try launch("3.0", [queue, other])
        #expect(try other.tables().contains("setting"))
    }
}
