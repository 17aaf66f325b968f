/// A small app: what its releases register, by value.
///
/// It has three releases, 1.0, 2.0 and 3.0, and may have a second build of each. A version is a number: twenty stands for
/// 2.0, twenty-one for 2.0-1. A step has a number of its own, whose last two digits are its version: 120 is a second step
/// of 2.0.
package struct SmallApp: Hashable, Sendable {
    package var steps: [Step] = []
    /// Brings the first database to the second version of its schema.
    package var move: Move?
    /// In the order in which the app calls them.
    package var managers = [Manager()]
    /// True if the first database keeps the managers' records, and a JSON file otherwise.
    package var storeInDatabase = false

    package init(
        steps: [Step] = [], move: Move? = nil, managers: [Manager] = [Manager()],
        storeInDatabase: Bool = false
    ) {
        self.steps = steps
        self.move = move
        self.managers = managers
        self.storeInDatabase = storeInDatabase
    }

    package static let releases = 1...3

    package struct Manager: Hashable, Sendable {
        package var adopting = Adopting.newApp
        /// Other evidence, joined with that by `any`.
        package var or: Adopting?
        /// The release that has it first.
        package var since: SmallRelease = 1
        package var hasOwnLine = false
        package var hasVersionChanges = false

        package init(
            adopting: Adopting = .newApp, or: Adopting? = nil, since: SmallRelease = 1,
            hasOwnLine: Bool = false, hasVersionChanges: Bool = false
        ) {
            self.adopting = adopting
            self.or = or
            self.since = since
            self.hasOwnLine = hasOwnLine
            self.hasVersionChanges = hasVersionChanges
        }

        /// True if it says that no one had the app before.
        package var isNewApp: Bool { adopting == .newApp && or == nil }

        /// Returns true if it asks for evidence of a kind.
        package func asks(for evidence: Adopting) -> Bool { adopting == evidence || or == evidence }
    }

    /// The app's answer about an install without a record.
    package enum Adopting: String, Hashable, Sendable, CaseIterable {
        case newApp
        /// It is at 1.0 if the first database has tables.
        case tables
        /// It is at 1.0 if there is a file that only older versions made.
        case file
        /// It is at 1.0.
        case version
        /// It is at 1.0 exactly if there is a default that only older versions set.
        case key
    }

    package struct Step: Hashable, Sendable {
        package var id: Int
        package var work: Work
        package var place: Place
        package var manager = 0
        /// The release that registers it first: a later one than that of its version inserts it.
        package var since: SmallRelease
        package var onFreshInstall = FreshInstall.skip
        /// The version of the deferred step that it finishes.
        package var finishes: Int?
        /// True if foreign keys are enforced while it runs; only for `transaction`.
        package var enforcesForeignKeys = false

        package init(
            _ id: Int, _ work: Work, in place: Place = .files, manager: Int = 0, since: SmallRelease? = nil,
            onFreshInstall: FreshInstall = .skip, finishes: Int? = nil,
            enforcesForeignKeys: Bool = false
        ) {
            self.id = id
            self.work = work
            self.place = place
            self.manager = manager
            self.since = since ?? SmallRelease(id % 100 / 10)
            self.onFreshInstall = onFreshInstall
            self.finishes = finishes
            self.enforcesForeignKeys = enforcesForeignKeys
        }

        /// What an import adds to the key of a value.
        package static let importOffset = 1000

        package var version: Int { id % 100 }
        /// True if the release of its version has it from the first build on.
        package var isPunctual: Bool { since == SmallRelease(version / 10) }
        package var isDeferred: Bool { work == .rows || work == .cursor || work == .deferredClosure }
    }

    package enum Work: String, Hashable, Sendable {
        /// A closure, which changes every value of the files.
        case closure
        /// A step `in:` a database, which rebuilds the table of the values and changes every one of them.
        case transaction
        case rows, cursor, deferredClosure
        /// A step `in:` the second database, which the release brings: copies the values of the app's files into it.
        case imports
        /// A closure that deletes the files whose values have been copied.
        case removal
    }

    package enum FreshInstall: String, Hashable, Sendable { case skip, run, only }

    /// Schema migrations: the first makes the tables, the second rebuilds the table of the values and changes all of them.
    package struct Move: Hashable, Sendable {
        package var version: Int
        package var finishes: Int?
        /// True if old tables are compared with the schema that they are adopted at; those of release 1.0 are others.
        package var isVerified = false

        package init(_ version: Int, finishes: Int? = nil, isVerified: Bool = false) {
            self.version = version
            self.finishes = finishes
            self.isVerified = isVerified
        }

        /// Stands for the second schema migration in the trail of a value.
        package static let mark = 1
    }

    /// Where values are.
    package enum Place: Hashable, Sendable, Comparable {
        /// Files of the app's, recorded in the store.
        case files
        case database(Int)
    }

    /// The place that keeps the records of what works in files.
    package var store: Place { storeInDatabase ? .database(0) : .files }

    /// The places that the app uses, in all its releases.
    package var places: [Place] {
        let used = Set(steps.map(\.place)).union(move == nil && !storeInDatabase ? [] : [.database(0)])
        return ([.files] + used.sorted()).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// The steps that a manager registers in a release, in the order of their versions.
    package func steps(of manager: Int, in release: SmallRelease) -> [Step] {
        steps.filter { $0.manager == manager && $0.since <= release && $0.version <= release.ceiling }
            .sorted { ($0.version, $0.id) < ($1.version, $1.id) }
    }

    /// The managers of a release.
    package func managers(in release: SmallRelease) -> [Int] {
        managers.indices.filter { managers[$0].since <= release }
    }

    /// The move that a release registers.
    package func move(in release: SmallRelease) -> Move? {
        move.flatMap { $0.version <= release.ceiling ? $0 : nil }
    }

    /// Returns true if a release has a place: one whose first step is an import comes with that.
    package func has(_ place: Place, in release: SmallRelease) -> Bool {
        steps.first { $0.work == .imports && $0.place == place }.map { $0.since <= release } ?? true
    }

    /// The features of the app, by the names whose pairs are counted.
    package var features: Set<Feature> {
        var features: Set<Feature> = []
        for step in steps {
            switch step.work {
            case .closure: features.insert(.closure)
            case .transaction: features.insert(.step)
            case .rows: features.insert(.deferredRows)
            case .cursor: features.insert(.deferredCursor)
            case .deferredClosure: features.insert(.deferredClosure)
            case .imports: features.formUnion([.step, .imports])
            case .removal: features.insert(.closure)
            }
            if step.finishes != nil { features.insert(.finishing) }
            if step.onFreshInstall == .run { features.insert(.runsOnFreshInstall) }
            if step.onFreshInstall == .only { features.insert(.onlyOnFreshInstall) }
            if step.enforcesForeignKeys { features.insert(.enforcedForeignKeys) }
            if !step.isPunctual { features.insert(.insertedLater) }
            if step.since.build > 1 { features.insert(.laterBuild) }
            if step.place == .database(1) { features.insert(.secondDatabase) }
        }
        if let move {
            features.formUnion([.move, .rebuildingMove])
            if move.finishes != nil { features.insert(.finishing) }
        }
        for manager in managers {
            if manager.since.build > 1 { features.insert(.laterBuild) }
            if manager.hasOwnLine { features.insert(.line) }
            if manager.hasVersionChanges { features.insert(.versionChange) }
            if manager.or != nil { features.insert(.adoptsByAny) }
            for evidence in [manager.adopting, manager.or] {
                switch evidence {
                case nil: break
                case .newApp: features.insert(.newApp)
                case .tables: features.insert(.adoptsByTables)
                case .file: features.insert(.adoptsByFile)
                case .version: features.insert(.adoptsByClosure)
                case .key: features.insert(.adoptsByKey)
                }
            }
        }
        if managers.count > 1 { features.insert(.secondManager) }
        if storeInDatabase { features.insert(.storeInDatabase) }
        return features
    }
}

// MARK: - As the code of a test

extension SmallApp {
    /// The app as Swift code.
    package var code: String {
        var parts: [String] = []
        if !steps.isEmpty { parts.append("steps: [\(steps.map(\.code).joined(separator: ", "))]") }
        if let move {
            let finishes = move.finishes.map { ", finishes: \($0)" } ?? ""
            parts.append(
                "move: .init(\(move.version)\(finishes)\(move.isVerified ? ", isVerified: true" : ""))")
        }
        if managers != [Manager()] {
            parts.append("managers: [\(managers.map(\.code).joined(separator: ", "))]")
        }
        if storeInDatabase { parts.append("storeInDatabase: true") }
        return "SmallApp(\(parts.joined(separator: ", ")))"
    }
}

extension SmallApp.Step {
    fileprivate var code: String {
        var parts = ["\(id)", ".\(work)"]
        if case .database(let number) = place { parts.append("in: .database(\(number))") }
        if manager != 0 { parts.append("manager: \(manager)") }
        if !isPunctual { parts.append("since: \(since.code)") }
        if onFreshInstall != .skip { parts.append("onFreshInstall: .\(onFreshInstall)") }
        if let finishes { parts.append("finishes: \(finishes)") }
        if enforcesForeignKeys { parts.append("enforcesForeignKeys: true") }
        return ".init(\(parts.joined(separator: ", ")))"
    }
}

extension SmallApp.Manager {
    fileprivate var code: String {
        var parts: [String] = []
        if adopting != .newApp { parts.append("adopting: .\(adopting)") }
        if let or { parts.append("or: .\(or)") }
        if since != 1 { parts.append("since: \(since.code)") }
        if hasOwnLine { parts.append("hasOwnLine: true") }
        if hasVersionChanges { parts.append("hasVersionChanges: true") }
        return ".init(\(parts.joined(separator: ", ")))"
    }
}

// MARK: - Forms

extension SmallApp {
    /// The step with a number; nil for the mark of the move.
    package func step(_ id: Int) -> Step? { steps.first { $0.id == id } }

    /// Returns true if values that a release writes are in the form that a step gives them.
    package func isInForm(_ step: Int, of release: SmallRelease) -> Bool {
        guard let step = self.step(step) else { return move(in: release) != nil }
        return step.since <= release && step.version <= release.ceiling
            && managers[step.manager].since <= release
    }

    /// Returns how often a step is in a value: by the form that it was written in, and by what has changed it since.
    package func count(of step: Int, in value: SmallValue) -> Int {
        var count = isInForm(step, of: value.form) ? 1 : 0
        for mark in value.trail where mark.step == step { count += 1 }
        return count
    }

    /// A number that ascends in the order in which steps run; a move comes before the step of its version.
    func order(of step: Int) -> Int { self.step(step).map { $0.version * 2 + 1 } ?? (move?.version ?? 0) * 2 }

    /// The deferred steps that a step finishes, or the move.
    package func finished(by step: Int) -> [Step] {
        let version = step == Move.mark ? move?.finishes : self.step(step)?.finishes
        guard let version else { return [] }
        let manager = manager(of: step)
        return steps.filter { $0.isDeferred && $0.version == version && $0.manager == manager }
    }

    /// The lowest version before which a release has a deferred step done; nil if it may wait.
    func deadline(of deferred: Step, in release: SmallRelease) -> Int? {
        var lowest: Int?
        for step in steps where step.finishes == deferred.version && step.manager == deferred.manager {
            guard step.since <= release, step.version <= release.ceiling else { continue }
            lowest = min(lowest ?? step.version, step.version)
        }
        if deferred.manager == 0, let move = move(in: release), move.finishes == deferred.version {
            lowest = min(lowest ?? move.version, move.version)
        }
        return lowest
    }

    package func manager(of step: Int) -> Int { self.step(step)?.manager ?? 0 }

    package func place(of step: Int) -> Place { self.step(step)?.place ?? .database(0) }

    package func version(of step: Int) -> Int { self.step(step)?.version ?? move?.version ?? 0 }

    /// Returns true if a step may change a value after a later one that a release has run.
    func mayComeLate(_ id: Int, after other: Int, of release: SmallRelease) -> Bool {
        guard let step = self.step(id) else { return false }
        if step.since > release || managers[step.manager].since > release { return true }
        guard step.isDeferred else { return false }
        return deadline(of: step, in: release).map { version(of: other) < $0 } ?? true
    }
}
