public import AppMigrations
public import Foundation

/// Plays the launches of an app, with the app's own managers, on a folder that stands for a device.
///
/// ```swift
/// @Test func upgradeOutlivesADeath() throws {
///     let device = try SimulatedDevice { folder, version in
///         let manager = try MigrationManager(
///             currentVersion: version, adopting: .newApp, store: .jsonFile(at: folder.appendingPathComponent("records.json")),
///             options: MigrationOptions(ignoresStepsAboveCurrent: true))
///         manager.whenMigratingToVersion("1.1") { try moveArchive() }
///         manager.whenMigratingToVersion("2.0") { try moveArchive() }
///         try manager.migrate()
///     }
///     try device.launch(as: "1.0")
///     try device.kill(during: "2.0")
///     try device.launch(as: "2.0")
///     try device.expectLog([
///         "launch as 1.0: fresh install",
///         "launch as 2.0: upgrade from 1.0, ran 1.1, killed at 2.0",
///         "launch as 2.0: upgrade from 1.0, ran 2.0",
///     ])
/// }
/// ```
///
/// The device simulates a kill inside this process. From the kill on, the managers' stores throw and write
/// nothing. A database for which steps are registered rolls back its uncommitted changes. Other
/// effects of steps, such as changes to files, stay.
///
/// An app that calls `runDeferred()` after `migrate()` plays its deferred steps too, in batches of ten rows.
///
/// The device removes the folder when it is deallocated.
public final class SimulatedDevice {
    /// The app's code at launch.
    ///
    /// It receives the folder of its data and the launched version. It creates the managers as that version
    /// did, on the thread on which it is called, and migrates. An asynchronous step cannot be played: leave it
    /// out here.
    public typealias App = (_ folder: URL, _ version: AppVersion) throws -> Void

    /// A copy of a device's folder.
    public struct Backup: Sendable {
        let number: Int
        let highest: AppVersion?
    }

    /// The folder of the app's data.
    public let folder: URL

    /// The device's log: a line for each launch, backup and restore.
    public private(set) var log: [String] = []

    private let root: URL
    private let app: App
    private var backups = 0
    /// The highest version that was launched on the folder's current contents.
    private(set) var highest: AppVersion?

    /// Creates a device with an empty folder.
    ///
    /// - Parameter app: the app's code at launch.
    /// - Throws: an error of the file system.
    public init(_ app: @escaping App) throws {
        self.app = app
        root = FileManager.default.temporaryDirectory
            .appendingPathComponent("SimulatedDevice-\(UUID().uuidString)", isDirectory: true)
        folder = root.appendingPathComponent("Data", isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: root) }

    /// Launches the app.
    ///
    /// - Parameters:
    ///   - version: the version to launch.
    ///   - deferredBatches: the number of batches of deferred work, of ten rows or calls each, after which
    ///     `runDeferred` ends, as when its time is over or the system suspends the app; nil for no limit.
    /// - Throws: the app's errors.
    public func launch(as version: AppVersion, deferredBatches: Int? = nil) throws {
        try run(version, as: "launch as", dying: .never, deferredBatches)
    }

    /// Launches a lower version of the app than the highest one so far.
    ///
    /// - Parameter version: the version to launch.
    /// - Throws: ``SimulatedDeviceError`` if the version is not lower; the app's errors.
    public func downgrade(to version: AppVersion) throws {
        guard let highest, version < highest else {
            throw SimulatedDeviceError(
                "\(version) is not a downgrade: the highest version so far is \(highest?.description ?? "none").",
                log: log)
        }
        try run(version, as: "downgrade to", dying: .never)
    }

    /// Launches the app, and kills it when a step has begun and is about to record that it has done
    /// something.
    ///
    /// A plain step has then done its work without a record of it, so the next launch runs it again. A step
    /// or a schema step that works in a database is rolled back, and so is the running batch of a deferred step.
    ///
    /// - Parameters:
    ///   - step: the version of the step.
    ///   - batches: the number of batches of a deferred step, of ten rows or calls each, that are committed before.
    ///   - version: the version to launch; by default the step's own, without its sub-migration.
    /// - Throws: ``SimulatedDeviceError`` if the launch does not reach the step; the app's errors before the
    ///   kill.
    public func kill(
        during step: AppVersion, afterBatches batches: Int = 0, launching version: AppVersion? = nil
    ) throws {
        let process = try run(
            version ?? step.release, as: "launch as", dying: .step(step, afterBatches: batches))
        guard process.isDead else {
            let reason =
                if !process.notes.begun.contains(step) {
                    "was not run"
                } else if batches > 0 {
                    "ended before, or does not run in batches"
                } else {
                    "has left nothing to write down"
                }
            throw SimulatedDeviceError("The launch was not killed: step \(step) \(reason).", log: log)
        }
    }

