// What has happened to a device, as far as the promises depend on it.

extension Promises {
    /// The events of a place, as far as it is there: a backup brings it back.
    struct Memory: Hashable, Sendable {
        var data = SmallData()
        /// True if release 1.0 has left data here from before the app had this package.
        var isOld = false
        /// True if a manager has made tables here in this launch.
        var hasTables = false
        /// The releases that have been launched on it, and those that evidence has named, by line of versions.
        var seen: [Line: Set<Int>] = [:]
        /// The release whose launch each manager has completed last.
        var finished: [Int: Int] = [:]
        /// The versions that evidence has named, by line.
        var named: [Line: Set<Int>] = [:]
        /// The release whose launch came to its end last, by manager, and those that have been launched since.
        var launched: [Int: Int] = [:]
        var begun: [Int: Set<Int>] = [:]
        /// The version that a manager took the data to be at when it changed the place first.
        var starts: [Int: Int] = [:]
        /// The steps that a manager owes a new install.
        var owed: [Int: Set<Int>] = [:]
        /// The managers that have found data here, so that for them it was no new install.
        var found: Set<Int> = []
        /// How often each step has failed.
        var failures: [Int: Int] = [:]
        /// How often a process has died, by release.
        var deaths: [Int: Int] = [:]
        /// The rows that a deferred step may visit though they are in the new form.
        var between: [Int: Set<Int>] = [:]
        /// Values that an older release has written after a newer one was here.
        var late: Set<Int> = []
        /// True if a closure may have run without its record.
        var mayRepeat = false

        init(old data: SmallData? = nil) {
            guard let data else { return }
            self.data = data
            isOld = true
        }
    }

    enum Line: Hashable, Sendable {
        case app
        case manager(Int)
    }

    /// True if as much has happened to the places as in another world, so that both go on alike.
    package func isEqual(to other: Promises) -> Bool {
        places == other.places && release == other.release && isRunning == other.isRunning
            && isSettled == other.isSettled && failing == other.failing
    }

    // MARK: Events

    mutating func begin(_ release: Int, _ outcome: SmallOutcome, _ found: [Place: SmallData]) {
        self.release = release
        let move = SmallApp.Move.mark
        let hasMoved = found[.database(0)]?.runs[move] != places[.database(0)]?.data.runs[move]
        for manager in app.managers(in: release) {
            let starts = placesUsed(by: manager).map { ($0, start(of: manager, in: $0, release)) }
            for (place, start) in starts where outcome.hasChanged(recordPlace(place), manager) {
                meet(place, manager, at: start ?? 0)
            }
            for step in outcome.ran where app.manager(of: step) == manager {
                places[app.place(of: step)]?.hasTables = true
            }
            if hasMoved, manager == 0 { places[.database(0)]?.hasTables = true }
        }
    }

    mutating func meet(_ place: Place, _ manager: Int, at start: Int) {
        guard var memory = places[place] else { return }
        memory.begun[manager, default: []].insert(release)
        if memory.starts[manager] == nil {
            memory.starts[manager] = start
            if start == release * 10 + 9, (memory.seen[line(manager)]?.max() ?? 0) <= release {
                let steps = app.steps(of: manager, in: release).filter {
                    $0.onFreshInstall != .skip && $0.place == place
                }
                memory.owed[manager] = Set(steps.map(\.version))
            } else {
                memory.found.insert(manager)
                memory.named[line(manager), default: []].insert(start / 10)
            }
        }
        memory.seen[line(manager), default: []].insert(release)
        places[place] = memory
    }

    mutating func note(_ outcome: SmallOutcome) {
        for place in places.keys {
            for (step, count) in outcome.failed where app.place(of: step) == place {
                places[place]?.failures[step, default: 0] += count
            }
            guard outcome.died else { continue }
            places[place]?.deaths[release, default: 0] += 1
            places[place]?.mayRepeat = true
        }
    }

