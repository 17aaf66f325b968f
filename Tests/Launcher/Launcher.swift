import AppMigrations
import ArgumentParser
import DatabaseBatches
import Foundation
import GRDB
import SchemaMigrations

/// Launches a manager, with steps that die and wait as they are told: for tests of whole processes.
///
/// It prints what kind of launch it was and what ran, or the error, with its code; either is a normal end.
@main
struct Launcher: ParsableCommand {
    enum Store: String, ExpressibleByArgument {
        case json
        case sqlite
        /// None is named.
        case standard
    }

    @Option(help: "The folder of the store and of everything that steps leave.")
    var folder: String

    @Option var store = Store.json

    @Option(name: .customLong("as"), help: "The app version that is launched; by default the bundle's.")
    var version: String?

    @Option var maximumAttempts = 3

    @Option(help: "How long to wait for another run, in seconds.")
    var lockTimeout: Double?

    @Option(help: "A step to try again.")
    var retrying: String?

    @Option(help: "A step to settle without running it, first.")
    var skip: String?

    @Option(help: "The manager's name.")
    var named = "Library"

    @Option(help: "The manager that had its steps before.")
    var splitFrom: String?

    @Option(help: "The version below which that manager had them; by default the one that is launched.")
    var before: String?

    @Option(help: "Several managers, in this order, in the place of the one named Library.")
    var managers: [String] = []

    @Option(help: "What tells their versions where they have no record: nothing, tables or defaults.")
    var adopting = ManagersLaunch.Evidence.nothing

    @Option(help: "Versions that MFMigrationManager has left, such as Library=1.0.")
    var left: [String] = []

    @Option(help: "Migrates asynchronously, where the system creates no threads for so many seconds.")
    var threadsAfter: Double?

    @Flag(help: "Migrate by closures that import a file and delete it, in the place of steps.")
    var imports = false

    @Flag(help: "Die when the file is deleted.")
    var dies = false

    @Argument(help: "Steps, such as 1.1, 1.2:kill and 2.0:in,checkpoint,wait=go.")
    var steps: [LauncherStep] = []

    func run() throws {
        try Environment.$current.withValue(Environment.changed { $0.limitsTime = false }) { try launch() }
    }

    private func launch() throws {
        let folder = LauncherFolder(url: URL(fileURLWithPath: folder))
        do {
            if imports { return try ImportLaunch(folder: folder, dies: dies).run() }
            if let version, !managers.isEmpty {
                leaveDefaults()
                return try ManagersLaunch(
                    folder: folder, names: managers, version: AppVersion(parsing: version),
                    adopting: adopting,
                    store: makeStore(in: folder) ?? MigrationStore.inMemory(), steps: steps
                ).run()
            }
            let (report, deferred) = try migrate(in: folder)
            print("launch \(report.launch)")
            print("completed \(report.completed.map(\.version))")
            if let deferred {
                print(
                    "deferred \(deferred.completed.map(\.version)), failed \(deferred.failures.map(\.description))"
                )
            }
        } catch let error as MigrationError {
            print("\(error.code): \(error)")
        } catch is CancellationError {
            print("cancelled")
        }
    }

