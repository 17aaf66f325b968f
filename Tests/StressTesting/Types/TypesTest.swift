import Foundation
import GRDB
import MigrationTesting
import MigrationTools
import SchemaMigrations
import TestSupport

/// The types of random schemas compile, and their rows come out as they went in.
public struct TypesTest: StressTest {
    /// Selects it on the command line.
    public let name = "types"
    /// As Documentation/StressTests.md words it.
    public let promise = "Types of old schemas compile, and read and write every row unchanged"

    /// Makes the test.
    public init() {}

    /// Tries a thousand schemas, or four.
    public func run(_ size: StressSize) throws -> StressOutcome {
        try run(seeds: size.seeds(short: 4, long: 1_000))
    }

    /// Tries the schema of each seed.
    public func run(seeds: Range<UInt64>) throws -> StressOutcome {
        var outcome = StressOutcome(unit: "schemas")
        // One program for many schemas: the compiler takes longer to start than to compile one.
        for start in stride(from: seeds.lowerBound, to: seeds.upperBound, by: 40) {
            let batch = start..<min(start + 40, seeds.upperBound)
            outcome.failures += try CallingThread.run { try await Self.failures(batch) }
            outcome.tried += batch.count
        }
        return outcome
    }

    private static func failures(_ seeds: Range<UInt64>) async throws -> [String] {
        let folder = try TemporaryFolder()
        let cases = try seeds.map { try TypesCase(seed: $0, in: folder) }
        let program: TypesProgram
        do {
            program = try await TypesProgram(cases.map { .init(name: $0.name, text: $0.text) }, in: folder)
        } catch {
            return ["seeds \(seeds): \(error)"]
        }
        var failures: [String] = []
        for one in cases {
            do {
                _ = try await program.roundTrip(one.name, "v1", one.file)
            } catch {
                failures.append("seed \(one.seed): \(one.sql) \(error)")
            }
        }
        return failures
    }
}

/// One random schema, and a database with rows.
private struct TypesCase {
    let seed: UInt64
    let sql: String
    let text: String
    let file: URL

    var name: String { "Schema\(seed)" }

    init(seed: UInt64, in folder: TemporaryFolder) throws {
        self.seed = seed
        var random = RandomNumbers(seed: seed)
        let statements = try RandomSchema.statements(RandomSchema.random(&random))
        sql = statements.joined(separator: "; ")
        file = folder.file("\(seed).sqlite")
        let migrator = try SchemaMigrator(migrations: [
            SQLMigration(version: 1, name: "one", sql: statements.map { "\($0);\n" }.joined() + "SELECT 1;")
        ])
        text = try SchemaTypes(of: migrator, at: [1], name: "Schema\(seed)", mapping: ColumnTypes()).text
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let queue = try DatabaseQueue(path: file.path, configuration: configuration)
        try migrator.migrate(queue)
        try queue.writeWithoutTransaction { db in
            try TableFilling.fillAll(db, rowsPerTable: 8, seed: seed)
            // A view shows the rows of this table, which has no type because of its name.
            if try db.tableExists("q\"q") { try db.execute(sql: "DELETE FROM \"q\"\"q\"") }
            // A type refuses what it cannot hold, such as a text in a column of numbers.
            let schema = try TypedSchema(db, version: "1", mapping: ColumnTypes())
            let types = ["Int64": "integer", "Double": "real", "String": "text", "Data": "blob"]
            for rows in try UnreadableRows.find(db, schema) {
                let column = SQLName(rows.column).sql
                let condition =
                    types[rows.type].map { "typeof(\(column)) <> '\($0)'" } ?? "\(column) NOT IN (0, 1)"
                try db.execute(sql: "DELETE FROM \(SQLName(rows.table).sql) WHERE \(condition)")
            }
        }
        try queue.close()
    }
}
