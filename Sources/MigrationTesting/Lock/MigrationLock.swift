import AppMigrations
public import Foundation
public import GRDB
import MigrationDiagnostics
import SchemaMigrations

/// A file that says what each shipped migration does, so that a test notices when one is edited.
///
/// Closures cannot be compared, but what they do can: the file has the statements that each migration runs on a new
/// database, and what it changes in the schema. Commit it, and compare it in a test:
///
/// ```swift
/// let migrator = DatabaseMigrator()    // the app's
/// let lock = MigrationLock(at: URL(fileURLWithPath: "Tests/Migrations.lock"))
/// try lock.record(migrator)    // when you have added a migration
/// try lock.verify(migrator)    // always
/// ```
///
/// The file does not depend on the day, so arguments with a date are parameters in it, and neither on how GRDB quotes and
/// spaces the statements of its schema builder.
/// Statements that a migration runs only where there are rows are in it as they are for generated rows, without their
/// arguments. If Swift reads rows, the file has what is read (`reads:`), and a digest of each table that the migration
/// changes over generated rows (`leaves:`), among them rows with the values that the migration names.
///
/// Other lines say how foreign keys are handled (unless they are checked in the end, as by default), and what GRDB's `merging:` merges.
///
/// A line `unprotected:` says which edits go unnoticed, such as those of an `if` that no generated row satisfies: test
/// these with rows of your own. It does not mark an `if` that asks whether there is a table or a column.
public struct MigrationLock: Sendable {
    /// The migrations that a recording writes.
    public enum Recording: Sendable {
        /// Only those that are new, at the end.
        case additions
        /// All, also if shipped ones do something else than before.
        case everything
    }

    /// The file.
    public let url: URL
    private let configuration: Configuration

    /// Creates a value for a file, which need not exist.
    ///
    /// - Parameters:
    ///   - url: the file.
    ///   - configuration: how the app opens its database, with the functions and collations that migrations use.
    public init(at url: URL, configuration: Configuration = Configuration()) {
        self.url = url
        self.configuration = configuration
    }

    /// Writes what the migrations do into the file.
    ///
    /// - Parameters:
    ///   - source: the migrations, which run on databases in memory.
    ///   - recording: whether only new migrations are written, or all.
    /// - Throws: `MigrationError`, if shipped migrations have changed and only new ones are to be written.
    public func record(_ source: some MigrationSource, writing recording: Recording = .additions) throws {
        let now = try LockedMigration.all(of: source, configuration)
        if case .additions = recording {
            try check(
                LockDifference.all(from: locked() ?? [], to: now).filter(\.isOfShipped), of: now, in: source)
        }
        try Data(LockedMigration.text(of: now).utf8).write(to: url, options: .atomic)
    }

    /// Verifies that every migration does what the file says.
    ///
    /// - Parameter source: the migrations, which run on databases in memory.
    /// - Throws: `MigrationError`, which names each migration that was removed, moved or not recorded, and the first that
    ///   was edited, with the difference. Later ones may differ only because that one was edited.
    public func verify(_ source: some MigrationSource) throws {
        guard let locked = try locked() else {
            throw MigrationError(
                .misuse, at: .file(url.lastPathComponent), "there is no such file",
                remedy: "Write it with MigrationLock.record(_:), and commit it.")
        }
        let now = try LockedMigration.all(of: source, configuration)
        try check(LockDifference.all(from: locked, to: now), of: now, in: source)
    }

    private func locked() throws -> [LockedMigration]? {
        guard FileManager.default.fileExists(atPath: url.path) else { return nil }
        let text = String(decoding: try Data(contentsOf: url), as: UTF8.self)
        if text.split(whereSeparator: \.isNewline).contains(where: {
            $0.hasPrefix("<<<<<<< ") || $0.hasPrefix(">>>>>>> ")
        }) {
            throw notMerged("holds a conflict of Git")
        }
        guard let migrations = LockedMigration.read(text) else {
            throw MigrationError(
                .misuse, at: .file(url.lastPathComponent), "was written in another format",
                remedy: """
                    Check out the migrations as they shipped, write the file anew with \
                    MigrationLock.record(_:writing:) and .everything, and commit it.
                    """)
        }
        let titles = migrations.map(\.title)
        if let index = titles.indices.first(where: { titles[..<$0].contains(titles[$0]) }) {
            throw notMerged("describes \(titles[index]) twice")
        }
        return migrations
    }

    private func notMerged(_ problem: String) -> MigrationError {
        MigrationError(
            .misuse, at: .file(url.lastPathComponent), problem,
            remedy: "Keep one paragraph for each migration, in the order in which they run.")
    }

    private func check(
        _ differences: [LockDifference], of now: [LockedMigration], in source: some MigrationSource
    ) throws {
        guard !differences.isEmpty else { return }
        let remedy =
            if !differences.contains(where: \.isOfShipped) {
                "Record new migrations with MigrationLock.record(_:), and commit the file."
            } else if let merger = try baseline(for: differences, in: source)
                ?? merger(for: differences, in: now)
            {
                """
                \(merger) stands for what was removed: call MigrationLock.record(_:writing:) with .everything, and commit \
                the file.
                """
            } else if differences.filter(\.isOfShipped).allSatisfy(\.isInsertion) {
                """
                Let new migrations run last, as on devices that have the others. If these have not shipped, call \
                MigrationLock.record(_:writing:) with .everything.
                """
            } else {
                """
                Undo that, since people have the migrations as they were, and write a new one. If it has not shipped, call \
                MigrationLock.record(_:writing:) with .everything.
                """
            }
        throw MigrationError(
            .differentSchema, at: .file(url.lastPathComponent),
            differences.map(\.description).joined(separator: "; "),
            remedy: remedy + differences.map(\.details).joined())
    }

    /// Returns the name of the baseline into which migrations were squashed; nil if shipped ones differ in another way.
    private func baseline(for differences: [LockDifference], in source: some MigrationSource) throws
        -> String?
    {
        guard let first = (source as? SchemaMigrator)?.migrations.first,
            let baseline = try (first as? any SQLSource).flatMap({ Baseline(try $0.text()) })
        else { return nil }
        let isSquash = areReplaced(differences, by: first.title) { title in
            SchemaVersion(title.prefix(while: \.isWholeNumber)).map(baseline.versions.contains) == true
        }
        return isSquash ? first.title : nil
    }

    /// Returns the identifier of the migration into which GRDB's `merging:` has merged others; nil if shipped ones differ in another way.
    private func merger(for differences: [LockDifference], in now: [LockedMigration]) -> String? {
        let mergers = now.filter { migration in
            differences.contains { difference in
                if case .removed(let title) = difference { migration.merged.contains(title) } else { false }
            }
        }
        guard mergers.count == 1, let merger = mergers.first else { return nil }
        return areReplaced(differences, by: merger.title, merger.merged.contains) ? merger.title : nil
    }

    /// Returns whether shipped migrations differ only in that one of them stands for others.
    private func areReplaced(
        _ differences: [LockDifference], by title: String, _ isPart: (String) -> Bool
    ) -> Bool {
        differences.filter(\.isOfShipped).allSatisfy { difference in
            switch difference {
            case .removed(let removed): isPart(removed)
            case .moved(let other), .inserted(let other): other == title
            default: false
            }
        }
    }
}
