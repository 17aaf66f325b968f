import AppMigrations
import ArgumentParser
import Foundation
import GRDB
import MigrationDiagnostics
import SchemaMigrations
import TextOutput

/// Lists the applied and the pending migrations of a database, and the deferred steps that are not complete.
struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the applied and the pending migrations of a database, and deferred steps.",
        discussion: """
            The database is only read. A migration is applied, pending, edited (its file has changed since), \
            unknown (there is no file of it), or below the start (the database began above it). An unknown migration is \
            of a newer version, or of another branch: if it is compatible, the database can be used without it, and if \
            the database has kept its down migration, `migrate --undo-unknown` can undo it.

            Deferred steps, which the app runs after its launch, are listed until they are complete, with the rows that \
            are done. They do not count as pending: no launch waits for them.

            EXAMPLE
              app-migrations status --database library.sqlite
              app-migrations status --database library.sqlite --json --exit-code
            """)

    @OptionGroup var database: DatabaseOption
    @OptionGroup var folder: DirectoryOption

    @OptionGroup var format: JSONOption

    @Flag(help: "End with status 2 when something is pending, or the database is too old or has no ledger.")
    var exitCode = false

    func run() throws {
        let migrator = try folder.migrator()
        let status = try database.reading { queue in
            try queue.read { db in
                let status = try migrator.status(db)
                return StatusOutput(
                    database: database.database, migrator: migrator, status: status,
                    unadopted: try Self.reasonToAdopt(db, migrator, status),
                    deferred: try SQLiteStore.unfinishedSteps(db).map(DeferredLine.init))
            }
        }
        if format.json { try printJSON(status) } else { status.print() }
        if exitCode, status.needsMigration || status.tooOld != nil || status.unadopted != nil {
            throw ExitCode(2)
        }
    }

    /// Returns why a database without a ledger must be adopted, as `migrate` says it; nil if it is new.
    private static func reasonToAdopt(
        _ db: Database, _ migrator: SchemaMigrator, _ status: SchemaStatus
    ) throws -> String? {
        guard !status.hasMigrationsTable else { return nil }
        do {
            _ = try migrator.pending(db)
            return nil
        } catch let error as MigrationError where error.code == .undecided {
            return Failure(error)?.diagnostic.description
        }
    }
}

/// The output of `status`.
private struct StatusOutput: Encodable {
    let database: String
    let hasMigrationsTable: Bool
    let originVersion: String?
    let currentVersion: String?
    let latestVersion: String?
    let needsMigration: Bool
    /// The versions that the database lacks, and that were squashed.
    let squashed: [String]?
    /// Why the database is too old; nil if it is not.
    let tooOld: String?
    /// Why the database must be adopted; nil if it need not.
    let unadopted: String?
    let migrations: [Line]
    let deferred: [DeferredLine]

    struct Line: Encodable {
        let version: String
        let name: String?
        let state: State
        let origin: String?
        let applied: Date?
        let seconds: Double?
        let appVersion: String?
        /// Of an unknown migration, whether the database can be used without it.
        let isCompatible: Bool?
        /// Of an unknown migration, whether the database has kept its down migration.
        let canBeUndone: Bool?
    }

    enum State: String, Encodable {
        case applied
        case pending
        case edited
        case unknown
        case belowStart = "below-start"
        case refused
    }

    init(
        database: String, migrator: SchemaMigrator, status: SchemaStatus, unadopted: String?,
        deferred: [DeferredLine]
    ) {
        self.database = database
        self.unadopted = unadopted
        self.deferred = deferred
        hasMigrationsTable = status.hasMigrationsTable
        originVersion = status.originVersion.map(String.init)
        currentVersion = status.currentVersion.map(String.init)
        latestVersion = (migrator.migrations.last?.version).map(String.init)
        needsMigration = !status.pendingVersions.isEmpty
        squashed = status.tooOld.map { _ in status.squashedVersions.map(String.init) }
        tooOld = status.tooOld
        let applied = Dictionary(status.history.map { ($0.version, $0) }, uniquingKeysWith: { $1 })
        let names = Dictionary(
            migrator.migrations.map { ($0.version, $0.name) }, uniquingKeysWith: { $1 })
        let states = Self.states(status, known: migrator.migrations.map(\.version))
        migrations = Set(names.keys).union(status.unknownVersions).sorted().map { version in
            let note = applied[version]
            return Line(
                version: "\(version)", name: names[version] ?? note?.name,
                state: states[version] ?? .applied, origin: note?.origin.rawValue, applied: note?.date,
                seconds: note?.duration.map { $0 / .seconds(1) }, appVersion: note?.appVersion?.description,
                isCompatible: states[version] == .unknown ? note?.isCompatible : nil,
                canBeUndone: states[version] == .unknown ? note?.canBeUndone : nil)
        }
    }

    /// Returns the state of each version, except those that are simply applied.
    private static func states(
        _ status: SchemaStatus, known: [SchemaVersion]
    ) -> [SchemaVersion: State] {
        var states: [SchemaVersion: State] = [:]
        if status.tooOld != nil {
            let applied = Set(status.appliedVersions)
            for migration in known where !applied.contains(migration) { states[migration] = .refused }
        }
        for version in status.pendingVersions { states[version] = .pending }
        for version in status.skippedVersions { states[version] = .belowStart }
        for version in status.editedVersions { states[version] = .edited }
        for version in status.unknownVersions { states[version] = .unknown }
        return states
    }

    func print() {
        let style = Style()
        let pending = migrations.count { $0.state == .pending }
        let rest =
            switch pending {
            case _ where tooOld != nil: "too old for these migrations"
            case _ where unadopted != nil: "has to be adopted"
            case 0: "nothing is pending"
            case 1: "1 migration is pending"
            default: "\(pending.counting("migration")) are pending"
            }
        Swift.print(
            "\(style.heading(database)) is at \(currentVersion.map { "version \($0)" } ?? "no version"), and \(rest)"
        )
        if let problem = tooOld ?? unadopted { Swift.print("\(style.bad("!")) \(problem)") }
        var table = Table(.left, .right, .left, .left, .right)
        for line in migrations {
            let (mark, highlight): (String, (String) -> String) =
                switch line.state {
                case .applied: ("✓", style.good)
                case .pending: ("·", style.notable)
                case .belowStart, .refused: ("-", style.faint)
                case .edited, .unknown: ("!", style.bad)
                }
            table.add(
                .init(text: mark, highlight: highlight), .init(text: line.version),
                .init(text: line.name ?? ""), .init(text: line.words, highlight: highlight),
                .init(text: line.seconds.map { Duration.seconds($0).asText } ?? "", highlight: style.faint))
        }
        table.print()
        for (manager, lines) in Dictionary(grouping: deferred, by: \.manager).sorted(by: { $0.key < $1.key })
        {
            Swift.print(style.heading("Deferred steps of \(manager)"))
            DeferredLine.printTable(lines, style)
        }
    }
}

extension StatusOutput.Line {
    fileprivate var words: String {
        let date = applied.map { " \($0.asText)" } ?? ""
        return switch state {
        case .applied:
            switch origin {
            case "marked": "marked\(date)"
            case "snapshot": "by snapshot\(date)"
            default: "applied\(date)"
            }
        case .pending: "pending"
        case .edited: "edited after it was applied\(date)"
        case .unknown:
            "applied\(date), no such file; \(isCompatible == true ? "compatible" : "not compatible"), \(canBeUndone == true ? "can be undone" : "cannot be undone")"
        case .belowStart: "below the start"
        case .refused: "not applied: the database is too old"
        }
    }
}
