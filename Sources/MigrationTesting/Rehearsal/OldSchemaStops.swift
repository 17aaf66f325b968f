import GRDB
import MigrationTools
import SchemaMigrations

/// The versions at which a rehearsal stops to read rows by the types of old schemas.
struct OldSchemaStops {
    /// The versions to migrate to, one after the other; the last is the rehearsal's own, and nil if that is the latest.
    let versions: [SchemaVersion?]
    private let migrator: SchemaMigrator
    private let copy: DatabaseQueue
    private let oldSchemas: OldSchemas?
    private let typed: Set<SchemaVersion>

    init(
        of migrator: SchemaMigrator, on copy: DatabaseQueue, upTo target: SchemaVersion?,
        _ oldSchemas: OldSchemas?
    ) throws {
        self.migrator = migrator
        self.copy = copy
        self.oldSchemas = oldSchemas
        let known = Set(migrator.migrations.map(\.version))
        typed = try Set(oldSchemas?.versions ?? []).intersection(known)
        let last = target ?? known.max() ?? 0
        let pending = typed.isEmpty ? [] : try copy.read(migrator.status).pendingVersions
        let stops = typed.filter { $0 < last && pending.contains($0) }.sorted()
        versions = stops.map { $0 } + [target]
    }

    /// Finds the rows that the types of the version cannot read that the copy is at.
    func unreadableRows() throws -> [UnreadableRows] {
        guard let oldSchemas, !typed.isEmpty, let version = try copy.read(migrator.status).currentVersion,
            typed.contains(version)
        else { return [] }
        return try oldSchemas.unreadableRows(in: copy, at: version)
    }
}
