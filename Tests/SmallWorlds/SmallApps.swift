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
            weight += manager.since.build - 1
            weight += manager.hasVersionChanges ? 1 : 0
            // All managers of an app normally give the same answer.
            if index == 0 {
                weight += manager.adopting == .newApp ? 0 : 1
            } else {
                weight += manager.adopting == managers[0].adopting ? 0 : 1
            }
            weight += manager.or == nil ? 0 : 1
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
            if Int.random(in: 0..<6, using: &numbers) == 0 { app.addImport(using: &numbers) }
            if Int.random(in: 0..<4, using: &numbers) == 0 { app.addSecondStep(using: &numbers) }
            app.addEvidence(using: &numbers)
            if app.isSound { return app }
        }
    }

    /// Lets managers ask for other evidence, and for more.
    private mutating func addEvidence(using numbers: inout some RandomNumberGenerator) {
        for index in managers.indices {
            if Int.random(in: 0..<6, using: &numbers) == 0 { managers[index].adopting = .key }
            guard Int.random(in: 0..<4, using: &numbers) == 0 else { continue }
            let others = Adopting.allCases.filter { $0 != managers[index].adopting }
            managers[index].or = others.randomElement(using: &numbers)
        }
    }

    /// Adds a new database, and the deletion of the files that were imported into it.
    private mutating func addImport(using numbers: inout some RandomNumberGenerator) {
        let manager = managers.indices.randomElement(using: &numbers) ?? 0
        steps.removeAll { $0.place == .database(1) || $0.version == 20 || $0.version == 21 }
        steps.append(Step(20, .imports, in: .database(1), manager: manager))
        steps.append(Step(21, .removal, manager: manager))
        if Bool.random(using: &numbers), move == nil { move = Move(30) }
        if Int.random(in: 0..<3, using: &numbers) == 0, !steps.contains(where: { $0.version == 10 }) {
            steps.append(Step(10, .transaction, in: .database(0), manager: manager, onFreshInstall: .only))
        }
        steps.sort { $0.version < $1.version }
    }

    /// Adds a step for a version that another step has, in another place.
    private mutating func addSecondStep(using numbers: inout some RandomNumberGenerator) {
        guard let other = steps.randomElement(using: &numbers), other.id < 100 else { return }
        let found = candidates(other.version).filter {
            $0.manager == other.manager && $0.place != other.place && $0.options == 0
        }
        guard var step = found.randomElement(using: &numbers) else { return }
        step.id += 100
        steps.append(step)
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
            add { $0.steps[index].finishes = nil }
            add { $0.steps[index].enforcesForeignKeys = false }
            add { $0.steps[index].since = SmallRelease($0.steps[index].version / 10) }
            add { if $0.steps[index].place == .database(1) { $0.steps[index].place = .database(0) } }
            add { $0.steps[index].manager = 0 }
        }
        add { $0.move = nil }
        add { $0.move?.finishes = nil }
        add { $0.move?.isVerified = false }
        add { if $0.managers.count > 1 { $0.managers.removeLast() } }
        for index in managers.indices {
            add { $0.managers[index].or = nil }
            add { $0.managers[index].adopting = $0.managers[index].or ?? .newApp }
            add { $0.managers[index].adopting = .newApp }
            add { $0.managers[index].adopting = .version }
            add { $0.managers[index].hasOwnLine = false }
            add { $0.managers[index].hasVersionChanges = false }
            add { $0.managers[index].since = 1 }
        }
        add { $0.storeInDatabase = false }
        return apps.filter { $0.weight < weight }
    }

    /// The managers that an app can have, but for evidence that random apps alone have.
    private static func teams() -> [[Manager]] {
        let kinds: [Adopting] = [.newApp, .tables, .file, .version]
        return kinds.flatMap { adopting in
            [false, true].flatMap { hasVersionChanges in
                let first = Manager(adopting: adopting, hasVersionChanges: hasVersionChanges)
                let seconds = kinds.flatMap { adopting in
                    (releases.map { SmallRelease($0) } + [.secondBuild(of: 2)]).flatMap { since in
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
            $0.isDeferred && $0.manager == manager && $0.version < version
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
                        let release = version / 10
                        for since in [SmallRelease(release), .secondBuild(of: release), .init(release + 1)] {
                            let step = Step(
                                version, work, in: place, manager: manager, since: since,
                                onFreshInstall: rule)
                            found.append(step)
                            if work == .transaction {
                                var strict = step
                                strict.enforcesForeignKeys = true
                                found.append(strict)
                            }
                            for finished in finishable(before: version, by: manager) {
                                var finisher = step
                                finisher.finishes = finished
                                found.append(finisher)
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
            // What is finished is registered before.
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
        if managers.contains(where: { $0.asks(for: .tables) }), !usesDatabase { return false }
        let hasImport = steps.contains { $0.work == .imports }
        if places.contains(.database(1)), !usesDatabase, !hasImport { return false }
        // A second manager without a step does nothing.
        if managers.count > 1 {
            guard steps.contains(where: { $0.manager == 1 }) else { return false }
        }
        // What is finished must be registered whenever what finishes it is.
        for step in steps {
            if let finishes = step.finishes,
                steps.contains(where: { $0.isDeferred && $0.version == finishes && $0.since > step.since })
            {
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
        if let move, let finishes = move.finishes,
            steps.contains(where: {
                $0.isDeferred && $0.version == finishes && $0.since > SmallRelease(move.version / 10)
            })
        {
            return false
        }
        return hasSoundPlaces
    }

    /// True if each version has one step of a manager in a place, and what an import brings is used by later steps alone.
    private var hasSoundPlaces: Bool {
        for (index, step) in steps.enumerated() {
            for other in steps[..<index] where other.version == step.version {
                if other.manager != step.manager || other.place == step.place { return false }
            }
        }
        let (copy, removal) = (steps.first { $0.work == .imports }, steps.first { $0.work == .removal })
        guard let copy else { return removal == nil }
        if steps.contains(where: { $0.place == copy.place && $0.id != copy.id && $0.version <= copy.version })
        {
            return false
        }
        if let removal, removal.version <= copy.version || removal.manager != copy.manager { return false }
        // What is copied is in the form of the files.
        if steps.contains(where: { $0.place == .files && $0.id != removal?.id }) { return false }
        return managers[copy.manager].since <= copy.since
    }
}

extension SmallApp.Step {
    fileprivate var options: Int {
        (place == .database(1) ? 1 : 0) + (isPunctual ? 0 : 1) + (onFreshInstall == .skip ? 0 : 1)
            + (finishes == nil ? 0 : 1) + (enforcesForeignKeys ? 1 : 0)
    }

    fileprivate var isSound: Bool {
        if since.number > 3 { return false }
        if finishes != nil, isDeferred || onFreshInstall == .only { return false }
        if onFreshInstall == .only, isDeferred { return false }
        return true
    }
}
