/// The promises of this package about an app's data, stated by value.
///
/// A *value* is something that the app keeps: a row, or a file. Each is written in the form of some release, and every step
/// that is new in a later release has to bring it into that release's form. Whoever wants to know what the package
/// promises reads the functions of this file that check a promise; each has the promise for its comment. Where a manager
/// begins is in `Promises+Beginnings.swift`; everything else remembers what has happened to a device.
///
/// The promises are those of the documentation, by value: they know of no plan or ledger. Of records they ask two things that
/// depend on when a process has died: whether a manager has written down more than that death, and where its launch was
/// complete.
///
/// Eight things are not promised:
///
/// - Values that an older release writes after a newer one has been launched stay in their form, and a later step may
///   destroy that. The app learns of them from `returnedFromDowngrade`.
/// - An install that the app itself takes for a new one, though it has data, or since it has lost its store, keeps that data
///   in its form, also where files come back from before. Files are not imported then, and a later step deletes them where evidence of the old install
///   comes back, such as its database.
/// - What `adopting` says is said of the install: a database from before the app had this package, put in the place of a
///   newer one, is taken to be at that version.
/// - Files that come back from a backup are not imported into a database that has imported them, that was made anew since, or
///   whose record the app has removed with its data; nor, where an older release is launched, if a newer one made the database.
/// - A build that registers a step in another place than the build before takes it to have run there, if it has run.
/// - Rows that the app writes *between* those of a deferred step, while that waits, may be visited by it, and so may all rows
///   that it writes while the step waits behind another one, or into a table that it makes when its managers have finished.
/// - A death in a database is not counted if a release without that database is launched next: the step runs once more.
/// - A step that a later release registers for the version at which an install has begun, or for an older one, is not
///   needed there.
package struct Promises: Sendable {
    package typealias Place = SmallApp.Place
    package typealias Step = SmallApp.Step

    let app: SmallApp
    var places: [Place: Memory] = [:]
    /// The places after each event.
    var past: [[Place: Memory]] = []
    /// The release of the last launch.
    package var release: SmallRelease = 1
    /// True if the last launch has succeeded.
    package var isRunning = false
    /// True if nothing has happened since a launch of this release that left nothing to try again.
    var isSettled = false
    /// The works at which the last launch has stopped, by manager.
    package var culprits: [Int: SmallWork] = [:]
    /// The steps that throw whenever they run.
    package var failing: Set<Int> = []
    /// The managers whose data the app has said to be gone, in whatever place.
    var removed: Set<Int> = []
    /// The steps that ask to wait whenever they run.
    package var postponing: Set<Int> = []

    /// A place of which nothing says how old it is, and in which the last launch has gone on.
    var blind: Place?

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
        if case .failsAlways(let step) = event.fault { failing.insert(step) }
        if case .postponesAlways(let step) = event.fault { postponing.insert(step) }
        if case .launch(let release, _, _) = event { begin(release, outcome, found) }
        var problem: String?
        switch event {
        case .launch, .runDeferred:
            forgetDeathsElsewhere()
            note(outcome, retried: event.retried)
            problem = nothingIsLost(found, outcome) ?? onceOnly(event, found, outcome, before)
            problem = problem ?? inOrder(event, found, outcome) ?? explained(event, outcome, before)
            problem = problem ?? untouched(event, outcome, found) ?? quiet(event, outcome, before)
            problem = problem ?? complete(event, outcome, found) ?? new(event, outcome, found)
            problem = problem ?? changed(event, outcome, found, before) ?? again(event, outcome, found)
        case .call(let call, _):
            problem = called(call, outcome, found, before)
            apply(event, outcome, found)
        default:
            apply(event, outcome, found)
        }
        for (place, data) in found { places[place]?.data = data }
        noteTables(before)
        if event.isFromExtension { release = before.release } else { end(event, outcome) }
        for place in places.keys { places[place]?.hasTables = false }
        return problem
    }

    /// Remembers the places, to which a backup can bring them back.
    package mutating func keep() { past.append(places) }

    // MARK: The promises

    /// Nothing but the app deletes its values, nothing undoes a step, and no old form is destroyed before there is a new one:
    /// also not the rows that refer to those of a table that is rebuilt.
    ///
    /// The app deletes a file once it has imported it: then what was in it is in the database.
    private func nothingIsLost(_ found: [Place: SmallData], _ outcome: SmallOutcome) -> String? {
        each(found) { place, key, value in
            guard let old = places[place]?.data.values[key] else {
                return outcome.ran.contains { app.step($0)?.work == .imports }
                    ? nil : "was made by a migration"
            }
            if value.isLost, !old.isLost, !isDestroyedByTheApp(place, key, value) {
                return "is gone, and its new form is missing"
            }
            if !value.hasChild { return "has lost the row that refers to it" }
            return value.trail.starts(with: old.trail) && value.form == old.form ? nil : "has changed back"
        }
            ?? places.lazy.compactMap { place, memory in
                memory.data.values.keys.first { key in
                    found[place]?.values[key] == nil && !(place == .files && isImported(key, found, outcome))
                }.map { "value \($0) of \(place) is gone" }
            }.first
    }

    private func isImported(_ key: Int, _ found: [Place: SmallData], _ outcome: SmallOutcome) -> Bool {
        guard let removal = app.steps.first(where: { $0.work == .removal }),
            outcome.entered.contains(removal.id)
        else { return false }
        // What an older release writes after a newer one is not promised to be kept in its form.
        if places[.files]?.late.contains(key) == true { return true }
        return app.steps.contains { step in
            guard step.work == .imports else { return false }
            // What was there when the app took the install for a new one is not promised to be kept either.
            let seen = places[store]?.seen[line(step.manager)] ?? []
            let life = places[step.place]?.managers[step.manager]
            let isDenied =
                places[.files]?.isOld == true
                && (app.managers[step.manager].isNewApp || life?.newIn != nil
                    || !seen.contains { $0.isNamed && $0.release == 1 })
            // Nor is that of an install that has lost its store, or that files have come back to, and was new then.
            let hasComeBack = places[.files]?.hasComeBack == true
            let isTakenForNew =
                (places[.files]?.isForgotten == true || hasComeBack) && life?.newIn != nil
            // What comes back from a backup is not imported again, nor where there was nothing to import.
            let isUnneeded =
                life?.unneeded.contains(step.id) == true
                && (isDowngrade(step.place, step.manager) || hasComeBack)
                || removed.contains(step.manager)
            // Nor is what the app has skipped.
            let isSkipped =
                places[step.place].map {
                    $0.skipped.contains(step.id)
                } ?? false
            return isDenied || isTakenForNew || isUnneeded || isSkipped
                || places[step.place]?.data.runs[step.id] != nil
                || found[step.place]?.values[key + Step.importOffset] != nil
        }
    }

    /// True if the app has said that the value needs no new form, or a release has written it too late.
    private func isDestroyedByTheApp(_ place: Place, _ key: Int, _ value: SmallValue) -> Bool {
        guard let memory = places[place] else { return false }
        if memory.late.contains(key) { return true }
        return value.trail.contains { mark in
            app.finished(by: mark.step).contains { step in
                step.place == place && app.count(of: step.id, in: value) == 0
                    && isNotNeeded(step.id, version: step.version, of: step.manager, key, memory)
            }
        }
    }

    /// True if a work is not needed for a value, because of where its manager has begun, or because the app has said so.
    private func isNotNeeded(
        _ id: Int, version: Int, of manager: Int, _ key: Int, _ memory: Memory
    ) -> Bool {
        if memory.late.contains(key) || memory.skipped.contains(id) { return true }
        if memory.notNeeded[id]?.contains(key) == true { return true }
        let life = memory.managers[manager]
        if life?.again.contains(id) == true { return false }
        if app.step(id)?.work == .deferredClosure, let floor = life?.deferredFloor { return version <= floor }
        return version <= life?.floor ?? version
    }

    /// In a database, a step changes a value exactly once, and its body is committed once.
    ///
    /// A step is tried once in a launch, and what is not needed where its manager has begun does not run.
    /// A closure does so again only if a process has died, or its record was lost. Any step runs once more when the app
    /// asks for that; what it has skipped does not run.
    private func onceOnly(
        _ event: SmallEvent, _ found: [Place: SmallData], _ outcome: SmallOutcome, _ before: Promises
    ) -> String? {
        for id in Set(outcome.entered) {
            if before.places[place(of: SmallWork(id: id))]?.skipped.contains(id) == true {
                return "\(id) runs, though the app has skipped it"
            }
            guard let step = app.step(id) else { continue }
            if places[step.place]?.managers[step.manager]?.unneeded.contains(id) == true {
                return "\(id) runs, though \(step.place) has begun at a later version"
            }
            if step.isDeferred { continue }
            if outcome.failed[id] ?? 0 > 1 { return "\(id) was tried twice in one launch" }
        }
        return each(found) { place, key, value in
            if places[place]?.late.contains(key) ?? false { return nil }
            for step in Set(value.trail.map(\.step)) where !mayRepeat(step) {
                let isBetween = places[place]?.between[step]?.contains(key) ?? false
                // What new installs need too runs on the values that a release has written before.
                let isForNew = app.step(step).map { $0.onFreshInstall != .skip } ?? false
                let isDone = app.isInForm(step, of: value.form) && (isBetween || isForNew)
                let count = app.count(of: step, in: value) - (isDone ? 1 : 0)
                if count > mostRuns(of: step, in: place) { return "was changed \(count) times by \(step)" }
            }
            return nil
        }
            ?? found.lazy.compactMap { place, data in
                data.runs.first { $1 > mostRuns(of: $0, in: place) && !mayRepeat($0) }
                    .map { "\($0) has run \($1) times in \(place)" }
            }.first
    }

    /// The steps of a manager change a value in the order of their versions, and a launch runs them in that order, none above
    /// the version at which it stops.
    ///
    /// One that a release inserts, one that failed and may fail, and a deferred one come in a later launch: that one before
    /// any work at or above the version of a step that is `finishing:` it. What only a new install gets comes first.
    private func inOrder(
        _ event: SmallEvent, _ found: [Place: SmallData], _ outcome: SmallOutcome
    ) -> String? {
        if case .launch(_, .through(let limit), _) = event,
            let above = outcome.ran.first(where: { app.version(of: $0) > limit })
        {
            return "\(above) has run in a launch that stops at \(limit)"
        }
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
            // What only a new install gets comes first.
            for (index, first) in value.trail.enumerated()
            where app.step(first.step)?.onFreshInstall != .only {
                for second in value.trail[index...]
                where app.order(of: second.step) < app.order(of: first.step) {
                    guard app.manager(of: second.step) == app.manager(of: first.step) else { continue }
                    if memory.repeats[second.step] != nil { continue }
                    if app.mayComeLate(second.step, after: first.step, of: first.release) { continue }
                    return "was changed by \(first.step) before \(second.step)"
                }
            }
            return nil
        }
    }

    /// After a launch that succeeds, every value is in the form of its release.
    ///
    /// Only a deferred step may still wait. After deferred work that comes to its end, one that has failed waits alone, and none
    /// when a step runs at or above the version that finishes it.
    ///
    /// That holds for the processes of an extension, too: it is let in where everything is done that the app waits for.
    private func complete(
        _ event: SmallEvent, _ outcome: SmallOutcome, _ found: [Place: SmallData]
    ) -> String? {
        if let problem = tooEarly(outcome, found) { return problem }
        var limit = release.ceiling
        var deferred: Bool?
        switch event {
        case .launch(_, .through(let version), _): (limit, deferred) = (version, false)
        case .launch: deferred = false
        case .runDeferred(nil, _, _): deferred = outcome.wasCancelled ? nil : true
        default: return nil
        }
        for manager in app.managers(in: release) where outcome.results[manager] == .finished {
            // Deferred work waits for the steps before it, also those that a newer release holds.
            if deferred == true, isHeldBack(manager) != false { continue }
            for step in app.steps(of: manager, in: release)
            where step.isDeferred == deferred && step.version <= limit && step.onFreshInstall != .only {
                if let problem = isDone(step, outcome, found) { return problem }
            }
            guard manager == 0, deferred == false, let move = app.move(in: release), move.version <= limit,
                let data = found[.database(0)], let memory = places[.database(0)],
                !isDowngrade(.database(0), 0)
            else { continue }
            for (key, value) in data.values where !memory.late.contains(key) {
                let isSkipped =
                    memory.skipped.contains(SmallApp.Move.mark)
                    || memory.notNeeded[SmallApp.Move.mark]?.contains(key) == true
                if app.count(of: SmallApp.Move.mark, in: value) == 0, !isSkipped {
                    return "value \(key) of the database lacks the move, after a launch of \(release)"
                }
            }
        }
        return nil
    }

    /// Nothing runs before the deferred steps are done that come before it.
    private func tooEarly(_ outcome: SmallOutcome, _ found: [Place: SmallData]) -> String? {
        for id in outcome.ran {
            let step = app.step(id)
            guard step?.isDeferred != true, step?.onFreshInstall != .only else { continue }
            for deferred in app.steps(of: app.manager(of: id), in: release) where deferred.isDeferred {
                let deadline = app.deadline(of: deferred, in: release)
                let isFinished = app.finished(by: id).contains { $0.id == deferred.id }
                guard isFinished || deadline.map({ app.version(of: id) >= $0 }) == true else { continue }
                if let problem = isDone(deferred, SmallOutcome(managers: 0), found) {
                    return "\(id) has run too early: \(problem)"
                }
            }
        }
        return nil
    }

    func isDone(_ step: Step, _ outcome: SmallOutcome, _ found: [Place: SmallData]) -> String? {
        let place = step.place
        // The values of the files are what an import copies; it and the removal are judged by what is lost.
        guard step.work != .imports, step.work != .removal else { return imported(step, found) }
        guard let memory = places[place], let data = found[place], !isDowngrade(place, step.manager),
            !isExcused(step, outcome)
        else { return nil }
        for (key, value) in data.values where app.count(of: step.id, in: value) == 0 {
            if isNotNeeded(step.id, version: step.version, of: step.manager, key, memory) { continue }
            return "value \(key) of \(place) lacks \(step.id), though release \(release) goes on"
        }
        return nil
    }

    /// A database that a release brings gets what is in the files that its import reads.
    private func imported(_ step: Step, _ found: [Place: SmallData]) -> String? {
        guard step.work == .imports, let files = places[.files], let data = found[step.place],
            let memory = places[step.place], !isDowngrade(step.place, step.manager),
            !memory.skipped.contains(step.id),
            step.version > memory.managers[step.manager]?.floor ?? step.version
        else { return nil }
        // Those of a database that was there are in the form in which it is.
        for (key, value) in files.data.values where !app.isInForm(step.id, of: value.form) {
            if files.late.contains(key) || data.runs[step.id] != nil { continue }
            if data.values[key + Step.importOffset] == nil {
                return "value \(key) of the files was not imported into \(step.place)"
            }
        }
        return nil
    }

    /// A deferred step may be left undone when it fails, or when the process has died in it too often in this build.
    ///
    /// That others fail is no excuse, unless these have to be done before it.
    private func isExcused(_ step: Step, _ outcome: SmallOutcome) -> Bool {
        guard step.isDeferred else { return false }
        return outcome.postponed.contains(step.id) || outcome.failed[step.id] != nil
            || mayBeGivenUp(step.id, in: step.place) && !outcome.entered.contains(step.id)
            || app.steps(of: step.manager, in: release).contains { other in
                app.deadline(of: other, in: release).map { $0 <= step.version } == true
                    && isExcused(other, outcome)
            }
    }

    /// A new install gets the steps that are for new installs, however often its first launch is cut short.
    ///
    /// In a database it gets them exactly once, elsewhere at least once. An old install never gets one that is for new
    /// installs alone; one that a new install needs too, it gets wherever nothing of the manager has run.
    private func new(_ event: SmallEvent, _ outcome: SmallOutcome, _ found: [Place: SmallData]) -> String? {
        for step in app.steps where step.onFreshInstall != .skip {
            guard let memory = places[step.place], let data = found[step.place] else { continue }
            let life = memory.managers[step.manager] ?? Life()
            let runs = data.runs[step.id] ?? 0
            let runsBefore = memory.data.runs[step.id] ?? 0
            if step.onFreshInstall == .only, runs > runsBefore, life.hasFound {
                return "\(step.id) has run on an install that is not new"
            }
            guard case .launch(_, .whole, _) = event, outcome.results[step.manager] == .finished,
                let count = life.owed[step.id], !isDowngrade(step.place, step.manager),
                app.steps(of: step.manager, in: release).contains(step), !step.isDeferred
            else { continue }
            if runs <= count { return "\(step.id) has not run on a new install" }
        }
        return nil
    }

    /// What the app has asked for once more has run after the next launch.
    private func again(_ event: SmallEvent, _ outcome: SmallOutcome, _ found: [Place: SmallData]) -> String? {
        guard case .launch(_, .whole, _) = event else { return nil }
        for (place, memory) in places {
            for (id, count) in memory.reruns {
                guard let step = app.step(id), outcome.results[step.manager] == .finished,
                    app.steps(of: step.manager, in: release).contains(step),
                    !isDowngrade(place, step.manager), !isExcused(step, outcome)
                else { continue }
                if found[place]?.runs[id] ?? 0 <= count { return "\(id) has not run again" }
            }
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
        where app.managers[manager].hasVersionChanges && result == .finished && isHeldBack(manager) == false {
            let begun = places[store]?.managers[manager]?.begun
            let life = before.places[store]?.managers[manager]
            let last = life?.floor == nil ? nil : life?.launched
            let new = found[.files]?.changes[manager] ?? []
            let old = before.places[.files]?.data.changes[manager] ?? []
            if let last, last < release.number, new.last != release.number {
                return "no closure has run for the change from \(last).0 to \(release.number).0"
            }
            if last == release.number, (begun ?? []).isSubset(of: [release.number]), new != old {
                return "a closure has run though the version has not changed"
            }
        }
        return nil
    }

    /// An extension changes nothing, an older release leaves the values as a newer one has left them, and tables that are
    /// refused stay as they are, at every launch.
    ///
    /// No manager goes on where its records cannot be understood, or where nothing says how old the data is.
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
        if let blind { return "a launch goes on, though nothing says how old \(blind) is" }
        if event.isFromExtension, outcome.changes > 0 {
            return "an extension has changed a place"
        }
        if case .launch = event {
            for (manager, result) in outcome.results.enumerated() where result == .finished {
                let damaged = placesUsed(by: manager).first {
                    places[recordPlace($0)]?.isDamaged == true
                }
                if let damaged { return "a launch has succeeded although \(damaged) is damaged" }
            }
        }
        return places.lazy.compactMap { place, memory in
            let highest = memory.managers.values.compactMap(\.finished).max() ?? 0
            guard highest > release.number, app.managers.count == 1,
                found[place]?.values != memory.data.values
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

    /// A launch that stops has a reason that the app can see, and one in whose way there is none does not stop.
    ///
    /// That is a step that fails or asks to wait, one in which the process has died too often, data of a newer release, data
    /// of which nothing says how old it is, records that cannot be understood, a cancellation, or tables that are not what
    /// they are adopted as. An extension is also kept out as long as the app has something to do. Work in which the process
    /// has died too often does not begin again in that build.
    private func explained(
        _ event: SmallEvent, _ outcome: SmallOutcome, _ before: Promises
    ) -> String? {
        for id in Set(outcome.entered) where event.retried?.id != id {
            let fatal = before.places[place(of: SmallWork(id: id))]?.fatal[id]
            if let fatal, fatal.release == release, fatal.count >= Self.maximumAttempts {
                return "\(id) begins again, though the process has died in it \(fatal.count) times"
            }
        }
        for (manager, result) in outcome.results.enumerated() {
            guard case .stopped(let code) = result else { continue }
            let used = placesUsed(by: manager)
            let isExplained =
                switch code {
                case "stepFailed":
                    outcome.failed.keys.contains(where: isMandatory)
                        || lacksTable(manager, before)
                        || app.move(in: release)?.isVerified == true && places[.database(0)]?.isOld == true
                case "postponed": outcome.postponed.contains(where: isMandatory)
                case "gaveUp":
                    used.contains { place in
                        (places[place]?.fatal.keys.map { $0 } ?? [0]).contains { mayBeGivenUp($0, in: place) }
                            || mayBeGivenUp(0, in: place)
                    }
                case "undecided":
                    used.contains { start(of: manager, in: $0, release) == .undecided }
                        // Tables beside records that were replaced may be old, or not.
                        || app.managers[manager].asks(for: .tables)
                            && places[.database(0)]?.replaced.isEmpty == false
                        || meetsDamageBesideTables(manager)
                        // It knows no build of the app, which alone could say that tables are new.
                        || event.isFromExtension && !(before.isSettled && before.release == release)
                case "newerThanThisProcess": app.places.contains(where: isDowngrade)
                case "notYetMigrated": !before.isSettled || before.release != release
                case "damagedStore": meetsDamage(manager)
                case "cancelled": outcome.wasCancelled
                default: false
                }
            if !isExplained { return "stops with \(code), and nothing is the matter" }
        }
        return nil
    }

    /// True if records of a manager cannot be understood, or went when a manager of another line replaced them.
    private func meetsDamage(_ manager: Int) -> Bool {
        placesUsed(by: manager).map(recordPlace).contains {
            places[$0]?.isDamaged == true || isForgotten($0, manager)
        }
    }

    /// True if the records cannot be understood that lie beside the tables by which a manager is adopted.
    private func meetsDamageBesideTables(_ manager: Int) -> Bool {
        app.managers[manager].asks(for: .tables) && places[.database(0)]?.isDamaged == true
    }

    /// True if the process may have died in a work as often as to give up on it.
    private func mayBeGivenUp(_ id: Int, in place: Place) -> Bool {
        guard let memory = places[place] else { return false }
        let fatal = memory.fatal[id].map { $0.release == release ? $0.count : 0 } ?? 0
        // Where it is known no more in what the process has died, it may have been this.
        return fatal + (memory.deaths[release] ?? 0) >= Self.maximumAttempts
    }

    /// True if the failure of a step stops its manager.
    private func isMandatory(_ id: Int) -> Bool {
        guard let step = app.step(id) else { return true }
        return !step.isDeferred || app.deadline(of: step, in: release) != nil
    }

    /// True if a newer release keeps a step from running without which no launch is complete; nil if it may do so.
    func isHeldBack(_ manager: Int) -> Bool? {
        var isPossible = false
        for step in app.steps(of: manager, in: release)
        where !step.isDeferred && step.onFreshInstall != .only {
            guard let memory = places[step.place], isDowngrade(step.place, manager) else { continue }
            guard let life = memory.managers[manager], let floor = life.floor else { return true }
            guard life.isCertain else {
                isPossible = true
                continue
            }
            // What a closure has done may not have been recorded.
            let isRun = memory.data.runs[step.id] != nil && memory.repeats[step.id] == nil
            if isRun, mayRepeat(step.id) {
                isPossible = true
                continue
            }
            if isRun || memory.skipped.contains(step.id) || life.unneeded.contains(step.id) { continue }
            if step.version > floor, memory.repeats[step.id] == nil { return true }
            isPossible = true
        }
        if hasMove(.database(0), manager, release), isDowngrade(.database(0), manager),
            places[.database(0)]?.data.runs[SmallApp.Move.mark] == nil
        {
            isPossible = true
        }
        return isPossible ? nil : false
    }

    /// True if a step goes over the rows of a table that the app has not made.
    private func lacksTable(_ manager: Int, _ before: Promises) -> Bool {
        app.steps(of: manager, in: release).contains { $0.work == .rows && !before.hasTables($0.place) }
    }

    /// A call for the recovery screen changes no value.
    ///
    /// What a launch has stopped at can be skipped, and what is not damaged is not replaced.
    private func called(
        _ call: SmallEvent.Call, _ outcome: SmallOutcome, _ found: [Place: SmallData], _ before: Promises
    ) -> String? {
        for (place, data) in found where data != places[place]?.data { return "a call has changed \(place)" }
        let manager = app.manager(of: call)
        let used = placesUsed(by: manager)
        if case .replaceRecord = call {
            let healthy = used.first {
                outcome.hasChanged(recordPlace($0), manager) && places[recordPlace($0)]?.isDamaged != true
                    && !isForgotten(recordPlace($0), manager)
            }
            if let healthy { return "the record of \(healthy) was replaced, and nothing is wrong with it" }
        }
        guard let result = outcome.results[manager] else { return nil }
        switch (call, result) {
        // The app's code relies on its tables.
        case (.skip(.move), .finished): return "a schema step was skipped"
        case (.skip(let work), .stopped("misuse")) where culprits[manager] == work && work != .move:
            return "the launch has stopped at \(work), and it cannot be skipped"
        case (.skip(let work), .finished)
        where !outcome.hasChanged(recordPlace(self.place(of: work)), manager):
            return "\(work) was skipped, and nothing was written"
        case (_, .stopped("misuse")), (_, .finished): return nil
        case (_, .stopped("damagedStore")) where meetsDamage(manager): return nil
        case (.skip, .stopped("undecided"))
        where used.contains { start(of: manager, in: $0, release) == .undecided }
            || meetsDamageBesideTables(manager):
            return nil
        case (_, .stopped(let code)): return "a call stops with \(code), and nothing is the matter"
        }
    }
}
