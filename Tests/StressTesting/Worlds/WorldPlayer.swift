import AppMigrations
import Foundation
package import SmallWorlds

/// A small world as far as it has been played: the device, the states that it can be restored to, and what is promised.
package struct World {
    let app: SmallApp
    private let inSQLite: Bool
    private(set) var promises: Promises
    private(set) var device: WorldDevice
    /// The device after each event.
    private var past: [WorldDevice] = []
    private(set) var history: [SmallEvent] = []

    /// Makes the world of a new device.
    package init(_ app: SmallApp, inSQLite: Bool = false) throws {
        self.app = app
        self.inSQLite = inSQLite
        promises = Promises(app)
        device = try WorldDevice(app, inSQLite: inSQLite)
    }

    /// The events that can happen next.
    var next: [SmallEvent] { promises.next(after: history, inSQLite: inSQLite) }

    /// Plays an event, with the package's own managers.
    ///
    /// - Returns: what it was seen to do, and the first promise that does not hold.
    package mutating func play(
        _ event: SmallEvent
    ) throws -> (outcome: SmallOutcome, problem: String?) {
        var outcome = SmallOutcome(managers: app.managers.count)
        switch event {
        case .oldInstall:
            device.hasOldFile = true
            device.files.values = WorldDevice.oldValues
            for number in device.databases.keys { device.databases[number] = try oldDatabase() }
        case .launch(let release, let launch, let fault):
            var failing = promises.failing
            if case .failsAlways(let step) = fault { failing.insert(step) }
            outcome = try run(release, fault, failing: failing) { try $0.launch(launch) }
        case .runDeferred(let batches, let fault):
            outcome = try run(promises.release, fault, failing: promises.failing, batches: batches) {
                try $0.runDeferred()
            }
        case .write(let write):
            let release = promises.release
            device.files.write(write, form: release)
            _ = try run(release, nil, failing: []) { scene in
                for database in scene.databases.values { try database.write(write, form: release) }
            }
        case .lose(.files): device.store = StoreState()
        case .lose(.database(let number)):
            device.databases[number] = inSQLite ? try SQLiteWorldDatabase() : MemoryWorldDatabase()
        case .replace(.database(let number)): device.databases[number] = try oldDatabase()
        case .replace(.files): break
        case .restore(let place, let event):
            let old = past[event - 1]
            if place == .files || app.storeInDatabase && place == .database(0) {
                (device.store, device.files, device.hasOldFile) = (old.store, old.files, old.hasOldFile)
            }
            if case .database(let number) = place { device.databases[number] = old.databases[number] }
        }
        let problem = promises.observe(event, outcome, try device.data(of: app))
        history.append(event)
        past.append(device)
        return (outcome, problem)
    }

    private func oldDatabase() throws -> any WorldDatabase {
        let isOther = app.move?.isVerified ?? false
        return inSQLite
            ? try SQLiteWorldDatabase.old(isOther: isOther) : MemoryWorldDatabase.old(isOther: isOther)
    }

    private mutating func run(
        _ release: Int, _ fault: SmallEvent.Fault?, failing: Set<Int>, batches: Int? = nil,
        _ body: (WorldScene) throws -> Void
    ) throws -> SmallOutcome {
        let process = WorldProcess(
            app, device, release: release, fault: fault, failing: failing, batches: batches)
        var scene = WorldScene(app: app, release: release, process: process)
        for (number, database) in device.databases {
            scene.databases[number] = try database.open(number, by: process)
        }
        try SimulatedLaunch.$observer.withValue(process) { try body(scene) }
        device = process.device
        for (number, database) in scene.databases { device.databases[number] = try database.close() }
        return process.outcome
    }
}

/// Everything that a process of a small world works with.
struct WorldScene {
    let app: SmallApp
    let release: Int
    let process: WorldProcess
    var databases: [Int: any OpenWorldDatabase] = [:]

    /// Calls every manager that the release has, and then makes the tables that the app needs.
    func launch(_ launch: SmallEvent.Launch) throws {
        for index in app.managers(in: release) {
            let isDone = call(index) {
                let manager = try manager(index, waits: launch == .fromExtension)
                switch launch {
                case .whole, .fromExtension: try migrate(manager)
                case .through(let version): try migrate(manager, through: version)
                case .inTwo(let version):
                    try migrate(manager, through: version)
                    try migrate(manager)
                }
            }
            guard isDone else { return }
        }
        guard launch.isComplete else { return }
        for database in databases.values { try database.makeTables() }
    }

    func runDeferred() throws {
        for index in app.managers(in: release) {
            let isDone = call(index) {
                let manager = try manager(index)
                if isAsynchronous {
                    try wait { _ = try await manager.runDeferred() }
                } else {
                    _ = try manager.runDeferred()
                }
            }
            guard isDone else { return }
        }
    }

