public import AppMigrations
import Foundation
public import GRDB
import MigrationTools

/// Plays devices with different releases of an app that synchronize their rows, and judges what they have in the end.
///
/// ```swift
/// let fleet = SimulatedFleet(
///     versions: ["1.0", "2.0"], database: "diary.sqlite", tables: ["entry": "mood IS NOT NULL"]
/// ) { folder, version in
///     let dbQueue = try DatabaseQueue(path: folder.appendingPathComponent("diary.sqlite").path)
///     let manager = try MigrationManager(
///         currentVersion: version, adopting: .newApp, store: .database(dbQueue))
///     // Register the steps of this version here.
///     try manager.migrate()
/// }
/// #expect(try fleet.failure() == nil)
/// ```
///
/// Two to five devices are installed, updated, sent back and killed at any moment, write rows as their release does, and exchange
/// them as SQLiteData does: field by field, the last edit wins; a row is stored with all columns that the release knows, NULL where
/// the other device has none; what a release has no column or table for is kept aside until one has. A launch that the app refuses
/// when it is sent back leaves the device as it was.
///
/// In the end, all devices launch the last version, exchange everything, and launch once more. Then all have the same rows, each
/// in the new form, and each edit that no later one has replaced, as the migrations have changed it.
///
/// Changes by migrations are not sent. Rows are not deleted. Devices run no SQLiteData and no CloudKit.
public struct SimulatedFleet {
    /// Judges the database of a device in the end, by throwing an error.
    public typealias Check = (Database) throws -> Void

    /// The synchronized tables, and the condition of rows in the new form for each.
    let forms: [String: String]
    let app: SimulatedDevice.App
    let check: Check?

    private let versions: [AppVersion]
    private let database: String
    private let configuration: Configuration

    /// Creates a fleet.
    ///
    /// - Parameters:
    ///   - versions: the app's versions.
    ///   - database: the path of the database in a device's folder.
    ///   - tables: the synchronized tables, and for each a condition, in SQL of the last version, that is true for a row in the new
    ///     form; `"true"` if there is none.
    ///   - configuration: the configuration with which the devices open the database. They add SQLiteData's function `uuid()`.
    ///   - check: judges the database of each device in the end; nil if the conditions say all.
    ///   - app: the app's code at launch, as for ``SimulatedDevice``.
    public init(
        versions: [AppVersion], database: String, tables: [String: String],
        configuration: Configuration = Configuration(), check: Check? = nil,
        app: @escaping SimulatedDevice.App
    ) {
        self.versions = versions.sorted()
        self.database = database
        forms = tables
        self.configuration = configuration
        self.check = check
        self.app = app
    }

    /// Plays random stories, and returns the shortest form of the first one that ends wrong.
    ///
    /// - Parameters:
    ///   - seed: the seed, which determines the stories. The second story is the first one of the next seed.
    ///   - count: the number of stories.
    /// - Returns: nil if no story ends wrong.
    /// - Throws: the app's errors on a new device; an error if a table has no key of one column, or takes no row.
    public func failure(seed: UInt64 = 1, count: Int = 100) throws -> SimulatedFleetFailure? {
        try failure(seed: seed, count: count, isShort: true)
    }

    /// Plays random stories, and returns the first one that ends wrong.
    ///
    /// - Parameter isShort: whether to make it as short as possible, which takes most of the time.
    package func failure(seed: UInt64, count: Int, isShort: Bool) throws -> SimulatedFleetFailure? {
        let releases = try versions.map(release)
        try checkRows(of: releases)
        func played(_ events: [FleetEvent]) throws -> (story: [String], problem: String?) {
            var story = FleetStory(self, releases)
            let problem = try story.play(events)
            return (story.lines, problem)
        }
        for number in 0..<count {
            let seed = seed &+ UInt64(number)
            var random = RandomNumbers(seed: seed, subject: "fleet")
            let events = FleetEvent.story(of: versions, &random)
            let found = try played(events)
            guard found.problem != nil else { continue }
            let short =
                isShort ? events.shrunk(simpler: \.simpler) { (try? played($0))?.problem != nil } : events
            // An app that does not behave the same each time may not fail again.
            let end = try played(short)
            let (story, problem) = end.problem == nil ? found : end
            return SimulatedFleetFailure(seed: seed, story: story, problem: problem ?? "")
        }
        return nil
    }

    /// Looks at a release on a new device.
    private func release(_ version: AppVersion) throws -> FleetRelease {
        let device = try SimulatedDevice(app)
        try device.launch(as: version)
        guard FileManager.default.fileExists(atPath: file(in: device.folder).path) else {
            throw MigrationError(
                .misuse, "The app has made no file \(database) in its launch as \(version)",
                remedy: "Pass the name of its database, in the folder that the closure gets.")
        }
        return try FleetRelease(
            version, forms: forms, isLast: version == versions.last, in: open(in: device.folder))
    }

    /// Makes sure that at least one release writes rows into each table: a story without any finds nothing.
    private func checkRows(of releases: [FleetRelease]) throws {
        var refusals: [String: String]?
        for release in releases.reversed() where refusals?.isEmpty != true {
            let device = try FleetDevice(0, of: self)
            _ = try device.launch(release)
            let found = try device.refusals()
            refusals = refusals?.filter { release.table($0.key) == nil || found[$0.key] != nil } ?? found
        }
        guard let (table, reason) = refusals?.min(by: { $0.key < $1.key }) else { return }
        throw MigrationError.unsynchronized(
            table, "no device can write a row: \(reason)",
            remedy: releases.contains { $0.table(table)?.parents.isEmpty == false }
                ? "Name the tables that it refers to in tables:, too, or leave it out."
                : "Let it take generated rows, or leave it out of tables:.")
    }

    /// Returns the place of the database in a folder.
    func file(in folder: URL) -> URL { folder.appendingPathComponent(database) }

    /// Opens the database in a folder.
    func open(in folder: URL) throws -> DatabaseQueue {
        var configuration = configuration
        configuration.prepareDatabase { db in
            db.add(
                function: DatabaseFunction("uuid", argumentCount: 0) { _ in
                    UUID().uuidString.lowercased()
                })
        }
        return try DatabaseQueue(path: file(in: folder).path, configuration: configuration)
    }
}
