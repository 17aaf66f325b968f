public import AppMigrations
public import GRDB

extension Adoption {
    /// Adopts an install at a version if its database has tables.
    ///
    /// This package's own tables do not count. A database remembers better than its tables tell: if managers have
    /// recorded app versions there, the highest of those below the current one is the answer. If they have recorded the
    /// current one alone, this install has made the tables itself, and there is nothing to adopt.
    ///
    /// - Parameters:
    ///   - database: the open database, before this launch writes to it.
    ///   - version: the version of an install whose database has tables.
    public static func databaseHasTables(
        _ database: any DatabaseReader, means version: AppVersion
    ) -> Adoption {
        Adoption(answer: { question in
            do {
                return try database.readSnapshot(waitingUpTo: .defaultBusyTimeout) { db in
                    let seen = try SQLiteStore.seenVersions(db)[question.line] ?? []
                    if let found = seen.version(before: question.current) {
                        return found == .zero ? version : found
                    }
                    return try seen.isEmpty && Ledger.hasOtherTables(db) ? version : nil
                }
            } catch let error as DatabaseError {
                throw MigrationError(
                    .undecided, "Cannot tell whether the database has tables: \(error).",
                    remedy:
                        "Nothing was run. \(error.remedy ?? "Check that the file can be read, and launch again.")",
                    underlyingError: error)
            }
        })
    }
}
