/// Something that happens to a device.
package enum SmallEvent: Hashable, Sendable {
    /// The device has data that release 1.0 has written, from before the app had this package. Comes first.
    case oldInstall
    /// The app is launched, and calls `migrate()` of every manager that the release has, until one throws.
    case launch(SmallRelease, Launch = .whole, Fault? = nil)
    /// The app is launched; then something happens to a database while it runs, and it calls the same managers again.
    case twice(SmallRelease, Loss)
    /// The app of the last launch runs deferred work: so many batches, or all.
    case runDeferred(batches: Int? = nil, retrying: SmallWork? = nil, Fault? = nil)
    /// The app of the last launch calls a function for its recovery screen.
    case call(Call, Fault? = nil)
    /// The app of the last launch, which has succeeded, writes a value into every place.
    case write(Write)
    /// The record of the store is gone, or a database: the app's files stay.
    case lose(SmallApp.Place)
    /// The store with the files, or a database, is as it was after an event, counted from the first.
    case restore(SmallApp.Place, after: Int)
    /// The database of an old install takes the place of a database.
    case replace(SmallApp.Place)
    /// The records of a place cannot be understood any more.
    case damage(SmallApp.Place)

    package enum Launch: Hashable, Sendable {
        case whole
        /// Calls `migrate(through:)` before `migrate()`.
        case inTwo(through: Int)
        /// Calls `migrate(through:)` alone.
        case through(Int)
        /// Calls `migrate(retrying:)` of the manager that has the work.
        case retrying(SmallWork)
        /// Does not call a manager, which the release calls only on some screen, and does not come to use the data.
        case without(manager: Int)
        /// Has the role `.waitsForApp`.
        case fromExtension

        /// True if the app goes on after it.
        package var isComplete: Bool {
            switch self {
            case .whole, .inTwo, .retrying: true
            case .through, .without, .fromExtension: false
            }
        }
    }

    /// What happens to a database while the app has it open.
    package enum Loss: Hashable, Sendable {
        /// It is erased.
        case lose(Int)
        /// The database of an old install takes its place.
        case replace(Int)

        /// The same as an event of its own.
        package var event: SmallEvent {
            switch self {
            case .lose(let number): .lose(.database(number))
            case .replace(let number): .replace(.database(number))
            }
        }
    }

    /// A call of a function that changes what a manager remembers.
    package enum Call: Hashable, Sendable {
        case skip(SmallWork)
        case rerun(SmallWork)
        case rerunAllSteps(manager: Int)
        case removeRecord(manager: Int)
        case replaceRecord(manager: Int, assuming: Int)
    }

    package enum Fault: Hashable, Sendable {
        /// The process dies before it makes this change of a place, from 1.
        case dies(before: Int)
        /// The process dies in this work, before its first change.
        case diesIn(Int)
        /// The run is cancelled before this change of a place, from 1, or before it begins.
        case cancels(before: Int)
        /// The step with this number throws.
        case fails(Int)
        /// The step with this number throws, in this launch and in all later ones.
        case failsAlways(Int)
        /// The step with this number throws `MigrationPostponed`.
        case postpones(Int)
        /// The step with this number throws `MigrationPostponed`, in this launch and in all later ones.
        case postponesAlways(Int)
    }

    package enum Write: String, Hashable, Sendable, CaseIterable {
        /// Behind all others.
        case append
        /// Between two others.
        case insert
        case delete
        /// `VACUUM`, which gives rows new numbers.
        case vacuum
    }

    package var fault: Fault? {
        switch self {
        case .launch(_, _, let fault), .runDeferred(_, _, let fault), .call(_, let fault): fault
        default: nil
        }
    }
}

