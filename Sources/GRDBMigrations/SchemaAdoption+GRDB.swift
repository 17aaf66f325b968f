import AppMigrations
import GRDB
public import SchemaMigrations

extension SchemaAdoption {
    /// Reads the identifiers in the table `grdb_migrations` of GRDB's `DatabaseMigrator`.
    ///
    /// ```swift
    /// let adoption = SchemaAdoption.grdbMigrations(
    ///     means: ["createBook": 20240110090000000, "addTitle": 20240110090000000, "addShelf": 20240601120000000],
    ///     merging: ["addShelf": ["createShelf", "nameShelf"]],
    ///     ignoring: ["addDraft"])
    /// ```
    ///
    /// A database is at a version once it has had every migration of that version and of those before it. If one of them is
    /// missing, migrating is an error that names it. An unmapped file between two mapped ones is an error, too: it
    /// would count as applied, and may be new. Give a new file a later version.
    ///
    /// To keep such a migrator instead, pass it to `whenMigratingToVersion(_:migrate:upTo:in:)`.
    ///
    /// - Parameters:
    ///   - versions: for each identifier, the version of the migration that does the same. Several may share one.
    ///   - merged: for each migration registered with `merging:`, the identifiers that it merged. A database may have
    ///     all of these, the migration, or both.
    ///   - removed: the identifiers of migrations that were taken out of the migrator after they had shipped.
    public static func grdbMigrations(
        means versions: [String: SchemaVersion], merging merged: [String: Set<String>] = [:],
        ignoring removed: Set<String> = []
    ) -> SchemaAdoption {
        SchemaAdoption(comparing: { db, migrator in
            guard try db.hasTable(OwnTables.ofGRDB) else { return nil }
            let history = try GRDBHistory(db).identifiers
            try checkNewer(history.filter { !removed.contains($0) }, versions, merged)
            let held = withMergers(
                of: Set(history).subtracting(removed), versions, merged.filter { !removed.contains($0.key) })
            let absorbed = identifiers(mergedInto: held, merged)
            let own = try held.subtracting(absorbed).map { identifier in
                if versions[identifier] == nil,
                    let heir = merged.filter({ $0.value.contains(identifier) }).keys.min()
                {
                    throw incomplete("holds \(identifier), but not \(heir), which has merged it")
                }
                let version = try version(identifier, in: versions, of: "grdb_migrations holds")
                return (identifier: identifier, version: version)
            }
            guard let latest = own.max(by: { ($0.version, $0.identifier) < ($1.version, $1.identifier) })
            else {
                return nil
            }
            let applied = held.union(absorbed)
            let missing = versions.filter { $0.value <= latest.version && !applied.contains($0.key) }
                .min { ($0.value, $0.key) < ($1.value, $1.key) }
            if let missing {
                throw incomplete(
                    "holds \(latest.identifier), but not \(missing.key), which version \(missing.value) contains"
                )
            }
            try checkFiles(
                of: migrator, upTo: latest.version, versions, merged.filter { applied.contains($0.key) })
            return latest.version
        })
    }

    /// Throws an error if no identifier stands for a migration between two mapped ones, which would count as applied.
    ///
    /// What is below all of them may have been there before GRDB's migrator. A merged identifier without a version may stand
    /// for any migration up to that of the one which has merged it.
    private static func checkFiles(
        of migrator: SchemaMigrator, upTo latest: SchemaVersion, _ versions: [String: SchemaVersion],
        _ merged: [String: Set<String>]
    ) throws {
        let mapped = Set(versions.values.map(migrator.knownVersion))
        let heirs = merged.filter { $0.value.contains { versions[$0] == nil } }.keys
        let start = (heirs.compactMap { versions[$0] } + [mapped.min() ?? latest]).max() ?? latest
        let unknown = migrator.migrations.first {
            $0.version > start && $0.version <= latest && !mapped.contains($0.version)
        }
        guard let unknown else { return }
        throw MigrationError(
            .undecided,
            "No identifier in `means:` stands for \(unknown.title), so nothing says whether it was applied",
            remedy: """
                If it has not shipped, give it a version above \(mapped.max() ?? latest). If a migration of GRDB's migrator makes the \
                same change, map its identifier to it; if that one makes the changes of several files, invent an identifier for each \
                of the others, and pass it as merging: of that one. Nothing was changed.
                """)
    }

    /// Throws an error if a database has had unknown migrations after all that are known.
    private static func checkNewer(
        _ history: [String], _ versions: [String: SchemaVersion], _ merged: [String: Set<String>]
    ) throws {
        let known = merged.values.reduce(Set(versions.keys)) { $0.union($1) }
        guard let last = history.lastIndex(where: known.contains),
            let newer = history[(last + 1)...].first
        else { return }
        throw MigrationError.newer("grdb_migrations holds \(newer), after all that this app knows")
    }

    /// Returns the identifiers that applied migrations have merged, directly or by way of others.
    private static func identifiers(
        mergedInto applied: Set<String>, _ merged: [String: Set<String>]
    ) -> Set<String> {
        var found: Set<String> = []
        var new = applied
        while !new.isEmpty {
            new = Set(new.flatMap { merged[$0] ?? [] }).subtracting(found)
            found.formUnion(new)
        }
        return found
    }

    /// Returns applied migrations with those that have merged some of them, directly or by way of others, and do no more by their
    /// version.
    private static func withMergers(
        of applied: Set<String>, _ versions: [String: SchemaVersion], _ merged: [String: Set<String>]
    ) -> Set<String> {
        var (held, found) = (applied, applied)
        func isNoMore(_ merger: String) -> Bool {
            let parts = identifiers(mergedInto: [merger], merged).intersection(applied).map { versions[$0] }
            // A part without a version may stand for anything up to that of the one which has merged it.
            guard let version = versions[merger], !parts.contains(nil) else { return true }
            return parts.compactMap(\.self).max().map { version <= $0 } ?? false
        }
        while let (merger, _) = merged.first(where: { merger, others in
            !held.contains(merger) && !others.isEmpty && others.isSubset(of: held) && isNoMore(merger)
        }) {
            held.insert(merger)
            if versions[merger] != nil { found.insert(merger) }
        }
        return found
    }

    private static func incomplete(_ problem: String) -> MigrationError {
        MigrationError(
            .undecided, "The table grdb_migrations \(problem)",
            remedy: """
                Migrate the database with GRDB's migrator first; or, if another migration has merged the missing one, pass that \
                as merging: to the adoption. Nothing was changed.
                """)
    }
}
