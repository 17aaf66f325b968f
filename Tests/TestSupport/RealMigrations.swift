import Foundation

/// Migrations that shipped in real applications.
///
/// They are no part of this repository: who has them puts them beside it, into `shared/real-migrations`. The tests
/// that need them are skipped elsewhere.
public enum RealMigrations {
    private static let folder = MigrationSet.repository.deletingLastPathComponent()
        .appendingPathComponent("shared/real-migrations")

    /// Whether they are there.
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
