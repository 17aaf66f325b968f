import ArgumentParser
import DiskModel
import Foundation
import MigrationTesting
import MigrationTools

/// Records what a launch writes and syncs, cuts the power again and again, and sees what the next launch makes of what
/// is left on the disk.
struct PowerLoss {
    /// Everything that is left out of the recording, to see that this is found.
    enum Omission: String, CaseIterable, ExpressibleByArgument {
        case nothing
        /// The syncs of folders.
        case folders
        /// All syncs.
        case syncs
    }

    private let laboratory: Laboratory
    private let log: DiskLog
    /// The points just before and after something was synced or reported.
    private let turns: [Int]

    init(_ laboratory: Laboratory, leavingOut omission: Omission = .nothing) throws {
        self.laboratory = laboratory
        try laboratory.reset()
        let recorder = try Recorder(in: laboratory.folder)
        let end = try laboratory.launch(watching: recorder.watch)
        guard end.lines.last?.hasPrefix("ended") == true else { throw Laboratory.Unusable(end) }
        guard recorder.unknown.isEmpty else { throw Unrecorded(description: "\(recorder.unknown)") }
        var log = recorder.log
        log.operations.removeAll { operation in
            switch (operation, omission) {
            case (.sync(let node), .folders): log.start.folders[node] != nil
            case (.sync, .syncs), (.syncAll, .syncs): true
            default: false
            }
        }
        self.log = log
        turns = log.operations.indices.filter { log.operations[$0].isTurn }.flatMap { [$0, $0 + 1] }
    }

    private struct Unrecorded: Error {
        let description: String
    }

    /// Tries an image.
    ///
    /// - Parameter number: its number, from which everything follows.
    /// - Returns: what was wrong.
    func complaints(image number: Int) throws -> [String] {
        var random = RandomNumbers(seed: UInt64(number))
        let isTurn = Double.random(in: 0..<1, using: &random) < 0.7
        let point =
            (isTurn ? turns.randomElement(using: &random) : nil)
            ?? .random(in: 0...log.operations.count, using: &random)
        let losses: [DiskLog.Loss] =
            [.all, .none] + Array(repeating: .share(0.05), count: 2)
            + Array(repeating: .share(0.2), count: 2) + Array(repeating: .share(0.45), count: 4)
        let loss = losses[number % losses.count]
        let image = log.image(cutAfter: point, losing: loss, &random)
        try image.write(to: laboratory.folder)
        return try complaints(reported: log.reports(before: point)).map {
            "cut at \(point), losing \(loss): \($0)"
        }
    }

    private func complaints(reported: [String]) throws -> [String] {
        let cut = Judgement.Disturbances(powerCuts: 1)
        let judgement = laboratory.judgement
        let found = try laboratory.state()
        var complaints = judgement.complaints(about: found, reported: reported, after: cut)
        complaints += judgement.complaints(aboutCopies: found)
        let last = try laboratory.launch()
        if last.lines.last?.hasPrefix("ended") != true { complaints.append("the next launch: \(last)") }
        let state = try laboratory.state()
        complaints += judgement.complaints(about: state, reported: reported + last.lines, after: cut)
            .map { "after the next launch: \($0)" }
        return complaints + judgement.complaints(aboutEnd: state, after: cut)
    }
}

extension DiskOperation {
    /// True if what a power cut leaves is another after it.
    fileprivate var isTurn: Bool {
        switch self {
        case .sync, .syncAll, .report: true
        default: false
        }
    }
}

extension DiskImage {
    /// Makes a folder of it, in the place of what is there.
    func write(to path: String) throws {
        try? FileManager.default.removeItem(atPath: path)
        var names: [Node: String] = [:]
        try write(0, to: path, &names)
    }

    /// - Parameter names: the first name of each file that is there, of which others are links.
    private func write(_ node: Node, to path: String, _ names: inout [Node: String]) throws {
        guard let entries = folders[node] else {
            if let name = names[node] { return try FileManager.default.linkItem(atPath: name, toPath: path) }
            names[node] = path
            return try Data(files[node, default: []]).write(to: URL(fileURLWithPath: path))
        }
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        for (name, node) in entries { try write(node, to: "\(path)/\(name)", &names) }
    }
}

struct Cut: ParsableCommand {
    @Argument var scenario: Scenario
    @Option(help: "How many images of a disk there are.") var images = 1_000
    @Option(help: "What is left out of the recording.") var leavingOut = PowerLoss.Omission.nothing
    @OptionGroup var sample: Sample

    func run() throws {
        let loss = try PowerLoss(Laboratory(scenario), leavingOut: leavingOut)
        try sample.run(
            "cut \(scenario) --images \(images)", Array(0..<images), loss.complaints(image:))
    }
}
