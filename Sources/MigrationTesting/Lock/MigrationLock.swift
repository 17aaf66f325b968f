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
/// The file does not depend on the day, and neither on how GRDB quotes and spaces the statements of its schema builder.
/// Statements that a migration runs only where there are rows are in it as they are for generated rows, without their
/// arguments.
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
            try check(LockDifference.all(from: locked() ?? [], to: now).filter(\.isEdit))
        }
        try Data(LockedMigration.text(of: now).utf8).write(to: url, options: .atomic)
    }

    /// Verifies that every migration does what the file says.
    ///
    /// - Parameter source: the migrations, which run on databases in memory.
    /// - Throws: `MigrationError`, which names each migration that was edited, removed, moved or not recorded, with
    ///   the difference.
    public func verify(_ source: some MigrationSource) throws {
        guard let locked = try locked() else {
            throw MigrationError(
                .misuse, at: .file(url.lastPathComponent), "is missing",
                remedy: "Write it with MigrationLock.record(_:), and commit it.")
        }
        try check(LockDifference.all(from: locked, to: LockedMigration.all(of: source, configuration)))
    }

    private func locked() throws -> [LockedMigration]? {
        guard FileManager.default.fileExists(atPath: url.path) else { return nil }
        return LockedMigration.read(String(decoding: try Data(contentsOf: url), as: UTF8.self))
    }

    private func check(_ differences: [LockDifference]) throws {
        guard !differences.isEmpty else { return }
        let isEdit = differences.contains(where: \.isEdit)
        let remedy =
            isEdit
            ? """
            Undo that, since people have the migrations as they were, and write a new one. If it has not shipped, call \
            MigrationLock.record(_:writing:) with .everything.
            """ : "Record new migrations with MigrationLock.record(_:), and commit the file."
        throw MigrationError(
            .differentSchema, at: .file(url.lastPathComponent),
            differences.map(\.description).joined(separator: "; "),
            remedy: remedy + differences.map(\.details).joined())
    }
}

/// One way in which migrations differ from what was recorded.
enum LockDifference {
    case edited(title: String, lines: [String])
    case removed(title: String)
    case moved(title: String)
    case new(title: String)

    /// True if it concerns a migration that has shipped.
    var isEdit: Bool { if case .new = self { false } else { true } }

    var description: String {
        switch self {
        case .edited(let title, _): "\(title) does something else"
        case .removed(let title): "\(title) was removed"
        case .moved(let title): "\(title) has another place in the order"
        case .new(let title): "\(title) is not recorded"
        }
    }

    /// The lines of an edited migration that are others now, below each other.
    var details: String {
        guard case .edited(let title, let lines) = self else { return "" }
        return "\n\(title)\n" + lines.map { "  \($0)" }.joined(separator: "\n")
    }

    static func all(from old: [LockedMigration], to new: [LockedMigration]) -> [LockDifference] {
        let now = Dictionary(new.map { ($0.title, $0) }, uniquingKeysWith: { $1 })
        let known = Set(old.map(\.title))
        let order = new.map(\.title).filter(known.contains)
        let expected = old.map(\.title).filter { now[$0] != nil }
        let stays = Set(order.difference(from: expected).removals.map(\.title))
        var differences = old.compactMap { migration -> LockDifference? in
            guard let other = now[migration.title] else { return .removed(title: migration.title) }
            // A migration that runs elsewhere also changes the schema elsewhere.
            if stays.contains(migration.title) { return .moved(title: migration.title) }
            guard other.lines != migration.lines else { return nil }
            let changes = other.lines.difference(from: migration.lines)
            return .edited(
                title: migration.title,
                lines: changes.removals.map { "was: \($0.text)" }
                    + changes.insertions.map { "now: \($0.text)" })
        }
        // A new migration between shipped ones runs late on databases that have them.
        let lastKnown = new.lastIndex { known.contains($0.title) } ?? -1
        differences += new.enumerated().filter { !known.contains($0.element.title) }.map { index, migration in
            index < lastKnown ? .moved(title: migration.title) : .new(title: migration.title)
        }
        return differences
    }
}

extension CollectionDifference<String>.Change {
    fileprivate var title: String {
        switch self {
        case .insert(_, let element, _), .remove(_, let element, _): element
        }
    }

    fileprivate var text: String { String(title.drop(while: { $0 == " " })) }
}
