/// The promises of this package about an app's data, stated by value.
///
/// A *value* is something that the app keeps: a row, or a file. Each is written in the form of some release, and every step
/// that is new in a later release has to bring it into that release's form. Whoever wants to know what the package
/// promises reads the functions of this file that check a promise; each has the promise for its comment. Everything else
/// here remembers what has happened to a device.
///
/// The promises are those of the documentation, by value: they know of no record, plan or ledger. Where what the package
/// knows depends on when a process has died, they ask for what holds in each case.
///
/// Four things are not promised:
///
/// - Values that an older release writes after a newer one has been launched stay in their form, and a later step may
///   destroy that. The app learns of them from `returnedFromDowngrade`.
/// - An install that the app itself takes for a new one, though it has data, keeps that data in its form.
/// - What `adopting` says is said of the install: a database from before the app had this package, put in the place of a
///   newer one, is taken to be at that version.
/// - Rows that the app writes *between* those of a deferred step, while that waits, may be visited by it.
package struct Promises: Sendable {
    package typealias Place = SmallApp.Place
    package typealias Step = SmallApp.Step

    let app: SmallApp
    var places: [Place: Memory] = [:]
    /// The places after each event.
    var past: [[Place: Memory]] = []
    /// The release of the last launch.
    package var release = 1
    /// True if the last launch has succeeded.
    package var isRunning = false
    /// True if nothing has happened since a launch of this release that left nothing to try again.
    var isSettled = false
    /// The steps that throw whenever they run.
    package var failing: Set<Int> = []

    /// The number of deaths after which a manager gives up.
    package static let maximumAttempts = 2

    package init(_ app: SmallApp) {
        self.app = app
        for place in app.places { places[place] = Memory() }
    }

    /// Notes an event, and checks every promise.
    ///
    /// - Parameters:
    ///   - outcome: what the event was seen to do.
    ///   - found: what the places hold afterwards.
    /// - Returns: the first promise that does not hold, as a sentence.
    package mutating func observe(
        _ event: SmallEvent, _ outcome: SmallOutcome, _ found: [Place: SmallData]
    ) -> String? {
        let before = self
        if case .launch(_, _, .failsAlways(let step)) = event { failing.insert(step) }
        if case .launch(let release, _, _) = event { begin(release, outcome, found) }
        var problem: String?
        switch event {
        case .launch, .runDeferred:
            note(outcome)
            problem =
                nothingIsLost(found) ?? onceOnly(found) ?? inOrder(found, outcome) ?? explained(
                    event, outcome, before)
                ?? untouched(event, outcome, found) ?? quiet(event, outcome, before)
                ?? complete(event, outcome, found) ?? new(event, outcome, found)
                ?? changed(event, outcome, found, before)
        case .oldInstall:
            for (place, data) in found { places[place] = Memory(old: data) }
        case .write(let write): noteWritten(write, found)
        case .lose(let place):
            let memory = places[place]
            places[place] = place == .files ? memory?.withoutRecord : Memory()
            if place == store { places[.files] = places[.files]?.withoutRecord }
        case .restore(let place, let event):
            for part in parts(place) { places[part] = past[event - 1][part] }
        case .replace(let place):
            places[place] = found[place].map { Memory(old: $0) }
            if place == store { places[.files] = places[.files]?.withoutRecord }
        }
        for (place, data) in found { places[place]?.data = data }
        if event.isFromExtension { release = before.release } else { end(event, outcome) }
        past.append(places)
        return problem
    }

    // MARK: The promises

    /// Nothing but the app deletes its values, nothing undoes a step, and no old form is destroyed before there is a new one:
    /// also not the rows that refer to those of a table that is rebuilt.
    private func nothingIsLost(_ found: [Place: SmallData]) -> String? {
        each(found) { place, key, value in
            guard let old = places[place]?.data.values[key] else { return "was made by a migration" }
            let isLate = places[place]?.late.contains(key) ?? false
            if value.isLost, !isLate, !isTakenForNew(place, value) {
                return "is gone, and its new form is missing"
            }
            if !value.hasChild { return "has lost the row that refers to it" }
            return value.trail.starts(with: old.trail) && value.form == old.form ? nil : "has changed back"
        }
            ?? places.lazy.compactMap { place, memory in
                memory.data.values.keys.first { found[place]?.values[$0] == nil }
                    .map { "value \($0) of \(place) is gone" }
            }.first
    }

    /// In a database, a step changes a value exactly once.
    ///
    /// A closure does so again only if a process has died, or its record was lost. So the body of a step in a database is committed once.
    private func onceOnly(_ found: [Place: SmallData]) -> String? {
        each(found) { place, key, value in
            if places[place]?.late.contains(key) ?? false { return nil }
            for step in Set(value.trail.map(\.step)) {
                let isBetween = places[place]?.between[step]?.contains(key) ?? false
                let count = app.count(of: step, in: value) - (isBetween ? 1 : 0)
                if count > 1, !mayRepeat(step) { return "was changed \(count) times by \(step)" }
            }
            return nil
        }
            ?? found.lazy.compactMap { place, data in
                data.runs.first { $1 > 1 && !mayRepeat($0) }.map { "\($0) has run \($1) times in \(place)" }
            }.first
    }

    /// The steps of a manager change a value in the order of their versions, and a launch runs them in that order.
    ///
    /// One that a release inserts, one that failed and may fail, and a deferred one come in a later launch. What only a new install
    /// gets comes first.
    private func inOrder(_ found: [Place: SmallData], _ outcome: SmallOutcome) -> String? {
        for (first, second) in zip(outcome.ran, outcome.ran.dropFirst())
        where app.manager(of: first) == app.manager(of: second) {
            let isFirst = app.step(first)?.onFreshInstall == .only
            if app.order(of: second) < app.order(of: first), !isFirst {
                return "\(first) has run before \(second)"
            }
        }
        return each(found) { place, key, value in
            guard let memory = places[place], !memory.mayRepeat, !memory.late.contains(key) else {
                return nil
            }
            for (index, first) in value.trail.enumerated() {
                for second in value.trail[index...]
                where app.order(of: second.step) < app.order(of: first.step) {
                    guard app.manager(of: second.step) == app.manager(of: first.step) else { continue }
                    if app.mayComeLate(second.step, after: first.release) { continue }
                    return "was changed by \(first.step) before \(second.step)"
                }
            }
            return nil
        }
    }

    /// After a launch that succeeds, every value is in the form of its release.
    ///
    /// Only a deferred step may still wait, and a
    /// best-effort one that has just failed, or has failed as often as it may. After deferred work that comes to its end
    /// none waits, and none when a step runs that finishes it.
    ///
    /// That holds for the processes of an extension, too: it is let in where everything is done that the app waits for.
    private func complete(
        _ event: SmallEvent, _ outcome: SmallOutcome, _ found: [Place: SmallData]
    ) -> String? {
        var limit = release * 10 + 9
        var deferred: Bool?
        switch event {
        case .launch(_, .through(let version), _): (limit, deferred) = (version, false)
        case .launch: deferred = false
        case .runDeferred(nil, _): deferred = true
        default: return nil
        }
        for step in outcome.ran {
            guard let finishes = app.finishes(step), let deferred = app.step(finishes) else { continue }
            if let problem = isDone(deferred, SmallOutcome(managers: 0), found) {
                return "\(step) has run too early: \(problem)"
            }
        }
        for manager in app.managers(in: release) where outcome.results[manager] == .finished {
            for step in app.steps(of: manager, in: release)
            where step.isDeferred == deferred && step.version <= limit && step.onFreshInstall != .only {
                let problem = isDone(step, outcome, found, isExtension: event.isFromExtension)
                if let problem { return problem }
            }
            guard manager == 0, deferred == false, let move = app.move(in: release), move.version <= limit,
                let data = found[.database(0)], !isDowngrade(.database(0))
            else { continue }
            for (key, value) in data.values where !(places[.database(0)]?.late.contains(key) ?? true) {
                if app.count(of: SmallApp.Move.mark, in: value) == 0 {
                    return "value \(key) of the database lacks the move, after a launch of \(release).0"
                }
            }
        }
        return nil
    }

    private func isDone(
        _ step: Step, _ outcome: SmallOutcome, _ found: [Place: SmallData], isExtension: Bool = false
    ) -> String? {
        let place = step.place
        guard let memory = places[place], let data = found[place], !isDowngrade(place),
            step.version > memory.starts[step.manager] ?? start(of: step.manager, in: place, release) ?? 0,
            !isExcused(step, outcome),
            !(isExtension && step.isBestEffort)
        else { return nil }
        for (key, value) in data.values where !memory.late.contains(key) {
            if app.count(of: step.version, in: value) == 0 {
                return "value \(key) of \(place) lacks \(step.version), though release \(release).0 goes on"
            }
        }
        return nil
    }

    /// A best-effort step may be left undone when it fails, or what it needs.
    ///
    /// It may be so for good when it has failed as often as it may. That others fail is no excuse, nor that a process died.
    private func isExcused(_ step: Step, _ outcome: SmallOutcome) -> Bool {
        let failed = outcome.postponed.union(outcome.failed.keys)
        if step.isDeferred, failed.contains(step.version) { return true }
        guard let limit = step.givesUpAfter else { return false }
        let failures = places[step.place]?.failures[step.version] ?? 0
        return failed.contains(step.version) || step.finishes.map(failed.contains) ?? false
            || failures >= limit
    }

    /// A new install gets the steps that are for new installs, however often its first launch is cut short.
    ///
    /// In a database it gets them exactly once, elsewhere at least once. An old install never gets one.
    private func new(_ event: SmallEvent, _ outcome: SmallOutcome, _ found: [Place: SmallData]) -> String? {
        for step in app.steps where step.onFreshInstall != .skip {
            guard let memory = places[step.place], let data = found[step.place] else { continue }
            let runs = data.runs[step.version] ?? 0
            let runsBefore = memory.data.runs[step.version] ?? 0
            if step.onFreshInstall == .only, runs > runsBefore, memory.found.contains(step.manager) {
                return "\(step.version) has run on an install that is not new"
            }
            guard case .launch(_, .whole, _) = event, outcome.results[step.manager] == .finished,
                memory.owed[step.manager]?.contains(step.version) ?? false, !isDowngrade(step.place),
                app.steps(of: step.manager, in: release).contains(step), !step.isDeferred,
                !isExcused(step, outcome)
            else { continue }
            if runs == 0 { return "\(step.version) has not run on a new install" }
        }
        return nil
    }

    /// The closures for a version change run when a launch of another version is complete, and otherwise not.
    private func changed(
        _ event: SmallEvent, _ outcome: SmallOutcome, _ found: [Place: SmallData], _ before: Promises
    ) -> String? {
        guard case .launch(_, let launch, _) = event, launch == .whole, !isDowngrade(.files) else {
            return nil
        }
        for (manager, result) in outcome.results.enumerated()
        where app.managers[manager].hasVersionChanges && result == .finished {
            let (last, begun) = (before.places[store]?.launched[manager], places[store]?.begun[manager])
            let new = found[.files]?.changes[manager] ?? []
            let old = before.places[.files]?.data.changes[manager] ?? []
            if let last, last < release, new.last != release {
                return "no closure has run for the change from \(last).0 to \(release).0"
            }
            if last == release, begun == [release], new != old {
                return "a closure has run though the version has not changed"
            }
        }
        return nil
    }

    /// An extension changes nothing, an older release leaves the values as a newer one has left them, and tables that are
    /// refused stay as they are, at every launch.
    private func untouched(
        _ event: SmallEvent, _ outcome: SmallOutcome, _ found: [Place: SmallData]
    ) -> String? {
        if app.move?.isVerified == true, let memory = places[.database(0)], memory.isOld,
            found[.database(0)]?.values.values.contains(where: { value in
                value.trail.contains { $0.step == SmallApp.Move.mark }
            }) ?? false
        {
            return "a database was migrated whose tables are not those that it is adopted at"
        }
        if event.isFromExtension, outcome.changes > 0 {
            return "an extension has changed a place"
        }
        return places.lazy.compactMap { place, memory in
            let highest = memory.finished.values.max() ?? 0
            guard highest > release, app.managers.count == 1, found[place]?.values != memory.data.values
            else {
                return nil
            }
            return "an older release has changed \(place)"
        }.first
    }

    /// A launch with nothing to do writes nothing.
    private func quiet(_ event: SmallEvent, _ outcome: SmallOutcome, _ before: Promises) -> String? {
        guard case .launch(let release, .whole, nil) = event, before.isSettled, before.release == release,
            outcome.changes > 0
        else { return nil }
        return "a launch with nothing to do has written \(outcome.changes) times"
    }

    /// A launch that stops has a reason that the app can see.
    ///
    /// That is a step that fails or asks to wait, one in which the process has died too often, data of a newer release, data
    /// of which nothing says how old it is, or tables that are not what they are adopted as. An extension is also kept
    /// out as long as the app has something to do.
    private func explained(
        _ event: SmallEvent, _ outcome: SmallOutcome, _ before: Promises
    ) -> String? {
        for (manager, result) in outcome.results.enumerated() {
            guard case .stopped(let code) = result else { continue }
            let used = placesUsed(by: manager)
            let isExplained =
                switch code {
                case "stepFailed":
                    !outcome.failed.isEmpty || used.contains(where: isDowngrade)
                        || app.move(in: release)?.isVerified == true && places[.database(0)]?.isOld == true
                case "postponed": !outcome.postponed.isEmpty
                case "gaveUp":
                    used.contains { places[$0]?.deaths[release] ?? 0 >= Self.maximumAttempts }
                case "undecided": used.contains { start(of: manager, in: $0, release) == nil }
                case "newerThanThisProcess": app.places.contains(where: isDowngrade)
                case "notYetMigrated": !before.isSettled || before.release != release
                default: false
                }
            if !isExplained { return "stops with \(code), and nothing is the matter" }
        }
        return nil
    }

    // MARK: Is it new?

    /// The version that a manager takes the data of a place to be at, when it comes there first; nil if that is open.
    ///
    /// Strongest first: what the manager itself has completed in a database, while the store has forgotten it; what the app
    /// answers; the highest earlier version that was launched there, in the manager's line. Otherwise it is new, and
    /// nothing older than this release is there. A database without tables is new, whatever is said of other data.
    func start(of manager: Int, in place: Place, _ release: Int) -> Int? {
        let new = release * 10 + 9
        let (place, line) = (recordPlace(place), line(manager))
        guard let memory = places[place] else { return new }
        let databases = app.places.filter { $0 != .files && uses($0, manager, release) }
        if place != store, !hasTables(place), memory.seen[line] == nil { return new }
        // Where the app itself has had one version, and found nothing older, no older plug-in has been.
        let isUnknown = { (place: Place) in
            guard let memory = places[place], hasTables(place), memory.seen[line] == nil else { return false }
            return memory.seen[.app]?.count != 1 || memory.named[.app] != nil
        }
        // No database is believed about the rows of another one.
        let bearsWitness = place == store && !isUnknown(store)
        if bearsWitness {
            // The release itself says nothing while it is the only one: its first launch may have died between two writes.
            let own = databases.filter { place in
                place != store
                    && version(seenIn: [place], line, before: release).map { $0 < release } ?? false
            }
            if let highest = own.compactMap({ places[$0]?.finished[manager] }).max() { return highest * 10 }
        }
        if let answer = answer(of: manager, release) { return answer }
        let hasSeen = places[place]?.seen[line] != nil
        let witnesses = bearsWitness && !hasSeen ? [place] + databases : [place]
        if let version = version(seenIn: witnesses, line, before: release) { return version * 10 }
        if place != store, isUnknown(place) { return hasMove(place, manager, release) ? 0 : nil }
        if place == store, databases.contains(where: isUnknown) {
            return nil
        }
        return new
    }

    private func answer(of manager: Int, _ release: Int) -> Int? {
        switch app.managers[manager].adopting {
        case .newApp: return nil
        case .version: return 10
        case .file: return places[.files]?.isOld ?? false ? 10 : nil
        case .tables:
            // A database remembers better than its tables tell.
            let line = line(manager)
            if let version = version(seenIn: [.database(0)], line, before: release) {
                return max(1, version) * 10
            }
            return places[.database(0)]?.seen[line] == nil && hasTables(.database(0)) ? 10 : nil
        }
    }

    /// The version that places know an install to have been at.
    ///
    /// It is an earlier one, or one that evidence has named, or a newer one, to whose data this release does nothing. That they have seen this release alone says nothing.
    private func version(seenIn places: [Place], _ line: Line, before release: Int) -> Int? {
        let memories = places.compactMap { self.places[$0] }
        let named = Set(memories.flatMap { $0.named[line] ?? [] })
        let seen = named.union(memories.flatMap { $0.seen[line] ?? [] })
        return seen.filter { $0 < release }.max() ?? named.max() ?? seen.filter { $0 > release }.max()
    }
}
