import AppMigrations
import SmallWorlds

/// Everything that is on the device of a small world.
struct WorldDevice {
    /// The records of a JSON store.
    var store = StoreState()
    /// True if the records of the JSON store cannot be understood.
    var isDamaged = false
    var files = SmallData()
    /// True if there is the file that only older versions made.
    var hasOldFile = false
    var databases: [Int: any WorldDatabase] = [:]
    /// The locks that have been taken, each with whether its holder has released it.
    var locks: [String: Bool] = [:]

    init(_ app: SmallApp, inSQLite: Bool) throws {
        for case .database(let number) in app.places {
            databases[number] = inSQLite ? try SQLiteWorldDatabase() : MemoryWorldDatabase()
        }
    }

    /// The contents of the places.
    func data(of app: SmallApp) throws -> [SmallApp.Place: SmallData] {
        var data: [SmallApp.Place: SmallData] = [.files: files]
        for (number, database) in databases { data[.database(number)] = try database.data() }
        return data
    }

    /// The records that a place keeps of a manager; nil if they cannot be understood.
    private func records(in place: SmallApp.Place, of manager: Int) throws -> StoreState? {
        if case .database(let number) = place { return try databases[number]?.records(of: manager) }
        return isDamaged ? nil : store
    }

    /// Completes what managers were seen to do by what they remember of it.
    func complete(
        _ outcome: inout SmallOutcome, of app: SmallApp, in release: SmallRelease, after before: Self
    ) throws {
        let version = WorldScene.version(release.version)
        for manager in app.managers(in: release) {
            let hasWorked = outcome.entered.contains { app.manager(of: $0) == manager }
            let listed = try record(in: app.store, of: manager)?.databases.map(\.id) ?? []
            for place in app.places {
                guard let state = try records(in: place, of: manager),
                    let record = try state.record(of: "\(manager)")
                else { continue }
                if record.completed == version { outcome.completed[manager, default: []].insert(place) }
                if listed.contains(where: { $0 == state.id }) {
                    outcome.listed[manager, default: []].insert(place)
                }
                guard !hasWorked, outcome.changed[manager]?[place] != nil,
                    let known = try before.record(in: place, of: manager),
                    Self.differs(record, from: known)
                else { continue }
                outcome.foundDeaths[manager, default: []].insert(place)
            }
        }
    }

    private func record(in place: SmallApp.Place, of manager: Int) throws -> MigrationRecord? {
        try records(in: place, of: manager)?.record(of: "\(manager)")
    }

    /// Returns true if a record differs by a death alone.
    private static func differs(_ found: MigrationRecord, from known: MigrationRecord) -> Bool {
        [[false], [true], [false, true]].contains { deferred in
            var record = known
            for isDeferred in deferred { record.apply(.died(isDeferred: isDeferred, except: nil)) }
            return record == found && record != known
        }
    }

    /// The values that release 1.0 has left.
    static var oldValues: [Int: SmallValue] { [10: SmallValue(form: 1), 20: SmallValue(form: 1)] }
}

/// A database of a small world: in memory, or SQLite's.
protocol WorldDatabase: Sendable {
    /// Returns what the database holds.
    func data() throws -> SmallData

    /// Returns the database for a process, which changes a copy.
    func open(_ number: Int, by process: WorldProcess) throws -> any OpenWorldDatabase

    /// Returns the records that it keeps of a manager; nil if they cannot be understood.
    func records(of manager: Int) throws -> StoreState?

    /// Makes its records unreadable.
    mutating func damage() throws

    /// Returns a database that release 1.0 has left.
    ///
    /// - Parameter isOther: true if its tables are not those that it is adopted at.
    static func old(isOther: Bool) throws -> Self
}

/// A database that a process has opened.
protocol OpenWorldDatabase: Sendable {
    /// The store in the database, for an app that keeps its records there.
    var store: any RecordStorage { get }
    var adoption: Adoption { get }

    /// Makes the tables that the app needs, if there are none.
    func makeTables() throws
    func write(_ write: SmallEvent.Write, form: SmallRelease) throws
    /// Makes it a new database, or that of an old install, while managers have it open.
    func become(_ database: any WorldDatabase) throws
    func register(_ step: SmallApp.Step, with arguments: WorldRegistration, in manager: MigrationManager)
    func register(_ move: SmallApp.Move, with arguments: WorldRegistration, in manager: MigrationManager)

    /// Returns the database as it is, once the process has ended.
    func close() throws -> any WorldDatabase
}

/// The arguments with which a step is registered.
struct WorldRegistration {
    let version: AppVersion
    let finishing: [AppVersion]
    let onFreshInstall: FreshInstallRule
    let process: WorldProcess
    let release: SmallRelease
}

extension SmallData {
    /// Changes a value as a step or the move does.
    mutating func change(_ key: Int, by step: Int, of app: SmallApp, in release: SmallRelease) {
        guard var value = values[key] else { return }
        let known = app.step(step)
        // What may run again, or on values in the new form, says itself which ones are old.
        let looks =
            known.map { $0.work == .cursor || $0.work == .deferredClosure } ?? false
        if looks, app.count(of: step, in: value) > 0 { return }
        value.trail.append(.init(step: step, release: release))
        for finished in app.finished(by: step)
        where finished.place == app.place(of: step) && app.count(of: finished.id, in: value) == 0 {
            value.isLost = true
        }
        values[key] = value
    }

    /// Changes all values as a step or the move does, and counts it.
    mutating func changeAll(by step: Int, of app: SmallApp, in release: SmallRelease) {
        for key in values.keys { change(key, by: step, of: app, in: release) }
        runs[step, default: 0] += 1
    }

    /// Copies the values of files that are not yet in the form of an import.
    mutating func copy(_ files: SmallData, by step: Int, of app: SmallApp, in release: SmallRelease) {
        for (key, value) in files.values where !app.isInForm(step, of: value.form) {
            let copied = key + SmallApp.Step.importOffset
            guard values[copied] == nil else { continue }
            values[copied] = value
            values[copied]?.trail.append(.init(step: step, release: release))
        }
        runs[step, default: 0] += 1
    }

    /// Deletes what an import has read.
    mutating func removeImported(by step: Int, of app: SmallApp) {
        if let copy = app.steps.first(where: { $0.work == .imports }) {
            values = values.filter { app.isInForm(copy.id, of: $0.value.form) }
        }
        runs[step, default: 0] += 1
    }

    /// Writes as the app does.
    mutating func write(_ write: SmallEvent.Write, form: SmallRelease) {
        switch write {
        case .append:
            // What was imported has keys of its own.
            let last = values.keys.filter { $0 < SmallApp.Step.importOffset }.max()
            values[(last ?? 0) + 10] = SmallValue(form: form)
        case .insert:
            var key = 15
            while values[key] != nil { key -= 1 }
            values[key] = SmallValue(form: form)
        case .delete: values[values.keys.min() ?? 0] = nil
        case .vacuum: break
        }
    }
}
