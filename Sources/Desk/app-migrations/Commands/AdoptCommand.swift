import AppMigrations
import ArgumentParser
import GRDB
import GRDBMigrations
import MigrationDiagnostics
import MigrationTools
import SchemaMigrations
import TextOutput

/// Adopts a database that another tool migrated.
struct AdoptCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "adopt",
        abstract: "Adopt a database that another tool migrated, as a baseline.",
        discussion: """
            Marks every migration up to the database's version as applied, and runs none: the tables become the \
            baseline. The version is read from:

              schema_info   the table of fmdb-migration-manager, which holds a number
              grdb          the table of GRDB's DatabaseMigrator, which holds identifiers
              user_version  PRAGMA user_version
              version       the version that you pass as --version

            --map says which version such a number or identifier stands for; pass it once for each. Without --map, \
            user_version is the version itself. --version latest-that-fits is the latest version whose migrations make \
            the schema of the database.

            The command compares the schema with the one that the migrations up to the version make, and changes \
            nothing if they differ. --undo takes back an adoption, as long as no migration was applied after it.

            EXAMPLE
              app-migrations adopt --database library.sqlite \\
                --from user_version --map 1=20240110090000000
              app-migrations adopt --database library.sqlite \\
                --from version --version latest-that-fits
              app-migrations adopt --database library.sqlite --undo
            """)

    /// The source from which the command reads the database's version.
    enum Origin: String, ExpressibleByArgument, CaseIterable {
        case schemaInfo = "schema_info"
        case grdb
        case userVersion = "user_version"
        case version
    }

    /// A mapping of another tool's value to a version.
    struct Mapping: ExpressibleByArgument {
        let key: String
        let version: SchemaVersion

        init?(argument: String) {
            guard let sign = argument.lastIndex(of: "="),
                let version = SchemaVersion(argument[argument.index(after: sign)...])
            else { return nil }
            key = String(argument[..<sign])
            self.version = version
        }
    }

    @OptionGroup var database: DatabaseOption
    @OptionGroup var folder: DirectoryOption

    @Option(help: "Where the version is read from.")
    var from: Origin?

    @Option(
        help: ArgumentHelp("What another tool's number or identifier stands for.", valueName: "key=version"))
    var map: [Mapping] = []

    /// The version that a person names.
    enum NamedVersion: ExpressibleByArgument {
        case version(SchemaVersion)
        case latestThatFits

        init?(argument: String) {
            if argument == "latest-that-fits" {
                self = .latestThatFits
            } else {
                guard let version = SchemaVersion(argument) else { return nil }
                self = .version(version)
            }
        }
    }

    @Option(help: "The version that the database is at, or latest-that-fits, with --from version.")
    var version: NamedVersion?

    @Flag(help: "Adopt the database though its schema differs from that of the version.")
    var allowDifferences = false

    @Flag(help: "Take back an adoption after which nothing was applied.")
    var undo = false

    func validate() throws {
        guard let from else {
            guard undo, version == nil, map.isEmpty else {
                throw ValidationError("Pass --from, or --undo alone.")
            }
            return
        }
        if undo { throw ValidationError("Pass --from, or --undo alone.") }
        switch from {
        case .version:
            guard version != nil, map.isEmpty else {
                throw ValidationError("--from version needs --version, and no --map.")
            }
        case .schemaInfo, .userVersion, .grdb:
            guard version == nil, !map.isEmpty || from == .userVersion else {
                throw ValidationError("--from \(from.rawValue) needs --map, and no --version.")
            }
            if from != .grdb, let odd = map.first(where: { Int($0.key) == nil }) {
                throw ValidationError("--map \(odd.key)=\(odd.version): \"\(odd.key)\" is not a number.")
            }
        }
        if Set(map.map(\.key)).count < map.count { throw ValidationError("--map has a key twice.") }
    }

    func run() throws {
        let migrator = try folder.migrator()
        if undo {
            let versions = try database.writing(migrator.undoAdoption)
            print(
                "\(Style().heading(database.database)): \(versions.count.counting("migration")) no longer marked as applied"
            )
            return
        }
        // Only the ledger is written; the migrations run in memory, to compare the schemas.
        let marked = try database.writing(with: folder.standIns()) { queue in
            let (status, version) = try queue.read { db in (try migrator.status(db), try found(db, migrator))
            }
            guard !status.hasMigrationsTable else {
                throw Failure(
                    "\(database.database) was already migrated by this package",
                    remedy: "Look at it with `app-migrations status`. Nothing was changed.")
            }
            guard try queue.read({ try !SchemaObject.fetchAll($0).isEmpty }) else {
                throw Failure(
                    "\(database.database) has no tables that could be a baseline",
                    remedy: "Create the database with `app-migrations migrate`. Nothing was changed.")
            }
            guard let version else {
                throw Failure(
                    "\(database.database) has no \(from?.rawValue ?? "version") to read the version from",
                    remedy: """
                        Find out which tool has migrated it, or pass the version with --from version. Nothing was \
                        changed.
                        """)
            }
            try compare(queue, migrator, version)
            try migrator.markApplied(queue, upTo: version)
            return try queue.read(AppliedMigration.fetchAll)
        }
        let style = Style()
        print(
            "\(style.heading(database.database)): \(marked.count.counting("migration")) marked as applied, and none was run"
        )
        var table = Table(.left, .right, .left)
        for migration in marked {
            table.add(
                .init(text: "✓", highlight: style.good), .init(text: "\(migration.version)"),
                .init(text: migration.name ?? ""))
        }
        table.print()
    }

    /// Refuses a database whose schema is not that of the version.
    private func compare(_ queue: DatabaseQueue, _ migrator: SchemaMigrator, _ version: SchemaVersion) throws
    {
        // Only the app can run a migration in Swift.
        let isKnown = !migrator.migrations.contains { $0.version <= version && $0 is CodeFile }
        guard !allowDifferences, isKnown else { return }
        let differences = try queue.read { try migrator.differences(of: $0, from: version) }
        guard !differences.isEmpty else { return }
        throw Failure(
            """
            \(database.database) does not have the schema that the migrations up to \(version) make: \
            \(differences.joined(separator: "; "))
            """,
            remedy: """
                Pass --version latest-that-fits with --from version, or --allow-differences if a later migration makes \
                up for them. Nothing was changed.
                """)
    }

    /// Returns the database's version; nil if the database has no source for it.
    private func found(_ db: Database, _ migrator: SchemaMigrator) throws -> SchemaVersion? {
        let identifiers = Dictionary(map.map { ($0.key, $0.version) }, uniquingKeysWith: { $1 })
        let numbers = Dictionary(map.map { (Int($0.key) ?? 0, $0.version) }, uniquingKeysWith: { $1 })
        do {
            let adoption: SchemaAdoption
            switch from {
            case .version, nil:
                if case .version(let version) = version { return version }
                return try migrator.version(fitting: db)
            case .schemaInfo: adoption = .schemaInfo(means: numbers)
            case .userVersion: adoption = .userVersion(means: map.isEmpty ? nil : numbers)
            case .grdb: adoption = .grdbMigrations(means: identifiers)
            }
            return try adoption.version(db, migrator)
        } catch let error as MigrationError where [.undecided, .newerThanThisProcess].contains(error.code) {
            // Other commands advise this command for such a database.
            guard from != .version else { throw Failure(error.diagnostic) }
            let remedy =
                switch (error.detail, error.code) {
                case (.unknownMeaning, .newerThanThisProcess):
                    """
                    If a newer version of the app has migrated the database, update the app. If not, pass its version as a \
                    --map. Nothing was changed.
                    """
                case (.unknownMeaning, _): "Pass its version as a --map. Nothing was changed."
                // The library's names arguments that only an app can pass.
                case (_, .undecided) where from == .grdb:
                    """
                    Migrate the database with GRDB's migrator first, and pass a --map for each migration; or let the schema \
                    tell, with --from version --version latest-that-fits. Nothing was changed.
                    """
                default: error.diagnostic.remedy
                }
            throw Failure(at: error.diagnostic.place, error.diagnostic.problem, remedy: remedy)
        }
    }
}
