import Foundation
import Tracer

/// Lets each system call of a launch fail, once and from then on, and sees what the next launch makes of it.
struct FaultSweep: Sweep {
    static let name = "fail"

    let laboratory: Laboratory
    /// Every case there is.
    let cases: [Fault]
    /// The kind of each: the same call, of the same file.
    let kinds: [String]

    init(_ laboratory: Laboratory) throws {
        self.laboratory = laboratory
        var number = -1
        var cases: [Fault] = []
        var kinds: [String] = []
        try laboratory.reset()
        let end = try laboratory.launch { call in
            if call.is_done || call.isReport || !call.countsAsFileCall { return .goOn }
            number += 1
            for extent in Fault.Extent.allCases {
                let possible = call.possibleFaults(extent)
                let faults = Fault.Reason.allCases.filter(possible.contains)
                    .map { Fault(call: number, reason: $0, extent: extent) }
                cases += faults
                kinds += faults.map { _ in call.kind }
            }
            return .goOn
        }
        guard end.lines.last?.hasPrefix("ended") == true else { throw Laboratory.Unusable(end) }
        self.cases = cases
        self.kinds = kinds
    }

    /// Tries a case.
    ///
    /// - Returns: what was wrong.
    func complaints(_ fault: Fault) throws -> [String] {
        try laboratory.reset()
        let watch = failing(by: fault)
        var hasFailedSync = false
        let end = try laboratory.launch { call in
            let verdict = watch(call)
            hasFailedSync = hasFailedSync || verdict.order == tracer_fail && call.isSyncOfSalvagedDatabase
            return verdict
        }
        let isHidden = hasFailedSync && end.lines.last?.hasPrefix("ended") == true
        return try laboratory.complaints(afterTrouble: end)
            + (isHidden ? ["a salvaged database was not synced, and no error says so"] : [])
    }

    private func failing(by fault: Fault) -> (tracer_call) -> tracer_verdict {
        var number = -1
        // The threads whose call is being carried out, and is to return an error anyway.
        var failingAfterwards: Set<pid_t> = []
        return { call in
            if call.isReport || !call.countsAsFileCall { return .goOn }
            if call.is_done {
                if failingAfterwards.remove(call.thread) != nil { return .fail(fault.reason.number) }
                let isOver = fault.extent == .once && number > fault.call && failingAfterwards.isEmpty
                return isOver ? .letGo : .goOn
            }
            number += 1
            let isMeant = fault.extent == .once ? number == fault.call : number >= fault.call
            guard isMeant, call.possibleFaults(fault.extent).contains(fault.reason) else { return .goOn }
            guard call.takesEffectAnyway else { return .fail(fault.reason.number) }
            failingAfterwards.insert(call.thread)
            return .goOn
        }
    }
}

extension Laboratory {
    /// The mistakes after a launch that has been in trouble, and has survived it.
    ///
    /// It must have succeeded, or ended with an error of the package's; the next launch, without trouble, must
    /// end as an undisturbed one does.
    ///
    /// - Parameter end: how the launch has ended.
    func complaints(afterTrouble end: Child.End) throws -> [String] {
        let last = end.lines.last ?? ""
        let hasSucceeded = last.hasPrefix("ended")
        guard end.signal == nil, hasSucceeded || last.hasPrefix("failed") else {
            return ["in trouble: \(end)"]
        }
        return try complaints(after: end, Judgement.Disturbances(faults: 1), hasSucceeded: hasSucceeded)
    }

    /// The mistakes after a launch that has died of its trouble.
    func complaints(afterDeath end: Child.End) throws -> [String] {
        try complaints(after: end, Judgement.Disturbances(kills: 1, faults: 1), hasSucceeded: false)
    }

    private func complaints(
        after end: Child.End, _ disturbances: Judgement.Disturbances, hasSucceeded: Bool
    ) throws -> [String] {
        let before = try state()
        var complaints = judgement.complaints(about: before, reported: end.lines, after: disturbances)
        if hasSucceeded {
            complaints += judgement.complaints(aboutEnd: before, after: disturbances)
        }
        let next = try launch()
        let after = try state()
        if next.lines.last?.hasPrefix("ended") != true { complaints.append("the next launch: \(next)") }
        complaints += judgement.complaints(
            about: after, reported: end.lines + next.lines, after: disturbances)
        return (complaints + judgement.complaints(aboutEnd: after, after: disturbances)).map {
            "\($0) (\(end.lines.last ?? ""))"
        }
    }
}
