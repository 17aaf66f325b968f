import Foundation

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
