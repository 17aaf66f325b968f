import MigrationTesting
import MigrationTools

/// An app that the devices of the fleet have: its builds, and what each of them registers.
///
/// Versions are numbers here, their *ranks*, so that nothing in the model depends on how the package compares
/// versions: a hundred for each release, 50 for the release itself, less for a pre-release, more for a sub-migration.
struct FleetApp: Sendable {
    /// A build of the app that has been published.
    struct Build: Sendable {
        let text: String
        let rank: Int
        /// The last rank whose steps are due.
        var ceiling: Int { rank / 100 * 100 + 99 }
    }

    /// A step, and the build in which it appears: a late one appears after its version has come out.
    struct Step: Sendable {
        let manager: Int
        let rank: Int
        let since: Int
        /// Where it works.
        var home = Home.store
        var onFreshInstall = FreshInstall.skip
        var hasCheckpoint = false
        /// How it is cut into batches, if it runs after the launch.
        var batches: Batches?
        /// The ranks of the deferred steps that it finishes.
        var finishes: [Int] = []
        /// True if foreign keys are enforced while it runs.
        var enforcesKeys = false
        /// After how many failures it is given up, if it is best-effort.
        var givesUpAfter: Int?
        var isInDatabase: Bool { home != .store }
        var isDeferred: Bool { batches != nil }
        /// True if a later step can have it run to its end: only an asynchronous launch could run a closure.
        var isFinishable: Bool { batches.map { $0 != .closure } ?? false }
        var isBestEffort: Bool { givesUpAfter != nil }
    }

    /// How a deferred step does its rows: so many of a table at a time, by calls that say where the next begins, or
    /// outside databases, from one checkpoint to the next.
    enum Batches: Sendable {
        case rows, cursor, closure
    }

    /// Where work is done and recorded: the store stands for files.
    enum Home: Int, CaseIterable, Sendable {
        case store, database, archive
    }

    /// When a fresh install runs a step.
    enum FreshInstall: String, Sendable {
        case skip, run, only
    }

    /// The app's answer about an install without a record.
    enum Baseline: Hashable, Sendable {
        case newApp
        case version(Int)
        /// That version, if the database has tables.
        case databaseHasTables(Int)
        /// That version, if there is a file of older versions, which no launch removes.
        case fileExists(Int, Bool)
    }

    /// A migration of the schema, for the release whose hundred its number is in.
    struct SchemaChange: Sendable {
        let number: Int
        let since: Int
        var home = Home.database
        /// True if it rebuilds a table to which another one refers.
        var isRebuild = false
    }

    /// Brings a database to the schema of a version.
    struct Move: Sendable {
        let rank: Int
        let home: Home
        let numbers: [Int]
    }

    /// The rows that a deferred step does, and how many of them in a batch.
    static let rows = 5
    static let rowsPerBatch = 2

    /// Where the app keeps things.
    enum Storage: CaseIterable, Sendable {
        case store, storeAndDatabase, storeInDatabase
    }

    static let releases = ["0", "0.9", "1.0", "1.2", "1.10", "2.0", "2.0.1", "11.0"]
    static let builds = [
        Build(text: "1.0", rank: 250), Build(text: "1.2", rank: 350), Build(text: "1.2+2", rank: 350),
        Build(text: "1.10", rank: 450), Build(text: "2.0-beta.1", rank: 510), Build(text: "2.0", rank: 550),
        Build(text: "2.0+2", rank: 550), Build(text: "2.0.1", rank: 650), Build(text: "11.0", rank: 750),
    ]
    /// Makes the table that steps write into: a database has a schema from the first build on, and is never unmanaged.
    static let firstSchema = 201
    static let managers = ["Library", "Search"]

    var storage = Storage.store
    var steps: [Step] = []
    var schema: [SchemaChange] = []
    /// The build in which the second manager appears.
    var searchSince = 0
    /// The build in which a second database appears; nil if none does.
    var archiveSince: Int?
    /// The build in which each manager gets a closure for changes of the version; nil for none.
    var changesSince = [Int?](repeating: nil, count: managers.count)
    /// The app's answers, by manager, about an install without a record.
    var baselines = [Baseline](repeating: .newApp, count: managers.count)
    /// The lines of versions in which the managers count.
    var lines = [String](repeating: "app", count: managers.count)
    var maximumAttempts = 3
    /// The releases whose move finishes the deferred steps before it.
    var finishingMoves: Set<Int> = []

    /// The first build that has the steps of a release.
    static func firstBuild(of release: Int) -> Int {
        builds.firstIndex { $0.rank / 100 >= release } ?? 0
    }

    /// The text of a version.
    static func text(_ rank: Int) -> String {
        let release = releases[rank / 100]
        return switch rank % 100 {
        case 0, 50: release
        case 10: release + "-beta.1"
        case let mark: "\(release)-\(mark - 50)"
        }
    }

