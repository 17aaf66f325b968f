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
        let databases: [FleetApp.Home: DatabaseQueue]
        let state: FleetModel.State
    }

    private let app: FleetApp
    private let disguise: @Sendable (any MigrationStore) -> any MigrationStore
    private var memory = InMemoryStore()
    private var databases: [FleetApp.Home: DatabaseQueue] = [:]
    private let files = Locked<[String]>([])
    private var backups: [Backup] = []
    /// The contents of the device, as the model knows them.
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
        if app.storage != .store { databases[.database] = try DatabaseQueue() }
        if app.storage != .store, app.archiveSince != nil { databases[.archive] = try DatabaseQueue() }
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
        case .use(let use): try play(use)
        }
    }
}

// What the app does between its launches.
extension FleetDevice {
    private func play(_ use: FleetEvent.Use) throws {
        guard let database = databases[use.home], state[use.home].hasTables else { return }
        try database.write { db in
            if use.deletes {
                try db.execute(sql: "DELETE FROM item WHERE id = ?", arguments: [use.row])
            } else {
                try db.execute(sql: "INSERT OR IGNORE INTO item VALUES (?)", arguments: [use.row])
                guard db.changesCount == 1 else { return }
                try db.execute(sql: "INSERT INTO part VALUES (?)", arguments: [use.row])
            }
        }
        let others = state[use.home].rows.filter { $0 != use.row }
        state[use.home].rows = use.deletes ? others : (others + [use.row]).sorted()
    }
}

// Launching.
extension FleetDevice {
    private func play(_ launch: FleetEvent.Launch) throws {
        // A closure that runs on this thread, when the process asks for a lock.
        let intrusion = Locked<FleetEvent.Launch?>(launch.outrunBy.map { FleetEvent.Launch(build: $0) })
        let intruder = FleetProcess()
        let hasIntruded = Locked(false)
        let scene = Scene(app: app, store: store, databases: databases, files: files)
        let process = FleetProcess(
            killedAt: launch.killedAt, trouble: launch.trouble, before: launch.outrunAt ?? 1
        ) {
            guard let other = intrusion.withLock({ $0 }) else { return }
            hasIntruded.withLock { $0 = true }
            for manager in scene.app.managers(in: other.build) {
                guard case .done = scene.launch(manager, other, intruder).outcome else {
                    return
                }
            }
        }
        let watches = databases.values.map { ($0, WatchedCommits(process.process)) }
        for (database, commits) in watches {
            database.add(transactionObserver: commits, extent: .observerLifetime)
        }

        var model = FleetModel(app, state, build: launch.build, trouble: launch.trouble)
        for manager in app.managers(in: launch.build) {
            let intrudedBefore = hasIntruded.withLock { $0 }
            let (outcome, launched) = scene.launch(manager, launch, process)
            let isOutrun = !intrudedBefore && hasIntruded.withLock { $0 }
            var memory = FleetModel.Memory()
            if isOutrun, let other = launch.outrunBy {
                // The app was asked before that.
                _ = model.plan(manager, &memory)
                model.outrun(by: other)
            }
            let expected = model.play(launch, of: manager, &memory)
            if process.isDead { break }
            try Self.compare(outcome, expected)
            guard case .done = outcome, let launched else { break }

            guard let batches = launch.batches else { continue }
            var found = FleetModel.Outcome.stopped("", at: nil)
            let intrudedAt = process.afterLaunch(batches: batches) {
                found = scene.runDeferred(launched, of: manager, launch, process)
            }
            let intrusion = intrudedAt.flatMap { lock in launch.outrunBy.map { (lock, $0) } }
            let expectedWork =
                launch.waits == true
                ? .stopped("notYetMigrated", at: nil)
                : model.runDeferred(manager, batches: batches, outrun: intrusion)
            if process.isDead { break }
            try Self.compare(found, expectedWork)
            guard case .deferred = found else { break }
        }
        for (database, commits) in watches { database.remove(transactionObserver: commits) }

        let found = try look()
        guard process.isDead ? model.allows(found) : found == model.state else {
            throw Deviation(
                description:
                    "expected \(process.isDead ? "a state on the way to " : "")\(model.state), found \(found)"
            )
        }
        state = found
    }

    private static func compare(_ found: FleetModel.Outcome, _ expected: FleetModel.Outcome) throws {
        guard found != expected else { return }
        throw Deviation(description: "expected \(expected), found \(found)")
    }

    private var store: any MigrationStore {
        disguise(
            app.storage == .storeInDatabase ? databases[.database].map { SQLiteStore($0) } ?? memory : memory)
    }
}

