import Foundation
import GRDB
import MigrationTesting
import MigrationTools
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("The types of old schemas", .timed)
struct RoundTripTests {
    /// Sets of migrations, each with the types of the columns whose dates have no time.
    static let sets = ["Samples/Journal", "Samples/Accounts"]

    @Test("compile, and read and write every row unchanged, at every version of the samples", arguments: sets)
    func samples(path: String) async throws {
        try await roundTrip(Self.repository.appendingPathComponent("\(path)/Migrations"))
    }

    @Test(
        "compile, and read and write every row unchanged, at every version of a set that grew for seven years"
    )
    func garden() async throws {
        try await roundTrip(SampleMigrations.garden.folder)
    }

    @Test(
        "compile, and read and write every row unchanged, at every version of real applications",
        .needs(.realMigrations),
        arguments: [RealMigrations.atuin, RealMigrations.eventCache, RealMigrations.crypto])
    func real(set: MigrationSet) async throws {
        // Two files of one set have one version: here each gets its place in the order.
        let folder = try TemporaryFolder()
        for (index, file) in try set.files.enumerated() {
            try FileManager.default.copyItem(at: file.url, to: folder.file("\(index + 1)_migration.sql"))
        }
        try await roundTrip(folder.file("."))
    }

    private func roundTrip(_ migrations: URL) async throws {
        let migrator = try SchemaMigrator(directory: migrations)
        let versions = migrator.migrations.map(\.version)
        let folder = try TemporaryFolder()
        var mapping = ColumnTypes()
        try Self.mapDays(of: migrator, in: &mapping)
        let types = try SchemaTypes(of: migrator, at: Set(versions), name: "Schema", mapping: mapping)
        let program = try await TypesProgram([.init(name: "Schema", text: types.text)], in: folder)
        let names = types.text.matches(of: /(?m)^    enum (\S+) \{/).map { String($0.1) }
        #expect(names.count == versions.count)
        var rows = 0
        for (name, version) in zip(names, versions) {
            let file = folder.file("\(version).sqlite")
            try Self.fill(file, migrator, upTo: version, mapping)
            let output = try await program.roundTrip("Schema", name, file)
            rows += Int(output.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
        }
        #expect(rows >= versions.count * 8)
    }

    /// Gives each column of type DATE the format of days, in which the generator of rows writes them.
    private static func mapDays(of migrator: SchemaMigrator, in mapping: inout ColumnTypes) throws {
        let queue = try DatabaseQueue()
        for version in migrator.migrations.map(\.version) {
            try migrator.migrate(queue, upTo: version)
            let columns = try queue.read { db in
                try Row.fetchAll(
                    db,
                    sql: """
                        SELECT t.name AS "table", c.name AS "column" FROM pragma_table_list AS t, pragma_table_info(t.name) AS c
                        WHERE t.type = 'table' AND upper(c.type) = 'DATE'
                        """)
            }
            for row in columns {
                try mapping.add("\(row["table"] as String).\(row["column"] as String)", "Date(yyyy-MM-dd)")
            }
        }
    }

    /// Fills a database with rows, without those that the types refuse: a generated text in a column of numbers.
    private static func fill(
        _ file: URL, _ migrator: SchemaMigrator, upTo version: SchemaVersion, _ mapping: ColumnTypes
    ) throws {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let database = try DatabaseQueue(path: file.path, configuration: configuration)
        try migrator.migrate(database, upTo: version)
        try database.write { db in
            _ = try RowGenerator(rowsPerTable: 12).fill(db)
            let schema = try TypedSchema(db, version: "\(version)", mapping: mapping)
            let types = ["Int64": "integer", "Double": "real", "String": "text", "Data": "blob"]
            for rows in try UnreadableRows.find(db, schema) {
                let column = SQLName(rows.column).sql
                let condition =
                    types[rows.type].map { "typeof(\(column)) <> '\($0)'" } ?? "\(column) NOT IN (0, 1)"
                try db.execute(sql: "DELETE FROM \(SQLName(rows.table).sql) WHERE \(condition)")
            }
            #expect(try UnreadableRows.find(db, schema) == [])
        }
        try database.close()
    }

    private static let repository = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
}
