public import AppMigrations
import MigrationTools

extension SimulatedDevice {
    /// Plays random histories of an app, each on its own device, and checks an invariant after each launch.
    ///
    /// A history has installs, upgrades, downgrades, kills at any moment, deferred work that is cut short, backups and
    /// restores. It begins with any of the versions, and ends with a launch as the latest. The method shortens a
    /// failing history as far as it can.
    ///
    /// ```swift
    /// try SimulatedDevice.histories(versions: ["1.0", "1.1", "2.0"]) { folder, version in
    ///     let store = try MigrationStore.jsonFile(at: folder.appendingPathComponent("records.json"))
    ///     let manager = try MigrationManager(
    ///         currentVersion: version, adopting: .newApp, store: store, options: MigrationOptions(ignoresStepsAboveCurrent: true))
    ///     manager.whenMigratingToVersion("1.1") { try moveArchive() }
    ///     try manager.migrate()
    /// } invariant: { device, version in
    ///     let archive = device.folder.appendingPathComponent("Archive")
    ///     try #require(version < "1.1" || !FileManager.default.fileExists(atPath: archive.path))
    /// }
    /// ```
    ///
    /// The app may refuse a launch as a lower version than an earlier launch. The method does not check the
    /// invariant after such a launch. It kills at most two launches of a history, since an app may give up a
    /// step after three crashes.
    ///
    /// - Parameters:
    ///   - seed: the seed, which determines the histories. The second history is the first one of the next
    ///     seed.
    ///   - count: the number of histories.
    ///   - versions: the app's versions, in ascending order.
    ///   - app: the app's code at launch.
    ///   - invariant: throws if something is wrong. The method calls it after each complete launch. Use
    ///     `#require` or `throw`: an issue that `#expect` records neither ends nor shortens the history.
    /// - Throws: ``SimulatedHistoryError``, with the shortened history and its seed; ``SimulatedDeviceError`` if there
    ///   is no version.
    public static func histories(
        seed: UInt64 = 1, count: Int = 100, versions: [AppVersion], app: @escaping App,
        invariant: (_ device: SimulatedDevice, _ version: AppVersion) throws -> Void
    ) throws {
        guard !versions.isEmpty else {
            throw SimulatedDeviceError(
                "There is nothing to launch. Pass the versions that people have as versions:.", log: [])
        }
        let versions = versions.sorted()
        for number in 0..<count {
            let seed = seed &+ UInt64(number)
            var random = RandomNumbers(seed: seed)
            let events = DeviceEvent.history(of: versions, &random)
            guard let found = failure(of: events, app, invariant) else { continue }
            let short = events.shrunk(simpler: \.simpler) { failure(of: $0, app, invariant) != nil }
            // An app that does not behave the same each time may not fail again.
            let end = failure(of: short, app, invariant) ?? found
            throw SimulatedHistoryError(
                seed: seed, events: short.map(\.description), log: end.log,
                underlyingError: end.error)
        }
    }

    /// Plays a history and returns its failure; nil if it succeeds.
    private static func failure(
        of events: [DeviceEvent], _ app: @escaping App,
        _ invariant: (SimulatedDevice, AppVersion) throws -> Void
    ) -> (error: any Error, log: [String])? {
        var log: [String] = []
        do {
            let device = try SimulatedDevice(app)
            defer { log = device.log }
            var backup: Backup?
            for event in events {
                switch event {
                case .launch(let version):
                    try device.play(version, invariant) {
                        try device.launch(as: version)
                        return true
                    }
                case .kill(let version, let moment):
                    try device.play(version, invariant) {
                        try !device.kill(atMomentFromStart: moment, launching: version)
                    }
                case .stop(let version, let batches):
                    try device.play(version, invariant) {
                        try device.launch(as: version, deferredBatches: batches)
                        return true
                    }
                case .backUp: backup = try device.backUp()
                case .restore: try backup.map { try device.restoreBackup(from: $0) }
                }
            }
            return nil
        } catch {
            return (error, log)
        }
    }

    /// Plays a launch, and checks the invariant if the launch was complete.
    private func play(
        _ version: AppVersion, _ invariant: (SimulatedDevice, AppVersion) throws -> Void,
        _ launch: () throws -> Bool
    ) throws {
        let isDowngrade = highest.map { version < $0 } ?? false
        do {
            guard try launch() else { return }
        } catch  where isDowngrade && !(error is SimulatedDeviceError) {
            return
        }
        if !isDowngrade { try invariant(self, version) }
    }
}