/// Everything that processes share on a device.
private struct Scene: Sendable {
    let app: FleetApp
    let store: any MigrationStore
    let databases: [FleetApp.Home: DatabaseQueue]
    let files: Locked<[String]>

    /// Launches a manager, and once more, which must find nothing to do.
    func launch(
        _ index: Int, _ launch: FleetEvent.Launch, _ process: FleetProcess
    ) -> (outcome: FleetModel.Outcome, manager: MigrationManager?) {
        SimulatedLaunch.$observer.withValue(process) { launchManager(index, launch, process) }
    }

    /// Does the deferred work of a manager that was launched.
    func runDeferred(
        _ manager: MigrationManager, of index: Int, _ launch: FleetEvent.Launch, _ process: FleetProcess
    ) -> FleetModel.Outcome {
        SimulatedLaunch.$observer.withValue(process) {
            do {
                let steps = app.steps(of: index, in: launch.build)
                let report =
                    steps.contains { $0.batches == .closure }
                    ? try Self.runDeferredClosures(manager) : try manager.runDeferred()
                func ranks(_ versions: [AppVersion]) -> [Int] {
                    versions.map { FleetApp.rank($0.description) }
                }
                return .deferred(
                    completed: ranks(report.completed), skipped: ranks(report.skipped),
                    pending: ranks(report.pending.map(\.version)),
                    failed: ranks(report.failures.compactMap(\.version)))
            } catch let error as MigrationError {
                return .stopped(error.code.description, at: nil)
            } catch {
                return .stopped("\(error)", at: nil)
            }
        }
    }

    /// Waits on this thread for the asynchronous call, which alone runs closures.
    private static func runDeferredClosures(_ manager: MigrationManager) throws -> DeferredReport {
        // Nobody else uses it while this thread waits.
        nonisolated(unsafe) let manager = manager
        return try CallingThread.run { try await manager.runDeferred() }
    }

    private func launchManager(
        _ index: Int, _ launch: FleetEvent.Launch, _ process: FleetProcess
    ) -> (outcome: FleetModel.Outcome, manager: MigrationManager?) {
        do {
            let options = MigrationOptions(
                role: launch.waits == true ? .waits : .migrates, line: app.lines[index],
                maximumAttempts: app.maximumAttempts
            )
            let manager = try MigrationManager(
                name: FleetApp.managers[index], currentVersion: FleetApp.builds[launch.build].text,
                adopting: try adoption(of: index), store: FleetStore(base: store, process: process),
                options: options)
            try register(index, build: launch.build, in: manager, process)
            if let through = launch.through {
                try manager.migrate(through: AppVersion(parsing: FleetApp.text(through)))
            }
            let report = try manager.migrate()

            let pending = try process.immortally(manager.pendingVersions)
            let isQuiet = try process.immortally {
                // Best-effort steps are tried again.
                guard pending.isEmpty else { return true }
                let before = try traces(process)
                let again = try manager.migrate()
                return try again.completed == [] && again.moves == [] && traces(process) == before
            }
            guard isQuiet else { return (.stopped("the next call finds something to do", at: nil), nil) }
            let outcome = FleetModel.Outcome.done(
                launch: Self.text(report.launch), returned: report.returnedFromDowngrade,
                isFirst: report.isFirstLaunchOfVersion,
                completed: report.completed.map { FleetApp.rank($0.description) },
                moved: report.schemaSteps.flatMap { $0.schemaVersions.compactMap { Int($0) } },
                waiting: report.pendingDeferred.map { FleetApp.rank($0.description) },
                skipped: report.skipped.map { FleetApp.rank($0.description) },
                pending: pending.map { FleetApp.rank($0.description) })
            return (outcome, manager)
        } catch let error as MigrationError {
            return (
                .stopped(error.code.description, at: error.version.map { FleetApp.rank($0.description) }), nil
            )
        } catch {
            return (.stopped("\(error)", at: nil), nil)
        }
    }

    private func adoption(of manager: Int) throws -> Adoption {
        switch app.baselines[manager] {
        case .newApp: return .newApp
        case .version(let rank): return Adoption { AppVersion(FleetApp.text(rank)) }
        case .databaseHasTables(let rank):
            guard let database = databases[.database] else { return .newApp }
            return .databaseHasTables(database, means: try AppVersion(parsing: FleetApp.text(rank)))
        case .fileExists(let rank, let exists):
            let file = URL(fileURLWithPath: exists ? "/dev/null" : "/dev/no such file")
            return .fileExists(file, means: try AppVersion(parsing: FleetApp.text(rank)))
        }
    }

