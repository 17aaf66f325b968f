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
        var problem: String?
        switch event {
        case .launch(let release, let launch, let fault):
            var (failing, postponing) = (promises.failing, promises.postponing)
            if case .failsAlways(let step) = fault { failing.insert(step) }
            if case .postponesAlways(let step) = fault { postponing.insert(step) }
            let build = launch == .fromExtension ? "extension" : "\(release)"
            outcome = try run(release, fault, failing: failing, postponing: postponing, build: build) {
                try $0.launch(launch)
            }
        case .twice(let release, let loss):
            var promises = promises
            let before = self
            outcome = try run(release, nil, failing: promises.failing, postponing: promises.postponing) {
                problem = try before.playTwice(release, loss, $0, &promises)
            }
            self.promises = promises
        case .runDeferred(let batches, let work, let fault):
            outcome = try run(
                promises.release, fault, failing: promises.failing, postponing: promises.postponing,
                batches: batches
            ) { try $0.runDeferred(retrying: work) }
        case .call(let call, let fault):
            outcome = try run(promises.release, fault, failing: []) { $0.call(call) }
        case .write(let write):
            let release = promises.release
            device.files.write(write, form: release)
            _ = try run(release, nil, failing: []) { scene in
                for database in scene.ownDatabases { try database.write(write, form: release) }
            }
        default: try change(by: event)
        }
        if case .twice = event {
        } else {
            problem = promises.observe(event, outcome, try device.data(of: app))
        }
        promises.keep()
        history.append(event)
        past.append(device)
        return (outcome, problem)
    }

    /// What happens to a device while no app is running.
    private mutating func change(by event: SmallEvent) throws {
        switch event {
        case .oldInstall:
            device.hasOldFile = true
            device.files.values = WorldDevice.oldValues
            for number in device.databases.keys {
                if app.has(.database(number), in: 1) { device.databases[number] = try oldDatabase() }
            }
        case .lose(.files): (device.store, device.isDamaged) = (StoreState(), false)
        case .lose(.database(let number)): device.databases[number] = try newDatabase()
        case .replace(.database(let number)): device.databases[number] = try oldDatabase()
        case .damage(.files): device.isDamaged = true
        case .damage(.database(let number)): try device.databases[number]?.damage()
        case .restore(let place, let event):
            let old = past[event - 1]
            if place == .files || app.storeInDatabase && place == .database(0) {
                (device.store, device.files, device.hasOldFile) = (old.store, old.files, old.hasOldFile)
                device.isDamaged = old.isDamaged
            }
            if case .database(let number) = place { device.databases[number] = old.databases[number] }
        default: break
        }
    }

    /// Plays a launch, what then happens to a database, and a second round of calls of the same managers, as three events.
    private func playTwice(
        _ release: SmallRelease, _ loss: SmallEvent.Loss, _ scene: WorldScene, _ promises: inout Promises
    ) throws -> String? {
        let process = scene.process
        var last = process.device
        func observe(_ event: SmallEvent) throws -> String? {
            let device = try scene.device()
            var outcome = process.outcome
            if event.isLaunch { try device.complete(&outcome, of: app, in: release, after: last) }
            last = device
            return promises.observe(event, outcome, try device.data(of: app))
        }
        var managers: [Int: WorldManager] = [:]
        try scene.launch(.whole, with: &managers)
        if let problem = try observe(.launch(release)) { return problem }
        switch loss {
        case .lose(let number): try scene.databases[number]?.become(newDatabase())
        case .replace(let number): try scene.databases[number]?.become(oldDatabase())
        }
        process.beginAgain()
        if let problem = try observe(loss.event) { return problem }
        try scene.launch(.whole, with: &managers)
        return try observe(.launch(release))
    }

    private func newDatabase() throws -> any WorldDatabase {
        inSQLite ? try SQLiteWorldDatabase() : MemoryWorldDatabase()
    }

    private func oldDatabase() throws -> any WorldDatabase {
        let isOther = app.move?.isVerified ?? false
        return inSQLite
            ? try SQLiteWorldDatabase.old(isOther: isOther) : MemoryWorldDatabase.old(isOther: isOther)
    }

    private mutating func run(
        _ release: SmallRelease, _ fault: SmallEvent.Fault?, failing: Set<Int>, postponing: Set<Int> = [],
        batches: Int? = nil, build: String? = nil, _ body: (WorldScene) throws -> Void
    ) throws -> SmallOutcome {
        let process = WorldProcess(
            app, device, release: release, fault: fault, failing: failing, postponing: postponing,
            batches: batches)
        var scene = WorldScene(app: app, release: release, process: process)
        for (number, database) in device.databases {
            scene.databases[number] = try database.open(number, by: process)
        }
        let build = build ?? "\(release)"
        let environment = Environment.changed { ($0.observer, $0.build) = (process, build) }
        try Environment.$current.withValue(environment) { try body(scene) }
        let before = device
        device = try scene.device()
        var outcome = process.outcome
        try device.complete(&outcome, of: app, in: release, after: before)
        return outcome
    }
}

