import AppMigrations
package import GRDB
import MigrationDiagnostics
package import SchemaMigrations
import TextOutput

/// The types for versions of a schema, made by running the migrations in memory.
package struct SchemaTypes: Sendable {
    /// The schemas, oldest first.
    package let schemas: [TypedSchema]
    private let all: [String]
    private let name: String
    private let mapping: ColumnTypes

    /// The text of the file.
    package var text: String { SchemaTypesSource(schemas, all: all, name: name, mapping: mapping).text }

    /// The numbers of versions and of types, in words.
    package var summary: String {
        let tables = schemas.reduce(0) { $0 + $1.tables.count }
        return "\(schemas.count.counting("version")), \(tables.counting("type"))"
    }

    /// Runs migrations, and reads the schema at versions.
    ///
    /// - Parameters:
    ///   - versions: versions of known migrations.
    ///   - name: the name of the enumeration around all.
    ///   - mapping: the types that the app chooses.
    ///   - configuration: how the app opens its database, with the functions and collations that migrations use.
    /// - Throws: `MigrationError`, if a version is unknown or a migration fails.
    package init(
        of migrator: SchemaMigrator, at versions: Set<SchemaVersion>, name: String, mapping: ColumnTypes,
        configuration: Configuration = Configuration()
    ) throws {
        try Self.check(name)
        let known = migrator.migrations
        if let unknown = versions.subtracting(known.map(\.version)).min() {
            throw Self.unknown("\(unknown)", known.map { "\($0.version)" })
        }
        let queue = try configuration.scratchDatabase()
        let replay = migrator.with(snapshot: nil)
        schemas = try MigrationError.mapErrors {
            try known.filter { versions.contains($0.version) }.map { migration in
                try replay.migrate(queue, upTo: migration.version)
                return try queue.read {
                    try TypedSchema(
                        $0, version: "\(migration.version)", migration: migration.name, mapping: mapping)
                }
            }
        }
        all = known.map { "\($0.version)" }
        (self.name, self.mapping) = (name, mapping)
        try mapping.check(against: schemas)
    }

    /// Runs GRDB's migrations, and reads the schema at versions.
    package init(
        of migrator: DatabaseMigrator, at versions: Set<String>, name: String, mapping: ColumnTypes,
        configuration: Configuration = Configuration()
    ) throws {
        try Self.check(name)
        let known = migrator.migrations
        if let unknown = versions.subtracting(known).min() { throw Self.unknown(unknown, known) }
        let queue = try configuration.scratchDatabase()
        schemas = try known.filter(versions.contains).map { version in
            try migrator.migrate(queue, upTo: version)
            return try queue.read { try TypedSchema($0, version: version, mapping: mapping) }
        }
        all = known
        (self.name, self.mapping) = (name, mapping)
        try mapping.check(against: schemas)
    }

    private static func check(_ name: String) throws {
        guard SwiftName.type(name) == name else {
            throw MigrationError(
                .misuse,
                Diagnostic("`\(name)` cannot be the name of a type", remedy: "Pass a name such as Schema."))
        }
    }

    private static func unknown(_ version: String, _ known: [String]) -> MigrationError {
        MigrationError(
            .misuse,
            Diagnostic(
                "No migration has version \(version)",
                remedy: "The latest are \(known.suffix(3).joined(separator: ", ")). Nothing was written."))
    }
}
