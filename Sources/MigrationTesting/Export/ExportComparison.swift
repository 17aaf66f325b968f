import GRDB
import MigrationTools

/// Compares a database that files have migrated with one that GRDB's migrator has.
enum ExportComparison {
    /// Returns how the databases differ, a sentence each.
    ///
    /// - Parameters:
    ///   - replayed: the database of the files.
    ///   - migrated: the database of the migrator.
    ///   - again: another one of the migrator; what differs from one run of the migrator to the next, such as random values,
    ///     is no difference.
    static func differences(
        of replayed: DatabaseQueue, from migrated: DatabaseQueue, again: () throws -> DatabaseQueue
    ) throws -> [String] {
        let expected = try migrated.writeWithoutTransaction(DatabaseContents.init)
        let found = try replayed.writeWithoutTransaction(DatabaseContents.init)
        let differences = found.differences(from: expected, calling: "the files", "the migrator")
        guard !differences.isEmpty else { return [] }
        let other = try again().writeWithoutTransaction(DatabaseContents.init)
        let known = Set(other.differences(from: expected, calling: "the files", "the migrator"))
        return differences.filter { !known.contains($0) }
    }
}
