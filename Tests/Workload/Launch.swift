import AppMigrations
import DatabaseBatches
import DatabaseFiles
import Foundation
import GRDB
import SchemaMigrations

/// A launch of the app, in a folder that holds all of its files.
///
/// It prints a line, in one write, whenever it has been told that something is done for good, and how it ended:
///
///     reported schema 2
///     reported closure 1.1
///     reported inside 1.2
///     reported progress 2.1 64
///     ended upgrade(from: 1.0)
///     failed stepFailed: …          a typed error
///     broken …                      any other error
struct Launch {
    static let manager = "Workload"

    let scenario: Scenario
    let folder: String
    /// The version of the app; nil for the one that the scenario launches.
    var version: AppVersion?
    /// Where it prints; nil for nowhere.
    var output: Int32? = STDOUT_FILENO
    var work = Work.app
    /// How long it waits for others, wherever it does.
    var patience: Duration = .seconds(5)
    /// The app's database; nil for one that the launch opens.
    var database: (any DatabaseWriter)?
    /// Looks on at what is done in the database.
    var observer: (any TransactionObserver)?
    /// True if the process is killed as soon as it has run a batch of a deferred step.
    var diesAfterBatch = false
    private let hasFailedMove = Locked(false)

    enum Work: String, CaseIterable, Sendable {
        /// A manager, with all of its steps.
        case app
        /// The migrations of the database, without a manager, and so without its lock.
        case schema
    }

    /// Launches the app, and prints how that ended.
    func run() {
        do {
            switch work {
            case .app: try report("ended \(migrate())")
            case .schema: try report("ended \(migrateSchema())")
            }
        } catch  where isDueRefusal(error) {
            report("ended")
        } catch let error as MigrationError where isTyped(error) {
            report("failed \(error.code): \(error)")
        } catch let error as OpeningError {
            report("failed opening: \(error.reason)")
        } catch {
            report("broken \(error)")
        }
    }

    /// True if an error is the package's through and through: the error of a failed move is typed as well.
    private func isTyped(_ error: MigrationError) -> Bool {
        !hasFailedMove.withLock { $0 } || error.code != .stepFailed
            || (error.underlyingError as? MigrationError).map { $0.manager == nil } ?? false
    }

    /// GRDB's error about a file that it cannot open: the package has not been asked for anything yet.
    private struct OpeningError: Error {
        let reason: any Error
    }

