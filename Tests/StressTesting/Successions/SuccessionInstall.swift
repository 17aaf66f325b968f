import AppMigrations
import Foundation
import GRDB
import MigrationTesting
import MigrationTools
import SchemaMigrations
import TestSupport

/// An install of an app of two parts, whose steps go from one manager to another in some release.
///
/// The first part belongs to `Library` in all releases. The second one belongs to it, too, until it gets a manager of its own,
/// `Photos`, which may be called `Pictures` later.
struct SuccessionInstall: RandomInstall {
    private let folder: URL
    private(set) var story: [String] = []

    private var random: RandomNumbers
    /// The index of the first release with the manager `Photos`, and with its other name.
    private let (split, renaming): (Int, Int)
    /// True for steps of the second part in a database of their own.
    private let isInDatabase: Bool
    private let hasSQLiteStore: Bool
    /// The release whose launch was the first to leave a trace, and the first to leave one in the database.
    private var (first, firstInDatabase): (Int?, Int?)
    private var wasKilled = false
    /// The newest release that was launched.
    private var newest = 0
    /// The release whose launch was the last one that no record tells of any more, where records were lost.
    private var lost: Int?
    private let runs = Locked<[String: Int]>([:])

    private static let releases: [AppVersion] = ["1.0", "1.5", "2.0", "2.5", "3.0"]
    /// An increment that a release adds to an older version.
    private static let late = (version: "1.5-7" as AppVersion, since: 3)

    init(seed: UInt64, in folder: URL) throws {
        self.folder = folder
        var random = RandomNumbers(seed: seed, subject: "successions")
        split = Int.random(in: 1..<5, using: &random)
        renaming = Int.random(in: 2..<7, using: &random)
        isInDatabase = .random(using: &random)
        hasSQLiteStore = .random(using: &random)
        self.random = random
    }

    /// A step of a part.
    private struct Step {
        let part: Int
        let version: AppVersion
        /// The release that it is for.
        let release: Int

        var name: String { "\(part): \(version)" }
    }

    /// The steps of a part that a release has.
    private func steps(of part: Int, in release: Int) -> [Step] {
        var steps = (0...release).map { index in
            // Two steps of one manager have two versions; those of two managers may have one.
            let version = Self.releases[index]
            let isShared = part == 1 && index < split
            return Step(
                part: part, version: isShared ? AppVersion("\(version)-1") ?? version : version,
                release: index)
        }
        if part == 0, release >= Self.late.since {
            steps.append(Step(part: 0, version: Self.late.version, release: 1))
        }
        return steps
    }

    // MARK: Its life