    /// Everything that grows when anything is written.
    private func traces(_ process: FleetProcess) throws -> [Int] {
        let changes = try FleetApp.Home.allCases.compactMap { databases[$0] }.flatMap { database in
            try database.read { db in
                [db.totalChangesCount, try Int.fetchOne(db, sql: "PRAGMA schema_version") ?? 0]
            }
        }
        return [process.writes] + changes
    }

    private func register(
        _ index: Int, build: Int, in manager: MigrationManager, _ process: FleetProcess
    ) throws {
        let moves = app.moves(of: index, in: build)
        var calls: [(rank: Int, register: () throws -> Void)] = []
        for home in FleetApp.Home.allCases {
            guard let database = databases[home] else { continue }
            let moves = moves.filter { $0.home == home }
            guard !moves.isEmpty else { continue }
            let schema = try SchemaMigrator(
                migrations: moves.flatMap(\.numbers).map { number in
                    let change = app.schema.first { $0.home == home && $0.number == number }
                    return FleetMigration(
                        version: Int64(number), isRebuild: change?.isRebuild ?? false, process: process)
                })
            calls += moves.map { move in
                (
                    move.rank,
                    {
                        manager.whenMigratingToVersion(
                            try AppVersion(parsing: FleetApp.text(move.rank)), migrate: schema,
                            upTo: move.numbers.last.map(Int64.init),
                            finishing: try app.finishes(moveOf: move.rank, of: index, in: build).map {
                                try AppVersion(parsing: FleetApp.text($0))
                            }, in: database)
                    }
                )
            }
        }
        calls += app.steps(of: index, in: build).map { step in
            (step.rank, { try register(step, in: manager, process) })
        }
        for call in calls.sorted(by: { $0.rank < $1.rank }) { try call.register() }
        guard app.hasVersionChange(index, in: build) else { return }
        manager.whenVersionChanges { from, to in
            try process.body {
                let (from, to) = (FleetApp.rank(from.description), FleetApp.rank(to.description))
                files.withLock {
                    $0.append(FleetModel.line(manager: index, changedFrom: from, to: to))
                }
            }
        }
    }

    private func register(
        _ step: FleetApp.Step, in manager: MigrationManager, _ process: FleetProcess
    ) throws {
        let version = try AppVersion(parsing: FleetApp.text(step.rank))
        let rule: FreshInstallRule =
            switch step.onFreshInstall {
            case .skip: .skip
            case .run: .run
            case .only: .only
            }
        let onError = step.givesUpAfter.map { ErrorRule.giveUp(after: $0) } ?? .stop
        let line: @Sendable (MigrationContext) -> String = { context in
            FleetModel.line(
                manager: step.manager, rank: step.rank, attempt: context.attempt,
                isLate: context.isOutOfOrder,
                from: context.from.map { FleetApp.rank($0.description) })
        }
        let finishing = try step.finishes.map { try AppVersion(parsing: FleetApp.text($0)) }
        let database = databases[step.home]
        if step.batches == .closure {
            manager.afterMigratingToVersion(version, onFreshInstall: rule, onError: onError) { context in
                let done = try context.lastCheckpoint(as: Int.self) ?? 0
                for row in done..<FleetApp.rows {
                    try process.body {
                        files.withLock {
                            $0.append(
                                FleetModel.line(manager: step.manager, rank: step.rank, row: row + 1))
                        }
                    }
                    try await context.checkpoint(row + 1)
                }
            }
        } else if step.batches == .cursor, let database {
            manager.whenMigratingToVersion(
                version, deferredIn: database, startingAt: 1, onFreshInstall: rule, onError: onError
            ) { db, row in
                try process.body {
                    try db.execute(
                        sql: "INSERT INTO done VALUES (?)",
                        arguments: [FleetModel.line(manager: step.manager, rank: step.rank, row: row)])
                }
                return row < FleetApp.rows ? .more(row + 1) : .done
            }
        } else if step.batches == .rows, let database {
            manager.whenMigratingToVersion(
                version, deferredIn: database, overRowsOf: "item", onFreshInstall: rule, onError: onError
            ) { db, rows in
                try process.body {
                    let ids: SQLRequest<Int64> = "SELECT id FROM item WHERE \(rows.condition) ORDER BY id"
                    for row in try ids.fetchAll(db) {
                        try db.execute(
                            sql: "INSERT INTO done VALUES (?)",
                            arguments: [
                                FleetModel.line(manager: step.manager, rank: step.rank, row: Int(row))
                            ])
                    }
                }
            }
        } else if let database {
            manager.whenMigratingToVersion(
                version, finishing: finishing, in: database, onFreshInstall: rule, onError: onError,
                foreignKeys: step.enforcesKeys ? .immediate : .deferred
            ) { db, context in
                try process.body {
                    try Self.deleteParent(db, takesChild: step.enforcesKeys)
                    for rank in step.finishes { try checkFinished(rank, of: step.manager, step.home, db) }
                    try db.execute(sql: "INSERT INTO done VALUES (?)", arguments: [line(context)])
                }
            }
        } else {
            manager.whenMigratingToVersion(
                version, finishing: finishing, onFreshInstall: rule, onError: onError
            ) { context in
                try process.body {
                    for rank in step.finishes { try checkFinished(rank, of: step.manager) }
                    if step.hasCheckpoint { try context.checkpoint() }
                    try process.tick()
                    files.withLock { $0.append(line(context)) }
                }
            }
        }
    }

