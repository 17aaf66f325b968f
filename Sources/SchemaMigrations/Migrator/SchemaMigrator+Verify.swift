import AppMigrations
package import GRDB
import MigrationDiagnostics

extension SchemaMigrator {
    /// Compares a database with an empty one in memory that has had the same migrations.
    ///
    /// The database in memory has the configuration of the other one, with the functions and collations that migrations use.
    /// A schema that is worked out when the app is built could not be compared: migrations in Swift do not run there, and
    /// another version of SQLite writes other SQL for a renamed table.
    ///
    /// The order of columns depends on when a migration came that was merged late. So if there are differences, they are looked
    /// for again in the order of the ledger's rows, which somebody may have written by hand.
    ///
    /// - Returns: the differences; nil if the database has had a migration that is not known.
    package func differences(
        of db: Database, in ledger: Ledger, _ compare: (DatabaseQueue) throws -> [String]
    ) throws -> [String]? {
        let replaced = try ledger.originVersion == versions.first ? [] : baseline()?.versions ?? []
        guard ledger.applied.isSubset(of: replaced.union(versions)) else { return nil }
        // Migrations up to the floor were applied before the ledger was created.
        let migrations = migrations.filter {
            ledger.applied.contains($0.version) || $0.version <= ledger.floor ?? .min
        }
        func replay(_ ordered: [any SchemaMigration]) throws -> [String] {
            try db.configuration.withScratchDatabase { replica in
                for (index, migration) in ordered.enumerated()
                where index + 1 == ordered.count || ordered[index + 1].version < migration.version {
                    try SchemaMigrator(migrations: Array(ordered[...index])).migrate(replica)
                }
                return try compare(replica)
            }
        }
        let found = Result { try replay(migrations) }
        if case .success([]) = found { return [] }
        let places = Dictionary(zip(try ledger.order(db), 1...), uniquingKeysWith: { $1 })
        let ordered = migrations.inOrder {
            (places[$0.version] ?? 0, $0.version) < (places[$1.version] ?? 0, $1.version)
        }
        if ordered.map(\.version) != migrations.map(\.version), (try? replay(ordered))?.isEmpty == true {
            return []
        }
        return try found.get()
    }

    /// Compares the schema with the one that the applied migrations make, if the options ask for that.
    func verify(_ db: Database, _ report: inout SchemaReport) throws {
        guard options.differentSchemas != nil, !report.applied.isEmpty || !report.undone.isEmpty,
            let (problem, isRefused) = try problem(
                of: db, in: Ledger(db), madeBy: "the migrations make", isCommitted: true)
        else { return }
        guard isRefused else {
            report.warnings.append(problem)
            return
        }
        var error = MigrationError(
            .differentSchema, problem,
            remedy: """
                The migrations are applied. Find out what else changes the schema, or which migration was edited: \
                compare a copy of the database with `app-migrations drift`.
                """)
        error.committed = report.applied
        throw error
    }

    /// Compares the schema of a database without a ledger with the one that the adopted migrations make, if the options
    /// ask for that.
    ///
    /// Call it before the versions enter the ledger: only a database without a ledger is adopted again.
    ///
    /// - Parameter ledger: the ledger, still to be written.
    /// - Returns: a warning, if differences are allowed.
    func verifyAdoption(_ db: Database, _ ledger: Ledger) throws -> String? {
        guard let version = ledger.unmarked.max() else { return nil }
        // A pending migration may drop what an earlier tool has left, and the schema is compared again after it.
        let isLatest = pending(in: ledger, upTo: nil).pending.isEmpty
        guard
            let (problem, isRefused) = try problem(
                of: db, in: ledger, madeBy: "the adopted migrations make, up to \(version)",
                ignoringAdditions: !isLatest)
        else { return nil }
        guard isRefused else { return problem }
        throw MigrationError(
            .differentSchema, problem,
            remedy: """
                Return the version of the tables from `adopting`, or write a migration that makes up the difference. \
                Nothing was changed.
                """)
    }

    /// Returns what is wrong with a schema, and whether the options refuse that; nil if nothing is, or if they do not ask.
    ///
    /// - Parameter isCommitted: true if it is too late to refuse anything, so that a migration that fails here is a warning.
    private func problem(
        of db: Database, in ledger: Ledger, madeBy maker: String, ignoringAdditions: Bool = false,
        isCommitted: Bool = false
    ) throws -> (String, isRefused: Bool)? {
        guard let policy = options.differentSchemas else { return nil }
        let differences: [String]?
        do {
            differences = try self.differences(of: db, in: ledger) { replica in
                try replica.unsafeReentrantRead {
                    try SchemaDrift(of: db, from: $0, ignoringAdditions: ignoringAdditions).sentences
                }
            }
        } catch let error as MigrationError where error.code == .undecided {
            return ("The schema was not compared: \(error.diagnostic.clause)", false)
        } catch let error as MigrationError where error.code == .stepFailed && isCommitted {
            return (
                "The schema was not compared, since a migration fails on an empty database: \(error.diagnostic.clause)",
                false
            )
        }
        guard let differences, !differences.isEmpty else { return nil }
        return (
            "The schema is not the one that \(maker): \(differences.joined(separator: "; "))",
            policy == .refuse
        )
    }

    /// Returns the latest version whose migrations make the schema of a database without a ledger.
    ///
    /// - Throws: `MigrationError`, with the differences from the nearest version, if none does.
    package func version(fitting db: Database) throws -> SchemaVersion {
        let replayed = with(snapshot: nil)
        let (fitting, nearest) = try db.configuration.withScratchDatabase { queue in
            var fitting: SchemaVersion?
            var nearest: (version: SchemaVersion, sentences: [String])?
            for version in versions {
                try replayed.migrate(queue, upTo: version)
                let sentences = try queue.unsafeReentrantRead { try SchemaDrift(of: db, from: $0).sentences }
                if sentences.isEmpty { fitting = version }
                if sentences.count < nearest?.sentences.count ?? .max { nearest = (version, sentences) }
            }
            return (fitting, nearest)
        }
        if let fitting { return fitting }
        throw MigrationError(
            .undecided,
            """
            The schema of the database is that of no version\
            \(nearest.map { "; the nearest is \($0.version), from which it differs: \($0.sentences.joined(separator: "; "))" } ?? "")
            """,
            remedy: "Bring the database to the schema of a version, or name the version. Nothing was changed."
        )
    }
}
