import AppMigrations
import MigrationTools

/// An event in a fleet's story.
///
/// Devices are numbered from 1.
enum FleetEvent: Sendable {
    /// A launch: the first one installs the app.
    case launch(Int, AppVersion)
    /// See ``SimulatedDevice/kill(atMomentFromStart:launching:)``.
    case kill(Int, AppVersion, moment: Int)
    /// A new row or another value, which the seed decides.
    case write(Int, seed: UInt64)
    /// Sends what is new, and receives what is new.
    case exchange(Int)

    /// Returns a random story of two to five devices.
    static func story(of versions: [AppVersion], _ random: inout RandomNumbers) -> [FleetEvent] {
        var releases = [Int?](repeating: nil, count: Int.random(in: 2...5, using: &random))
        // An app may give up on a step after three crashes in one build.
        var kills = releases.map { _ in 2 }
        return (0..<Int.random(in: 6...24, using: &random)).map { _ in
            let index = Int.random(in: releases.indices, using: &random)
            guard let release = releases[index] else {
                // Prefer old releases, which write rows in the old form.
                let last = Int.random(in: versions.indices, using: &random)
                let first = Int.random(in: 0...last, using: &random)
                releases[index] = first
                return .launch(index + 1, versions[first])
            }
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<8: return .write(index + 1, seed: random.next())
            case 8..<13: return .exchange(index + 1)
            case 13:
                releases[index] = Int.random(in: 0...release, using: &random)
            case 14,
                15 where kills[index] > 0:
                kills[index] -= 1
                let version = versions[Int.random(in: release..<versions.count, using: &random)]
                return .kill(index + 1, version, moment: Int.random(in: 1...256, using: &random))
            default:
                releases[index] = Int.random(in: release..<versions.count, using: &random)
            }
            return .launch(index + 1, versions[releases[index] ?? 0])
        }
    }

    /// The simpler events that can replace this one.
    var simpler: [FleetEvent] {
        guard case .kill(let device, let version, _) = self else { return [] }
        return [.launch(device, version)]
    }
}
