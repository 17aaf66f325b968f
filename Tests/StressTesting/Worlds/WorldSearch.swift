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

    /// The longest history, in events.
    static let longest = 4
    /// How many continuations of a world a sample has, after each event.
    private static let branches = [4, 3, 2, 2]

    let inSQLite: Bool
    private(set) var apps = 0
    private(set) var worlds = 0
    /// The worlds that were not played, because the event before has changed nothing.
    private(set) var pairs = FeaturePairs()
    private(set) var failures: [Failure] = []
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
        guard world.history.count < Self.longest else { return }
        // Most of what happens to an app is that it is launched.
        let events = world.next
        let launches = events.filter(\.isLaunch)
        for _ in 0..<Self.branches[world.history.count] {
            var event = numbers.pick(numbers.chance(50) ? launches : events)
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

    /// Plays an event.
    ///
    /// - Returns: what it has led to, without a world if that goes on like the one before; nil if a promise does not hold.
    private mutating func play(
        _ event: SmallEvent, in before: World
    ) throws -> (next: World?, outcome: SmallOutcome)? {
        var world = before
        let (outcome, problem) = try world.play(event)
        worlds += 1
        features.formUnion(event.features)
        if let problem {
            failures.append(
                Failure(app: world.app, history: world.history, problem: problem, inSQLite: inSQLite))
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
