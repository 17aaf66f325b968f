import ArgumentParser
import Foundation
import MigrationTesting
import MigrationTools

/// Launches an app in many processes at once, kills some of them and stops others for a moment, and looks at what
/// they have done together.
struct Storm {
    let laboratory: Laboratory
    let size: Int

    /// A disturbance of a process, and its time.
    private struct Blow {
        let member: Crowd.Member
        let microseconds: UInt32
        let isDeadly: Bool
    }

    /// Runs a round.
    ///
    /// - Parameter round: its number, from which everything follows but what the system's scheduler makes of it.
    /// - Returns: what was wrong.
    func complaints(round: Int) throws -> [String] {
        try laboratory.reset()
        var random = RandomNumbers(seed: UInt64(round))
        let work = Launch.Work.allCases[round % 2]
        let launch = laboratory.launch(doing: work, patience: .seconds(600))
        let crowd = try Crowd(of: size) { launch.run() }
        // In every other pair of rounds nobody is disturbed.
        let blows = round % 4 < 2 ? [] : blows(to: crowd.members, &random)
        deal(blows)
        let ends = crowd.members.map { $0.end() }
        let killed = Set(blows.filter(\.isDeadly).map(\.member.id))
        var complaints: [String] = []
        for (member, end) in zip(crowd.members, ends) where !killed.contains(member.id) {
            if end.lines.last?.hasPrefix("ended") != true { complaints.append("it was not killed: \(end)") }
        }
        let state = try laboratory.state()
        complaints += laboratory.judgement.complaints(
            about: state, reported: ends.flatMap(\.lines), after: .init(kills: killed.count))
        switch work {
        case .app: complaints += laboratory.judgement.complaints(aboutEnd: state)
        case .schema: complaints += self.complaints(aboutSchema: state, ends)
        }
        return complaints
    }

    private func complaints(aboutSchema state: FolderState, _ ends: [Child.End]) -> [String] {
        let applied = ends.compactMap { $0.lines.last { $0.hasPrefix("ended") } }
            .flatMap { $0.split(separator: " ").dropFirst() }
        let goal = laboratory.judgement.goal
        return (Set(applied).count < applied.count ? ["applied twice: \(applied)"] : [])
            + (state.ledger == goal.ledger && state.dump == goal.dump ? [] : ["the database: \(state)"])
    }

    /// Up to a fourth of the processes are killed, and as many stopped, most of them early: the first does the work.
    private func blows(to members: [Crowd.Member], _ random: inout RandomNumbers) -> [Blow] {
        let victims = members.shuffled(using: &random).prefix(.random(in: 1...size / 2, using: &random))
        return victims.enumerated().map { index, member in
            Blow(
                member: member,
                microseconds: .random(in: 0...(.random(in: 1_000...100_000, using: &random)), using: &random),
                isDeadly: index % 2 == 0)
        }.sorted { $0.microseconds < $1.microseconds }
    }

    private func deal(_ blows: [Blow]) {
        var now: UInt32 = 0
        for blow in blows {
            usleep(blow.microseconds - now)
            now = blow.microseconds
            kill(blow.member.id, blow.isDeadly ? SIGKILL : SIGSTOP)
        }
        usleep(5_000)
        for blow in blows where !blow.isDeadly { kill(blow.member.id, SIGCONT) }
    }
}

struct StormCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "storm")

    @Argument var scenario: Scenario
    @Option(help: "How many processes are launched at once.") var processes = 8
    @Option(help: "How many rounds there are.") var rounds = 1_000
    @OptionGroup var sample: Sample

    func run() throws {
        let storm = Storm(laboratory: try Laboratory(scenario), size: processes)
        try sample.run(
            "storm \(scenario) --processes \(processes)", Array(0..<rounds), storm.complaints(round:))
    }
}
