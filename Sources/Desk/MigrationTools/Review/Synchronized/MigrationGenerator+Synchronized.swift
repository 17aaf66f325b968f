package import Foundation
import GRDB
import SchemaMigrations

extension MigrationGenerator {
    /// Returns what a sync engine would not accept of the migration.
    ///
    /// - Parameter directory: the folder with the earlier migrations, and the names of synchronized tables.
    package func synchronizedFindings(in directory: URL) throws -> [ReviewFinding] {
        var synchronized = SynchronizedTables(try CodeRules(in: directory).synchronized)
        let before = migrator?.migrations ?? []
        for case let source as any SQLSource in before {
            synchronized.add(ScriptOutline(try source.script()))
        }
        if isSynchronized { synchronized.add(generatedTables) }
        guard !synchronized.names.isEmpty else { return [] }
        let added = files.migrations(from: nextVersion)
        let database = try configuration.scratchDatabase()
        defer { try? database.close() }
        try migrator?.migrate(database)
        var run = MigrationRun(
            try SchemaMigrator(migrations: before + added), database, synchronized: synchronized)
        let found = try added.flatMap { run.apply($0.version, ScriptOutline(try $0.script())) }
            .filter { finding in ReviewRule.synchronized.contains { $0.name == finding.rule.name } }
        return try ReviewSeverities(in: directory).apply(to: found)
    }
}
