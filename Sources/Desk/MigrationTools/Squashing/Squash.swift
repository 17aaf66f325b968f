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
    /// A database that has had the files up to the version, and one that lacks the last.
    private let (replayed, below): (DatabaseQueue, DatabaseQueue)

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
            CodeRules(in: directory).standIns)
        try MigrationError.mapErrors { try squash.verify() }
        return squash
    }

    /// Writes the text of the file, in memory.
    private init(
        directory: URL, before version: SchemaVersion, lastRelease: String?, _ standIns: StandIns
    ) throws {
        self.directory = directory
        let configuration = standIns.configuration
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
        // The check runs in memory, where there is no WAL.
        if let wal = try older.last(where: { try $0.journalMode() != nil }), try wal.journalMode() == "WAL",
            try !later.contains(where: { try $0.journalMode() != nil })
        {
            throw Self.refusal(
                "\(wal.title) sets journal_mode = WAL, which no baseline can do",
                remedy:
                    "Squash the files before it, or add a later file that sets it, too. Nothing was changed.")
        }
        let runnable = later.prefix { $0 is any SQLSource }
        unproved = later.dropFirst(runnable.count).map(\.title)
        // The ledger tells the baseline from the file that it replaces by the name, and some disks ignore its case.
        let name = older.last?.name.lowercased() == "baseline" ? "squashed" : "baseline"
        fileName = "\(version)_\(name).sql"
        let folder = try MigrationFolder.names(in: directory)
        replaced = older.flatMap { migration in
            [migration.title, "\(migration.title.dropLast(4)).down.sql"].filter(folder.contains)
        }
        let (replayed, below) = (
            try configuration.scratchDatabase(), try configuration.scratchDatabase()
        )
        (self.replayed, self.below) = (replayed, below)
        let options = SchemaOptions.unobserved
        let sql = try MigrationError.mapErrors {
            let migrator = try SchemaMigrator(migrations: older, options: options)
            try DayTrial(migrator, configuration: configuration, standIns: standIns).check()
            try migrator.migrate(replayed, upTo: older[older.count - 2].version)
            try replayed.backup(to: below)
            try migrator.migrate(replayed)
            return try replayed.write(SnapshotWriter(migrator, configuration: configuration).statements)
        }
        text = try Self.header(older, lastRelease) + sql
        all = try SchemaMigrator(migrations: older + runnable, options: options)
        squashed = try SchemaMigrator(
            migrations: [SQLMigration(version: version, name: name, sql: text)] + runnable, options: options)
    }

    /// Returns the comments that name the migrations, and the tables that these call synchronized; those of an earlier baseline
    /// stay.
    private static func header(_ older: [any SchemaMigration], _ lastRelease: String?) throws -> String {
        var lines = ["-- Written by `app-migrations squash` from the migrations below. Do not edit it."]
        var synchronized = SynchronizedTables()
        var isUnchecked = false
        for migration in older {
            if let script = try (migration as? any SQLSource)?.script() {
                synchronized.add(ScriptOutline(script))
                isUnchecked = isUnchecked || script.settings.foreignKeys == .unchecked
            }
            let text = try (migration as? any SQLSource)?.text() ?? ""
            lines +=
                Baseline(text)?.lines.map { Baseline.header + $0 }
                ?? ["\(Baseline.header)\(migration.version) \(migration.name)"]
        }
        lines += synchronized.names.sorted().map { "\(SynchronizedTables.baselineHeader)\($0.text)" }
        if let lastRelease { lines.append("\(Baseline.releaseHeader)\(lastRelease)") }
        // Such a file may leave rows that no other file may.
        if isUnchecked { lines.append("-- migrations: foreign-keys=unchecked") }
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
        let begun = try configuration.scratchDatabase()
        try squashed.migrate(begun, upTo: version)
        try compare(replayed, begun, "a fresh install at version \(version)")
        let later = all.migrations.filter { $0.version > version }
        try verify(at: version, upTo: nil)
        var steps = try SmallSteps(of: replayed)
        // Both sets go on with the same files: what follows the next one has a trial of its own.
        for (migration, next) in zip(later, later.dropFirst() + later.suffix(1)) {
            try all.migrate(replayed, upTo: migration.version)
            if let script = try (next as? any SQLSource)?.script(), let small = try? steps.next(script),
                let trial = try? Trial(all, squashed, on: small, upTo: next.version), trial.isSame
            {
                databases += 1
            } else {
                // What fails there may miss a table.
                try verify(at: migration.version, upTo: next.version)
            }
        }
        try squashed.migrate(begun)
        try compare(replayed, begun, "a fresh install")
        try verifyRefusal()
    }

    /// Runs both sets on a copy with rows in every table.
    private mutating func verify(at version: SchemaVersion, upTo target: SchemaVersion?) throws {
        let copy = try configuration.scratchDatabase()
        try replayed.backup(to: copy)
        let trial = try Trial(all, squashed, on: copy, upTo: target)
        let reports = trial.applied.map { $0 ?? "an error" }
        guard reports[0] == reports[1] else {
            throw Self.refusal(
                "A database at version \(version) gets \(reports[0]) from the files, and \(reports[1]) after squashing",
                remedy: "Squash other files. Nothing was changed.")
        }
        try accept(trial.differences, "a database at version \(version)")
    }

    private mutating func compare(_ one: DatabaseQueue, _ other: DatabaseQueue, _ title: String) throws {
        try accept(Trial.differences(one, other), title)
    }

    private mutating func accept(_ differences: [String], _ title: String) throws {
        guard differences.isEmpty else {
            throw Self.refusal(
                "The baseline makes something else of \(title): \(differences.joined(separator: "; "))",
                remedy: "Squash other files. Nothing was changed.")
        }
        databases += 1
    }

    /// Makes sure that a database below the baseline is refused, and stays as it is.
    private mutating func verifyRefusal() throws {
        let before = try below.writeWithoutTransaction(DatabaseContents.init)
        do {
            try squashed.migrate(below)
        } catch let error as MigrationError where error.code == .tooOld {
            let after = try below.writeWithoutTransaction(DatabaseContents.init)
            guard before.differences(from: after, calling: "before", "after").isEmpty else {
                throw Self.refusal("A database below the baseline is changed", remedy: "Nothing was changed.")
            }
            databases += 1
            return
        }
        throw Self.refusal("A database below the baseline is migrated", remedy: "Nothing was changed.")
    }

    private static func refusal(_ problem: String, remedy: String) -> MigrationError {
        MigrationError(.misuse, problem, remedy: remedy)
    }
}

