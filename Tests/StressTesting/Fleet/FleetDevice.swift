import AppMigrations
import Foundation
import GRDB
import MigrationTesting
import SchemaMigrations

/// A device on which the app is launched, with the package's own managers, and compared with the model.
final class FleetDevice {
    /// Where a device did not do what the model says.
    struct Deviation: Error, CustomStringConvertible {
        let description: String
    }

    private struct Backup {
        let store: StoreState
        let database: DatabaseQueue?
        let state: FleetModel.State
    }

    private let app: FleetApp
    private let disguise: @Sendable (any MigrationStore) -> any MigrationStore
    private var memory = InMemoryStore()
    private var database: DatabaseQueue?
    private let files = Locked<[String]>([])
    private var backups: [Backup] = []
    /// What is on the device, as the model knows it.
    private var state = FleetModel.State()

    /// Makes a new device.
    ///
    /// - Parameter disguise: puts a store in place of the device's, so that a bad one can be tried.
    init(
        _ app: FleetApp,
        disguise: @escaping @Sendable (any MigrationStore) -> any MigrationStore = { $0 }
    ) throws {
        self.app = app
        self.disguise = disguise
        database = app.storage == .store ? nil : try DatabaseQueue()
        try backUp()
    }

    /// Lets something happen to the device.
    ///
    /// - Throws: ``Deviation``, when the device has not done what the model says.
    func play(_ event: FleetEvent) throws {
        switch event {
        case .launch(let launch): try play(launch)
        case .backUp: try backUp()
        case .restore(let part, let index): try restore(part, from: backups[index % backups.count])
        }
    }
}

// Launching.
extension FleetDevice {
    private func play(_ launch: FleetEvent.Launch) throws {
        // A closure that runs on this thread, when the process asks for a lock.
        let intrusion = Locked<FleetEvent.Launch?>(launch.outrunBy.map { FleetEvent.Launch(build: $0) })
        let intruder = FleetProcess()
        let hasIntruded = Locked(false)
        let scene = Scene(app: app, store: store, database: database, files: files)
        let process = FleetProcess(killedAt: launch.killedAt, throwsIn: launch.throwsIn) {
            guard let other = intrusion.withLock({ $0 }) else { return }
            hasIntruded.withLock { $0 = true }
            for manager in scene.app.managers(in: other.build) {
                guard case .done = scene.launch(manager, build: other.build, intruder) else { return }
            }
        }
        let commits = WatchedCommits(process.process)
        database?.add(transactionObserver: commits, extent: .observerLifetime)

        var model = FleetModel(app, state, build: launch.build, throwsIn: launch.throwsIn)
        for manager in app.managers(in: launch.build) {
            let intrudedBefore = hasIntruded.withLock { $0 }
            let outcome = scene.launch(manager, build: launch.build, process)
            if !intrudedBefore, hasIntruded.withLock({ $0 }), let other = launch.outrunBy {
                var otherModel = FleetModel(app, model.state, build: other)
                for manager in app.managers(in: other) {
                    guard case .done = otherModel.launch(manager) else { break }
                }
                model.append(otherModel.timeline)
            }
            let expected = model.launch(manager)
            if process.isDead { break }
            guard outcome == expected else {
                throw Deviation(description: "expected \(expected), found \(outcome)")
            }
            guard case .done = outcome else { break }
        }
        withExtendedLifetime(commits) {}
        database?.remove(transactionObserver: commits)

        let found = try look()
        guard process.isDead ? model.allows(found) : found == model.state else {
            throw Deviation(
                description:
                    "expected \(process.isDead ? "a state on the way to " : "")\(model.state), found \(found)"
            )
        }
        state = found
    }

    private var store: any MigrationStore {
        disguise(app.storage == .storeInDatabase ? database.map { SQLiteStore($0) } ?? memory : memory)
    }
}

/// What processes share on a device.
private struct Scene: Sendable {
    let app: FleetApp
    let store: any MigrationStore
    let database: DatabaseQueue?
    let files: Locked<[String]>

    /// Launches a manager, and once more, which must find nothing to do.
    func launch(_ index: Int, build: Int, _ process: FleetProcess) -> FleetModel.Outcome {
        do {
            var options = MigrationOptions(maximumAttempts: app.maximumAttempts)
            options.adopting = app.adopting.map { rank in Adoption { AppVersion(FleetApp.text(rank)) } }
            let manager = try MigrationManager(
                name: FleetApp.managers[index], currentVersion: FleetApp.builds[build].text,
                store: FleetStore(base: store, process: process), options: options)
            try register(index, build: build, in: manager, process)
            let report = try manager.migrate()

            let isQuiet = try process.immortally {
                let before = try traces(process)
                let again = try manager.migrate()
                return try again.completed == [] && again.moves == [] && traces(process) == before
            }
            guard isQuiet else { return .stopped("the next call finds something to do", at: nil) }
            return .done(
                launch: Self.text(report.launch), returned: report.returnedFromDowngrade,
                isFirst: report.isFirstLaunchOfVersion,
                completed: report.completed.map { FleetApp.rank($0.description) },
                moved: report.moves.flatMap { $0.schemaVersions.compactMap { Int($0) } })
        } catch let error as MigrationError {
            return .stopped(
                error.code.rawValue, at: error.version.map { FleetApp.rank($0.description) })
        } catch {
            return .stopped("\(error)", at: nil)
        }
    }

    /// What grows when anything is written.
    private func traces(_ process: FleetProcess) throws -> [Int] {
        let changes = try database?.read { db in
            [db.totalChangesCount, try Int.fetchOne(db, sql: "PRAGMA schema_version") ?? 0]
        }
        return [process.writes] + (changes ?? [])
    }

