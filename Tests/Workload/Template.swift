import AppMigrations
import DatabaseFiles
import Foundation
import MigrationTesting
import SchemaMigrations

/// The folder that a scenario's launch finds, made once and copied for every trial.
struct Template {
    /// The last migration that the snapshot holds.
    static let snapshotVersion = 5

    let scenario: Scenario
    let folder: String

    /// Makes the folder.
    init(_ scenario: Scenario, in scratch: String) throws {
        self.scenario = scenario
        folder = "\(scratch)/template"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        // The name is on the disk already: a sync of the file is then enough.
        if scenario.managers == .two {
            try Data().write(to: URL(fileURLWithPath: "\(folder)/\(Effects.second)"))
        }
        switch scenario.start {
        case .fresh: break
        case .snapshot:
            let migrations = Array(Schema.migrations.prefix(Self.snapshotVersion))
            let file = URL(fileURLWithPath: "\(folder)/snapshot.sql")
            // In a fork, which takes its threads with it.
            _ = try Child.run { try? SchemaMigrator(migrations: migrations).writeSnapshot(to: file) }
        case .unrecorded:
            let db = try PlainDatabase("\(folder)/library.sqlite")
            try db.execute(Schema.statements[0])
            try db.execute(Schema.rows)
            try Data().write(to: URL(fileURLWithPath: "\(folder)/\(Effects.old)"))
        case .salvaged:
            try launch("1.0")
            try Damage(folder: folder).make()
        case .begun: try Squashing.writeFiles(to: folder)
        case .upgrade, .waiting, .halfway, .moved, .copied, .branched, .redefined, .squashed, .squashedMoved,
            .outdated:
            try launch("1.0")
            let db = try PlainDatabase("\(folder)/library.sqlite")
            // What is moved has rows that are only in the write-ahead log.
            if scenario.moves { _ = try db.rows("PRAGMA wal_autocheckpoint = 0") }
            try db.execute(Schema.rows)
            if scenario.start == .branched { try apply(Schema.migrations.prefix(1) + Schema.branch) }
            if scenario.isSquashed {
                try apply(Schema.migrations.filter { scenario.squashedDatabase.contains(Int($0.version)) })
                try Squashing.writeFiles(to: folder)
            }
            if scenario.moves { try moveFiles() }
            // Whoever closes it last empties the log.
            withExtendedLifetime(db) {}
            guard scenario.start == .waiting || scenario.start == .halfway else { break }
            try launch("2.0")
            try PlainDatabase("\(folder)/library.sqlite").execute(Deferral.tables)
            if scenario.start == .halfway { try launch("2.1", diesAfterBatch: true) }
        }
    }

    /// Moves the app's files into another folder.
    private func moveFiles() throws {
        let old = "\(folder)/\(Scenario.oldFolder)"
        try FileManager.default.createDirectory(atPath: old, withIntermediateDirectories: true)
        for name in try FileManager.default.contentsOfDirectory(atPath: folder)
        where name.hasPrefix("library.sqlite") || name.hasPrefix("migrations.") {
            // The index of a write-ahead log is not part of the data, and does not outlive a crash.
            guard !name.hasSuffix("-shm") else { continue }
            try FileManager.default.copyItem(atPath: "\(folder)/\(name)", toPath: "\(old)/\(name)")
            try FileManager.default.removeItem(atPath: "\(folder)/\(name)")
        }
        try? FileManager.default.removeItem(atPath: "\(folder)/library.sqlite-shm")
    }

    /// Applies the migrations of another branch, which the ledger can undo, or of an old release.
    private func apply(_ migrations: some Sequence<SQLMigration>) throws {
        let migrations = Array(migrations)
        let file = DatabaseFile(path: "\(folder)/library.sqlite")
        _ = try Child.run { _ = try? SchemaMigrator(migrations: migrations).migrate(file.openQueue()) }
        let versions = try PlainDatabase("\(folder)/library.sqlite")
            .column("SELECT version FROM schema_migrations ORDER BY version")
        guard versions == migrations.map({ "\($0.version)" }) else { throw Unapplied() }
    }

    private struct Unapplied: Error {}

    private func launch(_ version: AppVersion, diesAfterBatch: Bool = false) throws {
        var launch = Launch(scenario: scenario, folder: folder, version: version)
        launch.diesAfterBatch = diesAfterBatch
        _ = try Child.run(launch.run)
    }

    /// Copies what is in it.
    func fill(_ folder: String) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: self.folder) {
            try FileManager.default.copyItem(atPath: "\(self.folder)/\(name)", toPath: "\(folder)/\(name)")
        }
    }

    /// Copies it.
    func copy(to folder: String) throws {
        try Folder.copy(self.folder, to: folder)
    }
}

/// Copies of folders.
enum Folder {
    /// Copies a folder, in the place of what is there.
    static func copy(_ source: String, to destination: String) throws {
        let files = FileManager.default
        if files.fileExists(atPath: destination) { try files.removeItem(atPath: destination) }
        try files.copyItem(atPath: source, toPath: destination)
    }
}