    private func migrate(in folder: LauncherFolder) throws -> (MigrationReport, DeferredReport?) {
        let current = try version.map(AppVersion.init(parsing:))
        let end = try before.map(AppVersion.init(parsing:)) ?? current ?? .zero
        let adopting = splitFrom.map { Adoption.splitFrom($0, before: end) } ?? .newApp
        let manager = try MigrationManager(
            name: named, currentVersion: current,
            adopting: adopting, store: makeStore(in: folder),
            options: MigrationOptions(
                maximumAttempts: maximumAttempts, lockTimeout: lockTimeout.map { .seconds($0) }))
        // Opened only for steps that work in it: a launch without any finds no database.
        let usesDatabase = steps.contains { [.inside, .move, .rows].contains($0.kind) }
        let database = try usesDatabase ? folder.openDatabase() : nil
        for step in steps {
            switch (step.kind, database) {
            case (.inside, let database?):
                manager.whenMigratingToVersion(
                    step.version, in: database, fileID: "App/Migrations.swift", line: 7
                ) { db, context in try step.run(in: folder, context, db) }
            case (.move, let database?):
                let schema = try SchemaMigrator(migrations: [
                    CodeMigration(1, "work") { _ in try step.run(in: folder, nil, nil) }
                ])
                manager.whenMigratingToVersion(
                    step.version, migrate: schema, in: database, fileID: "App/Migrations.swift", line: 7)
            case (.rows, let database?):
                manager.afterMigratingToVersion(
                    step.version, in: database, startingAt: 0, fileID: "App/Migrations.swift", line: 7
                ) { db, row in
                    try db.execute(sql: "INSERT INTO effect(version) VALUES (?)", arguments: ["\(row)"])
                    if row == 8 { try step.run(in: folder, nil, nil) }
                    return row < 99 ? .more(row + 1) : .done
                }
            case (.change, _):
                manager.whenVersionChanges { _, _ in try step.run(in: folder, nil, nil) }
            default:
                manager.whenMigratingToVersion(
                    step.version, fileID: "App/Migrations.swift", line: 7
                ) { [progress = manager.progress] context in
                    try step.run(in: folder, context, nil, cancelling: progress)
                }
            }
        }
        if let skip { try manager.skip(try work(skip, of: manager)) }
        if let retrying { return (try manager.migrate(retrying: try work(retrying, of: manager)), nil) }
        if let threadsAfter { return (try migrate(manager, threadsAfter: threadsAfter), nil) }
        let report = try manager.migrate()
        return (report, steps.contains { $0.kind == .rows } ? try manager.runDeferred() : nil)
    }

    /// Returns the pending work of a version that comes first.
    private func work(_ version: String, of manager: MigrationManager) throws -> MigrationWork {
        guard let pending = try manager.pending().first(where: { $0.work.version == AppVersion(version) })
        else {
            throw ValidationError("No work of version \(version) is pending.")
        }
        return pending.work
    }

    /// Migrates asynchronously, while the system creates no threads for some seconds.
    private func migrate(_ manager: MigrationManager, threadsAfter seconds: Double) throws -> MigrationReport
    {
        // Nobody else uses it while this thread waits.
        nonisolated(unsafe) let manager = manager
        let result = Locked<Result<MigrationReport, any Error>?>(nil)
        let (start, limited, end) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        let limit = try ThreadLimit()
        // A thread that there is already, which takes the limit away.
        Thread.detachNewThread {
            start.signal()
            limited.wait()
            Thread.sleep(forTimeInterval: seconds)
            limit.set(nil)
        }
        start.wait()
        Task {
            limit.set(1)
            limited.signal()
            let value: Result<MigrationReport, any Error>
            do { value = .success(try await manager.migrate()) } catch { value = .failure(error) }
            result.withLock { $0 = value }
            end.signal()
        }
        // Decides nothing but when to give up on a launch that would hang.
        guard end.wait(timeout: .now() + 600) == .success, let result = result.withLock({ $0 }) else {
            throw LauncherStep.Failure(description: "The asynchronous launch has not ended.")
        }
        return try result.get()
    }

    private func leaveDefaults() {
        let versions = left.map { $0.split(separator: "=").map(String.init) }.map { ($0[0], $0[1]) }
        UserDefaults.standard.setVolatileDomain(
            Dictionary(uniqueKeysWithValues: versions.map { ("MFMigrationManagerLastVersionKey-\($0)", $1) }),
            forName: UserDefaults.argumentDomain)
    }

    private func makeStore(in folder: LauncherFolder) throws -> MigrationStore? {
        switch store {
        case .json: try MigrationStore.jsonFile(at: folder.url.appendingPathComponent("migrations.json"))
        case .sqlite: try MigrationStore.database(folder.openDatabase("migrations.sqlite"))
        case .standard: nil
        }
    }
}

extension ManagersLaunch.Evidence: ExpressibleByArgument {}