    private func opening<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as MigrationError {
            throw error
        } catch {
            throw OpeningError(reason: error)
        }
    }

    private func migrate() throws -> AppMigrations.Launch {
        let database = try openDatabase()
        let store: MigrationStore =
            switch scenario.store {
            case .json:
                try MigrationStore.jsonFile(
                    at: URL(fileURLWithPath: "\(folder)/migrations.json"),
                    movedFrom: oldPaths("migrations.json").map { URL(fileURLWithPath: $0) })
            case .sqlite:
                try opening { try MigrationStore.database(file("migrations.sqlite").openQueue()) }
            }
        let manager = try manager(store, database, options(onEvent: reporting()))
        if let stop = scenario.stop, version == nil { try manager.migrate(through: stop) }
        let report = try manager.migrate()
        // An extension, in the same process.
        try self.manager(store, database, options(role: .waitsForApp)).migrate()
        if scenario.managers == .two, version == nil { try migrateSecondManager(store, database) }
        if !report.deferred.isEmpty { try runDeferred(manager) }
        return report.launch
    }

    /// Makes the app's manager.
    private func manager(
        _ store: MigrationStore, _ database: any DatabaseWriter, _ options: MigrationOptions
    ) throws -> MigrationManager {
        let current = version ?? scenario.version
        let manager = try MigrationManager(
            name: Self.manager, currentVersion: current, adopting: adoption(database), store: store,
            options: options)
        let schema = try schema()
        for step in Plan.steps where step.since.map({ $0 <= current }) ?? true {
            register(step, with: manager, schema, database)
        }
        manager.whenVersionChanges { [folder] from, to in
            try Effects(folder: folder).leave(changeFrom: from, to: to)
        }
        return manager
    }

    /// Runs the deferred steps to their end, even when another process that runs them dies of it.
    private func runDeferred(_ manager: MigrationManager) throws {
        let deadline = ContinuousClock.now + patience
        // Nobody else uses it while this thread waits.
        nonisolated(unsafe) let manager = manager
        while true {
            let report = try awaiting { try await manager.runDeferred() }
            if let failure = report.failures.first { throw failure }
            guard report.canContinue, ContinuousClock.now < deadline else { return }
            usleep(5_000)
        }
    }

    /// Waits on this thread for what is done on others.
    private func awaiting<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) throws -> Value {
        let result = Locked<Result<Value, any Error>?>(nil)
        let end = DispatchSemaphore(value: 0)
        Task {
            let value: Result<Value, any Error>
            do { value = .success(try await body()) } catch { value = .failure(error) }
            result.withLock { $0 = value }
            end.signal()
        }
        while true {
            end.wait()
            if let result = result.withLock({ $0 }) { return try result.get() }
        }
    }

    private func adoption(_ database: any DatabaseWriter) -> Adoption {
        switch (scenario.start, scenario.managers, scenario.journal) {
        case (.unrecorded, _, .wal):
            .fileExists(URL(fileURLWithPath: "\(folder)/\(Effects.old)"), means: "1.0")
        case (.unrecorded, _, .rollback), (_, .two, _): .databaseHasTables(database, means: "1.0")
        case (_, .one, _): .newApp
        }
    }

    /// The answer of the second manager, which asks an old install in another way.
    private func secondAdoption(_ database: any DatabaseWriter) -> Adoption {
        guard scenario.start == .unrecorded, scenario.journal == .rollback else {
            return .databaseHasTables(database, means: "1.0")
        }
        return Adoption { "1.0" }
    }

    private func options(
        role: MigrationOptions.Role = .migrates, onEvent: ((MigrationEvent) -> Void)? = nil
    ) -> MigrationOptions {
        MigrationOptions(
            ignoresStepsAboveCurrent: true, role: role, maximumAttempts: 1_000, lockTimeout: patience,
            onEvent: onEvent)
    }

    /// Migrates a manager that came with version 2.0: by now, the first one has made tables in any case.
    private func migrateSecondManager(_ store: MigrationStore, _ database: any DatabaseWriter) throws {
        let manager = try MigrationManager(
            name: "Second", currentVersion: scenario.version, adopting: secondAdoption(database),
            store: store, options: options())
        manager.whenMigratingToVersion("1.1") { [folder] context in
            try Effects(folder: folder).leaveForSecond(context)
        }
        try manager.migrate()
    }

    /// Migrates the database alone.
    ///
    /// - Returns: the versions that it has applied.
    private func migrateSchema() throws -> String {
        try schema().migrate(openDatabase()).applied.map { "\($0)" }.joined(separator: " ")
    }

    private func openDatabase() throws -> any DatabaseWriter {
        if let database { return database }
        let database: any DatabaseWriter = try opening {
            if scenario.start == .salvaged, scenario.journal == .wal, version == nil { try salvage() }
            return switch scenario.journal {
            case .rollback: try file("library.sqlite").openQueue()
            case .wal: try file("library.sqlite").openPool()
            }
        }
        if let observer { database.add(transactionObserver: observer) }
        return database
    }

    /// Salvages the database before it is opened: opening would take the rows in the log into the damaged file.
    private func salvage() throws {
        do {
            _ = try file("library.sqlite").salvage(into: schema())
        } catch let error as MigrationError where error.code == .misuse {
            // An earlier launch has done it.
        }
    }

    private func file(_ name: String) throws -> DatabaseFile {
        var configuration = Configuration()
        configuration.busyMode = .timeout(Double(patience.components.seconds))
        var file = DatabaseFile(
            path: "\(folder)/\(name)", movedFrom: oldPaths(name),
            ifDamaged: scenario.start == .salvaged ? try .salvage(into: schema()) : .refuse,
            configuration: configuration, waitingFor: patience)
        file.copiesAlways = scenario.start == .copied
        return file
    }

    /// Where version 1.0 had a file, if that was elsewhere.
    private func oldPaths(_ name: String) -> [String] {
        scenario.moves && version == nil ? ["\(folder)/\(Scenario.oldFolder)/\(name)"] : []
    }

    private func schema() throws -> SchemaMigrator {
        let commits: SchemaOptions.Commits =
            switch scenario.commits {
            case .grouped: .grouped(after: .seconds(60))
            case .each: .grouped(after: .zero)
            case .atonce: .allOrNothing
            }
        let backups = URL(fileURLWithPath: "\(folder)/backups")
        let snapshot = URL(fileURLWithPath: "\(folder)/snapshot.sql")
        let options = SchemaOptions(
            commits: commits, newerDatabases: scenario.start == .branched ? .rollBack : .refuse,
            backupFolder: scenario.backup == .saved ? backups : nil,
            busyTimeout: patience)
        if scenario.isSquashed, version == nil {
            return try SchemaMigrator(directory: Squashing.directory(in: folder), options: options)
        }
        return try SchemaMigrator(
            migrations: Schema.migrations(for: scenario),
            snapshot: scenario.start == .snapshot ? snapshot : nil,
            options: options,
            adopting: scenario.start == .unrecorded ? SchemaAdoption { _ in 1 } : nil)
    }

    private func register(
        _ step: Plan.Step, with manager: MigrationManager, _ schema: SchemaMigrator,
        _ database: any DatabaseWriter
    ) {
        switch step.work {
        case .move(let target):
            // A snapshot is loaded when it holds nothing above the version asked for.
            let target = scenario.start == .snapshot ? max(target, Template.snapshotVersion) : target
            manager.whenMigratingToVersion(
                step.version, migrate: schema, upTo: SchemaVersion(target), in: database)
        case .inside:
            manager.whenMigratingToVersion(
                step.version, finishing: step.finishing, in: database, onFreshInstall: .run,
                foreignKeys: step.enforcesKeys ? .immediate : .deferred
            ) { db in
                // Whatever these are, they are not the version of a step.
                let isEarly = try !step.finishing.isEmpty && !Deferral.isComplete(db)
                let isKept = try step.enforcesKeys && Schema.keepsBook(ofDeletedAuthor: db)
                try db.execute(
                    sql: "INSERT INTO effect(version) VALUES (?)",
                    arguments: [
                        "\(step.version)" + (isEarly ? " came too early" : "")
                            + (isKept ? " kept a book without its author" : "")
                    ])
            }
        case .closure:
            // Whoever takes an upgrade for a fresh install is found out by what has not been done.
            let rule: FreshInstallRule = scenario.isOldInstall ? .skip : .run
            manager.whenMigratingToVersion(
                step.version, onFreshInstall: step.isForFreshInstall ? .only : rule
            ) { [folder] context in
                try Effects(folder: folder).leave(context)
            }
        case .deferred: registerDeferred(step.version, with: manager, database)
        }
    }

    private func registerDeferred(
        _ version: AppVersion, with manager: MigrationManager, _ database: any DatabaseWriter
    ) {
        switch version {
        case Deferral.rows:
            manager.afterMigratingToVersion(
                version, in: database, overRowsOf: "deferred_row", run: Deferral.raise)
        case Deferral.calls:
            manager.afterMigratingToVersion(
                version, in: database, startingAt: "", run: Deferral.raise)
        default:
            manager.afterMigratingToVersion(version) { [self] context in
                let done = try context.lastCheckpoint(as: Int.self) ?? 0
                for item in done..<Deferral.itemCount {
                    try Effects(folder: folder).leave(item: item)
                    guard (item + 1) % Deferral.stretch == 0 else { continue }
                    try await context.checkpoint(item + 1)
                    report("reported progress \(version) \((item + 1) / Deferral.stretch)")
                }
            }
        }
    }

    /// Prints what is done for good: a closure as soon as its record has been written, with the start of what
    /// comes next.
    private func reporting() -> (MigrationEvent) -> Void {
        var unsettled: [String] = []
        return { [self] event in
            switch event.kind {
            case .didRun(let step, _):
                if step.schemaVersions != nil {
                    let reached = Plan.schema(before: step.version)
                    report("reported schema \(reached)")
                } else if step.database != nil {
                    report("reported inside \(step.version)")
                } else if step.version == Deferral.items {
                    report("reported closure \(step.version)")
                } else {
                    unsettled.append("reported closure \(step.version)")
                }
            case .willRun, .finished:
                unsettled.forEach(report)
                unsettled = []
            case .didFail(let step, _): hasFailedMove.withLock { $0 = step.schemaVersions != nil }
            case .didRunBatch(let step, let done, _):
                report("reported progress \(step.version) \(done)")
                if diesAfterBatch { kill(getpid(), SIGKILL) }
            case .launchRecognized, .lacksBusyTimeout: break
            }
        }
    }

    /// Prints a line, in one write.
    func report(_ line: String) {
        guard let output else { return }
        let line = line.split(separator: "\n").joined(separator: " ") + "\n"
        _ = line.withCString { write(output, $0, strlen($0)) }
    }
}
