import Foundation
package import GRDB
import MigrationTools

/// Compares a database that files have migrated with one that GRDB's migrator has.
package enum ExportComparison {
    /// Returns how the databases differ, a sentence each.
    ///
    /// - Parameters:
    ///   - replayed: the database of the files.
    ///   - migrated: the database of the migrator.
    ///   - again: makes another one of the migrator; what differs from one run of the migrator to the next, such as random values,
    ///     is no difference.
    package static func differences(
        of replayed: DatabaseQueue, from migrated: DatabaseQueue, again: () throws -> DatabaseQueue
    ) throws -> [String] {
        let expected = try migrated.writeWithoutTransaction(DatabaseContents.init)
        let found = try replayed.writeWithoutTransaction(DatabaseContents.init)
        let differences = found.differences(from: expected, calling: "the files", "the migrator")
        var rest = differences
        // A time in seconds may be the same in two runs, and another one in the third.
        for pause in [0, 1.1] where !rest.isEmpty {
            Thread.sleep(forTimeInterval: pause)
            let other = try again().writeWithoutTransaction(DatabaseContents.init)
            let known = Set(other.differences(from: expected, calling: "the files", "the migrator"))
            rest.removeAll(where: known.contains)
        }
        return rest
    }
}
