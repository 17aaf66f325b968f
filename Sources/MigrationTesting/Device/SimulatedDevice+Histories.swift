public import AppMigrations

extension SimulatedDevice {
    /// Plays random histories of an app, each on a device of its own, and looks after each launch whether all is well.
    ///
    /// A history has installs, upgrades, downgrades, kills at any moment, backups and restores. It begins with any of
    /// the versions, and ends with a launch as the latest. One that fails is made as short as it goes.
    ///
    /// ```swift
    /// try SimulatedDevice.histories(versions: ["1.0", "1.1", "2.0"]) { folder, version in
    ///     let store = try JSONStore(at: folder.appendingPathComponent("records.json"))
    ///     let manager = try MigrationManager(
    ///         currentVersion: version, store: store, options: MigrationOptions(aboveCurrent: .leaveOut))
    ///     manager.whenMigratingToVersion("1.1") { try moveArchive() }
    ///     try manager.migrate()
    /// } invariant: { device, version in
    ///     let archive = device.folder.appendingPathComponent("Archive")
    ///     #expect(version < "1.1" || !FileManager.default.fileExists(atPath: archive.path))
    /// }
    /// ```
    ///
    /// A launch after a higher version has been there may be refused by the app, and the invariant is not asked then. At
    /// most two launches of a history are killed, since an app may give up a step in which it has died three times.
    ///
    /// - Parameters:
    ///   - seed: the same histories are played for the same seed. The second history is the first one of the next seed.
    ///   - count: how many histories are played.
    ///   - versions: the app's versions, in ascending order.
    ///   - app: what the app does when it is launched.
    ///   - invariant: is called after each launch that has come to its end, and throws when something is wrong. Use
    ///     `#require` or `throw`: what `#expect` finds does not end the history, and is not made shorter.
    /// - Throws: ``SimulatedHistoryError``, with the short history and its seed.
    public static func histories(
        seed: UInt64 = 1, count: Int = 100, versions: [AppVersion], app: @escaping App,
        invariant: (_ device: SimulatedDevice, _ version: AppVersion) throws -> Void
    ) throws {
        let versions = versions.sorted()
        for number in 0..<count {
            let seed = seed &+ UInt64(number)
            var random = RandomNumbers(seed: seed)
            let events = DeviceEvent.history(of: versions, &random)
            guard let found = failure(of: events, app, invariant) else { continue }
            let short = events.shrunk(simpler: \.simpler) { failure(of: $0, app, invariant) != nil }
            // An app that is not the same each time may not fail again.
            let end = failure(of: short, app, invariant) ?? found
            throw SimulatedHistoryError(
                seed: seed, events: short.map(\.description), log: end.log,
                underlyingError: end.error)
        }
    }

    /// What goes wrong in a history; nil when all is well.
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
                        try !device.kill(atMoment: moment, launching: version)
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

    /// Plays a launch, which tells whether it has come to its end, and asks the invariant.
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