/// Everything that a process of a small world works with.
struct WorldScene {
    let app: SmallApp
    let release: SmallRelease
    let process: WorldProcess
    var databases: [Int: any OpenWorldDatabase] = [:]

    /// Returns the device as the process leaves it.
    func device() throws -> WorldDevice {
        var device = process.device
        for (number, database) in databases { device.databases[number] = try database.close() }
        return device
    }

    /// The databases that the release has.
    var ownDatabases: [any OpenWorldDatabase] {
        databases.filter { app.has(.database($0.key), in: release) }.map(\.value)
    }

    func launch(_ launch: SmallEvent.Launch) throws {
        var managers: [Int: WorldManager] = [:]
        try self.launch(launch, with: &managers)
    }

    /// Calls every manager that the release has, and then makes the tables that the app needs.
    ///
    /// - Parameter managers: those that the process has made.
    func launch(_ launch: SmallEvent.Launch, with managers: inout [Int: WorldManager]) throws {
        for index in app.managers(in: release) where launch != .without(manager: index) {
            let isDone = call(index, &managers[index], waits: launch == .fromExtension) { manager in
                switch launch {
                case .whole, .fromExtension, .without: try migrate(manager)
                case .retrying(let work):
                    try migrate(manager, retrying: app.manager(of: work) == index ? work : nil)
                case .through(let version): try migrate(manager, through: version)
                case .inTwo(let version):
                    try migrate(manager, through: version)
                    try migrate(manager)
                }
            }
            guard isDone else { return }
        }
        guard launch.isComplete else { return }
        for database in ownDatabases { try database.makeTables() }
    }

    func runDeferred(retrying work: SmallWork?) throws {
        for index in app.managers(in: release) {
            let work = work.flatMap { app.manager(of: $0) == index ? $0 : nil }
            var made: WorldManager?
            let isDone = call(index, &made) { manager in
                if isAsynchronous {
                    try wait { try await manager.runDeferred(retrying: work) }
                } else {
                    try manager.runDeferred(retrying: work)
                }
            }
            guard isDone else { return }
        }
    }

    /// Calls a function for the recovery screen.
    func call(_ call: SmallEvent.Call) {
        var made: WorldManager?
        _ = self.call(app.manager(of: call), &made) { try $0.call(call) }
    }

    private func call(
        _ number: Int, _ manager: inout WorldManager?, waits: Bool = false,
        _ body: (WorldManager) throws -> Void
    ) -> Bool {
        process.manager = number
        do {
            let made = try manager ?? self.manager(number, waits: waits)
            manager = made
            // Nobody else uses it while a change is made.
            process.cancel = {
                made.manager.progress.cancel()
                made.manager.deferredProgress.cancel()
            }
            process.beginCalls()
            try body(made)
            process.end(with: .finished)
        } catch let error as MigrationError {
            process.end(
                with: .stopped(error.code.description), culprit: manager?.work(of: error, in: release))
        } catch is CancellationError {
            process.end(with: .stopped("cancelled"))
        } catch {
            process.end(with: .stopped("\(error)"))
        }
        process.cancel = nil
        return !process.isDead && process.outcome.results[number] == .finished
    }

    private var isAsynchronous: Bool { app.steps.contains { $0.work == .deferredClosure } }

    private func migrate(
        _ manager: WorldManager, through stop: Int? = nil, retrying work: SmallWork? = nil
    ) throws {
        guard isAsynchronous else {
            try manager.migrate(through: stop, retrying: work)
            return
        }
        try wait { try await manager.migrate(through: stop, retrying: work) }
    }

