package import GRDB
package import SchemaMigrations

/// Runs the migrations of GRDB's `DatabaseMigrator`, whose versions are their places in the order, from 1.
package struct GRDBRunner: MigrationRunner {
    package let migrator: DatabaseMigrator
    package let titles: [MigrationTitle]

    /// Creates a runner, which never erases a database.
    package init(_ migrator: DatabaseMigrator) {
        var migrator = migrator
        migrator.eraseDatabaseOnSchemaChange = false
        self.migrator = migrator
        titles = zip(1..., migrator.migrations).map { place, identifier in
            MigrationTitle(version: SchemaVersion(place), name: identifier, title: identifier)
        }
    }

    package func run(_ database: DatabaseQueue, upTo version: SchemaVersion?) throws -> MigrationOutcome {
        let before = try database.read(migrator.appliedIdentifiers)
        // GRDB refuses to migrate up to a migration if a later one has run.
        let latest = titles.last { before.contains($0.name) }?.version ?? 0
        guard let target = title(max(version ?? .max, latest)) ?? titles.last else {
            return MigrationOutcome(applied: [], warnings: [])
        }
        let result = Result { try migrator.migrate(database, upTo: target.name) }
        let after = try database.read(migrator.appliedIdentifiers)
        if case .failure(let error) = result {
            throw error.failure(of: titles.first { !after.contains($0.name) }?.title ?? target.title)
        }
        return MigrationOutcome(
            applied: titles.filter { after.contains($0.name) && !before.contains($0.name) }.map(\.version),
            warnings: [])
    }

    package func trace(_ title: MigrationTitle, in database: DatabaseQueue) throws -> MigrationTrace {
        let trace = StatementTrace()
        let hasKeys = try database.writeWithoutTransaction { db in
            defer { trace.start(db) }
            return try Bool.fetchOne(db, sql: "PRAGMA foreign_keys") ?? false
        }
        let result = Result { try migrator.migrate(database, upTo: title.name) }
        database.writeWithoutTransaction { trace.stop($0) }
        var found = Self.trace(in: trace.statements, hasKeys: hasKeys)
        if case .failure(let error) = result { found.error = error.failure(of: title.title) }
        return found
    }

    /// Finds the statements of the last migration among those that GRDB has run.
    private static func trace(in all: [TracedStatement], hasKeys: Bool) -> MigrationTrace {
        let records = OwnTables.ofGRDB.text
        let begin = all.firstIndex { $0.sql.hasPrefix("BEGIN IMMEDIATE") } ?? all.endIndex
        // A failed migration is not recorded.
        let record = all.lastIndex { $0.sql.hasPrefix("INSERT INTO \(records) (identifier)") } ?? all.endIndex
        let merging = all[..<record].last.flatMap { last in
            last.sql.hasPrefix("DELETE FROM \(records) WHERE identifier IN") ? last : nil
        }
        let end = record - (merging == nil ? 0 : 1)
        let own = begin < end ? all[begin..<end].dropFirst() : []
        let rest = all[end...]
        let isEnforced = !all[..<begin].contains { $0.sql.hasPrefix("PRAGMA foreign_keys = OFF") }
        let isChecked = rest.contains { $0.sql.hasPrefix("PRAGMA foreign_key_check") }
        return MigrationTrace(
            statements: Array(own),
            foreignKeys: !hasKeys ? .unchecked : isEnforced ? .immediate : isChecked ? .deferred : .unchecked,
            merged: merging?.literals.sorted() ?? [])
    }

    package func standing(_ db: Database) throws -> MigrationStanding {
        let applied = try migrator.appliedIdentifiers(db)
        return MigrationStanding(
            current: titles.last { applied.contains($0.name) }?.version,
            pending: titles.filter { !applied.contains($0.name) }.map(\.version), edited: [])
    }

    package func without(_ version: SchemaVersion) -> (any MigrationRunner)? { nil }
}

extension TracedStatement {
    /// The texts of the statement's literals.
    fileprivate var literals: [String] {
        let bytes = Array(expanded.utf8)
        return SQLLexer(bytes).filter { $0.kind == .string }.map {
            SQLName(token: String(decoding: bytes[$0.range], as: UTF8.self)).text
        }
    }
}