    private func register(
        _ index: Int, build: Int, in manager: MigrationManager, _ process: FleetProcess
    ) throws {
        let moves = app.moves(of: index, in: build)
        var calls: [(rank: Int, register: () throws -> Void)] = []
        if let database, !moves.isEmpty {
            let schema = try SchemaMigrator(
                migrations: moves.flatMap(\.numbers).map {
                    FleetMigration(version: Int64($0), process: process)
                })
            calls = moves.map { move in
                (
                    move.rank,
                    {
                        manager.whenMigratingToVersion(
                            try AppVersion(parsing: FleetApp.text(move.rank)), migrate: schema,
                            upTo: move.numbers.last.map(Int64.init), in: database)
                    }
                )
            }
        }
        calls += app.steps(of: index, in: build).map { step in
            (step.rank, { try register(step, in: manager, process) })
        }
        for call in calls.sorted(by: { $0.rank < $1.rank }) { try call.register() }
    }

    private func register(
        _ step: FleetApp.Step, in manager: MigrationManager, _ process: FleetProcess
    ) throws {
        let version = try AppVersion(parsing: FleetApp.text(step.rank))
        let rule: FreshInstallRule = step.runsOnFreshInstall ? .run : .skip
        let line: @Sendable (MigrationContext) -> String = { context in
            FleetModel.line(
                manager: step.manager, rank: step.rank, attempt: context.attempt,
                isLate: context.isOutOfOrder,
                from: context.from.map { FleetApp.rank($0.description) })
        }
        if step.isInDatabase, let database {
            manager.whenMigratingToVersion(version, in: database, onFreshInstall: rule) { db, context in
                try process.body {
                    try db.execute(sql: "INSERT INTO done VALUES (?)", arguments: [line(context)])
                }
            }
        } else {
            manager.whenMigratingToVersion(version, onFreshInstall: rule) { context in
                try process.body {
                    if step.hasCheckpoint { try context.checkpoint() }
                    try process.tick()
                    files.withLock { $0.append(line(context)) }
                }
            }
        }
    }

    private static func text(_ launch: Launch) -> String {
        let rank = launch.previousVersion.map { " \(FleetApp.rank($0.description))" } ?? ""
        return switch launch {
        case .freshInstall: "freshInstall"
        case .relaunch: "relaunch"
        case .adoption: "adoption\(rank)"
        case .upgrade: "upgrade\(rank)"
        case .downgrade: "downgrade\(rank)"
        }
    }
}

/// A migration that cannot run twice: SQLite refuses to make a table that there is.
private struct FleetMigration: SchemaMigration {
    let version: SchemaVersion
    let process: FleetProcess

    func migrate(_ db: Database) throws {
        try process.tick()
        try db.execute(sql: "CREATE TABLE m\(version)(x)")
        if version == FleetApp.firstSchema.number {
            try db.execute(sql: "CREATE TABLE done(line TEXT NOT NULL)")
        }
        try process.tick()
    }
}

// Looking, and backups.
extension FleetDevice {
    private func look() throws -> FleetModel.State {
        var state = FleetModel.State()
        state.files = files.withLock { $0 }
        if app.storage != .storeInDatabase { state.store = try Self.place(in: store) }
        guard let database else { return state }
        state.database.place = try Self.place(in: SQLiteStore(database))
        let tables = try database.read { db in
            let tables = try String.fetchSet(db, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
            if tables.contains("schema_migrations") {
                state.database.ledger = try Int.fetchSet(db, sql: "SELECT version FROM schema_migrations")
            }
            if tables.contains("done") {
                state.database.done = try String.fetchAll(db, sql: "SELECT line FROM done ORDER BY rowid")
            }
            return tables
        }
        let made = Set(tables.compactMap { $0.hasPrefix("m") ? Int($0.dropFirst()) : nil })
        guard made == state.database.ledger else {
            throw Deviation(description: "The ledger has \(state.database.ledger), the schema \(made)")
        }
        return state
    }

    private static func place(in store: any MigrationStore) throws -> FleetModel.Place {
        var place = FleetModel.Place()
        for (index, name) in FleetApp.managers.enumerated() {
            let state = try store.read(name)
            place.records[index] = try state.record(of: name).map(FleetModel.Record.init)
            place.seen = Set(state.seen["app", default: []].map { FleetApp.rank($0.version.description) })
        }
        return place
    }

    private func backUp() throws {
        backups.append(
            Backup(
                store: memory.read(""), database: try database.map(Self.copy),
                state: state))
    }

    private func restore(_ part: FleetEvent.Part, from backup: Backup) throws {
        if part != .database {
            memory = InMemoryStore()
            memory.update("") { $0 = backup.store }
            state.store = backup.state.store
        }
        if part != .store, let copy = backup.database {
            database = try Self.copy(copy)
            state.database = backup.state.database
        }
    }

    private static func copy(_ database: DatabaseQueue) throws -> DatabaseQueue {
        let copy = try DatabaseQueue()
        try database.backup(to: copy)
        return copy
    }
}

extension FleetModel.Record {
    fileprivate init(_ record: MigrationRecord) {
        func rank(_ version: AppVersion) -> Int { FleetApp.rank(version.description) }
        self.init(
            floor: record.floor.map(rank), settled: Set(record.settled.map(rank)),
            owed: Set(record.owed.map(rank)), completed: record.completed.map(rank),
            highest: record.highest.map(rank), downgradedTo: record.downgradedTo.map(rank),
            running: record.running.map {
                Running(
                    rank: rank($0.version), remaining: $0.remaining, attempt: $0.attempt,
                    forgiven: $0.forgiven, build: $0.build)
            })
    }
}
