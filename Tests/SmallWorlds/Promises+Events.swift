// What an event changes in what is promised.

extension Promises {
    mutating func begin(_ release: SmallRelease, _ outcome: SmallOutcome, _ found: [Place: SmallData]) {
        self.release = release
        blind = nil
        let mark = SmallApp.Move.mark
        let hasMoved = found[.database(0)]?.runs[mark] != places[.database(0)]?.data.runs[mark]
        for manager in app.managers(in: release) where outcome.changed[manager]?.isEmpty == false {
            let starts = placesUsed(by: manager).map { ($0, start(of: manager, in: $0, release)) }
            for (place, start) in starts where outcome.hasChanged(recordPlace(place), manager) {
                let goesOn = start == .undecided && outcome.results[manager] == .finished
                if goesOn, places[place]?.seen.isEmpty == true { blind = place }
                meet(place, manager, start)
            }
            for id in outcome.ran where app.manager(of: id) == manager {
                switch app.step(id)?.work {
                case nil, .transaction, .imports: places[app.place(of: id)]?.hasTables = true
                default: break
                }
            }
            if manager == 0, hasMoved { places[.database(0)]?.hasTables = true }
        }
    }

    mutating func meet(_ place: Place, _ manager: Int, _ start: Start) {
        guard var memory = places[place] else { return }
        var life = memory.managers[manager] ?? Life()
        let line = line(manager)
        if case .begins(let beginning) = start {
            begin(beginning, manager, at: place, &life, &memory)
        }
        if start == .notAtAll, place == store, memory.seen[line] == nil {
            // Its databases have told that a newer release was there.
            let newest = app.places.compactMap { places[$0]?.seen[line]?.map(\.release).max() }.max()
            memory.seen[line] = newest.map {
                [Seen(release: $0, isNamed: true, namedBy: release)]
            }
        }
        let seen = memory.seen[line] ?? []
        // The first build of each version.
        if !seen.contains(where: { $0.release.number == release.number && !$0.isNamed }) {
            let isVisit = seen.contains { $0.release.number > release.number }
            memory.seen[line, default: []].append(Seen(release: release, isVisit: isVisit))
        }
        memory.newest = max(memory.newest ?? release, release)
        life.begun.insert(release.number)
        if life.floor != nil { life.highest = max(life.highest, release.number) }
        memory.managers[manager] = life
        places[place] = memory
    }

    private mutating func begin(
        _ beginning: Beginning, _ manager: Int, at place: Place, _ life: inout Life, _ memory: inout Memory
    ) {
        life = Life(
            floor: beginning.floor, deferredFloor: beginning.deferredFloor, databases: life.databases,
            isRemoved: life.isRemoved)
        life.isCertain = beginning.isCertain
        if beginning.isFresh { life.newIn = release }
        life.hasFound = beginning.owesOnly == false
        // The first launch has come to the version at which the data is taken to be.
        life.highest = beginning.floor / 10
        for step in app.steps(of: manager, in: release) where step.place == place {
            let rule = step.onFreshInstall
            let owesOnly = beginning.owesOnly == true && step.version <= beginning.floor
            if rule == .run && beginning.owesRun == true || rule == .only && owesOnly {
                life.owed[step.id] = memory.data.runs[step.id] ?? 0
            }
            if beginning.isCertain, life.owed[step.id] == nil, rule != .only,
                rule == .skip || beginning.owesRun == false,
                !(beginning.isLost && step.work == .deferredClosure),
                beginning.isFresh
                    || step.version <= (step.work == .deferredClosure ? beginning.deferredFloor : nil)
                        ?? beginning.floor
            {
                life.unneeded.insert(step.id)
            }
            let isDenied = beginning.isDenied && step.version / 10 == beginning.floor / 10
            if beginning.isFresh || isDenied || hasMoved(step) {
                memory.notNeeded[step.id, default: []].formUnion(memory.data.values.keys)
            }
        }
        if beginning.isFresh, place == .database(0), manager == 0 {
            memory.notNeeded[SmallApp.Move.mark, default: []].formUnion(memory.data.values.keys)
        }
        // Data of unknown age is older than any version.
        let isOlder = beginning.floor == 0 && !beginning.isFresh
        guard beginning.isAnswer || beginning.isKept || isOlder else { return }
        let named = Seen(
            release: SmallRelease(beginning.floor / 10), isNamed: true, namedBy: release,
            isDoubtful: !beginning.isCertain)
        if beginning.isAnswer { memory.answered.insert(line(manager)) }
        // What has been launched may also be named: then it is not new with this build.
        let line = line(manager)
        if let index = memory.seen[line]?.firstIndex(where: { $0.release == named.release && $0.isNamed }) {
            if named.isDoubtful { memory.seen[line]?[index].isDoubtful = true }
        } else {
            // A place notes versions in the order in which they come: what it had seen before stays first.
            memory.seen[line, default: []].append(named)
        }
    }