extension SchemaMigration {
    /// The journal mode that a file sets; nil if it sets none.
    fileprivate func journalMode() throws -> String? { try (self as? any SQLSource)?.script().journalMode }
}

extension Squash {
    /// A run of both sets on the same database with rows.
    private struct Trial {
        /// The versions that the files apply, and those that the squashed ones do; nil after an error.
        ///
        /// A migration may refuse the generated rows: then both sets must.
        let applied: [String?]
        let differences: [String]

        /// True if both apply the same, without an error, and make the same.
        var isSame: Bool { applied[0] != nil && applied[0] == applied[1] && differences.isEmpty }

        init(
            _ all: SchemaMigrator, _ squashed: SchemaMigrator, on one: DatabaseQueue,
            upTo target: SchemaVersion?
        ) throws {
            try one.write {
                _ = try TableFilling.fillAll($0, rowsPerTable: Squash.rowsPerTable, seed: 1)
            }
            let other = try one.configuration.scratchDatabase()
            try one.backup(to: other)
            applied = [(all, one), (squashed, other)].map { set, database in
                let report = try? set.migrate(database, upTo: target)
                return report?.applied.map(String.init).joined(separator: ", ")
            }
            differences = try Self.differences(one, other)
        }

        static func differences(_ one: DatabaseQueue, _ other: DatabaseQueue) throws -> [String] {
            let contents = try [one, other].map { try $0.writeWithoutTransaction(DatabaseContents.init) }
            return contents[0].differences(from: contents[1], calling: "the files", "the baseline")
        }
    }
}
