// All small apps, smallest first.

extension SmallApp {
    /// The number of parts of which the app is made: a step, a move, a second manager, and each option that is not the
    /// default.
    package var weight: Int {
        var weight = storeInDatabase ? 1 : 0
        for step in steps { weight += 1 + step.options }
        if let move { weight += 1 + (move.finishes == nil ? 0 : 1) + (move.isVerified ? 1 : 0) }
        for (index, manager) in managers.enumerated() {
            weight += (index > 0 ? 1 : 0) + (manager.since > 1 ? 1 : 0) + (manager.hasOwnLine ? 1 : 0)
            weight += manager.hasVersionChanges ? 1 : 0
            // All managers of an app normally give the same answer.
            if index == 0 {
                weight += manager.adopting == .newApp ? 0 : 1
            } else {
                weight += manager.adopting == managers[0].adopting ? 0 : 1
            }
        }
        return weight
    }

    /// The versions that steps are registered for.
    private static let versions = [10, 20, 21, 30]
    private static let mostSteps = 3

    /// All apps of one weight.
    package static func all(weighing weight: Int) -> [SmallApp] {
        var apps: [SmallApp] = []
        for managers in teams() {
            for storeInDatabase in [false, true] {
                let app = SmallApp(managers: managers, storeInDatabase: storeInDatabase)
                if app.weight <= weight { app.addSteps(after: 0, weighing: weight, to: &apps) }
            }
        }
        return apps
    }

    /// Returns some app, with up to three steps.
    package static func random(using numbers: inout some RandomNumberGenerator) -> SmallApp {
        while true {
            var app = SmallApp(managers: teams().randomElement(using: &numbers) ?? [Manager()])
            app.storeInDatabase = Int.random(in: 0..<4, using: &numbers) == 0
            for version in versions where app.steps.count < mostSteps && Bool.random(using: &numbers) {
                // Half of the steps have no option.
                let found = app.candidates(version)
                let plain = found.filter { $0.options == 0 || $0.finishes != nil }
                let step = (Bool.random(using: &numbers) ? plain : found).randomElement(using: &numbers)
                if let step { app.steps.append(step) }
            }
            if Int.random(in: 0..<3, using: &numbers) == 0 {
                let version = [20, 30].randomElement(using: &numbers) ?? 20
                let finished = [nil] + app.finishable(before: version, by: 0).map(Optional.some)
                app.move = Move(
                    version, finishes: finished.randomElement(using: &numbers) ?? nil,
                    isVerified: Int.random(in: 0..<4, using: &numbers) == 0)
            }
            if app.isSound { return app }
        }
    }

    /// The apps with a part less.
    package var smaller: [SmallApp] {
        var apps: [SmallApp] = []
        func add(_ change: (inout SmallApp) -> Void) {
            var app = self
            change(&app)
            if app != self, app.isSound { apps.append(app) }
        }
        for index in steps.indices {
            add { $0.steps.remove(at: index) }
            add { $0.steps[index].onFreshInstall = .skip }
            add { $0.steps[index].givesUpAfter = nil }
            add { $0.steps[index].finishes = nil }
            add { $0.steps[index].enforcesForeignKeys = false }
            add { $0.steps[index].since = $0.steps[index].version / 10 }
            add { if $0.steps[index].place == .database(1) { $0.steps[index].place = .database(0) } }
            add { $0.steps[index].manager = 0 }
        }
        add { $0.move = nil }
        add { $0.move?.finishes = nil }
        add { $0.move?.isVerified = false }
        add { if $0.managers.count > 1 { $0.managers.removeLast() } }
        for index in managers.indices {
            add { $0.managers[index].adopting = .newApp }
            add { $0.managers[index].adopting = .version }
            add { $0.managers[index].hasOwnLine = false }
            add { $0.managers[index].hasVersionChanges = false }
            add { $0.managers[index].since = 1 }
        }
        add { $0.storeInDatabase = false }
        return apps.filter { $0.weight < weight }
    }

    /// The managers that an app can have.
    private static func teams() -> [[Manager]] {
        Adopting.allCases.flatMap { adopting in
            [false, true].flatMap { hasVersionChanges in
                let first = Manager(adopting: adopting, hasVersionChanges: hasVersionChanges)
                let seconds = Adopting.allCases.flatMap { adopting in
                    releases.flatMap { since in
                        [false, true].map { hasOwnLine in
                            Manager(adopting: adopting, since: since, hasOwnLine: hasOwnLine)
                        }
                    }
                }
                return [[first]] + seconds.map { [first, $0] }
            }
        }
    }