    /// True if a step of the same version was in the store, and this build has it no longer: it is taken for the same.
    private func hasMoved(_ step: Step) -> Bool {
        let here = app.steps(of: step.manager, in: release)
        return app.steps.contains { other in
            other.manager == step.manager && other.version == step.version && other.id != step.id
                && recordPlace(other.place) == store && recordPlace(step.place) != store
                && !here.contains(other)
                && isSettled(other)
        }
    }

    /// True if a step of the store may have come to its end.
    private func isSettled(_ step: Step) -> Bool {
        [store, .files].compactMap { places[$0] }.contains { memory in
            memory.data.runs[step.id] != nil || memory.skipped.contains(step.id)
        }
    }

    /// Notes that a release was launched that does not open all places in which processes have died.
    ///
    /// It takes the lock that tells of a death, without finding what the process died in there.
    mutating func forgetDeathsElsewhere() {
        for manager in app.managers(in: release) {
            let used = placesUsed(by: manager)
            for place in places.keys where !used.contains(place) {
                for (id, fatal) in places[place]?.fatal ?? [:]
                where app.manager(of: id) == manager && fatal.release != release {
                    places[place]?.deaths[fatal.release, default: 0] += fatal.count
                    places[place]?.fatal[id] = nil
                }
            }
        }
    }

    /// Notes deaths.
    mutating func note(_ outcome: SmallOutcome, retried: SmallWork?) {
        // Once another build has begun a work, deaths in an earlier one need not count.
        for id in outcome.entered {
            let place = place(of: SmallWork(id: id))
            guard let fatal = places[place]?.fatal[id], fatal.release != release else { continue }
            forgetDeaths(in: id, place, isCertain: false)
        }
        // Where the process has died after a body, its end may not have been written.
        for id in outcome.advanced.union(outcome.died ? [] : outcome.ran) {
            let place = place(of: SmallWork(id: id))
            if id < 0, outcome.died || outcome.wasCancelled, let fatal = places[place]?.fatal[id],
                fatal.release == release
            {
                // Then it is not known whether it was done.
                places[place]?.deaths[release, default: 0] += fatal.count
            }
            places[place]?.fatal[id] = nil
        }
        for place in places.keys where outcome.died {
            if outcome.diedIn == nil { places[place]?.deaths[release, default: 0] += 1 }
            places[place]?.mayRepeat = true
        }
        // A release that does not have the step forgets nothing of it, nor one that has died, or was cancelled, before it has begun.
        if let retried,
            app.step(retried.id).map({ app.steps(of: $0.manager, in: release).contains($0) })
                ?? (places[self.place(of: retried)]?.fatal[retried.id]?.release == release)
        {
            // Nothing is retried where a newer release holds the place back.
            let isHeld = isDowngrade(self.place(of: retried), app.manager(of: retried))
            forgetDeaths(
                in: retried.id, self.place(of: retried),
                isCertain: !isHeld
                    && (!outcome.died && !outcome.wasCancelled || outcome.entered.contains(retried.id)))
        }
        guard let id = outcome.diedIn else { return }
        let place = id < 0 ? store : app.place(of: id)
        var fatal = places[place]?.fatal[id] ?? Fatal(release: release)
        if fatal.release != release { fatal = Fatal(release: release) }
        // A launch in which the schema has got further is none that died without progress.
        if id != SmallApp.Move.mark || !outcome.advanced.contains(id) { fatal.count += 1 }
        places[place]?.fatal[id] = fatal
    }

