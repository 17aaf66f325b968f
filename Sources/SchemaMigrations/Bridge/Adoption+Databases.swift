public import AppMigrations
public import GRDB

extension Adoption {
    /// Adopts an install at a version if its database has tables.
    ///
    /// This package's own tables do not count.
    ///
    /// - Parameters:
    ///   - database: the open database, before this launch writes to it.
    ///   - version: the version of an install whose database has tables.
    public static func databaseHasTables(
        _ database: any DatabaseReader, means version: AppVersion
    ) -> Adoption {
        Adoption {
            do {
                return try database.readSnapshot(waitingUpTo: .defaultBusyTimeout) {
                    try Ledger.hasOtherTables($0) ? version : nil
                }
            } catch let error as DatabaseError {
                throw MigrationError(
                    .undecided, "Cannot tell whether the database has tables: \(error).",
                    remedy: "Nothing was run. Remove the cause, and launch again.", underlyingError: error)
            }
        }
    }
}
