import Foundation
import Tracer

/// Kills a launch at each of its system calls, and sees what the next one makes of it.
struct KillSweep: Sweep {
    static let name = "kill"

    /// Where a launch is killed.
    enum Moment: String {
        case before, halfway, after
    }

    struct Case: CustomStringConvertible {
        let call: Int
        let moment: Moment

        var description: String { "\(call):\(moment)" }
    }

    let laboratory: Laboratory

    init(_ laboratory: Laboratory) { self.laboratory = laboratory }

    /// Every case there is.
    ///
    /// The state after a call is the state before the next one, so only the last one's end is tried as well.
    var cases: [Case] {
        let calls = laboratory.calls
        return calls.indices.flatMap { index in
            [Case(call: index, moment: .before)]
                + (calls[index].writes ? [Case(call: index, moment: .halfway)] : [])
        } + [Case(call: calls.count - 1, moment: .after)]
    }

    /// The kind of each case: the same call of the same file, at the same moment.
    var kinds: [String] { cases.map { "\($0.moment) \(laboratory.calls[$0.call].kind)" } }

    /// Tries a case.
    ///
    /// - Returns: what was wrong.
    func complaints(_ kill: Case) throws -> [String] {
        try laboratory.reset()
        var disturbances = Judgement.Disturbances()
        let first = try laboratory.launch(watching: killing(at: kill))
        var reported = first.lines
        disturbances.kills += 1
        var complaints = complaints(about: first, reported, disturbances, in: "at first")
        // In every third case the launch after it is killed as well, somewhere in what is left to do.
        if kill.call % 3 == 0 {
            let rest = max(1, laboratory.calls.count - kill.call)
            let again = Case(call: (kill.call / 3 * 7919) % rest, moment: .before)
            let second = try laboratory.launch(watching: killing(at: again))
            reported += second.lines
            disturbances.kills += 1
            complaints += self.complaints(
                about: second, reported, disturbances, in: "the second time, at \(again)")
        }
        let last = try laboratory.launch()
        reported += last.lines
        if last.lines.last?.hasPrefix("ended") != true { complaints.append("the last launch: \(last)") }
        let state = try laboratory.state()
        complaints += laboratory.judgement.complaints(about: state, reported: reported, after: disturbances)
        complaints += laboratory.judgement.complaints(aboutEnd: state)
        return complaints
    }

    private func complaints(
        about end: Child.End, _ reported: [String], _ disturbances: Judgement.Disturbances, in launch: String
    ) -> [String] {
        guard end.signal == SIGKILL || end.lines.last?.hasPrefix("ended") == true else {
            return ["killed \(launch): \(end)"]
        }
        do {
            return laboratory.judgement.complaints(
                about: try laboratory.state(), reported: reported, after: disturbances
            ).map { "killed \(launch): \($0)" }
        } catch {
            return ["killed \(launch): \(error)"]
        }
    }

    private func killing(at kill: Case) -> (tracer_call) -> tracer_verdict {
        var number = -1
        var thread: pid_t?
        return { call in
            if call.isReport { return .goOn }
            if call.is_done {
                // Other threads may have begun or ended calls of theirs meanwhile.
                return call.thread == thread ? .kill : .goOn
            }
            number += 1
            guard number == kill.call else { return .goOn }
            if kill.moment == .before { return .kill }
            thread = call.thread
            return kill.moment == .halfway && call.writes ? .halve : .goOn
        }
    }
}

extension tracer_verdict {
    static let goOn = tracer_verdict(order: tracer_go_on, error: 0)
    static let kill = tracer_verdict(order: tracer_kill, error: 0)
    static let letGo = tracer_verdict(order: tracer_let_go, error: 0)
    static let halve = tracer_verdict(order: tracer_halve, error: 0)
    static func fail(_ error: Int32) -> tracer_verdict { tracer_verdict(order: tracer_fail, error: error) }
}