    /// Notes what has happened to the places besides launches.
    mutating func apply(_ event: SmallEvent, _ outcome: SmallOutcome, _ found: [Place: SmallData]) {
        switch event {
        case .launch, .twice, .runDeferred: return
        case .oldInstall:
            for (place, data) in found { places[place] = Memory(old: data) }
        case .write(let write): noteWritten(write, found)
        case .call(let call, _):
            if outcome.died { places[store]?.mayRepeat = true }
            apply(call, outcome)
        case .damage(let place): places[place]?.isDamaged = true
        case .lose(let place):
            let memory = places[place]
            places[place] = place == .files ? memory?.withoutRecord : Memory()
            if place == store { places[.files] = places[.files]?.withoutRecord }
        case .restore(let place, let event):
            for part in parts(place) {
                places[part] = past[event - 1][part]
                places[part]?.hasComeBack = true
            }
        case .replace(let place):
            places[place] = found[place].map { Memory(old: $0) }
            if place == store { places[.files] = places[.files]?.withoutRecord }
        }
        switch event {
        case .lose, .restore, .replace, .damage:
            // Whether the process has died in what is running there is known no more.
            for place in places.keys {
                for fatal in places[place]?.fatal.values ?? [:].values {
                    places[place]?.deaths[fatal.release, default: 0] += fatal.count
                }
                places[place]?.fatal = [:]
            }
        default: break
        }
    }

    /// Notes that the first database has got its tables, which leaves the move less to do: it has got further.
    mutating func noteTables(_ before: Promises) {
        for (place, memory) in places where memory.data.hasTables && !memory.hasTables {
            if before.places[place]?.data.hasTables == false { places[place]?.hasLateTables = true }
        }
        let place = Place.database(0)
        guard places[place]?.data.hasTables == true, before.places[place]?.data.hasTables == false else {
            return
        }
        forgetDeaths(in: SmallApp.Move.mark, place, isCertain: false)
    }

    private mutating func noteWritten(_ write: SmallEvent.Write, _ found: [Place: SmallData]) {
        for (place, data) in found {
            let new = data.values.keys.filter { places[place]?.data.values[$0] == nil }
            if isDowngrade(place) || (places[place]?.newest).map({ $0 > release }) == true {
                places[place]?.late.formUnion(new)
            }
            let isAnywhere = write == .insert || places[place]?.hasLateTables == true
            for step in app.steps where step.work == .rows && step.place == place {
                guard isAnywhere || waitsBehindAnother(step) else { continue }
                places[place]?.between[step.id, default: []].formUnion(new)
            }
        }
    }

    /// True for a deferred step behind another one, which may leave it other rows: it finds its own when its turn has come.
    private func waitsBehindAnother(_ step: Step) -> Bool {
        app.steps(of: step.manager, in: release).prefix { $0 != step }.contains { other in
            guard other.isDeferred else { return false }
            let memory = places[other.place]
            return memory?.data.runs[other.id] == nil || memory?.repeats[other.id] != nil
        }
    }

