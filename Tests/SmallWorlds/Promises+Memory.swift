// What has happened to a device, as far as the promises depend on it.

extension Promises {
    /// The events of a place, as far as it is there: a backup brings it back.
    struct Memory: Hashable, Sendable {
        var data = SmallData()
        /// True if release 1.0 has left data here from before the app had this package.
        var isOld = false
        /// True if the place has come back from a backup.
        var hasComeBack = false
        /// True if a manager has made tables here in this launch.
        var hasTables = false
        /// True if what is known here cannot be understood.
        var isDamaged = false
        /// True if what was known here has been lost, and the files have stayed.
        var isForgotten = false
        /// What has become of each manager here.
        var managers: [Int: Life] = [:]
        /// The releases that have been launched on it, and those that the app has named, by line of versions.
        var seen: [Line: [Seen]] = [:]
        /// The lines in which the app has named a version.
        var answered: Set<Line> = []
        /// The versions that the app has named for what was damaged.
        var replaced: [Line: Int] = [:]
        /// The newest release that has been launched while the files were here.
        var newest: SmallRelease?
        /// The values that were taken not to need a step.
        var notNeeded: [Int: Set<Int>] = [:]
        /// The works that the app has skipped.
        var skipped: Set<Int> = []
        /// How often the app has asked for a step once more.
        var repeats: [Int: Int] = [:]
        /// How often each step had run when the app has asked for it once more.
        var reruns: [Int: Int] = [:]
        /// How often a process has died between the bodies of works, by release.
        var deaths: [SmallRelease: Int] = [:]
        /// The works in which processes of one build have died, and how often.
        var fatal: [Int: Fatal] = [:]
        /// The rows that a deferred step may visit though they are in the new form.
        var between: [Int: Set<Int>] = [:]
        /// True if the app has made the tables when its managers had finished, so that no deferred step has noted which rows there are.
        var hasLateTables = false
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

    /// What has become of a manager in a place.
    struct Life: Hashable, Sendable {
        /// The version that the manager took the data to be at when it changed the place first.
        var floor: Int?
        /// The same for deferred steps outside databases.
        var deferredFloor: Int?
        /// False if it may as well have begun below.
        var isCertain = true
        /// The release in which it was new.
        var newIn: SmallRelease?
        /// The steps that are not needed here: they must not run.
        var unneeded: Set<Int> = []
        /// The steps that the app has asked for once more, wherever the manager has begun.
        var again: Set<Int> = []
        /// True if it has found data here, so that for it this was no new install.
        var hasFound = false
        /// The steps that it owes a new install, and how often they had run then.
        var owed: [Int: Int] = [:]
        /// The release whose launch it has completed last.
        var finished: Int?
        /// The release whose launch came to its end last, and those that have been launched since.
        var launched: Int?
        var begun: Set<Int> = []
        /// The newest release that has been launched.
        var highest = 0
        /// The databases in which it has been; for a store.
        var databases: Set<Place> = []
        /// True if the app has removed what was known of it.
        var isRemoved = false
    }

    /// A release that a place knows of.
    struct Seen: Hashable, Sendable {
        var release: SmallRelease
        /// True if a newer one was launched before it.
        var isVisit = false
        /// True if the app has named it, and it was not launched.
        var isNamed = false
        /// The release that has asked the app for it, for one that a launch has named.
        var namedBy: SmallRelease?
        /// True if it may be an older one: what a database has kept depends on when a process has died.
        var isDoubtful = false
    }

    struct Fatal: Hashable, Sendable {
        var release: SmallRelease
        var count = 0
    }

    enum Line: Hashable, Sendable {
        case app
        case manager(Int)
    }

    /// True if as much has happened to the places as in another world, so that both go on alike.
    package func isEqual(to other: Promises) -> Bool {
        release == other.release && isRunning == other.isRunning && isSettled == other.isSettled
            && removed == other.removed && failing == other.failing && postponing == other.postponing
            && culprits == other.culprits
            && places == other.places
    }

    // MARK: Words

    /// The place that keeps the record of what works in files.
    var store: Place { app.store }

    func recordPlace(_ place: Place) -> Place { place == .files ? store : place }

    func parts(_ place: Place) -> [Place] { place == store && place != .files ? [.files, place] : [place] }

    func placesUsed(by manager: Int) -> [Place] {
        app.places.filter { $0 == .files || uses($0, manager, release) }
    }

    func uses(_ place: Place, _ manager: Int, _ release: SmallRelease) -> Bool {
        place == store || hasMove(place, manager, release)
            || app.steps(of: manager, in: release).contains { $0.place == place }
    }

    func hasMove(_ place: Place, _ manager: Int, _ release: SmallRelease) -> Bool {
        place == .database(0) && manager == 0 && app.move(in: release) != nil
    }

    func hasTables(_ place: Place) -> Bool {
        guard place != .files, let memory = places[place] else { return false }
        return memory.data.hasTables || memory.hasTables
    }

    func line(_ manager: Int) -> Line { app.managers[manager].hasOwnLine ? .manager(manager) : .app }

    /// True if a newer release may have been here.
    func isDowngrade(_ place: Place) -> Bool {
        [place, recordPlace(place)].contains {
            places[$0]?.seen.values.joined().contains { $0.release.number > release.number } ?? false
        }
    }

    /// True if a manager does nothing in a place, because of a newer release.
    func isDowngrade(_ place: Place, _ manager: Int) -> Bool {
        guard let life = places[place]?.managers[manager], life.floor != nil else {
            return start(of: manager, in: place, release) == .notAtAll
        }
        return life.highest > release.number
    }

    func mayRepeat(_ step: Int) -> Bool {
        guard let step = app.step(step), [.closure, .deferredClosure, .removal].contains(step.work) else {
            return false
        }
        return places[.files]?.mayRepeat ?? false || places[store]?.mayRepeat ?? false
    }

    /// How often a step may change a value, or run.
    func mostRuns(of step: Int, in place: Place) -> Int { 1 + (places[place]?.repeats[step] ?? 0) }

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
        (memory.newest, memory.notNeeded, memory.repeats) = (newest, notNeeded, repeats)
        (memory.between, memory.isForgotten) = (between, true)
        for work in skipped { memory.notNeeded[work, default: []].formUnion(data.values.keys) }
        return memory
    }
}
