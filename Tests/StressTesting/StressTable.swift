import Foundation

/// Results of stress tests as a table in Markdown, followed by the failures.
public struct StressTable: CustomStringConvertible {
    private var rows: [[String]] = []
    private var failures: [String] = []
    private var notes: [String] = []

    /// Makes a table without rows.
    public init() {}

    /// True if a promise did not hold.
    public var isBroken: Bool { !failures.isEmpty }

    /// Adds the row of a test.
    public mutating func add(_ test: any StressTest, _ outcome: StressOutcome, taking duration: Duration) {
        rows.append([
            test.promise, "\(Self.grouped(outcome.tried)) \(outcome.unit)", "\(outcome.failures.count)",
            "\(Self.grouped(Int(duration.components.seconds)))",
        ])
        failures += outcome.failures.map { "\(test.name): \($0)" }
        notes += outcome.notes.map { "Note on \(test.name): \($0)." }
    }

    /// The table, the notes, and up to 20 of the failures.
    public var description: String {
        let header = [["promise", "tried", "failures", "seconds"], ["---", "---", "--:", "--:"]]
        let table = (header + rows).map { "| \($0.joined(separator: " | ")) |" }
        // A fault that is everywhere would bury the table.
        let shown = failures.prefix(20)
        let rest = failures.count - shown.count
        return
            (table + (notes.isEmpty ? [] : [""]) + notes + (shown.isEmpty ? [] : [""]) + shown
            + (rest > 0 ? ["… and \(rest) more"] : []))
            .joined(separator: "\n")
    }

    /// A number with its digits in groups of three.
    private static func grouped(_ number: Int) -> String {
        var groups: [String] = []
        var rest = Substring("\(number)")
        while rest.count > 3 {
            groups.insert(String(rest.suffix(3)), at: 0)
            rest = rest.dropLast(3)
        }
        return ([String(rest)] + groups).joined(separator: ",")
    }
}
