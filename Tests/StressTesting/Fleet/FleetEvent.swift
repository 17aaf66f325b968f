import MigrationTesting
import MigrationTools

/// Something that happens to a device.
enum FleetEvent: Sendable, Equatable {
    case launch(Launch)
    /// Keeps what there is for a later restore.
    case backUp
    /// Brings an earlier backup back; the backup is counted round, so that it exists when others are left out.
    case restore(Part, backup: Int)
    /// The app uses its data.
    case use(Use)

    /// A launch of a build.
    struct Launch: Sendable, Equatable {
        /// The build's index.
        var build: Int
        /// The process is killed at this tick: before, in or after a step, a write or a commit.
        var killedAt: Int?
        /// The step that throws, counted in the launch.
        var throwsIn: Int?
        /// True if every step after that one throws as well; nil if not.
        var throwsOn: Bool?
        /// True if what throws asks to wait; nil if it fails.
        var postpones: Bool?
        /// Another process, of this build, that does all of its launch after this one has looked and before it
        /// has the lock.
        var outrunBy: Int?
        /// The number of the lock before which that happens, from 1: deferred work takes one for each batch.
        var outrunAt: Int?
        /// How many batches of deferred work each manager has time for after the launch; nil when nobody asks it.
        var batches: Int?
        /// True if it is one of an extension, which waits for the app to migrate; nil if not.
        var waits: Bool?
        /// The rank through which each manager migrates first; nil when it migrates at once.
        var through: Int?
    }

    /// A row of a database that the app inserts, if there is none, or deletes.
    struct Use: Sendable, Equatable {
        let home: FleetApp.Home
        let row: Int
        let deletes: Bool
    }

    /// The part of a device that a backup restores.
    enum Part: Sendable {
        case store, database, archive, all
    }

    /// Events that are simpler, and might fail as well.
    var simpler: [FleetEvent] {
        guard case .launch(let launch) = self else { return [] }
        var simpler: [Launch] = []
        for path in [\Launch.killedAt, \.throwsIn, \.outrunBy, \.outrunAt, \.batches, \.through]
        where launch[keyPath: path] != nil {
            simpler.append(launch)
            simpler[simpler.count - 1][keyPath: path] = nil
        }
        for path in [\Launch.throwsOn, \.postpones, \.waits] where launch[keyPath: path] != nil {
            simpler.append(launch)
            simpler[simpler.count - 1][keyPath: path] = nil
        }
        return simpler.map(FleetEvent.launch)
    }

    /// Makes a history up.
    static func history(random: inout RandomNumbers) -> [FleetEvent] {
        let last = FleetApp.builds.count - 1
        var build = random.pick(0...3)
        var launch = Launch(build: build)
        return (0..<random.pick(3...14)).map { _ in
            switch random.pick(0..<100) {
            case 0..<8: return .backUp
            case 8..<16:
                return .restore(random.pick([Part.store, .database, .all]), backup: random.pick(0...3))
            case 16..<30:
                // Again, with the same bad luck.
                return .launch(launch)
            case 30..<65: build = min(last, build + random.pick([1, 1, 1, 2, 4]))
            case 65..<72: build = max(0, build - random.pick(1...3))
            default: break
            }
            launch = Launch(
                build: build, killedAt: random.chance(35) ? random.pick(1...16) : nil,
                throwsIn: random.chance(8) ? random.pick(1...2) : nil,
                outrunBy: random.chance(8) ? random.pick(max(0, build - 2)...min(last, build + 1)) : nil)
            return .launch(launch)
        }
    }

