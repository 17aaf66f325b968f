import AppMigrations
import Foundation
import GRDB
import MigrationTesting
import SchemaMigrations

/// An app with a database for each account, a ladder by `user_version`, and a long migration of files.
struct LadderPort: Port {
    static let name = "ladder"
    static let releases = 3

    private let folder: URL
    private static let accounts = ["1", "2", "3"]
    init(in folder: URL) throws {
        self.folder = folder
        for account in Self.accounts {
            try FileManager.default.createDirectory(
                at: folder.file(account), withIntermediateDirectories: true)
        }
    }

    private func open(_ account: String) throws -> DatabaseQueue {
        try DatabaseQueue(path: folder.file(account).file("account.sqlite").path)
    }

    private static let rungs = [
        "CREATE TABLE peer(id INTEGER PRIMARY KEY, name TEXT)", "ALTER TABLE peer ADD COLUMN phone TEXT",
        "ALTER TABLE peer ADD COLUMN hidden INTEGER NOT NULL DEFAULT 0",
    ]

    func use(release: Int) throws {
        for account in Self.accounts {
            let database = try open(account)
            for rung in 0...release {
                try database.write {
                    try $0.execute(sql: "\(Self.rungs[rung]); PRAGMA user_version = \(rung + 1)")
                }
            }
            try database.write { db in
                for id in 1...10 {
                    try db.execute(sql: "INSERT INTO peer(id, name) VALUES (?, 'p')", arguments: [id])
                }
            }
            for id in 1...6 { try Data("\(id)".utf8).write(to: folder.file(account).file("photo\(id).old")) }
        }
    }

    func launch(_ process: SimulatedProcess) throws -> Int {
        var count = 0
        for account in Self.accounts {
            let (database, home) = (try open(account), folder.file(account))
            let schema = try SchemaMigrator(
                migrations: Self.rungs.enumerated().map { index, sql in
                    SQLMigration(
                        version: SchemaVersion(index + 1), name: "rung\(index + 1)",
                        sql: "\(sql); PRAGMA user_version = \(index + 1)")
                }, adopting: .userVersion())
            let manager = try MigrationManager(
                name: "Account", currentVersion: "3.0", adopting: .databaseHasTables(database, means: "1.0"),
                store: .jsonFile(at: home.file("migrations.json")),
                options: MigrationOptions(maximumAttempts: 100))
            manager.whenMigratingToVersion(migrate: schema, in: database)
            manager.whenMigratingToVersion("2.0") { context in
                let names = home.fileNames.filter { $0.hasSuffix(".old") }
                context.progress.totalUnitCount = Int64(names.count)
                for name in names {
                    try process.moment()
                    let new = home.file(name.replacingOccurrences(of: ".old", with: ".new"))
                    try Data("new ".utf8 + Data(contentsOf: home.file(name))).write(to: new, options: .atomic)
                    try process.moment()
                    try FileManager.default.removeItem(at: home.file(name))
                    context.progress.completedUnitCount += 1
                    try context.checkpoint()
                }
            }
            // A database of SQLite's first kind is rewritten for it, and no transaction may be open.
            manager.whenMigratingToVersion("3.0") {
                try process.moment()
                try database.writeWithoutTransaction {
                    try $0.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL; VACUUM")
                }
                try process.moment()
            }
            count += try run(manager)
        }
        return count
    }

    func problem(from release: Int?) throws -> String? {
        for account in Self.accounts {
            let database = try open(account)
            if try database.number("PRAGMA user_version") != 3 { return "\(account) is on another rung" }
            if try database.number("SELECT count(phone) + count(*) FROM peer WHERE hidden = 0")
                != (release == nil ? 0 : 10)
            {
                return "\(account) has lost peers"
            }
            guard release != nil else { continue }
            if try database.number("PRAGMA auto_vacuum") != 2 { return "\(account) does not shrink" }
            let texts = try (1...6).map {
                try String(contentsOf: folder.file(account).file("photo\($0).new"), encoding: .utf8)
            }
            if texts != (1...6).map({ "new \($0)" }) { return "the photos of \(account) are \(texts)" }
            let old = folder.file(account).fileNames.filter { $0.hasSuffix(".old") }
            if !old.isEmpty { return "\(account) has \(old) left" }
        }
        return nil
    }
}