    mutating func end(_ event: SmallEvent, _ outcome: SmallOutcome) {
        guard case .launch(_, let launch, let fault) = event else {
            switch event {
            case .write: break
            case .lose, .restore, .replace, .damage, .call: (isRunning, isSettled) = (false, false)
            default:
                isSettled = false
                if outcome.died { isRunning = false }
            }
            culprits = [:]
            return
        }
        // Where the process has died, or a newer release may hold something back, the package alone knows.
        for manager in app.managers(in: release) {
            let isUnknown = isHeldBack(manager) != false || outcome.died
            for place in placesUsed(by: manager) {
                if isUnknown, outcome.completed[manager]?.contains(recordPlace(place)) == true {
                    places[place]?.managers[manager]?.finished = release.number
                }
                if isUnknown || isDowngrade(place, manager),
                    outcome.listed[manager]?.contains(place) == true
                {
                    noteListed(place, manager)
                }
            }
        }
        culprits = outcome.culprits
        isRunning = !outcome.died
        isSettled = fault == nil && outcome.failed.isEmpty && outcome.postponed.isEmpty
        for manager in app.managers(in: release) where outcome.results[manager] != .finished {
            (isRunning, isSettled) = (false, false)
        }
        if case .through = launch {
            (isRunning, isSettled) = (false, false)
            return
        }
        for (manager, result) in outcome.results.enumerated() where result == .finished {
            let isHeldBack = isHeldBack(manager)
            for place in placesUsed(by: manager) {
                guard var life = places[place]?.managers[manager] else { continue }
                life.launched = isHeldBack == false ? release.number : nil
                life.begun = []
                for (step, count) in life.owed where (places[place]?.data.runs[step] ?? 0) > count {
                    life.owed[step] = nil
                }
                places[place]?.managers[manager] = life
                if isHeldBack == false, !isDowngrade(place, manager) {
                    places[place]?.managers[manager]?.finished = release.number
                    noteListed(place, manager)
                }
                for (step, count) in places[place]?.reruns ?? [:]
                where (places[place]?.data.runs[step] ?? 0) > count { places[place]?.reruns[step] = nil }
            }
        }
    }

    /// Notes that a manager has listed a database in its store.
    private mutating func noteListed(_ place: Place, _ manager: Int) {
        // A manager that has not begun in its store, as beside a newer release, has no list there.
        guard place != store, let life = places[place]?.managers[manager],
            places[store]?.managers[manager]?.floor != nil
        else { return }
        places[store]?.managers[manager]?.databases.insert(place)
        // Where it may be that nothing was removed, a newer release holds the place back.
        if !life.isCertain { places[store]?.managers[manager]?.isCertain = false }
    }
}

// The functions for an app's recovery screen.
extension Promises {
    private mutating func apply(_ call: SmallEvent.Call, _ outcome: SmallOutcome) {
        let manager = app.manager(of: call)
        // At most, a death was found.
        switch (call, outcome.results[manager]) {
        case (_, .stopped("misuse")), (.skip, .stopped), (.rerun, .stopped): return
        default: break
        }
        if case .skip = call {
            // It begins the launch, if that has not begun, and may be the first call of the manager.
            let starts = placesUsed(by: manager).map { ($0, start(of: manager, in: $0, release)) }
            for (place, start) in starts where outcome.hasChanged(recordPlace(place), manager) {
                meet(place, manager, start)
            }
        }
        func hasChanged(_ place: Place) -> Bool { outcome.hasChanged(recordPlace(place), manager) }
        switch call {
        case .skip(let work):
            let place = self.place(of: work)
            guard hasChanged(place), work != .move else { return }
            if case .versionChange = work {
                places[store]?.managers[manager]?.launched = release.number
            } else {
                places[place]?.skipped.insert(work.id)
            }
            forgetDeaths(in: work.id, place)
            places[place]?.managers[manager]?.owed[work.id] = nil
            places[place]?.reruns[work.id] = nil
        case .rerun(let work):
            guard case .step(let id) = work, let step = app.step(id) else {
                if case .versionChange = work { places[store]?.managers[manager]?.launched = nil }
                return
            }
            if hasChanged(step.place) { rerun(step) }
        case .rerunAllSteps:
            for place in placesUsed(by: manager) where hasChanged(place) {
                // Those for new installs alone stay as they are, and so do those that a later release registers.
                for step in app.steps(of: manager, in: release)
                where step.place == place && step.onFreshInstall != .only {
                    rerun(step)
                }
            }
        case .removeRecord:
            removed.insert(manager)
            for place in placesUsed(by: manager) where hasChanged(place) {
                var life = Life()
                life.isRemoved = true
                places[place]?.managers[manager] = life
                forget(place, manager)
                places[place]?.mayRepeat = true
                for step in app.steps where step.manager == manager {
                    places[place]?.repeats[step.id, default: 0] += 1
                }
            }
        case .replaceRecord(_, let version):
            for place in placesUsed(by: manager) where hasChanged(place) {
                if isForgotten(recordPlace(place), manager) {
                    assume(version, place, manager)
                } else if places[recordPlace(place)]?.isDamaged == true {
                    replace(place, manager, at: version)
                }
            }
            for place in placesUsed(by: manager) where hasChanged(place) {
                places[recordPlace(place)]?.isDamaged = false
            }
        }
    }

