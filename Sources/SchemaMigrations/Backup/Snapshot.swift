package import AppMigrations
package import Foundation
import GRDB
import MigrationDiagnostics

/// SQL that creates a whole schema, with the versions that the schema contains.
///
///     -- snapshot: 20240110090000000 create_entries
///     -- snapshot: 20240203181500000 create_tags
///     CREATE TABLE entry(…);
package struct Snapshot {
    /// The prefix of a line that names a migration.
    package static let header = "-- snapshot: "

    package let versions: Set<SchemaVersion>
    let script: SQLScript

    /// Reads a snapshot.
    ///
    /// - Throws: `MigrationError`, if the file cannot be read or does not list its migrations.
    package init(contentsOf url: URL) throws {
        let data: Data
        do {
            data = try Data(contentsOf: url)
        } catch {
            throw Self.invalid(
                url, "cannot be read: \(error.localizedDescription)",
                remedy: Self.remedy)
        }
        script = try SQLScript(data, fileName: url.lastPathComponent)
        versions = Set(
            script.sql.split(whereSeparator: \.isNewline).lazy
                .prefix { $0.hasPrefix("--") }
                .filter { $0.hasPrefix(Self.header) }
                .compactMap {
                    $0.dropFirst(Self.header.count).split(separator: " ").first.flatMap { SchemaVersion($0) }
                })
        guard !versions.isEmpty else {
            throw Self.invalid(
                url, "does not say which migrations it contains", remedy: Self.remedy)
        }
    }

    /// Creates the schema.
    ///
    /// - Parameter afterEach: called after each statement.
    func run(_ db: Database, afterEach: () throws -> Void) throws {
        try script.run(db, fixing: "\(Self.remedy) Nothing was changed.", afterEach: afterEach)
    }

    /// The remedy for a snapshot that cannot be used.
    package static let remedy = "Write it again with `app-migrations snapshot write`."

    package static func invalid(_ url: URL, _ problem: String, remedy: String) -> MigrationError {
        MigrationError(
            .invalidMigration, at: .file(url.lastPathComponent), problem, remedy: remedy)
    }
}
