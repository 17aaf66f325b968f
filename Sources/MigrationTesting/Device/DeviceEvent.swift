import AppMigrations
import MigrationTools

/// An event on a device in a random history.
enum DeviceEvent: Sendable, Hashable {
    case launch(AppVersion)
    /// See ``SimulatedDevice/kill(atMomentFromStart:launching:)``.
    case kill(AppVersion, moment: Int)
    /// A launch with time for some batches of deferred work.
    case stop(AppVersion, batches: Int)
    case backUp
    /// Restores the latest backup, if there is one.
    case restore

    /// Returns a random history that begins with an old version and ends with the latest.
    static func history(of versions: [AppVersion], _ random: inout RandomNumbers) -> [DeviceEvent] {
        guard let latest = versions.last else { return [] }
        // Prefer early versions, which leave more upgrades.
        let first = Int.random(in: versions.indices, using: &random)
        var position = Int.random(in: 0...first, using: &random)
        var events: [DeviceEvent] = [.launch(versions[position])]
        // An app may give up on a step after three crashes in one build.
        var kills = 0
        for _ in 0..<Int.random(in: 1...7, using: &random) {
            switch Int.random(in: 0..<12, using: &random) {
            case 0: events.append(.backUp)
            case 1: events.append(.restore)
            case 2...4 where kills < 2:
                kills += 1
                // Choose an upgrade if there is one.
                position = Int.random(
                    in: min(position + 1, versions.count - 1)..<versions.count, using: &random)
                events.append(.kill(versions[position], moment: Int.random(in: 1...256, using: &random)))
            case 5:
                position = Int.random(in: 0...position, using: &random)
                events.append(.launch(versions[position]))
            case 6, 7:
                position = Int.random(in: position..<versions.count, using: &random)
                events.append(.stop(versions[position], batches: Int.random(in: 0...3, using: &random)))
            default:
                position = Int.random(in: position..<versions.count, using: &random)
                events.append(.launch(versions[position]))
            }
        }
        return events + [.launch(latest)]
    }

    /// The simpler events that can replace this one, the simplest first.
    var simpler: [DeviceEvent] {
        switch self {
        case .kill(let version, let moment):
            [.launch(version)] + (1..<moment).map { .kill(version, moment: $0) }
        case .stop(let version, let batches):
            [.launch(version)] + (0..<batches).map { .stop(version, batches: $0) }
        case .launch, .backUp, .restore: []
        }
    }
}

extension DeviceEvent: CustomStringConvertible {
    var description: String {
        switch self {
        case .launch(let version): "launch as \(version)"
        case .kill(let version, let moment): "launch as \(version), killed at moment \(moment)"
        case .stop(let version, let batches):
            "launch as \(version), with time for \(batches) batches of deferred work"
        case .backUp: "back up"
        case .restore: "restore the latest backup"
        }
    }
}
