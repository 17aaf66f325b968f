import MigrationTesting
import MigrationTools
import SmallWorlds

/// Goes through histories of small apps as a tree: each event is played once, and every continuation begins with the state
/// that it has left.
struct WorldSearch: Sendable {
    /// A world in which a promise does not hold.
    struct Failure: Sendable {
        var app: SmallApp
        var history: [SmallEvent]
        var problem: String
        let inSQLite: Bool

        var weight: Int { app.weight + history.reduce(0) { $0 + $1.weight } }

        /// The problem without its numbers: worlds of one kind probably have one cause.
        var kind: String { problem.replacing(/[0-9]+/, with: "") }

        /// The world as the code of a test.
        var code: String {
            let events = history.map { "    #expect(try world.play(\($0.code)).problem == nil)" }
            return """
                \(problem), in a world of \(app.steps.count + (app.move == nil ? 0 : 1)) steps and \(history.count) events
                @Test func world() throws {
                    var world = try World(
                        \(app.code), inSQLite: \(inSQLite))
                \(events.joined(separator: "\n"))
                }
                """
        }
    }

    /// The lightest world of a kind in which a promise does not hold, and how many there are.
    struct Kind: Sendable {
        var lightest: Failure
        var count = 1

        mutating func add(_ other: Self) {
            count += other.count
            if other.lightest.weight < lightest.weight { lightest = other.lightest }
        }
    }

    /// The longest history of all, in events.
    static let longest = 4
    /// How many continuations of a world a sample has, after each event.
    private static let branches = [4, 3, 2, 2, 1, 1, 1, 1]

    let inSQLite: Bool
    private(set) var apps = 0
    private(set) var worlds = 0
    /// The worlds that were not played, because the event before has changed nothing.
    private(set) var pairs = FeaturePairs()
    private(set) var kinds: [String: Kind] = [:]
    private var features: Set<Feature> = []

    init(inSQLite: Bool) { self.inSQLite = inSQLite }

    /// Plays every history of an app, up to a weight of app and history together.
    mutating func playAll(_ app: SmallApp, upTo weight: Int) throws {
        // Only SQLite has a schema to compare.
        guard inSQLite || app.move?.isVerified != true else { return }
        try play(app) { search, world in try search.playAll(world, left: weight - app.weight) }
    }

    /// Plays some histories of an app.
    mutating func playSome(_ app: SmallApp, _ numbers: inout RandomNumbers) throws {
        var app = app
        if !inSQLite { app.move?.isVerified = false }
        try play(app) { search, world in try search.playSome(world, &numbers) }
    }

    private mutating func play(_ app: SmallApp, _ body: (inout WorldSearch, World) throws -> Void) throws {
        features = app.features
        try body(&self, World(app, inSQLite: inSQLite))
        apps += 1
        pairs.count(features)
    }

    private mutating func playAll(_ world: World, left: Int) throws {
        guard left > 0, world.history.count < Self.longest else { return }
        for event in world.next where event.weight <= left {
            guard let (next, outcome) = try play(event, in: world) else { continue }
            if let next { try playAll(next, left: left - event.weight) }
            guard left > event.weight else { continue }
            for fault in event.faults(after: outcome, in: world.app) {
                guard let disturbed = event.with(fault), let (next, _) = try play(disturbed, in: world) else {
                    continue
                }
                if let next { try playAll(next, left: left - disturbed.weight) }
            }
        }
    }

    private mutating func playSome(_ world: World, _ numbers: inout RandomNumbers) throws {
        guard world.history.count < Self.branches.count else { return }
        // Most of what happens to an app is that it is launched, and most launches are whole.
        let events = world.next
        let launches = events.filter(\.isLaunch)
        let whole = launches.filter { if case .launch(_, .whole, _) = $0 { true } else { false } }
        for _ in 0..<Self.branches[world.history.count] {
            var event = numbers.pick(
                numbers.chance(50) ? numbers.chance(60) ? whole : launches : events)
            guard var (next, outcome) = try play(event, in: world) else { continue }
            let faults = event.faults(after: outcome, in: world.app)
            if !faults.isEmpty, numbers.chance(50) {
                let (deaths, others) = (faults.filter(\.isDeath), faults.filter { !$0.isDeath })
                let fault = numbers.pick(
                    others.isEmpty || !deaths.isEmpty && numbers.chance(50) ? deaths : others)
                guard let disturbed = event.with(fault), let found = try play(disturbed, in: world) else {
                    continue
                }
                (event, next, outcome) = (disturbed, found.next, found.outcome)
            }
            if let next { try playSome(next, &numbers) }
        }
    }

    private mutating func add(_ kind: Kind) {
        kinds[kind.lightest.kind, default: Kind(lightest: kind.lightest, count: 0)].add(kind)
    }

    /// Adds what another search has found.
    mutating func add(_ other: WorldSearch) {
        (apps, worlds) = (apps + other.apps, worlds + other.worlds)
        pairs.add(other.pairs)
        for kind in other.kinds.values { add(kind) }
    }

    /// Plays an event.
    ///
    /// - Returns: what it has led to, without a world if that goes on like the one before; nil if a promise does not hold.
    private mutating func play(
        _ event: SmallEvent, in before: World
    ) throws -> (next: World?, outcome: SmallOutcome)? {
        var world = before
        let outcome: SmallOutcome
        let problem: String?
        do { (outcome, problem) = try world.play(event) } catch {
            throw PlayFailed(
                description:
                    "\(error) in \(before.app.code): \(before.history.map(\.code).joined(separator: ", ")), \(event.code)"
            )
        }
        worlds += 1
        features.formUnion(event.features)
        if let problem {
            let failure = Failure(
                app: world.app, history: world.history, problem: problem, inSQLite: inSQLite)
            add(Kind(lightest: failure))
            return nil
        }
        let isAlike = outcome.changes == 0 && world.promises.isEqual(to: before.promises)
        return (isAlike ? nil : world, outcome)
    }
}

extension WorldSearch.Failure {
    /// The smallest world that shows the same, or nearly.
    func shrunk() -> Self {
        var best = self
        while let smaller = best.smaller.first(where: \.fails) { best = smaller.withProblem }
        return best
    }

    private var fails: Bool { found != nil }

    private var found: String? {
        guard var world = try? World(app, inSQLite: inSQLite) else { return nil }
        for event in history {
            guard world.next.contains(where: { $0.isLike(event) }) else { return nil }
            if let problem = try? world.play(event).problem { return problem }
        }
        return nil
    }

    private var withProblem: Self {
        var copy = self
        copy.problem = found ?? problem
        return copy
    }

    /// Worlds with a part less.
    private var smaller: [Self] {
        history.indices.map { index in
            var copy = self
            copy.history.remove(at: index)
            return copy
        }
            + history.indices.flatMap { index in
                history[index].simpler.map { event in
                    var copy = self
                    copy.history[index] = event
                    return copy
                }
            }
            + app.smaller.map { app in
                var copy = self
                copy.app = app
                return copy
            }
    }
}

/// An event that could not be played.
private struct PlayFailed: Error, CustomStringConvertible {
    let description: String
}
