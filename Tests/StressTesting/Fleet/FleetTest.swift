public import AppMigrations
import Foundation
import MigrationTesting
import MigrationTools

/// Devices with random histories of launches, deaths, restores and downgrades do what a model says.
public struct FleetTest: StressTest {
    /// Selects it on the command line.
    public let name = "fleet"
    /// As Documentation/StressTests.md words it.
    public let promise =
        "A device is upgraded, downgraded, restored, killed: each store and database gets exactly what it lacks"
    private let disguise: @Sendable (any MigrationStore) -> any MigrationStore

    /// Makes the test.
    ///
    /// - Parameter disguise: puts a store in place of each device's, so that a bad one can be tried.
    public init(disguise: @escaping @Sendable (any MigrationStore) -> any MigrationStore = { $0 }) {
        self.disguise = disguise
    }

    /// Tries a hundred thousand devices, or five hundred.
    public func run(_ size: StressSize) throws -> StressOutcome {
        let seeds: Range<UInt64> = size == .short ? 1..<501 : 1..<100_001
        var outcome = run(seeds: seeds)
        outcome.notes = Self.missingPairs(seeds: seeds).map { "no device has \($0)" }
        return outcome
    }

    /// Tries a device for each seed.
    public func run(seeds: Range<UInt64>) -> StressOutcome {
        let failures = Locked<[UInt64: String]>([:])
        let next = Locked(seeds.lowerBound)
        DispatchQueue.concurrentPerform(iterations: ProcessInfo.processInfo.activeProcessorCount) { _ in
            while true {
                let seed = next.withLock { next in
                    defer { next += next < seeds.upperBound ? 1 : 0 }
                    return next
                }
                guard seed < seeds.upperBound else { return }
                guard let failure = failure(seed: seed) else { continue }
                failures.withLock { $0[seed] = failure }
            }
        }
        return StressOutcome(
            tried: seeds.count, unit: "devices",
            failures: failures.withLock { $0 }.sorted { $0.key < $1.key }.map(\.value))
    }

    /// The pairs of features that no device of these seeds has, and that have no reason to be missing.
    package static func missingPairs(seeds: Range<UInt64>) -> [String] { FleetPairs.missing(seeds: seeds) }

    /// Makes up what a device has, and what happens to it.
    ///
    /// Each addition has numbers of its own, so that a later one leaves the rest as it is.
    static func device(seed: UInt64) -> (app: FleetApp, events: [FleetEvent]) {
        var random = RandomNumbers(seed: seed)
        var app = FleetApp(random: &random)
        var events = FleetEvent.history(random: &random)
        var other = RandomNumbers(seed: ~seed)
        app.addDeferredSteps(random: &other)
        if app.storage != .store { events = FleetEvent.addingDeferredWork(to: events, random: &other) }
        var rules = RandomNumbers(seed: seed &* 0x9E37_79B9_7F4A_7C15)
        app.addRules(random: &rules)
        events = FleetEvent.addingTrouble(to: events, random: &rules)
        var archive = RandomNumbers(seed: seed, subject: "archive")
        app.addArchive(random: &archive)
        if app.archiveSince != nil { events = FleetEvent.addingArchive(to: events, random: &archive) }
        var changes = RandomNumbers(seed: seed, subject: "version changes")
        app.addVersionChanges(random: &changes)
        var cursors = RandomNumbers(seed: seed, subject: "cursors")
        app.addCursors(random: &cursors)
        var keys = RandomNumbers(seed: seed, subject: "foreign keys")
        app.addForeignKeys(random: &keys)
        var files = RandomNumbers(seed: seed, subject: "files and lines")
        app.addFilesAndLines(random: &files)
        var extensions = RandomNumbers(seed: seed, subject: "extensions")
        events = FleetEvent.addingExtensions(to: events, random: &extensions)
        var stops = RandomNumbers(seed: seed, subject: "stops")
        events = FleetEvent.addingStops(to: events, random: &stops)
        var uses = RandomNumbers(seed: seed, subject: "uses")
        if app.storage != .store { events = FleetEvent.addingUses(to: events, random: &uses) }
        var closures = RandomNumbers(seed: seed, subject: "deferred closures")
        app.addDeferredClosures(random: &closures)
        if app.storage == .store, app.steps.contains(where: \.isDeferred) {
            events = FleetEvent.addingDeferredWork(to: events, random: &closures)
        }
        return (app, events)
    }

    /// The mistake of a device, with the shortest history that shows it; nil when it did all right.
    func failure(seed: UInt64) -> String? {
        var (app, events) = Self.device(seed: seed)
        guard deviation(app, events) != nil else { return nil }

        // A shorter history may make parts of the app superfluous.
        events = events.shrunk(simpler: \.simpler) { deviation(app, $0) != nil }
        app.steps = app.steps.shrunk { steps in
            var app = app
            app.steps = steps
            return deviation(app, events) != nil
        }
        app.schema = app.schema.shrunk { schema in
            var app = app
            app.schema = schema
            return deviation(app, events) != nil
        }
        app.finishingMoves = Set(
            app.finishingMoves.sorted().shrunk { moves in
                var app = app
                app.finishingMoves = Set(moves)
                return deviation(app, events) != nil
            })
        for index in app.steps.indices {
            app.steps[index].finishes = app.steps[index].finishes.shrunk { finishes in
                var app = app
                app.steps[index].finishes = finishes
                return deviation(app, events) != nil
            }
        }
        events = events.shrunk(simpler: \.simpler) { deviation(app, $0) != nil }
        return """
            seed \(seed). App: \(app). History: \(events.map(\.description).joined(separator: "; ")). \
            Last: \(deviation(app, events) ?? "")
            """
    }

    private func deviation(_ app: FleetApp, _ events: [FleetEvent]) -> String? {
        do {
            let device = try FleetDevice(app, disguise: disguise)
            for event in events { try device.play(event) }
            return nil
        } catch {
            return "\(error)"
        }
    }
}
