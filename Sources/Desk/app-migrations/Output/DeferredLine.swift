import AppMigrations
import Foundation
import TextOutput

/// A deferred step that is not complete, in the output of `status` and `history`.
struct DeferredLine: Encodable {
    let manager: String
    let version: String
    let state: State
    /// The rows that are done; for other steps, the calls or checkpoints.
    let done: Int
    /// The rows that there were at the start; nil if unknown.
    let total: Int?
    /// The number of runs in which a batch failed.
    let failures: Int
    /// The number of rows that failed and that each run retries.
    let rowsSetAside: Int
    /// The work that was started last and has not come to its end: by which build, when, and how often.
    let build: String?
    let since: Date?
    let attempt: Int?

    enum State: String, Encodable {
        case waiting
        /// A process runs it, or died in it.
        case running
        case failed
    }

    init(_ step: UnfinishedStep) {
        manager = step.manager
        version = "\(step.version)"
        done = step.position.done
        total = step.position.total
        failures = step.failures
        rowsSetAside = step.position.setAside.count
        state = step.running != nil ? .running : failures > 0 ? .failed : .waiting
        build = step.running?.build
        since = step.running?.since
        attempt = step.running != nil || step.deaths > 0 ? step.deaths + 1 : nil
    }

    /// Prints the lines of one manager.
    static func printTable(_ lines: [DeferredLine], _ style: Style) {
        var table = Table(.left, .left, .left, .right, .left)
        for line in lines {
            let (mark, highlight) = line.isBad ? ("!", style.bad) : ("·", style.notable)
            table.add(
                .init(text: mark, highlight: highlight), .init(text: line.version),
                .init(text: line.progress), .init(text: line.percent),
                .init(text: line.words, highlight: highlight))
        }
        table.print()
    }

    private var isBad: Bool { failures > 0 || rowsSetAside > 0 || (attempt ?? 1) > 1 }

    private var progress: String {
        if let total { return "\(done) of \(total.counting("row"))" }
        if done > 0 { return "\(done) done" }
        return state == .waiting ? "not begun" : ""
    }

    private var percent: String {
        // Rounded down: 100% is for what is complete.
        total.map { $0 > 0 ? "\(min(done, $0) * 100 / $0)%" : "" } ?? ""
    }

    private var words: String {
        let failed = failures > 0 ? "failed in \(failures.counting("run"))" : nil
        let running = since.map { since in
            "running since \(since.asText) in \(build ?? ""), or killed then"
                + ((attempt ?? 1) > 1 ? ", attempt \(attempt ?? 1) at this batch" : "")
        }
        let rows = rowsSetAside > 0 ? "\(rowsSetAside.counting("row")) set aside" : nil
        return [running, failed, rows].compactMap { $0 }.joined(separator: "; ").nonEmpty ?? "waiting"
    }
}

extension String {
    fileprivate var nonEmpty: String? { isEmpty ? nil : self }
}