    /// Returns a history with deferred work after its launches.
    ///
    /// - Parameter random: numbers of their own, so that the rest of the history stays as it is.
    static func addingDeferredWork(
        to history: [FleetEvent], random: inout RandomNumbers
    ) -> [FleetEvent] {
        var last: (before: Launch, after: Launch)?
        return history.map { event in
            guard case .launch(let launch) = event else { return event }
            // Again, with the same bad luck.
            if let last, last.before == launch { return .launch(last.after) }
            var new = launch
            if random.chance(70) { new.batches = random.pick(random.chance(30) ? 100...100 : 0...4) }
            if new.killedAt != nil, random.chance(50) {
                new.killedAt = random.pick(1...50)
            } else if new.killedAt == nil, new.batches != nil, random.chance(25) {
                new.killedAt = random.pick(1...50)
            }
            if new.throwsIn == nil, random.chance(8) { new.throwsIn = random.pick(1...6) }
            if new.outrunBy != nil, random.chance(60) { new.outrunAt = random.pick(1...5) }
            last = (launch, new)
            return .launch(new)
        }
    }

    /// Returns a history in which the archive is restored as well.
    ///
    /// - Parameter random: numbers of their own, so that the rest of the history stays as it is.
    static func addingArchive(to history: [FleetEvent], random: inout RandomNumbers) -> [FleetEvent] {
        history.map { event in
            guard case .restore(let part, let backup) = event, part != .all, random.chance(40) else {
                return event
            }
            return .restore(.archive, backup: backup)
        }
    }

    /// Returns a history in which extensions are launched as well.
    ///
    /// - Parameter random: numbers of their own, so that the rest of the history stays as it is.
    static func addingExtensions(to history: [FleetEvent], random: inout RandomNumbers) -> [FleetEvent] {
        guard random.chance(30) else { return history }
        return history.flatMap { event -> [FleetEvent] in
            guard case .launch(let launch) = event, random.chance(50) else { return [event] }
            let build = random.chance(70) ? launch.build : random.pick(FleetApp.builds.indices)
            let waiting = FleetEvent.launch(
                Launch(build: build, batches: random.chance(20) ? 1 : nil, waits: true))
            return random.chance(50) ? [event, waiting] : [waiting, event]
        }
    }

    /// Returns a history in which the app stops at a version in some launches, and goes on then.
    ///
    /// - Parameter random: numbers of their own, so that the rest of the history stays as it is.
    static func addingStops(to history: [FleetEvent], random: inout RandomNumbers) -> [FleetEvent] {
        guard random.chance(30) else { return history }
        return history.map { event in
            // Nobody comes in between: it would have to be said in which call.
            guard case .launch(var launch) = event, launch.waits == nil, launch.outrunBy == nil,
                random.chance(50)
            else { return event }
            let release = random.pick(1...FleetApp.builds[launch.build].rank / 100)
            launch.through = release * 100 + random.pick([50, 51, 52, 53])
            return .launch(launch)
        }
    }

    /// Returns a history in which the app inserts and deletes rows between its launches.
    ///
    /// - Parameter random: numbers of their own, so that the rest of the history stays as it is.
    static func addingUses(to history: [FleetEvent], random: inout RandomNumbers) -> [FleetEvent] {
        guard random.chance(50) else { return history }
        return history.flatMap { event -> [FleetEvent] in
            var uses: [FleetEvent] = []
            while random.chance(40) {
                let deletes = random.chance(50)
                // A row of the first build's does not come back: whoever finishes a step can tell that it was done.
                let row = deletes ? random.pick(1...8) : random.pick(FleetApp.rows + 1...12)
                uses.append(
                    .use(
                        Use(
                            home: random.chance(70) ? .database : .archive, row: row, deletes: deletes)))
            }
            return [event] + uses
        }
    }

    /// Returns a history in which more steps throw, in other ways.
    ///
    /// - Parameter random: numbers of their own, so that the rest of the history stays as it is.
    static func addingTrouble(to history: [FleetEvent], random: inout RandomNumbers) -> [FleetEvent] {
        var last: (before: Launch, after: Launch)?
        return history.map { event in
            guard case .launch(let launch) = event else { return event }
            // Again, with the same bad luck.
            if let last, last.before == launch { return .launch(last.after) }
            var new = launch
            if new.throwsIn == nil, random.chance(15) { new.throwsIn = random.pick(1...4) }
            if new.throwsIn != nil {
                if random.chance(40) { new.throwsOn = true }
                if random.chance(30) { new.postpones = true }
            }
            last = (launch, new)
            return .launch(new)
        }
    }
}

