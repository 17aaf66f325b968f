import GRDB

/// A migration that is to be run, up or down, with what has been found out about it before.
///
/// Holds no large file's contents: a thousand files are looked through before the first is run, and are not all
/// kept.
struct MigrationJob {
    enum Direction { case up, down }

    let migration: any SchemaMigration
    let direction: Direction
    let foreignKeys: ForeignKeys
    let transaction: SQLFileSettings.Transaction
    let checksum: String?
    /// The tables that a file drops: one that is made anew under its old name is hard to tell from the old one.
    let droppedTables: Set<String>
    /// How much there is to do, for progress.
    let weight: Int64
    /// What was looked through, where it is small; looking through it takes as long as running it.
    private let script: SQLScript?
    private static let smallSize = 4_096

    /// Looks through a migration.
    ///
    /// - Throws: ``SchemaMigrationError``, when it must not be run as it is.
    init(_ migration: any SchemaMigration, _ direction: Direction = .up) throws {
        self.migration = migration
        self.direction = direction
        let script = try Self.script(migration, direction)
        foreignKeys = script?.settings.foreignKeys ?? migration.foreignKeys
        transaction = script?.settings.transaction ?? .wrapped
        checksum = script?.checksum
        droppedTables = script?.droppedTables ?? []
        weight = script?.weight ?? 1
        self.script = script.flatMap { $0.sql.utf8.count <= Self.smallSize ? $0 : nil }
    }

    var version: SchemaVersion { migration.version }

    /// Whether it is written in Swift.
    var isCode: Bool { checksum == nil }

    /// As messages call it.
    var title: String {
        guard direction == .down else { return migration.title }
        return "\(migration.title), on the way down"
    }

    /// Runs the migration's body.
    ///
    /// - Parameter afterEach: is called after each statement of a file.
    func run(_ db: Database, afterEach: () throws -> Void) throws {
        if let script = try self.script ?? Self.script(migration, direction) {
            try script.run(db, afterEach: afterEach)
        } else if direction == .up {
            try migration.migrate(db)
        } else {
            try (migration as? any ReversibleSchemaMigration)?.rollback(db)
        }
    }

    private static func script(_ migration: any SchemaMigration, _ direction: Direction) throws -> SQLScript?
    {
        guard let source = migration as? any SQLSource else { return nil }
        return try direction == .up ? source.script() : source.downScript()
    }
}

extension SchemaMigration {
    /// As messages call the migration: by its file where it has one.
    package var title: String { (self as? any SQLSource)?.fileName ?? (self as? CodeFile)?.fileName ?? name }

    /// Whether there is a way back.
    var isReversible: Bool {
        (self as? any SQLSource)?.hasDown ?? (self is any ReversibleSchemaMigration)
    }
}