    /// Launches the app, and kills it at a given moment.
    ///
    /// There is a moment before and after everything that the app's managers write.
    ///
    /// - Parameters:
    ///   - moment: the number of the moment, from 1.
    ///   - version: the version to launch.
    /// - Returns: whether the launch reached that moment. If not, it completed.
    /// - Throws: the app's errors before the kill.
    @discardableResult
    public func kill(atMoment moment: Int, launching version: AppVersion) throws -> Bool {
        try run(version, as: "launch as", dying: .moment(moment)).isDead
    }

    /// Launches the app, and kills it at a given moment, counted on from the first one if the launch has fewer: so that every
    /// moment is as likely, however many there are.
    ///
    /// - Returns: false if the launch has no moment. It completed.
    package func kill(atMomentFromStart moment: Int, launching version: AppVersion) throws -> Bool {
        let before = (highest, log)
        try FileManager.default.copyItem(at: folder, to: copy(0))
        defer { try? FileManager.default.removeItem(at: copy(0)) }
        let process = try run(version, as: "launch as", dying: .moment(moment))
        guard !process.isDead, process.moments > 0 else { return process.isDead }
        (highest, log) = before
        try FileManager.default.removeItem(at: folder)
        try FileManager.default.copyItem(at: copy(0), to: folder)
        return try kill(atMoment: (moment - 1) % process.moments + 1, launching: version)
    }

    /// Makes a backup of the folder.
    ///
    /// - Throws: an error of the file system.
    public func backUp() throws -> Backup {
        backups += 1
        try FileManager.default.copyItem(at: folder, to: copy(backups))
        log.append("back up")
        return Backup(number: backups, highest: highest)
    }

    /// Replaces the folder's contents by those of a backup.
    ///
    /// - Parameter backup: a backup of this device.
    /// - Throws: an error of the file system.
    public func restoreBackup(from backup: Backup) throws {
        try FileManager.default.removeItem(at: folder)
        try FileManager.default.copyItem(at: copy(backup.number), to: folder)
        highest = backup.highest
        log.append("restore backup \(backup.number)")
    }

    /// Compares the log with the expected one.
    ///
    /// - Parameter expected: the lines of the log.
    /// - Throws: ``SimulatedDeviceError`` if they differ, which shows both.
    public func expectLog(_ expected: [String]) throws {
        guard log != expected else { return }
        throw SimulatedDeviceError(
            "The device was expected to have another history.", log: log, expected: expected)
    }

    private func copy(_ number: Int) -> URL {
        root.appendingPathComponent("Backup \(number)", isDirectory: true)
    }

    @discardableResult
    private func run(
        _ version: AppVersion, as verb: String, dying death: SimulatedProcess.Death,
        _ deferredBatches: Int? = nil
    ) throws -> SimulatedProcess {
        let process = SimulatedProcess(dying: death, deferredBatches: deferredBatches)
        defer { process.end() }
        let result = Result {
            try Environment.$current.withValue(Environment.changed { $0.observer = process }) {
                try app(folder, version)
            }
        }
        highest = max(highest ?? version, version)
        // Ignore the app's errors after the kill: a dead process cannot throw them.
        if !process.isDead, case .failure(let error) = result {
            let text = process.notes.text(of: .failed(error))
            log.append("\(verb) \(version): \(text.isEmpty ? "" : "\(text), ")failed: \(error)")
            throw error
        }
        guard !process.notes.isEmpty || process.isDead else {
            throw SimulatedDeviceError(
                """
                No manager was launched as \(version). Create the managers in the closure of the device, on the \
                thread on which it is called, call migrate(), and let its errors through.
                """, log: log)
        }
        log.append("\(verb) \(version): \(process.notes.text(of: process.isDead ? .killed : .returned))")
        return process
    }
}