extension FleetEvent.Launch {
    fileprivate var trouble: String {
        (postpones == true ? "asks to wait" : "throws") + (throwsOn == true ? ", and all after it" : "")
    }
}

extension FleetEvent: CustomStringConvertible {
    var description: String {
        switch self {
        case .launch(let launch):
            "launch \(launch.waits == true ? "an extension of " : "")\(FleetApp.builds[launch.build].text)"
                + (launch.through.map { ", first through \(FleetApp.text($0))" } ?? "")
                + (launch.outrunBy.map { ", outrun by a launch of \(FleetApp.builds[$0].text)" } ?? "")
                + (launch.throwsIn.map { ", whose step no. \($0) \(launch.trouble)" } ?? "")
                + (launch.outrunAt.map { " before lock no. \($0)" } ?? "")
                + (launch.batches.map { ", with time for \($0) batches" } ?? "")
                + (launch.killedAt.map { ", killed at tick \($0)" } ?? "")
        case .backUp: "back up"
        case .use(let use): "\(use.deletes ? "delete" : "insert") row \(use.row) of the \(use.home)"
        case .restore(.store, let backup): "restore the store from backup \(backup)"
        case .restore(.database, let backup): "restore the database from backup \(backup)"
        case .restore(.archive, let backup): "restore the archive from backup \(backup)"
        case .restore(.all, let backup): "restore backup \(backup)"
        }
    }
}

extension FleetApp: CustomStringConvertible {
    /// The app in words, as far as it is not the simplest.
    var description: String {
        let words =
            ["\(storage)"]
            + zip(Self.managers, baselines).filter { $1 != .newApp }.map { "\($0) adopting \($1.text)" }
            + (lines[1] == lines[0] ? [] : ["\(Self.managers[1]) in the line \(lines[1])"])
            + ["\(maximumAttempts) attempts"]
            + (searchSince < Self.builds.count
                ? ["\(Self.managers[1]) since \(Self.builds[searchSince].text)"] : [])
            + zip(Self.managers, changesSince).compactMap { manager, since in
                since.map { "changes of \(manager)'s version since \(Self.builds[$0].text)" }
            }
            + (archiveSince.map { ["archive since \(Self.builds[$0].text)"] } ?? [])
        let steps = steps.map { step in
            "\(Self.managers[step.manager]) \(Self.text(step.rank)) since \(Self.builds[step.since].text)"
                + (step.isInDatabase ? ", in the \(step.home)" : "")
                + (step.onFreshInstall == .skip ? "" : ", on a fresh install: \(step.onFreshInstall)")
                + (step.givesUpAfter.map { ", given up after \($0)" } ?? "")
                + (step.hasCheckpoint ? ", with a checkpoint" : "")
                + (step.enforcesKeys ? ", with foreign keys" : "")
                + (step.batches.map { ", deferred by \($0)" } ?? "")
                + (step.finishes.isEmpty
                    ? "" : ", finishing \(step.finishes.map(Self.text).joined(separator: " and "))")
        }
        let schema = schema.map {
            "schema \($0.number)\($0.isRebuild ? ", a rebuild," : "") of the \($0.home) since \(Self.builds[$0.since].text)"
        }
        let moves = finishingMoves.sorted().map { "the move of \(Self.releases[$0]) finishes all before it" }
        return ([words.joined(separator: ", ")] + steps + schema + moves).joined(separator: "; ")
    }
}

extension FleetApp.Baseline {
    fileprivate var text: String {
        switch self {
        case .newApp: "nothing"
        case .version(let rank): FleetApp.text(rank)
        case .databaseHasTables(let rank): "\(FleetApp.text(rank)) if the database has tables"
        case .fileExists(let rank, let exists):
            "\(FleetApp.text(rank)) if there is a file, which there is\(exists ? "" : " not")"
        }
    }
}