    private mutating func rerun(_ step: Step) {
        let place = step.place
        forgetDeaths(in: step.id, place)
        guard var memory = places[place], memory.managers[step.manager]?.floor != nil else { return }
        memory.skipped.remove(step.id)
        memory.managers[step.manager]?.owed[step.id] = nil
        memory.managers[step.manager]?.unneeded.remove(step.id)
        memory.managers[step.manager]?.again.insert(step.id)
        if step.onFreshInstall != .only {
            memory.notNeeded[step.id] = nil
            memory.repeats[step.id, default: 0] += 1
            if !step.isDeferred { memory.reruns[step.id] = memory.data.runs[step.id] ?? 0 }
        }
        places[place] = memory
    }

    /// True if a manager of another line has replaced what was damaged, and this one's line is unknown there since.
    func isForgotten(_ place: Place, _ manager: Int) -> Bool {
        guard let memory = places[place], !memory.isDamaged, !memory.replaced.isEmpty else { return false }
        return memory.replaced[line(manager)] == nil && memory.managers[manager]?.floor == nil
    }

    /// Names the version of data for a line, after a manager of another one has replaced what was damaged.
    private mutating func assume(_ version: Int, _ place: Place, _ manager: Int) {
        let line = line(manager)
        places[place]?.replaced[line] = version
        places[place]?.answered.insert(line)
        places[place]?.seen[line, default: []].insert(
            Seen(release: SmallRelease(version / 10), isNamed: true), at: 0)
    }

    private mutating func replace(_ place: Place, _ manager: Int, at version: Int) {
        let line = line(manager)
        places[place]?.managers = [:]
        places[place]?.seen = [
            line: [Seen(release: SmallRelease(version / 10), isNamed: true)]
        ]
        places[place]?.answered = [line]
        places[place]?.replaced = [line: version]
        places[place]?.mayRepeat = true
        places[place]?.deaths = [:]
        for step in app.steps where step.place == place {
            places[place]?.repeats[step.id, default: 0] += 1
        }
        for other in app.managers.indices { forget(place, other) }
    }

    /// Forgets what was remembered of a manager's steps.
    private mutating func forget(_ place: Place, _ manager: Int) {
        for step in app.steps where step.manager == manager && step.place == place {
            places[place]?.skipped.remove(step.id)
            forgetDeaths(in: step.id, place)
            places[place]?.reruns[step.id] = nil
        }
        if place == .database(0), manager == 0 {
            places[place]?.skipped.remove(SmallApp.Move.mark)
            forgetDeaths(in: SmallApp.Move.mark, place)
        }
        if place == store {
            forgetDeaths(in: SmallWork.versionChange(manager).id, place)
        }
    }

    /// Forgets how often processes have died in a work, or only that it was this one in which they have died.
    private mutating func forgetDeaths(in id: Int, _ place: Place, isCertain: Bool = true) {
        guard let fatal = places[place]?.fatal.removeValue(forKey: id), !isCertain else { return }
        places[place]?.deaths[fatal.release, default: 0] += fatal.count
    }

    func place(of work: SmallWork) -> Place {
        if case .versionChange = work { store } else { app.place(of: work.id) }
    }
}

extension SmallApp {
    /// The manager that a function is called of.
    package func manager(of call: SmallEvent.Call) -> Int {
        switch call {
        case .skip(let work), .rerun(let work): manager(of: work)
        case .rerunAllSteps(let manager), .removeRecord(let manager), .replaceRecord(let manager, _): manager
        }
    }
}