    mutating func end(_ event: SmallEvent, _ outcome: SmallOutcome) {
        guard case .launch(_, let launch, let fault) = event else {
            if case .write = event {} else { isSettled = false }
            if case .lose = event { isRunning = false }
            if case .restore = event { isRunning = false }
            if case .replace = event { isRunning = false }
            if outcome.died { isRunning = false }
            return
        }
        isRunning = !outcome.died
        isSettled = fault == nil && outcome.failed.isEmpty && outcome.postponed.isEmpty
        for manager in app.managers(in: release) where outcome.results[manager] != .finished {
            (isRunning, isSettled) = (false, false)
        }
        guard case .through = launch else {
            for (manager, result) in outcome.results.enumerated() where result == .finished {
                for place in placesUsed(by: manager) {
                    places[place]?.launched[manager] = release
                    places[place]?.begun[manager] = []
                    if !isDowngrade(place) { places[place]?.finished[manager] = release }
                }
            }
            return
        }
        (isRunning, isSettled) = (false, false)
    }

    mutating func noteWritten(_ write: SmallEvent.Write, _ found: [Place: SmallData]) {
        for (place, data) in found {
            let new = data.values.keys.filter { places[place]?.data.values[$0] == nil }
            if isDowngrade(place) { places[place]?.late.formUnion(new) }
            guard write == .insert else { continue }
            for step in app.steps where step.work == .rows && step.place == place {
                places[place]?.between[step.version, default: []].formUnion(new)
            }
        }
    }

    // MARK: Words

    /// The place that keeps the record of what works in files.
    var store: Place { app.storeInDatabase ? .database(0) : .files }

    func recordPlace(_ place: Place) -> Place { place == .files ? store : place }

    func parts(_ place: Place) -> [Place] { place == store ? [.files, place] : [place] }

    func placesUsed(by manager: Int) -> [Place] {
        app.places.filter { $0 == .files || $0 == store || uses($0, manager, release) }
    }

    func uses(_ place: Place, _ manager: Int, _ release: Int) -> Bool {
        place == store || hasMove(place, manager, release)
            || app.steps(of: manager, in: release).contains { $0.place == place }
    }

    func hasMove(_ place: Place, _ manager: Int, _ release: Int) -> Bool {
        place == .database(0) && manager == 0 && app.move(in: release) != nil
    }

    func hasTables(_ place: Place) -> Bool {
        guard place != .files, let memory = places[place] else { return false }
        return memory.data.hasTables || memory.hasTables
    }

    func line(_ manager: Int) -> Line { app.managers[manager].hasOwnLine ? .manager(manager) : .app }

    /// True if a newer release may have been here.
    func isDowngrade(_ place: Place) -> Bool {
        [place, place == .files ? store : place].contains {
            let memory = places[$0] ?? Memory()
            return [memory.seen, memory.named].contains { ($0.values.joined().max() ?? 0) > release }
        }
    }

    /// True if a manager has taken old data for that of a new install, because the app says so, and then changed it.
    func isTakenForNew(_ place: Place, _ value: SmallValue) -> Bool {
        value.trail.contains { mark in
            places[place].map { $0.isOld && $0.owed[app.manager(of: mark.step)] != nil } ?? false
        }
    }

    func mayRepeat(_ step: Int) -> Bool {
        guard let step = app.step(step), step.work == .closure || step.work == .deferredClosure else {
            return false
        }
        return places[.files]?.mayRepeat ?? false || places[store]?.mayRepeat ?? false
    }

    func each(
        _ found: [Place: SmallData], _ problem: (Place, Int, SmallValue) -> String?
    ) -> String? {
        for (place, data) in found {
            for (key, value) in data.values {
                if let problem = problem(place, key, value) { return "value \(key) of \(place) \(problem)" }
            }
        }
        return nil
    }
}

extension Promises.Memory {
    /// Everything that is left when the record is lost, and the files stay.
    var withoutRecord: Self {
        var memory = Self()
        (memory.data, memory.isOld, memory.late, memory.mayRepeat) = (data, isOld, late, true)
        return memory
    }
}