    /// The ranks by their texts.
    private static let ranks = Dictionary(
        uniqueKeysWithValues: [("0", 0)]
            + releases.indices.dropFirst().flatMap { release in
                [10, 50, 51, 52, 53, 54, 60].map { release * 100 + $0 }
            }.map { (text($0), $0) })

    /// The rank of a version; -1 for one that the app has never had.
    static func rank(_ text: String) -> Int { ranks[String(text.prefix { $0 != "+" })] ?? -1 }

    /// The managers that a build creates, in order.
    func managers(in build: Int) -> Range<Int> { 0..<(build >= searchSince ? 2 : 1) }

    /// True if a manager registers a closure for changes of the version in a build.
    func hasVersionChange(_ manager: Int, in build: Int) -> Bool {
        changesSince[manager].map { $0 <= build } ?? false
    }

    /// The steps that a manager registers in a build.
    func steps(of manager: Int, in build: Int) -> [Step] {
        let known = knownSteps(of: manager, in: build)
        let moves = moves(of: manager, in: build).flatMap {
            finishes(moveOf: $0.rank, of: manager, in: build)
        }
        let finished = Set(known.filter { !$0.isDeferred }.flatMap(\.finishes) + moves)
        return known.map { step in
            var step = step
            // The package refuses to finish what may be given up.
            if finished.contains(step.rank) { step.givesUpAfter = nil }
            return step
        }
    }

    private func knownSteps(of manager: Int, in build: Int) -> [Step] {
        let known = steps.filter {
            $0.manager == manager && $0.since <= build && $0.rank <= Self.builds[build].ceiling
                && has($0.home, in: build)
        }.sorted { $0.rank < $1.rank }
        let deferred = Set(known.filter(\.isFinishable).map(\.rank))
        return known.map { step in
            var step = step
            step.finishes = step.finishes.filter { deferred.contains($0) && $0 < step.rank }
            return step
        }
    }

    /// The deferred steps that a manager's move finishes in a build.
    func finishes(moveOf rank: Int, of manager: Int, in build: Int) -> [Int] {
        guard finishingMoves.contains(rank / 100) else { return [] }
        return knownSteps(of: manager, in: build).filter { $0.isFinishable && $0.rank < rank }.map(\.rank)
    }

    /// The moves of a manager in a build: in ascending order, and for the database before the archive.
    func moves(of manager: Int, in build: Int) -> [Move] {
        guard manager == 0 else { return [] }
        let moves = [Home.database, .archive].filter { has($0, in: build) }.flatMap { home in
            let known = schema.filter {
                $0.home == home && $0.since <= build && $0.number <= Self.builds[build].ceiling
            }.map(\.number)
            return Dictionary(grouping: [Self.firstSchema] + known) { $0 / 100 }
                .map { Move(rank: $0.key * 100 + 50, home: home, numbers: $0.value.sorted()) }
        }
        return moves.sorted { ($0.rank, $0.home.rawValue) < ($1.rank, $1.home.rawValue) }
    }

    /// True if a build has a place.
    private func has(_ home: Home, in build: Int) -> Bool {
        switch home {
        case .store: true
        case .database: storage != .store
        case .archive: storage != .store && archiveSince.map { $0 <= build } ?? false
        }
    }
}

extension FleetApp {
    /// Makes an app up.
    init(random: inout RandomNumbers) {
        // A database costs thirty times what the rest does.
        storage = random.chance(90) ? .store : random.pick([.storeAndDatabase, .storeInDatabase])
        searchSince = random.pick(0...Self.builds.count)
        if random.chance(20) {
            let baseline = Baseline.version(random.pick([150, 250, 351, 450, 550]))
            baselines = Self.managers.map { _ in baseline }
        }
        maximumAttempts = random.pick(1...3)
        for manager in 0...1 {
            for release in 2..<Self.releases.count {
                for mark in [50, 51, 52, 60] where random.chance(mark == 50 ? 60 : 20) {
                    steps.append(
                        Step(
                            manager: manager, rank: release * 100 + mark,
                            since: Self.appearance(of: release, late: mark == 50 ? 20 : 70, &random),
                            home: random.chance(50) ? .database : .store,
                            onFreshInstall: random.chance(20) ? .run : .skip,
                            hasCheckpoint: random.chance(15)))
                }
            }
        }
        for release in 2..<Self.releases.count {
            for number in 2...4 where random.chance(30) {
                schema.append(
                    SchemaChange(
                        number: release * 100 + number,
                        since: Self.appearance(of: release, late: 20, &random)))
            }
        }
    }

