public import Foundation

/// A folder with migrations as an app has them, for tests of whole sets.
public struct MigrationSet: Sendable {
    /// Rows that users have written, and the version of the schema at which they wrote them.
    public struct Rows: Sendable {
        /// The version.
        public let version: Int64
        /// Where their SQL is.
        public let file: URL
    }

    /// Where the files are.
    public let folder: URL
    /// How many migrations it holds.
    public let count: Int
    /// The users' rows; nil when nothing is to be written.
    public let rows: Rows?

    init(_ folder: URL, count: Int, rows: Rows? = nil) {
        self.folder = folder
        self.count = count
        self.rows = rows
    }

    /// The migrations by version, oldest first, without the files that take them back.
    ///
    /// They are found without the package's help, since they are what it is compared with.
    public var files: [(version: Int64, url: URL)] {
        get throws {
            try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
                .filter { $0.pathExtension == "sql" && !$0.lastPathComponent.hasSuffix(".down.sql") }
                .map { url in (Int64(url.lastPathComponent.prefix { $0.isNumber }) ?? -1, url) }
                .sorted { ($0.0, $0.1.path) < ($1.0, $1.1.path) }
        }
    }

    static let repository = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
}

/// Migrations of an invented app, with all that makes migrations of real ones awkward.
public enum SampleMigrations {
    private static let folder = MigrationSet.repository.appendingPathComponent("Tests/SampleMigrations")

    /// A set that has grown for seven years, written with several tools.
    public static let garden = MigrationSet(
        folder.appendingPathComponent("garden"), count: 19,
        rows: .init(version: 10, file: folder.appendingPathComponent("garden-rows.sql")))

    /// A set in which two files have one version.
    public static let doubleVersion = MigrationSet(folder.appendingPathComponent("double-version"), count: 3)
}

/// Migrations that shipped in real applications.
///
/// They are no part of this repository: who has them puts them beside it, into `shared/real-migrations`. The tests
/// that need them are skipped elsewhere.
public enum RealMigrations {
    private static let folder = MigrationSet.repository.deletingLastPathComponent()
        .appendingPathComponent("shared/real-migrations")

    /// True if they are there.
    public static let areHere = FileManager.default.fileExists(atPath: folder.path)

    /// The history of Atuin's shell commands.
    public static let atuin = MigrationSet(folder.appendingPathComponent("atuin-client"), count: 12)
    /// The cache of events of the Matrix SDK.
    public static let eventCache = MigrationSet(
        folder.appendingPathComponent("matrix-sdk/event_cache_store"), count: 16)
    /// The keys of the Matrix SDK, of which two files have one version.
    public static let crypto = MigrationSet(
        folder.appendingPathComponent("matrix-sdk/crypto_store"), count: 19)
}