    private func addSteps(after index: Int, weighing weight: Int, to apps: inout [SmallApp]) {
        addMove(weighing: weight, to: &apps)
        guard self.weight < weight, steps.count < Self.mostSteps else { return }
        for next in index..<Self.versions.count {
            for step in candidates(Self.versions[next]) {
                var app = self
                app.steps.append(step)
                if app.weight <= weight { app.addSteps(after: next + 1, weighing: weight, to: &apps) }
            }
        }
    }

    private func addMove(weighing weight: Int, to apps: inout [SmallApp]) {
        for version in [nil, 20, 30] as [Int?] {
            let finished = version.map { version in finishable(before: version, by: 0) } ?? []
            for finishes in [nil] + finished.map(Optional.some) {
                var app = self
                app.move = version.map { Move($0, finishes: finishes) }
                if app.weight == weight, app.isSound { apps.append(app) }
                app.move?.isVerified = true
                if version != nil, app.weight == weight, app.isSound { apps.append(app) }
            }
        }
    }

    /// The deferred steps of a manager that a later step may finish.
    private func finishable(before version: Int, by manager: Int) -> [Int] {
        steps.filter {
            $0.isDeferred && !$0.isBestEffort && $0.manager == manager && $0.version < version
        }.map(\.version)
    }

    /// Every step that can be registered for a version.
    private func candidates(_ version: Int) -> [Step] {
        var found: [Step] = []
        let works: [(Work, [Place])] = [
            (.closure, [.files]), (.transaction, [.database(0), .database(1)]),
            (.rows, [.database(0), .database(1)]), (.cursor, [.database(0), .database(1)]),
            (.deferredClosure, [.files]),
        ]
        for manager in managers.indices {
            for (work, places) in works {
                for place in places {
                    for rule in [FreshInstall.skip, .run, .only] {
                        for limit in [nil, 1, 2] as [Int?] {
                            for isLate in [false, true] {
                                var step = Step(
                                    version, work, in: place, manager: manager, onFreshInstall: rule,
                                    givesUpAfter: limit)
                                if isLate { step.since += 1 }
                                found.append(step)
                                if work == .transaction {
                                    step.enforcesForeignKeys = true
                                    found.append(step)
                                    step.enforcesForeignKeys = false
                                }
                                for finished in finishable(before: version, by: manager) {
                                    step.finishes = finished
                                    found.append(step)
                                }
                            }
                        }
                    }
                }
            }
        }
        return found.filter(\.isSound)
    }

    /// True if the app is no other one in disguise, and registers nothing that the package refuses.
    private var isSound: Bool {
        guard !steps.isEmpty || move != nil || managers[0].hasVersionChanges else { return false }
        for step in steps {
            guard managers.indices.contains(step.manager) else { return false }
            // What is finished cannot be best-effort, and is registered before.
            let finished = step.finishes.map {
                finishable(before: step.version, by: step.manager).contains($0)
            }
            if finished == false { return false }
        }
        if let move, let finishes = move.finishes,
            !finishable(before: move.version, by: 0).contains(finishes)
        {
            return false
        }
        let usesDatabase = places.contains(.database(0))
        if managers.contains(where: { $0.adopting == .tables }), !usesDatabase { return false }
        if places.contains(.database(1)), !usesDatabase { return false }
        // A second manager without a step does nothing.
        if managers.count > 1 {
            guard steps.contains(where: { $0.manager == 1 }) else { return false }
            // What is older than the manager is needed only by installs that the app says are older.
            let first = managers[1].adopting == .version ? min(2, managers[1].since) : managers[1].since
            if steps.contains(where: { $0.manager == 1 && $0.version < first * 10 }) { return false }
        }
        // What is finished must be registered whenever what finishes it is.
        for step in steps {
            if let finishes = step.finishes, let other = self.step(finishes), other.since > step.since {
                return false
            }
        }
        // Rows that a new install finishes need their table by then.
        for step in steps where step.onFreshInstall == .run {
            guard let finished = step.finishes.flatMap(self.step), finished.work == .rows,
                finished.onFreshInstall == .run
            else { continue }
            let isMade = move.map { $0.version <= finished.version } ?? false
            if !isMade || finished.place != .database(0) { return false }
        }
        if let move, let finishes = move.finishes, let other = step(finishes), other.since > move.version / 10
        {
            return false
        }
        return true
    }
}

extension SmallApp.Step {
    fileprivate var options: Int {
        (place == .database(1) ? 1 : 0) + (since > version / 10 ? 1 : 0) + (onFreshInstall == .skip ? 0 : 1)
            + (givesUpAfter ?? 0) + (finishes == nil ? 0 : 1) + (enforcesForeignKeys ? 1 : 0)
    }

    fileprivate var isSound: Bool {
        if since > 3 { return false }
        if finishes != nil, isDeferred || onFreshInstall == .only { return false }
        if onFreshInstall == .only, isDeferred { return false }
        return true
    }
}