    /// Adds deferred steps, and has later steps and moves finish some of them.
    ///
    /// - Parameter random: numbers of their own, so that the rest of the app stays as it is.
    mutating func addDeferredSteps(random: inout RandomNumbers) {
        guard storage != .store else { return }
        for manager in 0...1 {
            for release in 2..<Self.releases.count {
                for mark in [53, 54] where random.chance(mark == 53 ? 50 : 20) {
                    steps.append(
                        Step(
                            manager: manager, rank: release * 100 + mark,
                            since: Self.appearance(of: release, late: 30, &random), home: .database,
                            onFreshInstall: random.chance(20) ? .run : .skip, batches: .rows))
                }
            }
        }
        let deferred = steps.filter(\.isDeferred)
        for index in steps.indices where !steps[index].isDeferred && random.chance(40) {
            let step = steps[index]
            steps[index].finishes = deferred.filter {
                $0.manager == step.manager && $0.rank < step.rank && random.chance(50)
            }.map(\.rank)
        }
        finishingMoves = Set((2..<Self.releases.count).filter { _ in random.chance(20) })
    }

    /// Has some steps be best-effort or for fresh installs only, and the managers say different things about an old
    /// install.
    ///
    /// - Parameter random: numbers of their own, so that the rest of the app stays as it is.
    mutating func addRules(random: inout RandomNumbers) {
        for index in steps.indices {
            if random.chance(20) { steps[index].givesUpAfter = random.pick(1...3) }
            let isPlain = !steps[index].isDeferred && steps[index].finishes.isEmpty
            // There are no tables yet when it runs.
            if isPlain, storage == .store || !steps[index].isInDatabase, random.chance(10) {
                steps[index].onFreshInstall = .only
            }
        }
        for manager in Self.managers.indices where random.chance(20) {
            let rank = random.pick([150, 250, 351, 450, 550])
            baselines[manager] = random.pick(
                storage == .store
                    ? [.newApp, .version(rank)] : [.newApp, .version(rank), .databaseHasTables(rank)])
        }
    }

    /// Adds a second database, with moves of its own, and moves steps there.
    ///
    /// - Parameter random: numbers of their own, so that the rest of the app stays as it is.
    mutating func addArchive(random: inout RandomNumbers) {
        guard storage != .store, random.chance(50) else { return }
        archiveSince = random.chance(60) ? 0 : random.pick(Self.builds.indices)
        for index in steps.indices where steps[index].isInDatabase && random.chance(40) {
            steps[index].home = .archive
        }
        for release in 2..<Self.releases.count where random.chance(40) {
            schema.append(
                SchemaChange(
                    number: release * 100 + random.pick(2...4),
                    since: Self.appearance(of: release, late: 20, &random), home: .archive))
        }
    }

    /// Gives some managers a closure for changes of the version.
    ///
    /// - Parameter random: numbers of their own, so that the rest of the app stays as it is.
    mutating func addVersionChanges(random: inout RandomNumbers) {
        for manager in Self.managers.indices where random.chance(30) {
            changesSince[manager] = random.chance(60) ? 0 : random.pick(Self.builds.indices)
        }
    }

    /// Has some deferred steps go through the rows with a cursor of their own.
    ///
    /// - Parameter random: numbers of their own, so that the rest of the app stays as it is.
    mutating func addCursors(random: inout RandomNumbers) {
        for index in steps.indices where steps[index].isDeferred && random.chance(40) {
            steps[index].batches = .cursor
        }
    }

    /// Has some migrations rebuild a parent table, and some steps delete rows with those that refer to them.
    ///
    /// - Parameter random: numbers of their own, so that the rest of the app stays as it is.
    mutating func addForeignKeys(random: inout RandomNumbers) {
        for index in schema.indices where random.chance(40) { schema[index].isRebuild = true }
        for index in steps.indices where steps[index].isInDatabase && !steps[index].isDeferred {
            steps[index].enforcesKeys = random.chance(40)
        }
    }

    /// Has managers look for a file of an older version, and the second one count in versions of its own.
    ///
    /// - Parameter random: numbers of their own, so that the rest of the app stays as it is.
    mutating func addFilesAndLines(random: inout RandomNumbers) {
        if storage != .store, random.chance(50) {
            baselines[random.pick(Self.managers.indices)] = .databaseHasTables(random.pick([150, 250, 450]))
        }
        for manager in Self.managers.indices where random.chance(25) {
            baselines[manager] = .fileExists(random.pick([150, 250, 351, 450, 550]), random.chance(70))
        }
        if random.chance(20) { lines[1] = "Plugin" }
    }

    /// Has some steps be deferred closures.
    ///
    /// - Parameter random: numbers of their own, so that the rest of the app stays as it is.
    mutating func addDeferredClosures(random: inout RandomNumbers) {
        guard random.chance(40) else { return }
        for index in steps.indices where steps[index].onFreshInstall != .only {
            let isPlain = !steps[index].isInDatabase && steps[index].finishes.isEmpty
            guard isPlain || steps[index].isDeferred, random.chance(25) else { continue }
            steps[index].batches = .closure
            steps[index].home = .store
        }
    }

    private static func appearance(of release: Int, late percent: Int, _ random: inout RandomNumbers) -> Int {
        let first = firstBuild(of: release)
        return random.chance(percent) ? random.pick(first..<builds.count) : first
    }
}
