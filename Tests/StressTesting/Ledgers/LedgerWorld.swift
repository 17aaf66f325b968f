import AppMigrations
import Foundation
import GRDB
import SchemaMigrations

/// A database in memory that builds migrate one after the other.
struct LedgerWorld {
    private let queue: DatabaseQueue
    private var model = LedgerModel()
    private var history: [LedgerBuild] = []

    init() throws { queue = try DatabaseQueue() }

    var title: String {
        history.map { build in
            let files = build.files.map { "\($0.version) \($0.kind)" }.joined(separator: ", ")
            let squashed = build.squashed.map { ", squashed up to \($0)" } ?? ""
            return "[\(files)\(squashed); \(build.newer)\(build.hasSnapshot ? ", snapshot" : "")]"
        }.joined(separator: " → ")
    }

    /// Launches a build, and compares what it has done with what is promised.
    ///
    /// - Parameter snapshots: a folder for snapshots.
    mutating func launch(_ build: LedgerBuild, snapshots: URL) throws -> String? {
        history.append(build)
        let before = try contents()
        let migrator = try Self.migrator(build, snapshots)
        let status = try queue.read(migrator.status)
        let result: LedgerModel.Outcome
        do {
            try migrator.migrate(queue)
            result = .migrated
        } catch let error as MigrationError {
            result = .refused(error.code.description)
        }
        let expected = model.launch(build)
        let after = try contents()
        if result != expected { return "ends with \(result) instead of \(expected)" }
        if case .refused = result, after != before { return "is refused, and has changed" }
        if after != model.effects.sorted().map({ "\($0)" }) {
            return "has the effects of \(after) instead of \(model.effects.sorted())"
        }
        if expected != .refused("differentSchema"),
            (expected == .refused("tooOld")) != !status.squashedVersions.isEmpty
        {
            return "the status says that it lacks \(status.squashedVersions)"
        }
        let again = try? migrator.migrate(queue)
        if result == .migrated, again?.applied != [] || again?.undone != [] {
            return "has something to do again"
        }
        return nil
    }

    /// The versions whose rows and tables are there; with a mark where one is there without the other, or twice.
    private func contents() throws -> [String] {
        try queue.read { db in
            let tables = try String.fetchSet(
                db, sql: "SELECT substr(name, 3) FROM sqlite_master WHERE name LIKE 't\\_%' ESCAPE '\\'")
            guard try db.tableExists("log") else { return tables.sorted() }
            let rows = try Row.fetchAll(
                db, sql: "SELECT version, count(*) FROM log GROUP BY 1 ORDER BY 1")
            let found = rows.map { row -> String in
                let (version, count): (Int64, Int) = (row[0], row[1])
                return "\(version)" + (count == 1 && tables.contains("\(version)") ? "" : " broken")
            }
            return found
        }
    }

    private static func sql(_ file: LedgerFile) -> String {
        switch file.kind {
        case .alone: "ANALYZE;"
        default:
            """
            CREATE TABLE t_\(file.version)(x); INSERT INTO log VALUES (\(file.version));
            """
        }
    }

    private static func migrator(_ build: LedgerBuild, _ snapshots: URL) throws -> SchemaMigrator {
        let log = "CREATE TABLE IF NOT EXISTS log(version INTEGER);\n"
        var migrations: [any SchemaMigration] = build.rest.map { file in
            let header = (file.isCompatible ? "-- migrations: compatible\n" : "") + log
            let down = "DROP TABLE t_\(file.version); DELETE FROM log WHERE version = \(file.version)"
            switch file.kind {
            case .code:
                return CodeMigration(file.version, "f\(file.version)") { db in
                    try db.execute(sql: log + sql(file))
                }
            case .alone:
                return SQLMigration(
                    version: file.version, name: "f\(file.version)",
                    sql: "-- migrations: transaction=none\n" + sql(file))
            default:
                return SQLMigration(
                    version: file.version, name: "f\(file.version)", sql: header + sql(file),
                    down: file.isReversible ? down : nil)
            }
        }
        if let squashed = build.squashed {
            let header = build.replaced.map { "-- replaces: \($0.version) f\($0.version)\n" }.joined()
            migrations.append(
                SQLMigration(
                    version: squashed, name: "baseline",
                    sql: header + "-- last release: 2.4\n" + log + build.replaced.map(sql).joined()))
        }
        var snapshot: URL?
        if build.hasSnapshot {
            let url = snapshots.appendingPathComponent("\(UUID().uuidString).sql")
            let header = build.rest.map { "-- snapshot: \($0.version) f\($0.version)\n" }.joined()
            try Data((header + log + build.rest.map(sql).joined()).utf8).write(to: url)
            snapshot = url
        }
        let rule: SchemaOptions.NewerDatabaseRule =
            switch build.newer {
            case .refuse: .refuse
            case .rollBack: .rollBack
            case .allow: .allow
            }
        return try SchemaMigrator(
            migrations: migrations, snapshot: snapshot, options: SchemaOptions(newerDatabases: rule))
    }
}
