import AppMigrations
import Foundation
import MigrationTesting
import MigrationTools

/// An install of one of the ports: a new one, or one of an old release, which is upgraded, disturbed and killed.
struct PortInstall: RandomInstall {
    private(set) var story: [String]

    private var random: RandomNumbers
    private let port: any Port
    /// The release that has made the install; nil for a new one.
    private let release: Int?

    private static let all: [any Port.Type] = [
        PlayerPort.self, ChatPort.self, MessengerPort.self, LadderPort.self, FilesPort.self,
    ]

    init(seed: UInt64, in folder: URL) throws {
        random = RandomNumbers(seed: seed, subject: "ports")
        let type = Self.all[Int(seed % UInt64(Self.all.count))]
        port = try type.init(in: folder)
        let number = Int.random(in: -1..<type.releases - 1, using: &random)
        release = number < 0 ? nil : number
        story = [type.name, release.map { "release \($0)" } ?? "a new install"]
    }

    mutating func live() throws -> String? {
        if let release { try port.use(release: release) }
        try upgrade()
        if let problem = try port.problem(from: release) { return problem }
        guard release != nil, .random(using: &random) else { return nil }
        story.append("a disturbance")
        try port.disturb()
        try upgrade()
        return try port.problem(from: release)
    }

    /// Launches the last release, killed a few times, to its end, and once more.
    private mutating func upgrade() throws {
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let moment = Int.random(in: 1...40, using: &random)
            let process = SimulatedProcess(dying: .moment(moment))
            story.append("killed at \(moment)")
            do {
                _ = try launch(process)
            } catch  where process.isDead {}
        }
        _ = try launch(SimulatedProcess())
        let count = try launch(SimulatedProcess())
        if count > 0 { throw Repeated(count: count) }
    }

    private func launch(_ process: SimulatedProcess) throws -> Int {
        try Environment.$current.withValue(Environment.changed { $0.observer = process }) {
            try port.launch(process)
        }
    }

    private struct Repeated: Error, CustomStringConvertible {
        let count: Int
        var description: String { "a launch with nothing to do has done \(count) pieces of work" }
    }
}
