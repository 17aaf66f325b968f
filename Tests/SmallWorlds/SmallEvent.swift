/// Something that happens to a device.
package enum SmallEvent: Hashable, Sendable {
    /// The device has data that release 1.0 has written, from before the app had this package. Comes first.
    case oldInstall
    /// The app is launched, and calls `migrate()` of every manager that the release has.
    case launch(Int, Launch = .whole, Fault? = nil)
    /// The app of the last launch runs deferred work: so many batches, or all.
    case runDeferred(batches: Int? = nil, Fault? = nil)
    /// The app of the last launch, which has succeeded, writes a value into every place.
    case write(Write)
    /// The record of the store is gone, or a database: the app's files stay.
    case lose(SmallApp.Place)
    /// The store with the files, or a database, is as it was after an event, counted from the first.
    case restore(SmallApp.Place, after: Int)
    /// The database of an old install takes the place of a database.
    case replace(SmallApp.Place)

    package enum Launch: Hashable, Sendable {
        case whole
        /// Calls `migrate(through:)` before `migrate()`.
        case inTwo(through: Int)
        /// Calls `migrate(through:)` alone.
        case through(Int)
        /// Has the role `.waits`.
        case fromExtension

        /// True if the app goes on after it.
        package var isComplete: Bool {
            switch self {
            case .whole, .inTwo: true
            case .through, .fromExtension: false
            }
        }
    }

    package enum Fault: Hashable, Sendable {
        /// The process dies before it makes this change of a place, from 1.
        case dies(before: Int)
        /// The step of this version throws.
        case fails(Int)
        /// The step of this version throws, in this launch and in all later ones.
        case failsAlways(Int)
        /// The step of this version throws `MigrationPostponed`.
        case postpones(Int)
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
}

/// Everything that an event was seen to do, besides what is in the places afterwards.
package struct SmallOutcome: Sendable {
    /// The end of each manager's calls; nil for a manager that was not called, or whose process died.
    package var results: [Result?]
    /// The steps and the move whose bodies have come to their end, in order; a step once for each batch.
    package var ran: [Int] = []
    /// How often the body of a step threw.
    package var failed: [Int: Int] = [:]
    /// The steps that asked to wait.
    package var postponed: Set<Int> = []
    package var died = false
    /// How many changes were made to places.
    package var changes = 0
    /// The places that each manager has changed.
    package var changed: [Int: Set<SmallApp.Place>] = [:]

    /// Returns true if a manager has changed a place.
    package func hasChanged(_ place: SmallApp.Place, _ manager: Int) -> Bool {
        changed[manager]?.contains(place) ?? false
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
    package var form: Int
    /// Everything that has changed it since, in order.
    package var trail: [Mark] = []
    /// True if its old form was destroyed before there was a new one.
    package var isLost = false
    /// True if the row that refers to it is there.
    package var hasChild = true

    package struct Mark: Hashable, Sendable {
        package var step: Int
        /// The release that ran it.
        package var release: Int

        package init(step: Int, release: Int) {
            self.step = step
            self.release = release
        }
    }

    package init(form: Int) { self.form = form }
}

// MARK: - As the code of a test

extension SmallEvent {
    /// The event as Swift code.
    package var code: String {
        switch self {
        case .oldInstall: ".oldInstall"
        case .launch(let release, let launch, let fault):
            ".launch(\(release)\(launch == .whole ? "" : ", .\(launch)")\(Self.code(fault)))"
        case .runDeferred(let batches, let fault):
            ".runDeferred(batches: \(batches.map { "\($0)" } ?? "nil")\(Self.code(fault)))"
        case .write(let write): ".write(.\(write))"
        case .lose(let place): ".lose(.\(place))"
        case .restore(let place, let event): ".restore(.\(place), after: \(event))"
        case .replace(let place): ".replace(.\(place))"
        }
    }

    private static func code(_ fault: Fault?) -> String { fault.map { ", .\($0)" } ?? "" }
}
