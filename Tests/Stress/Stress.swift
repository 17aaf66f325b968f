public import ArgumentParser
import Foundation
public import StressTesting

/// Runs the crash and fault tests, and prints a table with a row for each promise.
@main
struct Stress: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stress", abstract: "Try to break what the package promises, and print what held.")

    @Flag(help: "Run a sample of a few seconds, or all.")
    var size = StressSize.long

    @Option(
        help:
            "The seed of the first random case, which a run prints; a new one when left out of the long form."
    )
    var seed: UInt64?

    @Argument(help: "The names of the tests to run; all when left out.")
    var names: [String] = []

    func run() throws {
        let unknown = names.filter { name in !allStressTests.contains { $0.name == name } }
        guard unknown.isEmpty else {
            throw ValidationError(
                "No test is called \(unknown.joined(separator: ", ")). "
                    + "There are: \(allStressTests.map(\.name).joined(separator: ", ")).")
        }
        let tests = allStressTests.filter { names.isEmpty || names.contains($0.name) }
        var table = StressTable()
        // Far from the top, so that the seeds of all cases are numbers.
        let seed = seed ?? (size == .short ? 1 : .random(in: 1...1 << 60))
        FileHandle.standardError.write(Data("seed \(seed)\n".utf8))
        for test in tests {
            FileHandle.standardError.write(Data("\(test.name) …\n".utf8))
            let start = ContinuousClock.now
            let outcome = try StressSize.$firstSeed.withValue(seed) { try test.run(size) }
            table.add(test, outcome, taking: ContinuousClock.now - start)
        }
        print(table)
        if table.isBroken { throw ExitCode.failure }
    }
}

extension StressSize: EnumerableFlag {}
