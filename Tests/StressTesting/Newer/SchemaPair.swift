import Foundation
import GRDB
import MigrationTesting
import MigrationTools
import SchemaMigrations

/// A random schema, and the migration that makes another one of it.
struct SchemaPair {
    let first: SQLMigration
    /// The generated statements; empty if the schemas are the same, or nothing can be generated.
    let sql: String
    let downSQL: String
    /// True if the down migration leaves nothing out.
    let isReversible: Bool

    /// Makes a pair.
    ///
    /// - Parameter change: makes the second schema from the first.
    init(
        seed: UInt64, change: ([RandomSchema.Part], inout RandomNumbers) -> [RandomSchema.Part]
    ) throws {
        var random = RandomNumbers(seed: seed)
        let old = RandomSchema.random(&random)
        let new = change(old, &random)
        let texts = try [old, new].map { parts in
            try RandomSchema.statements(parts).map { "\($0);\n" }.joined()
        }
        first = SQLMigration(version: 1, name: "first", sql: texts[0])
        guard !texts.contains("") else {
            (sql, downSQL, isReversible) = ("", "", false)
            return
        }
        let generator = try MigrationGenerator(
            SchemaMigrator(migrations: [first]), to: SchemaFile(Data(texts[1].utf8), name: "schema.sql"),
            renaming: SchemaRenames(), redefining: false)
        sql = generator.sql
        downSQL = generator.downSQL
        isReversible = generator.downQuestions.isEmpty
    }

    /// The migrator of the build that does not know the second migration.
    func older(_ rule: SchemaOptions.NewerDatabaseRule = .refuse) throws -> SchemaMigrator {
        try SchemaMigrator(migrations: [first], options: SchemaOptions(newerDatabases: rule))
    }

    /// The migrator of the build that has both.
    func newer(header: String = "") throws -> SchemaMigrator {
        try SchemaMigrator(
            migrations: [
                first, SQLMigration(version: 2, name: "second", sql: header + sql, down: downSQL),
            ])
    }
}
