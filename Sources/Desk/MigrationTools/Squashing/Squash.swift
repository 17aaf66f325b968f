import AppMigrations
package import Foundation
import GRDB
import MigrationDiagnostics
package import SchemaMigrations

/// Replaces the oldest migrations of a folder by one file, and verifies that nothing else changes.
package struct Squash {
    /// The name of the file that stands for the others.
    package let fileName: String
    /// The files that it replaces, down migrations included.
    package let replaced: [String]
    /// The number of databases that came out the same.
    package private(set) var databases = 0
    /// The later migrations in Swift, with which the check had to end.
    package let unproved: [String]
    /// The text of the file.
    let text: String

    private let directory: URL
    private let all: SchemaMigrator
    private let squashed: SchemaMigrator
    private let version: SchemaVersion
    private let configuration: Configuration

    private static let rowsPerTable = 8

    /// Runs the migrations up to a version, and verifies that the file that has the same effect stands for them: on a
    /// fresh install, and on a database at every version from the file's on.
    ///
    /// - Parameters:
    ///   - version: that of the last migration to replace.
    ///   - lastRelease: the last release of the app that has these migrations.
    /// - Throws: `MigrationError`, for instance if a migration is in Swift, or a database comes out otherwise.
    package static func verified(
        directory: URL, before version: SchemaVersion, lastRelease: String? = nil
    ) throws -> Squash {
        var squash = try Squash(
            directory: directory, before: version, lastRelease: lastRelease,
            CodeRules(in: directory).standIns.configuration)
        try MigrationError.mapErrors { try squash.verify() }
        return squash
    }

    /// Writes the text of the file, in memory.
    private init(
        directory: URL, before version: SchemaVersion, lastRelease: String?, _ configuration: Configuration
    ) throws {
        self.directory = directory
        self.configuration = configuration
        self.version = version
        let migrations = try SchemaMigrator(sourcesIn: directory).migrations
        let older = migrations.filter { $0.version <= version }
        guard older.last?.version == version else {
            throw Self.refusal(
                "No migration has version \(version)",
                remedy: "Pass the version of the last file to squash.")
        }
        if let code = older.first(where: { !($0 is any SQLSource) }) {
            throw Self.refusal(
                "\(code.title) is written in Swift, which no SQL file can replace",
                remedy: "Squash the files before it, or write it in SQL.")
        }
        guard older.count > 1 else {
            throw Self.refusal(
                "Up to version \(version), there is only \(older[0].title)", remedy: "Pass a later version.")
        }
        let later = migrations.filter { $0.version > version }
        let runnable = later.prefix { $0 is any SQLSource }
        unproved = later.dropFirst(runnable.count).map(\.title)
        // The ledger tells the baseline from the file that it replaces by the name.
        let name = older.last?.name == "baseline" ? "squashed" : "baseline"
        fileName = "\(version)_\(name).sql"
        let folder = try MigrationFolder.names(in: directory)
        replaced = older.flatMap { migration in
            [migration.title, "\(migration.title.dropLast(4)).down.sql"].filter(folder.contains)
        }
        let sql = try MigrationError.mapErrors {
            let migrator = try SchemaMigrator(migrations: older)
            try DayTrial(migrator, configuration: configuration).check()
            return try SnapshotWriter(migrator, configuration: configuration).statements()
        }
        text = try Self.header(older, lastRelease) + sql
        all = try SchemaMigrator(migrations: older + runnable)
        squashed = try SchemaMigrator(
            migrations: [SQLMigration(version: version, name: name, sql: text)] + runnable)
    }

    /// Returns the comments that name the migrations; those of an earlier baseline stay.
    private static func header(_ older: [any SchemaMigration], _ lastRelease: String?) throws -> String {
        var lines = ["-- Written by `app-migrations squash` from the migrations below. Do not edit it."]
        for migration in older {
            let text = try (migration as? any SQLSource)?.text() ?? ""
            if Baseline(text) == nil {
                lines.append("\(Baseline.header)\(migration.version) \(migration.name)")
            } else {
                lines += text.split(whereSeparator: \.isNewline).prefix { $0.hasPrefix("--") }
                    .filter { $0.hasPrefix(Baseline.header) }.map(String.init)
            }
        }
        if let lastRelease { lines.append("\(Baseline.releaseHeader)\(lastRelease)") }
        return (lines + [""]).joined(separator: "\n")
    }

    /// Writes the file, and removes those that it replaces.
    package func write() throws {
        let part = directory.appendingPathComponent(".\(fileName)-\(UUID().uuidString)")
        let file = directory.appendingPathComponent(fileName)
        do {
            try Data(text.utf8).write(to: part)
            // First, so that whatever happens the folder holds the files or what stands for them.
            guard rename(part.path, file.path) == 0 else { throw POSIXError.current }
        } catch {
            try? FileManager.default.removeItem(at: part)
            throw Self.refusal(
                "\(fileName) cannot be written: \((error as? POSIXError)?.reason ?? error.localizedDescription)",
                remedy: "Make the folder writable, and remove what has the name. Nothing was changed.")
        }
        for name in replaced {
            try FileManager.default.removeItem(at: directory.appendingPathComponent(name))
        }
    }

    // MARK: Verification

    /// Runs both sets on a fresh install, and on a database at every version from the baseline's on.
    private mutating func verify() throws {
        let (replayed, begun) = (try database(), try database())
        try all.migrate(replayed, upTo: version)
        try squashed.migrate(begun, upTo: version)
        try compare(replayed, begun, "a fresh install at version \(version)")
        let versions = all.migrations.map(\.version).filter { $0 >= self.version }
        for (version, next) in zip(versions, versions.dropFirst() + versions.suffix(1)) {
            // Both sets go on with the same files: what follows the next one has a trial of its own.
            let target = version == self.version ? nil : next
            try all.migrate(replayed, upTo: version)
            let (one, other) = (try database(), try database())
            try replayed.backup(to: one)
            try one.write {
                _ = try TableFilling.fillAll($0, rowsPerTable: Self.rowsPerTable, seed: 1)
            }
            try one.backup(to: other)
            // A migration may refuse the generated rows: then both sets must.
            let results = [
                Result { try all.migrate(one, upTo: target) },
                Result { try squashed.migrate(other, upTo: target) },
            ]
            let reports = results.map {
                (try? $0.get().applied.map(String.init).joined(separator: ", ")) ?? "an error"
            }
            guard reports[0] == reports[1] else {
                throw Self.refusal(
                    "A database at version \(version) gets \(reports[0]) from the files, and \(reports[1]) after squashing",
                    remedy: "Squash other files. Nothing was changed.")
            }
            try compare(one, other, "a database at version \(version)")
        }
        try all.migrate(replayed)
        try squashed.migrate(begun)
        try compare(replayed, begun, "a fresh install")
        try verifyRefusal()
    }

    private mutating func compare(_ one: DatabaseQueue, _ other: DatabaseQueue, _ title: String) throws {
        let contents = try [one, other].map { try $0.writeWithoutTransaction(DatabaseContents.init) }
        let differences = contents[0].differences(from: contents[1], calling: "the files", "the baseline")
        guard differences.isEmpty else {
            throw Self.refusal(
                "The baseline makes something else of \(title): \(differences.joined(separator: "; "))",
                remedy: "Squash other files. Nothing was changed.")
        }
        databases += 1
    }

    /// Makes sure that a database below the baseline is refused, and stays as it is.
    private mutating func verifyRefusal() throws {
        guard let below = all.migrations.last(where: { $0.version < version }) else { return }
        let queue = try database()
        try all.migrate(queue, upTo: below.version)
        let before = try queue.writeWithoutTransaction(DatabaseContents.init)
        do {
            try squashed.migrate(queue)
        } catch let error as MigrationError where error.code == .tooOld {
            let after = try queue.writeWithoutTransaction(DatabaseContents.init)
            guard before.differences(from: after, calling: "before", "after").isEmpty else {
                throw Self.refusal("A database below the baseline is changed", remedy: "Nothing was changed.")
            }
            databases += 1
        }
    }

    private func database() throws -> DatabaseQueue { try DatabaseQueue(configuration: configuration) }

    private static func refusal(_ problem: String, remedy: String) -> MigrationError {
        MigrationError(.misuse, problem, remedy: remedy)
    }
}