    private struct NotFinished: Error {}
    private struct WrongForeignKeys: Error {}

    /// Deletes an item to which a part refers, and checks whether the part goes with it.
    private static func deleteParent(_ db: Database, takesChild: Bool) throws {
        try db.execute(sql: "INSERT INTO item VALUES (0); INSERT INTO part VALUES (0)")
        try db.execute(sql: "DELETE FROM item WHERE id = 0")
        try db.execute(sql: "DELETE FROM part WHERE item = 0")
        guard db.changesCount == (takesChild ? 0 : 1) else { throw WrongForeignKeys() }
    }

    /// Checks what a step relies on that finishes a deferred one: it has done all its rows, or was not needed.
    ///
    /// - Parameters:
    ///   - home: where the step works.
    ///   - db: its connection, if that is a database.
    private func checkFinished(
        _ rank: Int, of manager: Int, _ home: FleetApp.Home = .store, _ db: Database? = nil
    ) throws {
        guard let finished = app.steps.first(where: { $0.manager == manager && $0.rank == rank }) else {
            return
        }
        func check(_ db: Database) throws {
            guard try db.tableExists("done") else { return }
            let prefix = FleetModel.line(manager: manager, rank: rank)
            let done = try String.fetchSet(
                db, sql: "SELECT line FROM done WHERE line LIKE ?", arguments: [prefix + "%"])
            let old = try Int.fetchAll(
                db, sql: "SELECT id FROM item WHERE id <= ?", arguments: [FleetApp.rows])
            guard done.isEmpty || old.allSatisfy({ done.contains("\(prefix)\($0)") }) else {
                throw NotFinished()
            }
        }
        if finished.home == home, let db { return try check(db) }
        try databases[finished.home]?.read(check)
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
    let isRebuild: Bool
    let process: FleetProcess

    func migrate(_ db: Database) throws {
        try process.tick()
        try db.execute(sql: "CREATE TABLE m\(version)(x)")
        if version == FleetApp.firstSchema {
            try db.execute(sql: "CREATE TABLE done(line TEXT NOT NULL)")
            try db.execute(sql: "CREATE TABLE item(id INTEGER PRIMARY KEY)")
            try db.execute(
                sql: "CREATE TABLE part(item INTEGER NOT NULL REFERENCES item(id) ON DELETE CASCADE)")
            for row in 1...FleetApp.rows {
                try db.execute(sql: "INSERT INTO item VALUES (?)", arguments: [row])
                try db.execute(sql: "INSERT INTO part VALUES (?)", arguments: [row])
            }
        }
        if isRebuild {
            // With foreign keys on, the parts would go with their items.
            try db.execute(
                sql: """
                    CREATE TABLE new(id INTEGER PRIMARY KEY);
                    INSERT INTO new SELECT id FROM item;
                    DROP TABLE item;
                    ALTER TABLE new RENAME TO item;
                    """)
        }
        try process.tick()
    }
}

// Looking, and backups.
extension FleetDevice {
    private func look() throws -> FleetModel.State {
        var state = FleetModel.State()
        state.files = files.withLock { $0 }
        if app.storage != .storeInDatabase { state[.store] = try Self.place(in: store) }
        for (home, database) in databases { state[home] = try Self.place(in: database) }
        return state
    }

