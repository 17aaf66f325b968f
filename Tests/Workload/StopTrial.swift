import ArgumentParser
import Foundation
import GRDB

/// Stops a launch while it holds every lock that it takes, and sees what another one says.
struct StopTrial {
    let laboratory: Laboratory

    /// Tries it with the whole app, or with the migrations of its database alone.
    ///
    /// - Returns: what was wrong.
    func complaints(_ work: Launch.Work) throws -> [String] {
        try laboratory.reset()
        var holding = laboratory.launch(doing: work, patience: .seconds(60))
        holding.observer = StopAtChange()
        let holder = try Crowd(of: 1) { [holding] in holding.run() }.members[0]
        guard holder.waitUntilStopped() else { return ["it was never stopped"] }
        let waiting = laboratory.launch(doing: work, patience: .seconds(1))
        // Were it to wait for ever, it would be ended by a signal.
        let waiter = try Child.run { waiting.run() }
        kill(holder.id, SIGCONT)
        let end = holder.end()

        var complaints: [String] = []
        let error = Self.error(work, holder: holder.id)
        if waiter.lines != [error] { complaints.append("the waiter: \(waiter), not \(error)") }
        if end.lines.last?.hasPrefix("ended") != true { complaints.append("the holder: \(end)") }
        let state = try laboratory.state()
        complaints += laboratory.judgement.complaints(about: state, reported: end.lines, after: .init())
        if work == .app { complaints += laboratory.judgement.complaints(aboutEnd: state) }
        return complaints
    }

    private static func error(_ work: Launch.Work, holder: pid_t) -> String {
        switch work {
        case .app:
            """
            failed locked: Workload: process \(holder) is migrating, and did not finish within 1.0 seconds. Launch \
            again when it has finished, or raise the option `lockTimeout`.
            """
        case .schema:
            """
            failed locked: database is locked (SQLite 5). Another connection or process is using the \
            database. Let it finish, then retry.
            """
        }
    }
}

/// Stops the process when it changes a row for the first time, in a transaction: others may still read, and so open
/// the database and find out.
private final class StopAtChange: TransactionObserver {
    private var hasStopped = false

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
    func databaseDidCommit(_ db: Database) {}
    func databaseDidRollback(_ db: Database) {}

    func databaseDidChange(with event: DatabaseEvent) {
        guard !hasStopped else { return }
        hasStopped = true
        kill(getpid(), SIGSTOP)
    }
}

struct StopCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "stop")

    @Argument var scenario: Scenario

    func run() throws {
        let trial = StopTrial(laboratory: try Laboratory(scenario))
        for work in Launch.Work.allCases {
            for complaint in try trial.complaints(work) { print("stop \(scenario), \(work): \(complaint)") }
        }
        print("tried \(Launch.Work.allCases.count) of \(Launch.Work.allCases.count)")
    }
}
