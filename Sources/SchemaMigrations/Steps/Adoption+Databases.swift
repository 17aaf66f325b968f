public import AppMigrations
public import GRDB

extension Adoption {
    /// Adopts an install at a version, or a later one, if its database has tables.
    ///
    /// This package's own tables do not count. If this build of the app is all that has been launched here, this install has
    /// made the tables itself, and there is nothing to adopt. If the manager's store or the database has seen later versions
    /// than the one given, and no answer of another manager, the install is at the earliest of them.
    ///
    /// - Parameters:
    ///   - database: the open database, before this launch writes to it.
    ///   - version: the version of an install whose database has tables.
    public static func databaseHasTables(
        _ database: any DatabaseReader, means version: AppVersion
    ) -> Adoption {
        Adoption(answer: { request in
            do {
                return try database.readSnapshot(waitingUpTo: .defaultBusyTimeout) { db in
                    let seen = try SQLiteStore.seenVersions(db)[request.line] ?? []
                    let isOld =
                        try !seen.areOnly(request.current, build: request.appBuild)
                        && Ledger.hasOtherTables(db)
                    // Without a step in the database, no manager looks at what it has seen.
                    let earliest =
                        seen.contains(where: \.isAdopted)
                        ? version : seen.earliest(before: request.current, build: request.appBuild)
                    return AdoptionAnswer(
                        version: isOld ? version : nil, isBound: true, launched: earliest)
                }
            } catch let error as DatabaseError {
                throw MigrationError(
                    Obstacle(error)?.code ?? .undecided,
                    "Cannot tell whether the database has tables: \(error.quotation).",
                    remedy:
                        "Nothing was run. \(error.remedy ?? "Check that the file can be read, and launch again.")",
                    underlyingError: error)
            } catch let error as MigrationError where error.code == .damagedStore {
                // The manager that asks has no step in this database, or it would have found the damage itself.
                throw MigrationError(
                    .undecided, "Cannot tell whether the database has tables: \(error.message)",
                    remedy: """
                        Nothing was run. Call replaceRecord(assuming:) for a manager with a step in that database first.
                        """,
                    underlyingError: error)
            }
        })
    }
}