    private static func place(in database: DatabaseQueue) throws -> FleetModel.Place {
        var place = try place(in: SQLiteStore(database))
        let tables = try database.read { db in
            let tables = try String.fetchSet(db, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
            if tables.contains("schema_migrations") {
                place.ledger = try Int.fetchSet(db, sql: "SELECT version FROM schema_migrations")
            }
            if tables.contains("done") {
                place.done = try String.fetchAll(db, sql: "SELECT line FROM done ORDER BY rowid")
                place.rows = try Int.fetchAll(db, sql: "SELECT id FROM item ORDER BY id")
                let parts = try Int.fetchAll(db, sql: "SELECT item FROM part ORDER BY item")
                guard parts == place.rows else {
                    throw Deviation(description: "There are the rows \(place.rows), and parts of \(parts)")
                }
            }
            return tables
        }
        let made = Set(tables.compactMap { $0.hasPrefix("m") ? Int($0.dropFirst()) : nil })
        guard made == place.ledger else {
            throw Deviation(description: "The ledger has \(place.ledger), the schema \(made)")
        }
        return place
    }

    private static func place(in store: any MigrationStore) throws -> FleetModel.Place {
        var place = FleetModel.Place()
        for (index, name) in FleetApp.managers.enumerated() {
            let state = try store.read(name)
            place.records[index] = try state.record(of: name).map(FleetModel.Record.init)
            for (line, versions) in state.seen {
                func ranks(_ versions: [SeenVersion]) -> Set<Int> {
                    Set(versions.map { FleetApp.rank($0.version.description) })
                }
                place.seen[line] = ranks(versions)
                place.adopted[line] = ranks(versions.filter(\.isAdopted))
            }
        }
        return place
    }

    private func backUp() throws {
        backups.append(
            Backup(
                store: memory.read(""), databases: try databases.mapValues(Self.copy), state: state))
    }

    private func restore(_ part: FleetEvent.Part, from backup: Backup) throws {
        if part == .store || part == .all {
            memory = InMemoryStore()
            memory.update("") { $0 = backup.store }
            state[.store] = backup.state[.store]
        }
        for (home, copy) in backup.databases where part == .all || part == home.part {
            databases[home] = try Self.copy(copy)
            state[home] = backup.state[home]
        }
    }

    private static func copy(_ database: DatabaseQueue) throws -> DatabaseQueue {
        let copy = try DatabaseQueue()
        try database.backup(to: copy)
        return copy
    }
}

extension FleetApp.Home {
    /// Everything that is restored of it alone.
    fileprivate var part: FleetEvent.Part {
        switch self {
        case .store: .store
        case .database: .database
        case .archive: .archive
        }
    }
}

extension FleetEvent.Launch {
    fileprivate var trouble: FleetModel.Trouble? {
        throwsIn.map {
            FleetModel.Trouble(body: $0, goesOn: throwsOn == true, isObstacle: postpones == true)
        }
    }
}

extension FleetModel.Record {
    fileprivate init(_ record: MigrationRecord) {
        func rank(_ version: AppVersion) -> Int { FleetApp.rank(version.description) }
        func byRank<Old, New>(_ known: [AppVersion: Old], _ new: (Old) -> New) -> [Int: New] {
            Dictionary(uniqueKeysWithValues: known.map { (rank($0), new($1)) })
        }
        self.init(
            floor: record.floor.map(rank), settled: Set(record.settled.map(rank)),
            owed: Set(record.owed.map(rank)), completed: record.completed.map(rank),
            highest: record.highest.map(rank), downgradedTo: record.downgradedTo.map(rank),
            attempts: Dictionary(
                uniqueKeysWithValues: record.attempts.map { work, attempt in
                    (
                        Work(rank: rank(work.version), kind: Work.Kind(work.kind)),
                        Attempt(
                            number: attempt.number, forgiven: attempt.forgiven, remaining: attempt.remaining,
                            build: attempt.build)
                    )
                }),
            failures: byRank(record.failures) { $0 }, givenUp: Set(record.givenUp.map(rank)),
            positions: byRank(record.positions) { position in
                Position(position)
            })
    }
}

extension FleetModel.Record.Position {
    /// The cursor of a step that goes over the rows of a table.
    private struct Cursor: Decodable {
        struct Range: Decodable {
            let lower: [String]
            let isLowerDone: Bool
            let upper: [String]
        }

        let range: Range?
    }

    fileprivate init(_ position: StepPosition) {
        self.init(
            done: position.done, total: position.total,
            setAside: position.setAside.compactMap { Int($0[0]) })
        if let cursor = try? position.cursor(as: Cursor.self) {
            isBegun = true
            guard let range = cursor.range, let lower = Int(range.lower[0]), let upper = Int(range.upper[0])
            else { return }
            rest = lower + (range.isLowerDone ? 1 : 0)...upper
        } else if (try? position.cursor(as: Int.self)) != nil {
            isBegun = true
            rest = 1...FleetApp.rows
        }
    }
}

extension FleetModel.Record.Work.Kind {
    fileprivate init(_ kind: MigrationRecord.Work.Kind) {
        switch kind {
        case .step: self = .step
        case .move: self = .move
        case .versionChange: self = .versionChange
        }
    }
}
