import AppMigrations
public import Foundation
public import GRDB
import GRDBMigrations
import MigrationTools
public import SchemaMigrations
import TextOutput

/// The migrations of a `DatabaseMigrator` as `.sql` files, for an app that leaves it.
///
/// Export them from a test, once:
///
/// ```swift
/// let migrator = DatabaseMigrator()    // the app's
/// let export = try MigrationExport(of: migrator)
/// try export.write(to: URL(fileURLWithPath: "Sources/App/Migrations"))
/// print(export)
/// ```
///
/// Each migration becomes a file with the statements that it runs. What reads rows, or runs other statements over other
/// rows, stays in Swift: ``description`` is the code that takes its place, with the reason. A migration whose Swift code
/// does something beside its statements, such as deleting a file, cannot be recognized, and neither can an `if` that asks whether
/// there is a table or a column, such as one that no migration makes; look for those.
///
/// The files are verified: each runs beside its migration, over generated rows, and so do all of them on a new database and on
/// old ones; every value has to be the same. In existing databases the files count as applied, by the identifiers in `grdb_migrations`.
public struct MigrationExport: Sendable {
    let migrations: [ExportedMigration]
    private let removed: Set<String>

    /// The names of the files.
    public var fileNames: [String] { migrations.filter { $0.text != nil }.map(\.fileName) }

    /// The identifiers of the migrations that stay in Swift, with the reason.
    public var code: [String: String] {
        Dictionary(
            migrations.compactMap { migration in migration.reason.map { (migration.title.name, $0) } },
            uniquingKeysWith: { $1 })
    }

    /// Exports migrations, in memory.
    ///
    /// - Parameters:
    ///   - migrator: the migrations, which run on databases in memory.
    ///   - version: the version of the first file; nil for that of today. Those of the others follow it.
    ///   - removed: the identifiers of migrations that were taken out of the migrator after they had shipped.
    ///   - configuration: how the app opens its database, with the functions and collations that migrations use.
    /// - Throws: the error of a migration that fails on a new database, or `MigrationError` if the files do not make
    ///   the same database.
    public init(
        of migrator: DatabaseMigrator, startingAt version: SchemaVersion? = nil,
        ignoring removed: Set<String> = [], configuration: Configuration = Configuration()
    ) throws {
        let runner = GRDBRunner(migrator)
        let database = try configuration.scratchDatabase()
        let trial = ExportTrial(runner: runner, database: database)
        let first = version ?? Self.version(of: Date())
        guard first > 0 else {
            throw MigrationError(
                .misuse, "The first file cannot have version \(first).",
                remedy: "Pass a date as startingAt:, such as 20240601000000000.")
        }
        migrations = try runner.titles.map { title in
            let exported = try trial.export(title, as: first + title.version - 1)
            _ = try runner.run(database, upTo: title.version)
            return exported
        }
        self.removed = removed
        try ExportReplay(runner: runner, migrations: migrations, adoption: adoption).check(configuration)
    }

    /// The versions that the identifiers in existing databases mean.
    var adoption: SchemaAdoption {
        .grdbMigrations(means: versions, merging: merged, ignoring: removed)
    }

    private var versions: [String: SchemaVersion] {
        Dictionary(migrations.map { ($0.title.name, $0.version) }, uniquingKeysWith: { $1 })
    }

    private var merged: [String: Set<String>] {
        Dictionary(
            migrations.filter { !$0.merged.isEmpty }.map { ($0.title.name, Set($0.merged)) },
            uniquingKeysWith: { $1 })
    }

    /// Writes the files.
    ///
    /// - Parameter folder: the folder, which is created if it does not exist, unless every migration stays in Swift.
    /// - Throws: an error of the file system; for instance, if a file exists already.
    public func write(to folder: URL) throws {
        guard !fileNames.isEmpty else { return }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for migration in migrations {
            guard let text = migration.text else { continue }
            let file = folder.appendingPathComponent(migration.fileName)
            try Data(text.utf8).write(to: file, options: .withoutOverwriting)
        }
    }

    /// Returns the day in UTC as a version, `yyyyMMdd` and nine zeros.
    private static func version(of date: Date) -> SchemaVersion {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let day = calendar.dateComponents([.year, .month, .day], from: date)
        let number = (day.year ?? 0) * 10_000 + (day.month ?? 0) * 100 + (day.day ?? 0)
        return SchemaVersion(number) * 1_000_000_000
    }
}

extension MigrationExport: CustomStringConvertible {
    /// The code that takes the place of the migrator, as Swift.
    public var description: String {
        let bodies = migrations.filter { $0.text == nil }.map { migration in
            let keys = migration.foreignKeys == .deferred ? "" : ", foreignKeys: .\(migration.foreignKeys)"
            return """
                        // It \(migration.reason ?? "").
                        CodeMigration(\(migration.version), \(migration.title.name.debugDescription)\(keys)) { db in
                            <#the closure of \(migration.title.name)#>
                        },

                """
        }
        let code = bodies.isEmpty ? "" : "    migrations: [\n\(bodies.joined())    ],\n"
        let means = migrations.map { "            \($0.title.name.debugDescription): \($0.version),\n" }
        let merging = merged.sorted { $0.key < $1.key }.map { identifier, others in
            let list = others.sorted().map(\.debugDescription).joined(separator: ", ")
            return "            \(identifier.debugDescription): [\(list)],\n"
        }
        let ignoring = removed.sorted().map(\.debugDescription).joined(separator: ", ")
        return """
            import GRDBMigrations
            import SchemaMigrations

            let schema = try SchemaMigrator(
            \(fileNames.isEmpty ? "" : "    directory: folder,\n")\(code)    adopting: .grdbMigrations(
                    means: [
            \(means.joined())        ]\(merging.isEmpty ? "" : ",\n        merging: [\n\(merging.joined())        ]")\
            \(removed.isEmpty ? "" : ",\n        ignoring: [\(ignoring)]")))
            """
    }
}