/// Everything that an event was seen to do, besides what is in the places afterwards.
package struct SmallOutcome: Sendable {
    /// The end of each manager's calls; nil for a manager that was not called, or whose process died.
    package var results: [Result?]
    /// The works whose bodies have begun, by number; a step once for each batch.
    package var entered: [Int] = []
    /// The steps and the move whose bodies have come to their end, in order; a step once for each batch.
    package var ran: [Int] = []
    /// The works that have got further, without coming to their end.
    package var advanced: Set<Int> = []
    /// How often the body of a step threw.
    package var failed: [Int: Int] = [:]
    /// The steps that asked to wait.
    package var postponed: Set<Int> = []
    package var died = false
    /// The work in whose body the process died.
    package var diedIn: Int?
    package var wasCancelled = false
    /// The work that a manager's error names, by manager.
    package var culprits: [Int: SmallWork] = [:]
    /// How many changes were made to places.
    package var changes = 0
    /// How often each manager has changed a place.
    package var changed: [Int: [SmallApp.Place: Int]] = [:]
    /// The places in which a manager has written down that a process had died, and nothing else.
    package var foundDeaths: [Int: Set<SmallApp.Place>] = [:]

    /// The places of which each manager remembers that it has completed a launch of the release.
    package var completed: [Int: Set<SmallApp.Place>] = [:]
    /// The databases that each manager has listed in its store.
    package var listed: [Int: Set<SmallApp.Place>] = [:]

    /// Returns true if a manager has changed a place, and not only written down there that a process had died.
    package func hasChanged(_ place: SmallApp.Place, _ manager: Int) -> Bool {
        changed[manager]?[place] != nil && foundDeaths[manager]?.contains(place) != true
    }

    package init(managers: Int) {
        results = Array(repeating: nil, count: managers)
    }

    package enum Result: Hashable, Sendable {
        case finished
        /// With the code of the error.
        case stopped(String)
    }
}

/// The contents of a place.
package struct SmallData: Hashable, Sendable {
    package var values: [Int: SmallValue] = [:]
    /// True for a database in which there are tables.
    package var hasTables = false
    /// How often steps have run to their end here; for databases, as far as it was committed.
    package var runs: [Int: Int] = [:]
    /// The releases for which the closures for a version change have run, by manager.
    package var changes: [Int: [Int]] = [:]

    package init() {}
}

/// A value of the app's.
package struct SmallValue: Hashable, Sendable {
    /// The release whose form it was written in.
    package var form: SmallRelease
    /// Everything that has changed it since, in order.
    package var trail: [Mark] = []
    /// True if its old form was destroyed before there was a new one.
    package var isLost = false
    /// True if the row that refers to it is there.
    package var hasChild = true

    package struct Mark: Hashable, Sendable {
        package var step: Int
        /// The release that ran it.
        package var release: SmallRelease

        package init(step: Int, release: SmallRelease) {
            self.step = step
            self.release = release
        }
    }

    package init(form: SmallRelease) { self.form = form }
}

// MARK: - As the code of a test

extension SmallEvent {
    /// The event as Swift code.
    package var code: String {
        switch self {
        case .oldInstall: ".oldInstall"
        case .launch(let release, let launch, let fault):
            ".launch(\(release.code)\(launch == .whole && fault == nil ? "" : ", \(launch.code)")\(Self.code(fault)))"
        case .twice(let release, let loss): ".twice(\(release.code), .\(loss))"
        case .runDeferred(let batches, let work, let fault):
            ".runDeferred(batches: \(batches.map { "\($0)" } ?? "nil")\(work.map { ", retrying: \($0.code)" } ?? "")\(Self.code(fault)))"
        case .call(let call, let fault): ".call(\(call.code)\(Self.code(fault)))"
        case .write(let write): ".write(.\(write))"
        case .lose(let place): ".lose(.\(place))"
        case .restore(let place, let event): ".restore(.\(place), after: \(event))"
        case .replace(let place): ".replace(.\(place))"
        case .damage(let place): ".damage(.\(place))"
        }
    }

    private static func code(_ fault: Fault?) -> String { fault.map { ", .\($0)" } ?? "" }
}

extension SmallEvent.Launch {
    fileprivate var code: String {
        if case .retrying(let work) = self { ".retrying(\(work.code))" } else { ".\(self)" }
    }
}

extension SmallEvent.Call {
    fileprivate var code: String {
        switch self {
        case .skip(let work): ".skip(\(work.code))"
        case .rerun(let work): ".rerun(\(work.code))"
        default: ".\(self)"
        }
    }
}
