import AppMigrations
import Foundation
import GRDB
import MigrationTesting
import TestTraits
import Testing

extension SimulatedDevice {
    /// The database of the apps that keep one.
    var database: DatabaseQueue {
        get throws { try DatabaseQueue(path: folder.appendingPathComponent("app.sqlite").path) }
    }
}

/// Kills a launch at each of its moments, launches again, and checks the outcome.
///
/// - Parameters:
///   - app: the app, which runs as 1.0 first.
///   - check: looks at the device after the second launch.
func expectEveryKill(
    of app: @escaping SimulatedDevice.App, launching version: AppVersion,
    check: (SimulatedDevice, _ moment: Int) throws -> Void
) throws {
    var moment = 1
    while true {
        let device = try SimulatedDevice(app)
        try device.launch(as: "1.0")
        let wasKilled = try device.kill(atMoment: moment, launching: version)
        try device.launch(as: version)
        try check(device, moment)
        guard wasKilled else { break }
        moment += 1
    }
    #expect(moment > 8)
}

extension Trait where Self == Timed {
    /// Measures each test of the suite; every suite has this trait.
    static var timed: Self { Timed() }
}