    private func call(_ manager: Int, _ body: () throws -> Void) -> Bool {
        process.manager = manager
        do {
            try body()
            process.end(with: .finished)
        } catch let error as MigrationError {
            process.end(with: .stopped(error.code.description))
        } catch {
            process.end(with: .stopped("\(error)"))
        }
        return process.outcome.results[manager] == .finished
    }

    private var isAsynchronous: Bool { app.steps.contains { $0.work == .deferredClosure } }

    private func migrate(_ manager: MigrationManager, through stop: Int? = nil) throws {
        let stop = stop.map(Self.version)
        guard isAsynchronous else {
            try manager.migrate(through: stop)
            return
        }
        try wait { _ = try await manager.migrate(through: stop) }
    }

    /// Waits for work that may suspend, on this thread.
    private func wait(_ body: @escaping () async throws -> Void) throws {
        nonisolated(unsafe) let body = body
        let process = process
        try CallingThread.run {
            try await SimulatedLaunch.$observer.withValue(process) { try await body() }
        }
    }

    // MARK: Registering

    static func version(_ number: Int) -> AppVersion {
        versions[number] ?? "0"
    }

    private static let versions: [Int: AppVersion] = [
        10: "1.0", 20: "2.0", 21: "2.0-1", 30: "3.0",
    ]

    private func manager(_ index: Int, waits: Bool = false) throws -> MigrationManager {
        let description = app.managers[index]
        let adoption: Adoption =
            switch description.adopting {
            case .newApp: .newApp
            case .version: Adoption { "1.0" }
            case .file: Adoption { [process] in process.device.hasOldFile ? "1.0" : nil }
            case .tables: databases[0]?.adoption ?? .newApp
            }
        let options = MigrationOptions(
            role: waits ? .waits : .migrates, line: description.hasOwnLine ? "\(index)" : "app",
            maximumAttempts: Promises.maximumAttempts, lockTimeout: .zero)
        let store = app.storeInDatabase ? databases[0]?.store : nil
        let manager = try MigrationManager(
            name: "\(index)", currentVersion: Self.version(release * 10), adopting: adoption,
            store: store ?? WorldStore(process: process), options: options)
        let steps = app.steps(of: index, in: release)
        var move = index == 0 ? app.move(in: release) : nil
        for step in steps {
            if let first = move, first.version <= step.version {
                register(first, in: manager)
                move = nil
            }
            register(step, in: manager)
        }
        if let move { register(move, in: manager) }
        if description.hasVersionChanges {
            manager.whenVersionChanges { [process, release] _, _ in
                try process.willChange(.files)
                process.device.files.changes[index, default: []].append(release)
            }
        }
        return manager
    }

    private func register(_ move: SmallApp.Move, in manager: MigrationManager) {
        databases[0]?.register(
            move, with: arguments(move.version, move.finishes, .skip, nil), in: manager)
    }

    private func arguments(
        _ version: Int, _ finishes: Int?, _ fresh: SmallApp.FreshInstall, _ limit: Int?
    ) -> WorldRegistration {
        let rule: FreshInstallRule =
            switch fresh {
            case .skip: .skip
            case .run: .run
            case .only: .only
            }
        return WorldRegistration(
            version: Self.version(version), finishing: finishes.map { [Self.version($0)] } ?? [],
            onFreshInstall: rule, onError: limit.map { .giveUp(after: $0) } ?? .stop, process: process,
            release: release)
    }

    private func register(_ step: SmallApp.Step, in manager: MigrationManager) {
        let arguments = arguments(step.version, step.finishes, step.onFreshInstall, step.givesUpAfter)
        if case .database(let number) = step.place {
            databases[number]?.register(step, with: arguments, in: manager)
        } else if step.isDeferred {
            manager.afterMigratingToVersion(
                arguments.version, onFreshInstall: arguments.onFreshInstall, onError: arguments.onError
            ) { [process, app, release] context in
                for key in process.device.files.values.keys.sorted()
                where key > (try context.lastCheckpoint(as: Int.self) ?? 0) {
                    try process.mayFail(step.version)
                    try process.willChange(.files)
                    process.device.files.change(key, by: step.version, of: app, in: release)
                    process.didRun(step.version)
                    try await context.checkpoint(key)
                }
                process.device.files.runs[step.version, default: 0] += 1
            }
        } else {
            manager.whenMigratingToVersion(
                arguments.version, finishing: arguments.finishing,
                onFreshInstall: arguments.onFreshInstall, onError: arguments.onError
            ) { [process, app, release] in
                try process.mayFail(step.version)
                try process.willChange(.files)
                process.device.files.changeAll(by: step.version, of: app, in: release)
                process.didRun(step.version)
            }
        }
    }
}