    /// Waits for work that may suspend, on this thread.
    private func wait(_ body: @escaping () async throws -> Void) throws {
        nonisolated(unsafe) let body = body
        let environment = Environment.current
        try CallingThread.run {
            try await Environment.$current.withValue(environment) { try await body() }
        }
    }

    // MARK: Registering

    static func version(_ number: Int) -> AppVersion {
        versions[number] ?? "0"
    }

    // The last one is the greatest by its numbers, and not by its text.
    private static let versions: [Int: AppVersion] = [
        10: "1.0", 20: "2.0", 21: "2.0-1", 30: "10.0",
    ]

    private func evidence(_ kind: SmallApp.Adopting) -> Adoption {
        switch kind {
        case .newApp: .newApp
        case .version: Adoption { "1.0" }
        // As `fileExists(_:means:)`.
        case .file:
            Adoption(answer: { [process] _ in
                AdoptionAnswer(version: process.device.hasOldFile ? "1.0" : nil, isBound: true)
            })
        // As `mfMigrationManager()`.
        case .key: Adoption { () -> AppVersion? in process.device.hasOldFile ? "1.0" : nil }
        case .tables: databases[0]?.adoption ?? .newApp
        }
    }

    private func manager(_ index: Int, waits: Bool = false) throws -> WorldManager {
        let description = app.managers[index]
        let adopting = evidence(description.adopting)
        let adoption = description.or.map { .any(adopting, evidence($0)) } ?? adopting
        let options = MigrationOptions(
            role: waits ? .waitsForApp : .migrates, line: description.hasOwnLine ? "\(index)" : "app",
            maximumAttempts: Promises.maximumAttempts, lockTimeout: .zero)
        let store = app.storeInDatabase ? databases[0]?.store : nil
        let manager = try MigrationManager(
            name: "\(index)", currentVersion: Self.version(release.version), adopting: adoption,
            store: MigrationStore(store ?? WorldStore(process: process)), options: options)
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
                try process.run(SmallWork.versionChange(index).id) {
                    try process.willChange(.files)
                    process.device.files.changes[index, default: []].append(release.number)
                }
                process.didAdvance(SmallWork.versionChange(index).id)
            }
        }
        let places = databases.compactMapValues { ($0.store as? any MigrationPlace)?.id }
        return WorldManager(manager: manager, app: app, places: places)
    }

    private func register(_ move: SmallApp.Move, in manager: MigrationManager) {
        databases[0]?.register(
            move, with: arguments(move.version, move.finishes, .skip), in: manager)
    }

    private func arguments(
        _ version: Int, _ finishes: Int?, _ fresh: SmallApp.FreshInstall
    ) -> WorldRegistration {
        let rule: FreshInstallRule =
            switch fresh {
            case .skip: .skip
            case .run: .run
            case .only: .only
            }
        return WorldRegistration(
            version: Self.version(version), finishing: finishes.map { [Self.version($0)] } ?? [],
            onFreshInstall: rule, process: process, release: release)
    }

    private func register(_ step: SmallApp.Step, in manager: MigrationManager) {
        let arguments = arguments(step.version, step.finishes, step.onFreshInstall)
        if case .database(let number) = step.place {
            databases[number]?.register(step, with: arguments, in: manager)
        } else if step.isDeferred {
            manager.afterMigratingToVersion(
                arguments.version, onFreshInstall: arguments.onFreshInstall
            ) { [process, app, release] context in
                for key in process.device.files.values.keys.sorted()
                where key > (try context.lastCheckpoint(as: Int.self) ?? 0) {
                    try process.run(step.id) {
                        try process.mayFail(step.id)
                        try process.willChange(.files)
                        process.device.files.change(key, by: step.id, of: app, in: release)
                        process.didRun(step.id)
                    }
                    try await context.checkpoint(key)
                }
                process.device.files.runs[step.id, default: 0] += 1
            }
        } else {
            manager.whenMigratingToVersion(
                arguments.version, finishing: arguments.finishing,
                onFreshInstall: arguments.onFreshInstall
            ) { [process, app, release] in
                try process.run(step.id) {
                    try process.mayFail(step.id)
                    try process.willChange(.files)
                    if step.work == .removal {
                        process.device.files.removeImported(by: step.id, of: app)
                    } else {
                        process.device.files.changeAll(by: step.id, of: app, in: release)
                    }
                    process.didRun(step.id)
                }
            }
        }
    }
}