    // Lives through some events, and through a launch of the last release that comes to its end.
    mutating func live() throws -> String? {
        var release = 0
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            release = Int.random(in: release..<5, using: &random)
            // Now and then, an older release comes back for a launch.
            let isVisit = Int.random(in: 0..<8, using: &random) == 0
            try launch(isVisit ? Int.random(in: 0...release, using: &random) : release, isLast: false)
            // Where all is known to be done, the app can say how old the data is.
            if lost == nil, Int.random(in: 0..<8, using: &random) == 0 {
                try launch(newest, isLast: true)
                try loseRecords()
                lost = newest
            }
        }
        try launch(4, isLast: true)
        return problem()
    }

    private func problem() -> String? {
        guard let firstInStore = first else { return "no launch has left a trace" }
        let runs = runs.withLock { $0 }
        for step in steps(of: 0, in: 4) + steps(of: 1, in: 4) {
            let count = runs[step.name] ?? 0
            // An older release that comes back may make a database.
            let isInside = step.part == 1 && isInDatabase
            let first = min(firstInStore, isInside ? firstInDatabase ?? firstInStore : firstInStore)
            // What a release adds to itself may be needed or not where it was the first.
            if step.release == first, step.version.subMigration != nil { continue }
            // What a release adds below the version that the app has named is taken to be done.
            if let lost, step.version == Self.late.version, lost < Self.late.since { continue }
            if step.release <= first, count > 0 { return "step \(step.name) has run" }
            if step.release > first, count == 0 { return "step \(step.name) has not run" }
            if count > 1, !wasKilled || isInside {
                return "step \(step.name) has run \(count) times"
            }
        }
        return nil
    }

    private mutating func launch(_ release: Int, isLast: Bool) throws {
        let moment = isLast || random.next() % 3 > 0 ? nil : Int.random(in: 1...12, using: &random)
        let process = SimulatedProcess(dying: moment.map { .moment($0) } ?? .never)
        let year = Int.random(in: 1_990..<2_040, using: &random)
        let environment = Environment.changed { environment in
            environment.observer = process
            environment.build = "\(release)"
            environment.date = { Date(timeIntervalSince1970: Double(year - 1970) * 31_556_952) }
        }
        var managers = [0, 1].filter { $0 == 0 || release >= split }
        managers.shuffle(using: &random)
        // A manager may be called on some screen alone.
        if !isLast { managers.removeAll { _ in random.next() % 5 == 0 } }
        story.append(
            "\(Self.releases[release]) in \(year) of parts \(managers)\(moment.map { ", killed at \($0)" } ?? "")"
        )
        let database = try open("photos.sqlite")
        let queue = try open("store.sqlite")
        let file = folder.appendingPathComponent("store.json")
        let store: MigrationStore = try hasSQLiteStore ? .database(queue) : .jsonFile(at: file)
        do {
            try Environment.$current.withValue(environment) {
                for part in managers {
                    let manager = try manager(of: part, in: release, store, database, process)
                    do {
                        try manager.migrate()
                    } catch let error as MigrationError where error.code == .damagedStore {
                        guard let lost, let version = lostVersion else { throw error }
                        // An older release that is back asks for an update.
                        guard lost <= release else { continue }
                        story.append("\(manager.name) assumes \(version)")
                        try manager.replaceRecord(assuming: version)
                        try manager.migrate()
                    }
                }
            }
        } catch  where process.isDead {
            wasKilled = true
        } catch let error as MigrationError where error.code == .newerThanThisProcess && release < newest {
            // What a newer release has begun, and not done, an older one leaves to it.
        }
        newest = max(newest, release)
        func isSeen(in store: MigrationStore) throws -> Bool {
            try !store.storage.read("Library").seen.isEmpty
        }
        // A connection that has died stays dead.
        let left = try hasSQLiteStore ? MigrationStore.database(open("store.sqlite")) : store
        if first == nil, try isSeen(in: left) { first = release }
        if firstInDatabase == nil, try isSeen(in: .database(open("photos.sqlite"))) {
            firstInDatabase = release
        }
    }

    /// The version of the data whose record was lost.
    private var lostVersion: AppVersion? {
        lost.flatMap { AppVersion("\(Self.releases[$0])\($0 < split ? "-1" : "")") }
    }

    /// Damages the store's records, or loses those of a database as salvaging does.
    private mutating func loseRecords() throws {
        let isDamaged = Bool.random(using: &random)
        story.append(isDamaged ? "the store is damaged" : "the database loses its records")
        let file = folder.appendingPathComponent("store.json")
        if isDamaged, !hasSQLiteStore {
            try Data("{".utf8).write(to: file)
            return
        }
        try open(isDamaged ? "store.sqlite" : "photos.sqlite").write { db in
            guard try db.tableExists(OwnTables.records) else { return }
            guard isDamaged else { return try db.loseRecords(andHistory: true) }
            for table in [OwnTables.records, OwnTables.mirror] {
                try db.execute(sql: "UPDATE \(table) SET value = '{'")
            }
        }
    }

    private func open(_ name: String) throws -> DatabaseQueue {
        try DatabaseQueue(path: folder.appendingPathComponent(name).path)
    }

    private func manager(
        of part: Int, in release: Int, _ store: MigrationStore, _ database: DatabaseQueue,
        _ process: SimulatedProcess
    ) throws -> MigrationManager {
        let isRenamed = renaming > split && release >= renaming
        let photos = Adoption.splitFrom("Library", before: Self.releases[split])
        let manager = try MigrationManager(
            name: part == 0 ? "Library" : isRenamed ? "Pictures" : "Photos",
            currentVersion: Self.releases[release],
            adopting: part == 0
                ? .newApp
                : isRenamed ? .any(.splitFrom("Photos", before: Self.releases[renaming]), photos) : photos,
            store: store, options: MigrationOptions(maximumAttempts: 100))
        var own = steps(of: part, in: release)
        // Until it is split off, the second part belongs to the first one's manager.
        if part == 0, release < split { own += steps(of: 1, in: release) }
        for step in own.sorted(by: { $0.version < $1.version }) {
            if step.part == 1, isInDatabase {
                manager.whenMigratingToVersion(step.version, in: database) { [runs] db in
                    try db.execute(sql: "CREATE TABLE IF NOT EXISTS photo(id INTEGER PRIMARY KEY)")
                    db.afterNextTransaction { _ in runs.withLock { $0[step.name, default: 0] += 1 } }
                }
            } else {
                manager.whenMigratingToVersion(step.version) { [runs] in
                    try process.moment()
                    runs.withLock { $0[step.name, default: 0] += 1 }
                    try process.moment()
                }
            }
        }
        return manager
    }
}
